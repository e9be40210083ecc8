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

The energy tank pays for a variable stiffness: a spring that becomes stiffer while it is deflected
gains energy from nowhere: U(e, K') - U(e, K), with the potential U above. A stiffness
that changes with the motion can feed a contact that way until it is unstable. The tank (Ferraguti,
Secchi and Fantuzzi, ICRA 2013; Ott, Mukherjee and Nakamura, 2010) pays for it: it is filled by the
work that the damper takes from the arm and by a spring that becomes softer. With the energy of the
tank as part of the stored one, the port to the environment is passive at any K(t).

The tank never spends more than it holds: if necessary, a share γ of the requested stiffness A
along the deflection is left out,

    A - γ (A e) (A e)ᵀ / (eᵀ A e),

which is positive semi-definite for γ in [0, 1] (Cauchy and Schwarz), and A in all directions that
are A-orthogonal to e: there, the stiffness still changes, and it can always become softer.
"""

from math import cos, sin, sqrt
from typing import Annotated, NamedTuple

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


STIFFNESS_TIME = 0.1    # s, with which the stiffness in force follows the one asked for
# Difference [N/m, N, N·m/rad], also relative, below which the stiffness is taken over: an
# asymptotic approach would repeat the computations of a new stiffness in each cycle
STIFFNESS_TOLERANCE = 1e-9
# Of the work of the damper: the rest is left for the efforts that are held for a period
DAMPER_CREDIT_SHARE = 0.5
# Indices of `TankMemory.account`
SPENT, BEGUN, COUPLED = range(3)


class TankMemory(NamedTuple):
    """Memory of a law with a variable stiffness."""

    stiffness: Annotated[ndarray, (6, 6)]   # in force [N/m, N, N·m/rad]
    account: Annotated[ndarray, 3]      # energy missing from the full tank [J]; 1 once it is used;
    #                                     1 once a stiffness has coupled position and orientation


def vary_stiffness(memory: TankMemory, s: record, asked: ndarray, e: ndarray, dt: float,
                   work: ndarray) -> bool:
    """
    Move the stiffness in force toward the one asked for, as far as the tank pays for it.

    Return whether it has changed.

    :param s: record ``TASK``.
    :param asked: (6, 6) stiffness [N/m, N, N·m/rad].
    :param e: (6,) error of the pose [m, rad].
    :param dt: duration of the cycle [s].
    :param work: (6,) workspace.
    """
    K, account = memory.stiffness, memory.account
    begins = account[BEGUN] == 0.0
    if begins:
        account[SPENT], account[BEGUN], account[COUPLED] = 0.0, 1.0, 0.0
        for i in range(6):
            for j in range(6):
                K[i, j] = asked[i, j]
    elif equal(K, asked):
        return False
    if account[COUPLED] == 0.0 and couples(asked):
        account[COUPLED] = 1.0          # for good: then U is never larger than before
    share = 1.0 if near(K, asked) else min(1.0, dt / STIFFNESS_TIME)
    size = 6 if account[COUPLED] == 1.0 else 3
    for first in range(0, 6, size):
        vary_block(K, account, s, asked, e, share, first, first + size, work)
    return True


def equal(K: ndarray, asked: ndarray) -> bool:
    """Return whether two matrices (6, 6) are the same."""
    same = True
    for i in range(6):
        for j in range(6):
            same &= K[i, j] == asked[i, j]
    return same


def near(K: ndarray, asked: ndarray) -> bool:
    """Return whether two stiffnesses (6, 6) differ by no more than STIFFNESS_TOLERANCE."""
    for i in range(6):
        for j in range(6):
            if not abs(asked[i, j] - K[i, j]) <= STIFFNESS_TOLERANCE * (1.0 + abs(asked[i, j])):
                return False            # nor is NaN
    return True


def vary_block(K: ndarray, account: ndarray, s: record, asked: ndarray, e: ndarray, share: float,
               first: int, last: int, work: ndarray) -> None:
    """
    Move a block of the stiffness by a ``share`` of the way to the one asked for, if it is paid.

    :param K, asked: (6, 6); ``first``, ``last``: axes of the block, see :mod:`.spring`.
    """
    # The tank is empty if `tank_energy` was lowered below the spent energy
    most, available = greatest(s, first, last), max(0.0, s.tank_energy - account[SPENT])
    x, y = quadratic(K, e, first, last), quadratic(asked, e, first, last)
    before = energy(x, most)
    price = energy((1.0 - share) * x + share * y, most) - before
    drop = 0.0                          # γ / (eᵀ A e)
    if price > available:
        affordable = quadratic_of(before + available, most)
        kept = min(1.0, max(0.0, affordable - (1.0 - share) * x) / (share * y))
        drop = (1.0 - kept) / y
        price = available
    for i in range(first, last):
        along = 0.0
        for j in range(first, last):
            along += asked[i, j] * e[j]
        work[i] = along
    for i in range(first, last):
        for j in range(first, last):
            K[i, j] += share * (asked[i, j] - drop * (work[i] * work[j]) - K[i, j])
    account[SPENT] = max(0.0, account[SPENT] + price)


def fill(memory: TankMemory, power: float, dt: float) -> None:
    """Credit the tank with the work of the damper, of which the arm gives the ``power`` [W]."""
    account = memory.account
    account[SPENT] = max(0.0, account[SPENT] - DAMPER_CREDIT_SHARE * max(0.0, power) * dt)
