# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Spring of six axes with a full stiffness matrix, whose force does not grow beyond a limit.

The force has a potential, so that at a constant stiffness no closed path gains energy: with
x = eᵀ K e, which is twice the energy of a spring without a limit,

    U = x/2 for x <= S,  √(S x) - S/2 beyond,  F = K e min(1, √(S/x))

(Huber's function). An error shortened to a length would have no potential unless all directions
were equally stiff. S is the stiffness of the settings in its stiffest direction times the square
of ``task_error_limit``. Position and orientation have each their own U, or a common one, with the
smaller S, once a stiffness has coupled them.

Elements of the stiffness are K[i, j] in N/m, N (N·m/m), and N·m/rad; blocks are axes ``first`` to
``last``, exclusively.
"""

from math import cos, sin, sqrt

from numpy import ndarray, record


def couples(K: ndarray) -> bool:
    """Return whether position and orientation are coupled by a stiffness (6, 6)."""
    for i in range(3):
        for j in range(3, 6):
            if K[i, j] != 0.0:
                return True
    return False


def quadratic(K: ndarray, e: ndarray, first: int, last: int) -> float:
    """Return eᵀ K e [J] of a block."""
    x = 0.0
    for i in range(first, last):
        for j in range(first, last):
            x += e[i] * K[i, j] * e[j]
    return max(x, 0.0)


def greatest(s: record, first: int, last: int) -> float:
    """
    Return S [J] of a block.

    The stiffness in the stiffest direction is bounded by the largest sum of the magnitudes of a
    row, which is exact for uncoupled axes.

    :param s: record ``TASK``.
    """
    least = 0.0
    for block in range(first, last, 3):
        stiffest = 0.0
        for i in range(block, block + 3):
            total = 0.0
            for j in range(block, block + 3):
                total += abs(s.task_stiffness[6 * i + j])
            stiffest = max(stiffest, total)
        limit = s.task_error_limit[block // 3]
        most = stiffest * limit * limit
        if most > 0.0 and (least == 0.0 or most < least):
            least = most
    return least


def energy(x: float, most: float) -> float:
    """Return U [J]; ``most`` is S."""
    return 0.5 * x if x <= most else sqrt(most * x) - 0.5 * most


def quadratic_of(U: float, most: float) -> float:
    """Return x = eᵀ K e [J] of an energy U [J]."""
    return 2.0 * U if 2.0 * U <= most else (U + 0.5 * most)**2 / most


def spring_force(s: record, K: ndarray, coupled: bool, e: ndarray, force: ndarray) -> None:
    """
    Write the force (6,) [N, N·m] of the spring, -∂U/∂e.

    :param e: (6,) [m, rad].
    """
    size = 6 if coupled else 3
    for first in range(0, 6, size):
        last = first + size
        x = 0.0
        for i in range(first, last):
            f = 0.0
            for j in range(first, last):
                f += K[i, j] * e[j]
            force[i] = f
            x += e[i] * f
        most = greatest(s, first, last)
        if x > most:
            share = sqrt(most / x)
            for i in range(first, last):
                force[i] *= share


def turn_force(e: ndarray, tool_axes: bool, force: ndarray) -> None:
    """
    Turn -∂U/∂e into the wrench that does its work, so that it has the potential U.

    The rate of a rotation vector φ is not the angular velocity ω: for the error log(R_d Rᵀ) in the
    axes of the base it is -J_r(φ)⁻¹ ω, for that in the axes of the frame -J_l(φ)⁻¹ ω (Sola, Deray
    and Atchuthan, A micro Lie theory for state estimation in robotics, 2018, equations 143 to
    146). In the axes of the frame the error of the position turns besides. Where all directions
    are equally stiff, nothing changes.

    :param e: (6,) error [m, rad]; ``force`` (6,) [N, N·m], in and out.
    """
    x, y, z = e[3], e[4], e[5]
    square = x * x + y * y + z * z
    if square < 1e-6:
        c = 1.0 / 12.0
    else:
        half = 0.5 * sqrt(square)
        c = (1.0 - half * cos(half) / sin(half)) / square
    a, b, d = force[3], force[4], force[5]
    u, v, w = y * d - z * b, z * a - x * d, x * b - y * a           # φ × torque
    side = 0.5 if tool_axes else -0.5
    force[3] += side * u + c * (y * w - z * v)
    force[4] += side * v + c * (z * u - x * w)
    force[5] += side * w + c * (x * v - y * u)
    if tool_axes:
        force[3] += e[1] * force[2] - e[2] * force[1]
        force[4] += e[2] * force[0] - e[0] * force[2]
        force[5] += e[0] * force[1] - e[1] * force[0]
