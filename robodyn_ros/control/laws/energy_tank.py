# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Energy tank of a variable stiffness.

A spring that becomes stiffer while it is deflected gains energy that nobody has given: U(e, K')
- U(e, K), with the potential U of :mod:`.spring`. A stiffness that changes with the motion can
feed a contact that way until it is unstable. The tank (Ferraguti, Secchi and Fantuzzi, ICRA 2013;
Ott, Mukherjee and Nakamura, 2010) pays for it: it is filled by the work that the damper takes
from the arm and by a spring that becomes softer. With the energy of the tank as part of the
stored one, the port to the environment is passive at any K(t).

What the tank does not hold is not spent: of the stiffness that is asked for, A, a share γ of what
it has along the deflection is then left out,

    A - γ (A e) (A e)ᵀ / (eᵀ A e),

which is positive semi-definite for γ in [0, 1] (Cauchy and Schwarz), and A in all directions that
are A-orthogonal to e: there, the stiffness still changes, and it can always become softer.
"""

from typing import Annotated, NamedTuple

from numpy import ndarray, record

from .spring import couples, energy, greatest, quadratic, quadratic_of

STIFFNESS_TIME = 0.1    # s, with which the stiffness in force follows the one asked for
# Difference [N/m, N, N·m/rad], also relative, from which on it is taken over: it would come closer
# for ever, and what follows from a constant stiffness be computed again in each cycle
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
    # Nothing is left where `tank_energy` was lowered below what is spent
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
