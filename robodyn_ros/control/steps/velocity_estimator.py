# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""State of the arm in use: accepted samples, and estimates of velocities not measured."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp
from typing import TYPE_CHECKING

import numpy as np

from ..declare import choice, number
from ..declare import SETTINGS_RECORD as SETTINGS

if TYPE_CHECKING:
    from .cycle_data import Cycle


# A velocity above this multiple of the velocity limit is no measurement: damping it would drive
# the arm at full effort
MAX_CREDIBLE_VELOCITY = 10.0
#: Reactions to a state without velocity, in the order of their numbers.
MISSING_VELOCITY = ('fault', 'estimate', 'gravity_only')
VELOCITY_OR_FAULT, VELOCITY_OR_ESTIMATE, VELOCITY_OR_GRAVITY = range(len(MISSING_VELOCITY))


@dataclass(frozen=True)
class Parameters:
    """Velocities that are not measured."""

    missing_velocity: str = choice(
        MISSING_VELOCITY, 'Reaction to a missing velocity: fault, estimate, or gravity '
        'compensation alone.', record=SETTINGS, after='late_limit')
    velocity_bandwidth: float = number(
        30.0, 'Hz', 0.1, 1000.0, 'Bandwidth of the velocity estimate.', record=SETTINGS)


#: Fields of the controller state.
STATE = [
    ('observing', np.int64),        # 1: the velocity filter is initialized
]


def observe(c: Cycle, elapsed: float) -> int:
    """
    Copy accepted positions, velocities and efforts to ``v``; return a joint without velocity.

    Joints whose newest sample was rejected (:mod:`.plausibility`) keep the one before it. A
    velocity that is NaN or not credible is replaced by the derivative of the position behind a
    first-order low-pass filter of ``velocity_bandwidth``. The estimate stays as it is while no
    time elapses, and restarts after a jump of time (``m.observing`` 0).

    :returns: index of the last joint without a measured velocity, -1 for none.
    """
    s, m, v, state = c.settings, c.controller, c.vectors, c.state
    unmeasured = -1
    share = 1.0 - exp(-s.velocity_bandwidth * elapsed)
    for i in range(v.q.shape[0]):
        if v.plausibility.rejected[i] > 0.0:
            continue
        q, qd = v.plausibility.position[i], v.plausibility.velocity[i]
        if m.observing == 0:
            v.filtered[i], v.qd[i] = q, 0.0
        before = v.qd[i]
        step = share * (q - v.filtered[i])
        v.filtered[i] += step
        if abs(qd) <= MAX_CREDIBLE_VELOCITY * v.speed_limit[i]:
            v.qd[i] = qd
        else:                                           # NaN too
            unmeasured = i
            if elapsed > 0.0:
                v.qd[i] = step / elapsed
        v.q[i], v.measured[i] = q, state[i].effort
        if m.observing == 0:
            v.motion_checks.gained[i] = v.motion_checks.recent_gain[i] = 0.0
        else:
            v.motion_checks.gained[i] += v.qd[i] - before
            v.motion_checks.recent_gain[i] += v.qd[i] - before
    m.observing = 1
    return unmeasured
