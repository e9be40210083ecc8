# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Joints that will not reach their targets: what a model and settings tell before power.

Effort limits may be too low to hold the arm: many URDFs have placeholders. Friction f may hold a
joint away from its target: a law without integral action balances it by its stiffness, K e = f, or
M k_p e = f where gains act on accelerations (Siciliano et al., Robotics, 2009, section 8.5).
Friction that is compensated at the velocity of the reference (:mod:`.friction_compensation`) does
not count.
"""

from collections.abc import Iterable

import numpy as np
from numpy import ndarray

from .friction import static_friction, viscous
from .settings import Settings
from ...dynamics.compile import generic
from ...dynamics.model_data import parameters, workspace
from ...model.robot import RobotModel, roomy_position, spread

RESTING_ERROR = 0.01, 0.002     # [rad], [m]: more is reported
CREEPING_TIME = 1.0    # [s]
MIN_HELD_SHARE = 0.9    # of the poses, which effort limits have to hold
HELD_POSES = 200


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
    mass, = _evaluated('mass_matrix', settings.loaded(model), [roomy_position(model)],
                       (model.nv, model.nv))
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


def held_shares(model: RobotModel, effort_limit: ndarray) -> tuple[ndarray, ndarray]:
    """Return the share of poses (nv,) that effort limits (nv,) hold, and the largest |g| (nv,)."""
    gravity = abs(_evaluated('gravity', model, spread(model, HELD_POSES), (model.nv,)))
    return (gravity <= effort_limit).mean(axis=0), gravity.max(axis=0)


def holding_warning(model: RobotModel, effort_limit: ndarray) -> str:
    """Return which joints cannot hold the arm in many of its poses; or ''."""
    shares, most = held_shares(model, np.where(effort_limit > 0.0, effort_limit, np.inf))
    named = [f'{name} in {100 * (1 - shares[i]):.0f} % ({effort_limit[i]:.3g} of up to '
             f'{most[i]:.3g} {"N" if model.slides[i] else "N·m"})'
             for i, name in enumerate(model.joint_names) if shares[i] < MIN_HELD_SHARE]
    return named and ('effort limits cannot hold the arm at rest in many poses: '
                      + ', '.join(named) + '; correct the limits or the masses of the URDF') or ''


def _evaluated(quantity: str, model: RobotModel, poses: Iterable[ndarray], shape: tuple[int, ...]
               ) -> ndarray:
    """Return a quantity (K, *shape) at K poses by a kernel that the controller needs anyhow."""
    kernel, data, work = generic(quantity), parameters(model), workspace(model)
    found = []
    for q in poses:
        found.append(out := np.empty(shape))
        kernel(data, q, work, out)
    return np.array(found)
