# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Rotations in roll, pitch and yaw, and inertial properties of rigid bodies."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy import ndarray

ZERO_INERTIA = 1e-12    # [kg·m²]


def rpy_rotation(rpy: Sequence[float] | ndarray) -> ndarray:
    """Return the rotation (3, 3) by roll, pitch, yaw [rad] about the fixed axes x, y, z."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(rpy), np.sin(rpy)
    return np.array([[cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
                     [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
                     [-sp, cp * sr, cp * cr]])


def rotation_rpy(rotation: ndarray) -> ndarray:
    """
    Return roll, pitch, yaw (3,) [rad] of a rotation (3, 3), the inverse of :func:`rpy_rotation`.

    At a pitch of ±π/2, roll and yaw are about the same axis: the yaw is arbitrary, and the roll
    follows from the remaining rotation, without loss of accuracy.
    """
    r = rotation
    yaw = np.arctan2(r[1, 0], r[0, 0])
    c, s = np.cos(yaw), np.sin(yaw)
    return np.array([np.arctan2(s * r[0, 2] - c * r[1, 2], c * r[1, 1] - s * r[0, 1]),
                     np.arctan2(-r[2, 0], c * r[0, 0] + s * r[1, 0]), yaw])


def axis_rotation(axis: ndarray, angle: float) -> ndarray:
    """Return the rotation (3, 3) by ``angle`` [rad] about the unit vector ``axis`` (Rodrigues)."""
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def offset_inertia(mass: float, r: ndarray) -> ndarray:
    """Return the inertia (3, 3) [kg·m²] of a point mass at ``r`` (3,) [m]."""
    return mass * (r @ r * np.eye(3) - np.outer(r, r))


class Inertial(NamedTuple):
    """Mass [kg], center of mass (3,) [m] and inertia (3, 3) [kg·m²] about it, in some frame."""

    mass: float
    com: ndarray
    inertia: ndarray

    def placed(self, rotation: ndarray, origin: ndarray) -> 'Inertial':
        """Return the body in a frame in which the present one has this placement."""
        inertia = rotation @ self.inertia @ rotation.T
        return Inertial(self.mass, origin + rotation @ self.com, (inertia + inertia.T) / 2)


def joined(parts: Sequence[Inertial]) -> Inertial:
    """
    Return several bodies in the same frame as one, by the parallel-axis theorem.

    All terms are sums of positive semidefinite parts, so that nothing cancels. The center of
    several bodies without mass is the origin.
    """
    mass = sum(p.mass for p in parts)
    com = sum((p.mass * p.com for p in parts), np.zeros(3))
    com = parts[0].com if len(parts) == 1 else com / mass if mass else com
    return Inertial(mass, com, sum((p.inertia + offset_inertia(p.mass, p.com - com)
                                    for p in parts), np.zeros((3, 3))))
