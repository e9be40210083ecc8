# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Exponential coordinates of rotations: exp, log, and the angular velocity of a rotation vector.

Matrices are tuples of rows, vectors tuples. A rotation vector φ is the unit axis times the angle
θ [rad] (Lynch and Park, Modern Robotics, 2017, section 3.2.3; Siciliano et al. 2009, appendix A).
"""

from math import atan2, cos, sin, sqrt

from numpy import ndarray

from ..dynamics.model_data import Matrix3, Vector3
from ..dynamics.spatial import add, cross, dot, scale

SMALL_ANGLE = 0.05    # rad; series of order θ² are exact to 1e-8 below it


def rows(T: ndarray) -> Matrix3:
    """Return the rotation of a pose (4, 4), or a rotation (3, 3), as a tuple of rows."""
    return ((T[0, 0], T[0, 1], T[0, 2]), (T[1, 0], T[1, 1], T[1, 2]), (T[2, 0], T[2, 1], T[2, 2]))


def multiplied(A: Matrix3, B: Matrix3) -> Matrix3:
    """Return A B."""
    x, y, z = ((B[0][0], B[1][0], B[2][0]), (B[0][1], B[1][1], B[2][1]),
               (B[0][2], B[1][2], B[2][2]))
    return ((dot(A[0], x), dot(A[0], y), dot(A[0], z)),
            (dot(A[1], x), dot(A[1], y), dot(A[1], z)),
            (dot(A[2], x), dot(A[2], y), dot(A[2], z)))


def multiplied_transposed(A: Matrix3, B: Matrix3) -> Matrix3:
    """Return A Bᵀ."""
    return ((dot(A[0], B[0]), dot(A[0], B[1]), dot(A[0], B[2])),
            (dot(A[1], B[0]), dot(A[1], B[1]), dot(A[1], B[2])),
            (dot(A[2], B[0]), dot(A[2], B[1]), dot(A[2], B[2])))


def exp(phi: Vector3) -> Matrix3:
    """Return the rotation by a rotation vector (Rodrigues; Lynch and Park 2017, eq. 3.51)."""
    x, y, z = phi
    square = dot(phi, phi)
    angle = sqrt(square)
    if angle < SMALL_ANGLE:
        a, b = 1.0 - square / 6.0 + square**2 / 120.0, 0.5 - square / 24.0 + square**2 / 720.0
    else:
        a, b = sin(angle) / angle, (1.0 - cos(angle)) / square
    c = 1.0 - b * square
    return ((c + b * x * x, b * x * y - a * z, b * x * z + a * y),
            (b * x * y + a * z, c + b * y * y, b * y * z - a * x),
            (b * x * z - a * y, b * y * z + a * x, c + b * z * z))


def log(R: Matrix3) -> Vector3:
    """
    Return the rotation vector of a rotation, of an angle of at most π [rad].

    By way of the unit quaternion, whose largest element is computed first: accurate for all angles
    (Siciliano et al. 2009, eq. 2.34). At π the sign of the axis is arbitrary.
    """
    (a, b, c), (d, e, f), (g, h, i) = R
    if a + e + i > 0.0:
        w, x, y, z = 1.0 + a + e + i, h - f, c - g, d - b
    elif a >= e and a >= i:
        w, x, y, z = h - f, 1.0 + a - e - i, b + d, c + g
    elif e >= i:
        w, x, y, z = c - g, b + d, 1.0 - a + e - i, f + h
    else:
        w, x, y, z = d - b, c + g, f + h, 1.0 - a - e + i
    sign = 1.0 if w >= 0.0 else -1.0
    w, x, y, z = sign * w, sign * x, sign * y, sign * z
    length = sqrt(x * x + y * y + z * z)
    if length < 1e-12 * w:
        k = 2.0 / w
    else:
        k = 2.0 * atan2(length, w) / length
    return k * x, k * y, k * z


def angular_motion(phi: Vector3, rate: Vector3, second: Vector3) -> tuple[Vector3, Vector3]:
    """
    Return angular velocity and acceleration of exp(φ) R from φ, φ̇ and φ̈.

    ω = φ̇ + a φ × φ̇ + b φ × (φ × φ̇) with a = (1 - cos θ)/θ² and b = (θ - sin θ)/θ³, the left
    Jacobian of SO(3) (Barfoot, State Estimation for Robotics, 2017, eq. 7.77), and its derivative.
    """
    square = dot(phi, phi)
    angle = sqrt(square)
    if angle < SMALL_ANGLE:
        a, b = 0.5 - square / 24.0, 1.0 / 6.0 - square / 120.0
        a_rate, b_rate = -1.0 / 12.0 + square / 180.0, -1.0 / 60.0 + square / 1260.0
    else:
        s, c = sin(angle), cos(angle)
        a, b = (1.0 - c) / square, (angle - s) / (square * angle)
        a_rate, b_rate = (s / angle - 2.0 * a) / square, (a - 3.0 * b) / square
    speed = dot(phi, rate)
    across = cross(phi, rate)
    twice = cross(phi, across)
    velocity = add(rate, add(scale(a, across), scale(b, twice)))
    bend = add(cross(rate, across), cross(phi, cross(phi, second)))
    acceleration = add(add(second, scale(a, cross(phi, second))), scale(b, bend))
    turn = add(scale(a_rate * speed, across), scale(b_rate * speed, twice))
    return velocity, add(acceleration, turn)
