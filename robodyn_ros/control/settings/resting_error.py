# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Distance from its target at which friction may hold a joint at rest.

A law without integral action balances friction f by its stiffness: K e = f, and where gains act on
accelerations M k_p e = f (Siciliano et al., Robotics, 2009, section 8.5). The friction of the
reference's velocity that is compensated (:mod:`.friction_compensation`) does not count.
"""

import numpy as np
from numpy import ndarray

from .friction import static_friction, viscous
from .settings import Settings
from ...dynamics import Dynamics
from ...model.pose import roomy_position
from ...model.robot import RobotModel

RESTING_ERROR = 0.01, 0.002     # [rad], [m]: more is reported
CREEPING_TIME = 1.0    # [s]


def resting_errors(model: RobotModel, settings: Settings) -> ndarray:
    """
    Return the errors (nv,) [rad | m] that friction alone may cause, in the middle of the ranges.

    They are 0 for a law with integral action, an observer or no reference, and infinite for a
    joint without stiffness.
    """
    share = (settings.per_joint(model, 'friction_compensation')
             if settings.friction_compensation else np.zeros(model.nv))
    return _deflections(model, settings, (1.0 - share) * static_friction(settings.loaded(model)))


def _deflections(model: RobotModel, settings: Settings, effort: ndarray) -> ndarray:
    """Return the errors (nv,) with which the law balances lasting efforts (nv,) [N·m | N]."""
    law, found = settings.law_in_force, np.zeros(model.nv)
    if not law.follows or any(name and settings.gain_of(model, name).all() for rule in law.judged
                              for name in (rule.integral, rule.observer)):
        return found
    mass = Dynamics(settings.loaded(model)).mass_matrix(roomy_position(model))
    for rule in law.judged:
        moved = np.abs(np.linalg.inv(mass)) @ effort if rule.accelerations else effort
        gains = settings.gain_of(model, rule.position)
        with np.errstate(divide='ignore', invalid='ignore'):
            found = np.maximum(found, np.where(moved > 0.0, moved / gains, 0.0))
    return found


def most_resting_error(model: RobotModel) -> ndarray:
    """Return RESTING_ERROR of each joint (nv,) [rad | m]."""
    return np.where(model.slides, RESTING_ERROR[1], RESTING_ERROR[0])


def resting_error_warning(model: RobotModel, settings: Settings) -> str:
    """Return which joints friction keeps from their targets, for good or for long; or ''."""
    loaded, errors = settings.loaded(model), resting_errors(model, settings)
    times = _deflections(model, settings, viscous(loaded))      # at 1 rad/s, so in seconds
    friction, named = static_friction(loaded), []
    for i, name in enumerate(model.joint_names):
        if errors[i] > most_resting_error(model)[i]:
            named.append(f'{name} may rest {errors[i]:.2g} {"m" if model.slides[i] else "rad"} '
                         f'away (friction {friction[i]:.3g})')
        elif times[i] > CREEPING_TIME:
            named.append(f'{name} creeps there with a time constant of {times[i]:.2g} s (viscous '
                         f'friction {viscous(loaded)[i]:.3g})')
    return named and ('friction keeps joints from their targets: ' + ', '.join(named)
                      + '; set friction_compensation, raise the gains, or choose a law with '
                      'integral action or a disturbance observer') or ''
