# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Slow descent of an arm without brakes, before its efforts end.

Such an arm falls as soon as nothing carries it. With ``lower_to_rest`` a stop, and a fault with a
valid state, therefore end in a descent

    τ = σ g(q) - λ M(q) q̇,    λ = ``damping_rate``

whose share σ falls from 1 to 0 while the arm is slower than LOWERING_VELOCITY, and rises while it
is faster. The arm comes down at about that velocity, whatever its pose and its payload, until it
lies on something, hangs, or its friction holds it; only then do the efforts end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from numpy import ndarray, record

from .guard import at_rest
from ..declare import flag
from ..declare import SETTINGS_RECORD as SETTINGS

if TYPE_CHECKING:
    from .cycle_data import Cycle

LOWERING_VELOCITY = 0.35    # [rad/s | m/s], at most LOWERING_SHARE velocity limits
LOWERING_SHARE = 0.2
LOWERING_TIME = 2.0     # [s] in which an arm that does not move loses its support
CATCHING_RATE = 3.0     # an arm that is too fast is caught so much sooner than it is let down
LYING_TIME = 0.3        # [s] at rest without support, after which the efforts end
#: Longest descent [s]; a hand may keep an arm from coming to rest.
LONGEST_DESCENT = 60.0


@dataclass(frozen=True)
class Parameters:
    """End of the efforts of an arm without brakes."""

    lower_to_rest: bool = flag(
        'Lower the arm slowly before its efforts end, because it has no brakes.', record=SETTINGS)


#: Fields of the controller state.
STATE = [
    ('support', float),     # share of g(q) that is left in a descent
    ('descent', float),     # s since it began; 0: it has not
    ('lying', float),       # s at rest without support
]


def lowers(s: record, m: record) -> bool:
    """Return whether the efforts of a stop or a fault end in a descent."""
    return s.lower_to_rest == 1 and m.gravity_by_robot == 0


def forget(m: record) -> None:
    """Begin with all support: no descent has begun."""
    m.support, m.descent, m.lying = 1.0, 0.0, 0.0


def lower(c: Cycle, dt: float, tau: ndarray) -> bool:
    """Write the efforts (nv,) [N·m | N] of a descent; return whether it is over."""
    s, m, v = c.settings, c.controller, c.vectors
    m.descent += dt
    speed = 0.0
    for i in range(tau.shape[0]):
        speed = max(speed, abs(v.qd[i])
                    / min(LOWERING_VELOCITY, LOWERING_SHARE * v.speed_limit[i]))
    rate = (1.0 - speed) / LOWERING_TIME
    if rate < 0.0:
        rate *= CATCHING_RATE
    m.support = min(1.0, max(0.0, m.support - rate * dt))
    for i in range(tau.shape[0]):
        tau[i] = m.support * v.tau_gravity[i] - s.damping_rate * v.momentum[i]
    m.lying = m.lying + dt if m.support == 0.0 and at_rest(v, s.rest_velocity) else 0.0
    return m.lying >= LYING_TIME or m.descent > LONGEST_DESCENT
