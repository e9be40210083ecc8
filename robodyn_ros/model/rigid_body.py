# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Rigid bodies: rotations, inertia, pseudo-inertia, and which inertias can exist.

Messages contain rotations as quaternions x, y, z, w (Siciliano et al., Robotics, 2009, section
2.6). SciPy has them, too, but its import would make each start of a controller longer.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

ZERO_INERTIA = 1e-12    # [kg·m²]
# Product with the principal moments: twice the second moments of mass ∫ x² dm, ∫ y² dm, ∫ z² dm,
# all of them positive for a body with volume (Traversaro et al. 2016).
SECOND_MOMENTS = np.array([[-1.0, 1.0, 1.0], [1.0, -1.0, 1.0], [1.0, 1.0, -1.0]])
MIN_SECOND_MOMENT = 1e-6    # of a result, relative to the largest principal moment
ZERO_SECOND_MOMENT = 1e-9    # relative to the largest principal moment
MOMENTS = (0, 0, 1, 0, 1, 2), (0, 1, 1, 2, 2, 2)    # rows, columns of Ixx Ixy Iyy Ixz Iyz Izz
UPPER_TRIANGLE = np.triu_indices(3)                 # the same of Ixx Ixy Ixz Iyy Iyz Izz, of URDF


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


def is_consistent(inertia: ndarray) -> bool:
    """
    Return whether a body with mass and with extent in all directions can have this inertia.

    Its pseudo-inertia [[Σ, m c], [m cᵀ, m]] is then positive definite: by Schur's complement, if
    and only if m and the second moments about the center of mass are positive.

    :param inertia: (3, 3) [kg·m²] about the center of mass.
    """
    moments = np.linalg.eigvalsh(inertia)
    return bool((SECOND_MOMENTS @ moments).min() > ZERO_SECOND_MOMENT * moments[-1] > 0)


def can_exist(inertia: ndarray) -> bool:
    """
    Return whether a body can have this inertia, which may be thin, or a point.

    No second moment of mass is negative, beyond rounding: the triangle inequality.

    :param inertia: (3, 3) [kg·m²] about the center of mass, symmetric.
    """
    moments = np.linalg.eigvalsh(inertia)
    return bool((SECOND_MOMENTS @ moments).min() >= -ZERO_SECOND_MOMENT * abs(moments).max())


def nearest_consistent(inertia: ndarray) -> ndarray:
    """
    Return the inertia (3, 3) [kg·m²] of a rigid body that is nearest to the given one.

    Nearest in the Frobenius norm |I - I₀|, under the triangle inequality with a margin: every
    second moment of mass is at least ``MARGIN`` of the largest principal moment. Norm and
    inequality do not depend on the axes, so the principal axes stay, and what is left is a
    least-distance problem of three principal moments (Lawson and Hanson 1974, chapter 23).

    :param inertia: (3, 3) [kg·m²] about the center of mass, symmetric and not zero.
    """
    from scipy.optimize import nnls  # takes a while to import, and few models need it

    moments, axes = np.linalg.eigh(inertia)
    size = abs(moments).max()
    bound = np.full(3, 2.0 * MIN_SECOND_MOMENT) - SECOND_MOMENTS @ (moments / size)
    E = np.vstack([SECOND_MOMENTS.T, bound])
    weights, _ = nnls(E, np.array([0.0, 0.0, 0.0, 1.0]))
    residual = E @ weights - [0.0, 0.0, 0.0, 1.0]
    shifted = moments - size * residual[:3] / residual[3]
    return (axes * shifted) @ axes.T


def _maps() -> ndarray:
    """Return the pseudo-inertia (10, 4, 4) of a unit of each parameter."""
    maps = np.zeros((10, 4, 4))
    maps[0, 3, 3] = 1.0
    for i in range(3):
        maps[1 + i, i, 3] = maps[1 + i, 3, i] = 1.0
    for i, (a, b) in enumerate(zip(*MOMENTS), 4):
        if a == b:      # E = tr(I) / 2 - I
            maps[i, :3, :3] = np.eye(3) / 2
            maps[i, a, a] -= 1.0
        else:
            maps[i, a, b] = maps[i, b, a] = -1.0
    return maps


UNITS = _maps()


def pseudo_inertia(parameters: ndarray) -> ndarray:
    """
    Return pseudo-inertias (nb, 4, 4) of inertial parameters (10 nb,).

    [[E, m c], [(m c)ᵀ, m]] with E = ∫ r rᵀ dm = tr(I)/2 1 - I about the origin of the body's
    frame: the second moment of mass of points (x, y, z, 1). A distribution of mass has these
    parameters if and only if the matrix is positive semidefinite (Wensing, Kim and Slotine 2018;
    Traversaro et al. 2016). Compiled code has :mod:`..dynamics.pseudo_inertia`.

    :param parameters: as ``RobotModel.inertial_parameters``.
    """
    return np.einsum('bk,kij->bij', np.reshape(parameters, (-1, 10)), UNITS)


def inertial_parameters(P: ndarray) -> ndarray:
    """Return the parameters (10 nb,) of pseudo-inertias (nb, 4, 4)."""
    E = P[:, :3, :3]
    inertia = np.trace(E, axis1=1, axis2=2)[:, None, None] * np.eye(3) - E
    return np.column_stack([P[:, 3, 3], P[:, :3, 3], inertia[:, MOMENTS[0], MOMENTS[1]]]).ravel()


def of_body(body: Inertial) -> ndarray:
    """Return the pseudo-inertia (4, 4) of a body about the origin of its frame."""
    first = body.mass * body.com
    second = np.trace(body.inertia) / 2 * np.eye(3) - body.inertia + np.outer(first, body.com)
    return np.block([[second, first[:, None]], [first[None, :], np.array([[body.mass]])]])


def body_of(P: ndarray) -> Inertial:
    """Return the body of a pseudo-inertia (4, 4); without mass its center is the origin."""
    mass, first = P[3, 3], P[:3, 3]
    com = first / mass if mass else np.zeros(3)
    about = P[:3, :3] - np.outer(first, com)
    return Inertial(mass, com, np.trace(about) * np.eye(3) - about)


def unit_quaternion(quaternion: ArrayLike) -> ndarray:
    """Return a quaternion (4,) of length 1; NaN of one of length 0."""
    q = np.asarray(quaternion, float)
    with np.errstate(invalid='ignore'):
        return q / np.linalg.norm(q)


def quaternion_product(first: ndarray, second: ndarray) -> ndarray:
    """Return the quaternion (4,) of the rotation ``second``, followed by ``first``."""
    (u, a), (v, b) = (first[:3], first[3]), (second[:3], second[3])
    return np.append(a * v + b * u + np.cross(u, v), a * b - u @ v)


def quaternion_matrix(quaternion: ArrayLike) -> ndarray:
    """Return the rotation (3, 3) of a quaternion (4,) of any length but 0."""
    x, y, z, w = unit_quaternion(quaternion)
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])
