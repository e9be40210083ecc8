# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Efforts that the acceleration bounds leave to each joint, and the rotor inertia they lack.

The bounds of :mod:`.acceleration_limits` are accelerations, which the model converts to efforts.
URDF has no rotor inertia, so that the model of a light wrist permits a small part of its effort
only. With more, a wrist without a rotor would indeed exceed its velocity limit, which it reaches
in a few periods of 1 ms. The remedy is therefore the parameter ``armature``, not a weaker bound.
"""

from typing import NamedTuple

import numpy as np
from numpy import ndarray

from ..steps.acceleration_limits import ACCELERATION_SHARE, VELOCITY_SHARE
from ...model.robot import RobotModel

# Time [s] in which a drive without a load reaches its velocity limit with its full effort, at
# least: rotor, encoder and brake of geared drives take 10 to 60 ms, quick ones with low gear
# ratios 5 ms (Damiao DM4310: 0.0018 kg·m², 7 N·m, 30 rad/s, 7.7 ms; DM4340: 0.032 kg·m², 27 N·m,
# 8 rad/s, 9.5 ms). Rotors of this inertia leave a joint 27 % of its effort.
MIN_ROTOR_TIME = 0.005
# Share of the effort limit below which a joint may not overcome its friction
SCARCE_EFFORT = 0.25


class Scarcity(NamedTuple):
    """Efforts (nv,) [N·m | N] besides gravity that the bounds leave, at least, and the limits."""

    joint_names: tuple[str, ...]
    available: ndarray
    effort_limit: ndarray
    armature: ndarray           # (nv,) [kg·m² | kg] the smallest plausible one of each joint
    scarce: ndarray             # (nv,) whether `available` is little, and `armature` would help

    def sentence(self, joints: ndarray) -> str:
        """Return a warning for the joints of a mask (nv,), with the remedy; '' for none."""
        if not (which := np.flatnonzero(joints)).size:
            return ''
        names = self.joint_names
        left = ', '.join(f'{self.available[i]:.2g} of {self.effort_limit[i]:.3g} ({names[i]})'
                         for i in which)
        least = ', '.join(f'{self.armature[i]:.2g} ({names[i]})' for i in which)
        return (f'the velocity limits leave little effort besides gravity: {left} N·m or N, '
                'because the model has no rotor inertia there; set armature for a real drive, at '
                f'least about {least} kg·m² or kg, with which the full effort takes '
                f'{1e3 * MIN_ROTOR_TIME:g} ms to the velocity limit')


def scarcity(model: RobotModel, mass_matrices: ndarray, effort_limit: ndarray,
             velocity_limit: ndarray, limit_rate: float) -> Scarcity:
    """
    Return the efforts with which joints at rest accelerate as much as the bounds permit.

    :param mass_matrices: (P, nv, nv) at several poses, of which the least effort counts.
    :param effort_limit, velocity_limit: (nv,) in force. The drives have those of the URDF, if it
        has any. Not finite or 0: unknown, nothing is scarce, as without inertias.
    :param limit_rate: [1/s] of the settings.
    """
    known = (np.isfinite(effort_limit) & np.isfinite(velocity_limit)
             & (effort_limit > 0.0) & (velocity_limit > 0.0))
    effort, velocity = np.where(known, effort_limit, 1.0), np.where(known, velocity_limit, 1.0)
    available = effort
    if not model.massless_joints:       # else no controller takes the model
        response = np.linalg.inv(mass_matrices).diagonal(axis1=1, axis2=2).max(0)
        available = np.minimum(
            ACCELERATION_SHARE * limit_rate * VELOCITY_SHARE * velocity / response, effort)
    drive = [np.where(np.isfinite(urdf) & (urdf > 0.0), urdf, given) for urdf, given in (
        (model.effort_limit, effort), (model.velocity_limit, velocity))]
    armature = MIN_ROTOR_TIME * drive[0] / drive[1]
    return Scarcity(tuple(model.joint_names), available, effort_limit, armature,
                    known & (available < SCARCE_EFFORT * effort) & (model.armature < armature))
