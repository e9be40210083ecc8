# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Energy tank of a variable stiffness.

A spring that becomes stiffer while it is deflected gains energy that nobody has given: ½ eᵀ ΔK e.
A stiffness that changes with the motion can feed a contact that way until it is unstable. The tank
(Ferraguti, Secchi and Fantuzzi, ICRA 2013; Ott, Mukherjee and Nakamura, 2010) pays for it: it is
filled by the work that the damper takes from the arm and by a spring that becomes softer, and what
it does not hold is not spent: the stiffness then rises by less. With the energy of the tank as
part of the stored one, the port to the environment is passive at any K(t).

What is paid is that of the whole deflection and what is credited that of the deflection within
``task_error_limit``, so that shortened errors never gain energy.
"""

from typing import Annotated, NamedTuple

from numpy import ndarray

STIFFNESS_TIME = 0.1    # s, with which the stiffness in force follows the one asked for
# Of the work of the damper: the rest is left for the efforts that are held for a period
CREDITED = 0.5


class TankMemory(NamedTuple):
    """Memory of a law with a variable stiffness."""

    stiffness: Annotated[ndarray, 6]    # in force [N/m, N·m/rad]
    spent: Annotated[ndarray, 2]        # energy missing from the full tank [J]; 1 once it is used


def vary_stiffness(memory: TankMemory, asked: ndarray, full: ndarray, shortened: ndarray,
                   capacity: float, dt: float) -> None:
    """
    Move the stiffness in force toward the one asked for, as far as the tank pays for it.

    :param asked: (6,) stiffness [N/m, N·m/rad].
    :param full: (6,) error of the pose [m, rad]; ``shortened`` (6,) that of the spring's force.
    :param capacity: energy of the full tank [J].
    :param dt: duration of the cycle [s].
    """
    K, spent = memory.stiffness, memory.spent
    if spent[1] == 0.0:
        spent[0], spent[1] = 0.0, 1.0
        for i in range(6):
            K[i] = asked[i]
        return
    share, price = min(1.0, dt / STIFFNESS_TIME), 0.0
    for i in range(6):
        change = share * (asked[i] - K[i])
        if change < 0.0:
            spent[0] += 0.5 * shortened[i]**2 * change
            K[i] += change
        else:
            price += 0.5 * full[i]**2 * change
    spent[0] = max(spent[0], 0.0)
    paid = 1.0
    if price > 0.0:
        paid = min(1.0, max(0.0, capacity - spent[0]) / price)
    for i in range(6):
        change = share * (asked[i] - K[i])
        if change > 0.0:
            K[i] += paid * change
    spent[0] += paid * price


def fill(memory: TankMemory, power: float, dt: float) -> None:
    """Credit the tank with the work of the damper, of which the arm gives the ``power`` [W]."""
    memory.spent[0] = max(0.0, memory.spent[0] - CREDITED * max(0.0, power) * dt)
