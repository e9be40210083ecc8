# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Friction parameters of the settings, and bounds of friction compensation.

The efforts are those of :func:`.friction_compensation.friction_compensation`. Laws that follow a
reference compensate the friction at the velocity of the reference: a feed-forward term, which
cannot make the loop unstable. Gravity compensation has no reference and uses the measured
velocity, which is negative damping. If the actual friction is at least the modelled friction f,
and f does not decrease with velocity, share · f(v(t - delay)) supplies on average at most this
share of the power that friction dissipates, whatever the delay (rearrangement inequality). The
share must therefore stay below 1 even for a joint whose friction has decreased: see
:data:`MAX_MEASURED_SHARE`.

Sources: Armstrong-Hélouvry, Dupont, Canudas de Wit, Automatica 30(7) (1994); Olsson, Åström,
Canudas de Wit, Gäfvert, Lischinsky, European Journal of Control 4(3) (1998); Bona, Indri, Friction
compensation in robotics: an overview, IEEE CDC (2005).
"""

from collections.abc import Mapping

import numpy as np
from numpy import ndarray

from .gain_stability import GAIN_MARGIN
from ...errors import ParameterError
from ...model.friction_file import BACKWARD, COUPLED, EFFECTS, FORWARD, SPEEDS, with_given_friction
from ...model.robot import RobotModel

CURVE_PARAMETERS = *FORWARD, *BACKWARD, *SPEEDS, *EFFECTS, *COUPLED
SIGNED_PARAMETERS = ('coupling_ratio',)

# Largest compensated share with measured velocities: the arm slows down even if a fifth of the
# friction has disappeared, which is the margin of the gains.
MAX_MEASURED_SHARE = 1.0 / GAIN_MARGIN


def with_friction(model: RobotModel, given: Mapping[str, ndarray]) -> RobotModel:
    """
    Return the model with other friction parameters.

    :param given: arrays (nv,) by their names in CURVE_PARAMETERS; see
        :func:`.friction_file.with_given_friction`.
    :raises ParameterError: a number is negative or not finite, or a velocity is zero.
    """
    if not given:
        return model
    for name, values in given.items():
        bad = (~np.isfinite(values) | ((values < 0.0) & (name not in SIGNED_PARAMETERS))
               | ((values == 0.0) & (name in SPEEDS)))
        if bad.any():
            i = int(bad.argmax())
            raise ParameterError(f'{name} of {model.joint_names[i]} is {values[i]:g}', name=name,
                                 value=float(values[i]), remedy='use a finite number '
                                 + ('above 0' if name in SPEEDS else 'of at least 0'))
    return with_given_friction(model, given)


def viscous(model: RobotModel) -> ndarray:
    """Return the lesser viscous friction (nv,) of both directions [N·m·s/rad | N·s/m]."""
    return np.minimum(model.viscous_friction, model.backward_friction[0])


def static_friction(model: RobotModel) -> ndarray:
    """Return the most friction (nv,) that may hold each joint at rest [N·m | N]."""
    return np.maximum.reduce([model.coulomb_friction, model.static_friction,
                              *model.backward_friction[1:]])


def check_compensation(model: RobotModel, share: ndarray, offset: ndarray, limit: ndarray,
                       measured: bool) -> None:
    """
    Refuse friction compensation that could drive the arm.

    :param model: with the friction that is compensated.
    :param share: (nv,) of friction and offset that is compensated.
    :param offset: (nv,) [N·m | N], in addition to friction.
    :param limit: (nv,) effort limits [N·m | N].
    :param measured: whether the velocity is measured, not that of a reference.
    :raises ParameterError: a share is not in [0, 1], or above ``MAX_MEASURED_SHARE`` of a measured
        velocity; shares of coupled joints differ; an offset that is compensated exceeds Coulomb
        and static friction; or the compensation would take the whole effort limit, which indicates
        a wrong unit.
    """
    most = MAX_MEASURED_SHARE if measured else 1.0
    if (wrong := ~((share >= 0.0) & (share <= most))).any():
        i = int(wrong.argmax())
        raise ParameterError(
            f'friction_compensation of {model.joint_names[i]} is {share[i]:g}'
            + (' at the measured velocity' if measured else ''), name='friction_compensation',
            value=float(share[i]), remedy=f'use a share in [0, {most:g}]'
            + (': above, an arm that turns a little easier than it did would drive itself'
               if measured else ''))
    most_friction = static_friction(model)
    # Gravity is below the effort limits wherever the arm is armed
    loaded = np.where(np.isfinite(limit), model.load_friction * limit, 0.0)
    ratio, _, coupled = model.coupled_friction
    shared = np.where(ratio != 0.0, coupled, 0.0)
    shared[1:] += np.abs(ratio[:-1]) * shared[:-1]
    effort = share * (most_friction + loaded + shared + np.abs(offset))
    if (wrong := ~(effort < limit)).any():
        i = int(wrong.argmax())
        raise ParameterError(
            f'friction of {model.joint_names[i]} would take {effort[i]:g} of the {limit[i]:g} '
            'N·m or N that its drive has', name='friction_compensation', value=float(share[i]),
            remedy='look for a wrong unit in coulomb_friction, static_friction, load_friction '
                   'and friction_offset')
    if (wrong := (ratio[:-1] != 0.0) & (share[:-1] != share[1:])).any():
        # Else the motor of both could be given more power than its friction takes
        i = int(wrong.argmax())
        raise ParameterError(
            f'friction_compensation of {model.joint_names[i]} is {share[i]:g}, that of '
            f'{model.joint_names[i + 1]} {share[i + 1]:g}, and a motor turns with both',
            name='friction_compensation', value=float(share[i + 1]),
            remedy='use the same share for both')
    if (wrong := (share > 0.0) & (np.abs(offset) > most_friction)).any():
        i = int(wrong.argmax())
        raise ParameterError(
            f'friction_offset of {model.joint_names[i]} is {offset[i]:g}, and its Coulomb or '
            f'static friction {most_friction[i]:g} N·m or N', name='friction_offset',
            value=float(offset[i]), remedy='use at most as much as the friction: a larger offset '
            'is a payload, a wrong model or a wrong sensor')
