# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Friction that was identified takes the place of the model's; how much of it may be compensated.

The law is :func:`.laws.friction_compensation`. What follows a reference compensates the friction
of the reference's velocity: a feed-forward, which no share and no delay can make unstable. The
arm that floats has no reference, and compensates that of its measured velocity, which is negative
damping. Where real friction f is what is known of it or more, and does not fall as the joint gets
faster, share f(v(t - delay)) brings the arm on average at most that share of the power which
friction takes from it, whatever the delay (rearrangement inequality). So the share must stay
below 1 even where the joint has turned easier than it was: see :data:`MOST_FELT`.

Sources: Armstrong-Hélouvry, Dupont, Canudas de Wit, Automatica 30(7) (1994); Olsson, Åström,
Canudas de Wit, Gäfvert, Lischinsky, European Journal of Control 4(3) (1998); Bona, Indri, Friction
compensation in robotics: an overview, IEEE CDC (2005).
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy import ndarray

from ..errors import ParameterError
from ..model.robot import RobotModel
from .gain_stability import MARGIN

VELOCITIES = ('friction_velocity', 'stribeck_velocity')
CURVE = ('viscous_friction', 'coulomb_friction', 'static_friction', 'backward_viscous_friction',
         'backward_coulomb_friction', 'backward_static_friction', *VELOCITIES)

# Share of the friction of a measured velocity: the arm loses speed even where a fifth of friction
# is gone, the same room as gains have.
MOST_FELT = 1.0 / MARGIN


def with_friction(model: RobotModel, given: Mapping[str, ndarray]) -> RobotModel:
    """
    Return the model with other friction.

    What is not given stays, but for this: static friction is as much as Coulomb friction where
    only that is given, and motion backward is as forward where only that is given, as in the
    element ``<robodyn>`` of a URDF.

    :param given: (nv,) each, by their names in ``CURVE``, in the units of :class:`RobotModel`.
    :raises ParameterError: a number is negative or not finite, or a velocity is zero.
    """
    if not given:
        return model
    for name, values in given.items():
        bad = ~np.isfinite(values) | (values < 0.0) | ((values == 0.0) & (name in VELOCITIES))
        if bad.any():
            i = int(bad.argmax())
            raise ParameterError(f'{name} of {model.joint_names[i]} is {values[i]:g}', name=name,
                                 value=float(values[i]), remedy='give a finite number '
                                 + ('above 0' if name in VELOCITIES else 'of at least 0'))

    def known(otherwise: ndarray, *names: str) -> ndarray:
        return next((given[name] for name in names if name in given), otherwise)

    viscous, coulomb, static = model.backward_friction
    return replace(
        model,
        viscous_friction=known(model.viscous_friction, 'viscous_friction'),
        coulomb_friction=known(model.coulomb_friction, 'coulomb_friction'),
        static_friction=known(model.static_friction, 'static_friction', 'coulomb_friction'),
        backward_friction=np.array([
            known(viscous, 'backward_viscous_friction', 'viscous_friction'),
            known(coulomb, 'backward_coulomb_friction', 'coulomb_friction'),
            known(static, 'backward_static_friction', 'backward_coulomb_friction',
                  'static_friction', 'coulomb_friction')]),
        friction_velocity=known(model.friction_velocity, 'friction_velocity'),
        stribeck_velocity=known(model.stribeck_velocity, 'stribeck_velocity'))


def viscous(model: RobotModel) -> ndarray:
    """Viscous friction (nv,) that a joint has in both directions [N·m·s/rad | N·s/m]."""
    return np.minimum(model.viscous_friction, model.backward_friction[0])


def check_compensation(model: RobotModel, share: ndarray, offset: ndarray, limit: ndarray,
                       felt: bool) -> None:
    """
    Refuse what is more than compensation.

    :param share: (nv,) of friction and of its ``offset`` (nv,) [N·m | N].
    :param limit: (nv,) [N·m | N] of efforts.
    :param felt: of a measured velocity, not of a reference's.
    :raises ParameterError: a share is not in [0, 1], or above ``MOST_FELT`` where it is felt; an
        offset that is compensated is above Coulomb and static friction; or
        it would take the whole effort of a drive, which is what another unit looks like.
    """
    most = MOST_FELT if felt else 1.0
    if (wrong := ~((share >= 0.0) & (share <= most))).any():
        i = int(wrong.argmax())
        raise ParameterError(
            f'friction_compensation of {model.joint_names[i]} is {share[i]:g}'
            + (' in mode gravity_compensation' if felt else ''), name='friction_compensation',
            value=float(share[i]), remedy=f'give a share in [0, {most:g}]'
            + (': above, an arm that turns a little easier than it did would drive itself'
               if felt else ''))
    most_friction = np.maximum.reduce([model.coulomb_friction, model.static_friction,
                                       *model.backward_friction[1:]])
    effort = share * (most_friction + np.abs(offset))
    if (wrong := ~(effort < limit)).any():
        i = int(wrong.argmax())
        raise ParameterError(
            f'friction of {model.joint_names[i]} would take {effort[i]:g} of the {limit[i]:g} '
            'N·m or N that its drive has', name='friction_compensation', value=float(share[i]),
            remedy='look for a wrong unit in coulomb_friction, static_friction and '
                   'friction_offset')
    if (wrong := (share > 0.0) & (np.abs(offset) > most_friction)).any():
        i = int(wrong.argmax())
        raise ParameterError(
            f'friction_offset of {model.joint_names[i]} is {offset[i]:g}, and its Coulomb or '
            f'static friction {most_friction[i]:g} N·m or N', name='friction_offset',
            value=float(offset[i]), remedy='give at most as much as the friction: what is larger '
            'is a payload, a wrong model or a wrong sensor')
