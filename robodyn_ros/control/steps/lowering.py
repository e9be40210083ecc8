# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Slow descent of an arm without brakes, before its efforts end.

Such an arm falls as soon as nothing carries it. With ``lower_to_rest`` a stop, and a fault with a
valid state, therefore end in a descent

    τ = σ g(q) - λ M(q) q̇,    λ = ``damping_rate``

whose share σ falls from 1 to 0 while the arm is slower than LOWERING_VELOCITY, and rises while it
is faster. The arm comes down at about that velocity, whatever its pose and its payload, until it
lies on something, hangs, or its friction holds it. Then what keeps joints within their position
limits is withdrawn in the same way, so that they do not fall onto their mechanical stops, and the
damping in LYING_TIME; and if the arm stays at rest without any effort, the efforts end.

With ``rest_position`` a stop takes the arm there before: a critically damped spring pulls it after
a reference that moves at LOWERING_VELOCITY, under the checks of an arm that is RUNNING.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TYPE_CHECKING

from numpy import ndarray, record

from .guard import at_rest, FAULT, NO_REASON
from .plausibility import unwrap
from ..declare import flag, JOINT_RECORD, numbers, PerJoint, SETTINGS_RECORD as SETTINGS

if TYPE_CHECKING:
    from .cycle_data import Cycle

LOWERING_VELOCITY = 0.35    # [rad/s | m/s], at most LOWERING_SHARE velocity limits
LOWERING_SHARE = 0.2
LOWERING_TIME = 2.0     # [s] in which an arm that does not move loses its support
CATCHING_RATE = 3.0     # an arm that is too fast is caught so much sooner than it is let down
CATCHING_SHARE = 2.0    # at once, of g(q) for each LOWERING_VELOCITY above it
LEAST_SUPPORT = -1.0
LYING_TIME = 1.0        # [s] at rest in which the damping ends, and then without any effort
# The reference is ahead of a slow arm by 4/λ times its velocity; it waits where the arm is farther
# behind, which bounds the efforts on an obstacle, for so long [s] that the arm is lowered there
LEAD, WAITING_TIME = 8.0, 2.0
LONGEST_APPROACH = 60.0    # [s]
#: Longest descent with its approach [s]; a hand may keep an arm from coming to rest.
LONGEST_DESCENT = 120.0


@dataclass(frozen=True)
class Parameters:
    """End of the efforts of an arm without brakes."""

    lower_to_rest: bool = flag(
        'Lower the arm slowly before its efforts end, because it has no brakes.', record=SETTINGS)
    rest_position: PerJoint = numbers(
        'rad or m', -1e3, 1e3, 'Where a stop takes such an arm before, straight in joint space. '
        'Empty: nowhere.', record=JOINT_RECORD)


#: Fields of the controller state.
STATE = [
    ('support', float),     # share of g(q) that is left in a descent; below 0, see limit_share
    ('descent', float),     # s since it began; 0: it has not
    ('lying', float),       # s at rest without support and limits
    ('approach', float),    # s for which the arm was behind on its way to rest_position; -1: over
]


def lowers(s: record, m: record) -> bool:
    """Return whether the efforts of a stop or a fault end in a descent."""
    return s.lower_to_rest == 1 and m.gravity_by_robot == 0


def drives_damp(m: Any) -> bool:
    """Return whether the drives of an arm without brakes damp it, beside the efforts if any."""
    return bool(m['descent'] > 0.0 and m['approach'] < 0.0 or m['publishing'] == 0
                or m['phase'] == FAULT and m['without_state'] == 1)


def forget(m: record) -> None:
    """Begin with all support: no descent has begun."""
    m.support, m.descent, m.lying, m.approach = 1.0, 0.0, 0.0, 0.0


def limit_share(m: record) -> float:
    """Return the share of the efforts that keep joints within their limits."""
    return min(1.0, 1.0 + m.support)


def approaches(m: record) -> bool:
    """Return whether the arm is on its way to ``rest_position``."""
    return bool(m.descent > 0.0 and m.approach >= 0.0)


def relative_speed(c: Cycle, i: int, change: float) -> float:
    """Return a velocity of joint i as a multiple of that at which it comes down."""
    return abs(change) / min(LOWERING_VELOCITY, LOWERING_SHARE * c.vectors.speed_limit[i])


def lower(c: Cycle, dt: float, tau: ndarray) -> bool:
    """Write the efforts (nv,) [N·m | N] of approach and descent; return whether it is over."""
    s, m, v = c.settings, c.controller, c.vectors
    if m.descent == 0.0:
        if s.rests_at_position == 0 or m.reason != NO_REASON or s.damping_rate == 0.0:
            m.approach = -1.0
        m.following = m.pose_following = 0
        for i in range(tau.shape[0]):
            v.target[i] = v.q[i]
    m.descent += dt
    if m.approach >= 0.0:
        approach(c, dt, tau)
        return False
    speed = 0.0
    for i in range(tau.shape[0]):
        speed = max(speed, relative_speed(c, i, v.qd[i]))
    rate = (1.0 - speed) / LOWERING_TIME
    if speed > 1.0:
        rate *= CATCHING_RATE
        m.support = max(0.0, m.support)
    m.support = min(1.0, max(LEAST_SUPPORT, m.support - rate * dt))
    carried = min(1.0, max(0.0, m.support) + CATCHING_SHARE * max(0.0, speed - 1.0))
    damped = max(0.0, 1.0 - m.lying / LYING_TIME)
    for i in range(tau.shape[0]):
        tau[i] = carried * v.tau_gravity[i] - damped * s.damping_rate * v.momentum[i]
    m.lying = (m.lying + dt if m.support == LEAST_SUPPORT and at_rest(v, s.rest_velocity)
               else 0.0)
    return m.lying >= 2.0 * LYING_TIME or m.descent > LONGEST_DESCENT


def approach(c: Cycle, dt: float, tau: ndarray) -> None:
    """Write the efforts (nv,) of a critically damped spring to a reference that moves there."""
    joints, s, m, v, M = c.joints, c.settings, c.controller, c.vectors, c.workspace.M
    remaining = behind = 0.0
    for i in range(tau.shape[0]):
        rest = unwrap(joints[i], joints[i].rest_position, v.target[i])
        remaining = max(remaining, relative_speed(c, i, rest - v.target[i]))
        behind = max(behind, relative_speed(c, i, v.target[i] - v.q[i]))
    if behind > LEAD / s.damping_rate:
        m.approach += dt
    else:
        share = min(1.0, dt / remaining) if remaining > 0.0 else 1.0
        for i in range(tau.shape[0]):
            v.target[i] += share * (unwrap(joints[i], joints[i].rest_position, v.target[i])
                                    - v.target[i])
    rate = 0.25 * s.damping_rate * s.damping_rate
    for i in range(tau.shape[0]):
        tau[i] = v.tau_gravity[i] - s.damping_rate * v.momentum[i]
        for j in range(tau.shape[0]):
            tau[i] += M[i, j] * rate * (v.target[j] - v.q[j])
    if (m.approach > WAITING_TIME or m.descent > LONGEST_APPROACH
            or remaining == 0.0 and at_rest(v, s.rest_velocity)):
        m.approach = -1.0
