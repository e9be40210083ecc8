# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
State of the arm in use: accepted samples, and estimates of velocities not measured.

The measured velocity of many drives is coarse. Its noise is estimated while the arm is not driven,
as the difference from the slow derivative of the position, which has little.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, sqrt
from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from numpy import ndarray

from ..declare import choice, number, SETTINGS_RECORD as SETTINGS

if TYPE_CHECKING:
    from .cycle_data import Cycle, Vectors


# A velocity above this multiple of the velocity limit is no measurement: damping it would drive
# the arm at full effort
MAX_CREDIBLE_VELOCITY = 10.0
SLOW_RATE = 30.0    # 1/s of the slow derivative
NOISE_TIME = 0.5    # s in which the noise is estimated
NOISE_DEVIATIONS, MAX_NOISE = 3.0, 0.15    # standard deviations, and [rad/s | m/s] at most
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


class Memory(NamedTuple):
    """Noise of the measured velocity, (nv,) each."""

    settled: ndarray        # low-pass filtered position
    slow_velocity: ndarray  # its derivative
    variance: ndarray       # of the measured velocity about that


#: Fields of the controller state.
STATE = [
    ('observing', np.int64),        # 1: the velocity filter is initialized
    ('noise_time', float),          # s for which its noise has been estimated, NOISE_TIME at most
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
    unmeasured, own = -1, c.vectors.velocity_estimator
    slow_share = 1.0 - exp(-SLOW_RATE * elapsed)
    learned = 0.0
    if m.publishing == 0 and m.observing == 1 and elapsed > 0.0:    # of all samples at first
        m.noise_time = min(m.noise_time + elapsed, NOISE_TIME)
        learned = elapsed / max(m.noise_time, elapsed)
    share = 1.0 - exp(-s.velocity_bandwidth * elapsed)
    for i in range(v.q.shape[0]):
        if v.plausibility.rejected[i] > 0.0:
            continue
        q, qd = v.plausibility.position[i], v.plausibility.velocity[i]
        if m.observing == 0:
            v.filtered[i], v.qd[i] = q, 0.0
            own.settled[i] = q
        before = v.qd[i]
        step = share * (q - v.filtered[i])
        v.filtered[i] += step
        if abs(qd) <= MAX_CREDIBLE_VELOCITY * v.speed_limit[i]:
            v.qd[i] = qd
        else:                                           # NaN too
            unmeasured = i
            if elapsed > 0.0:
                v.qd[i] = step / elapsed
        own.settled[i] += slow_share * (q - own.settled[i])
        own.slow_velocity[i] = SLOW_RATE * (q - own.settled[i])
        noise = v.qd[i] - own.slow_velocity[i]
        own.variance[i] += learned * (noise * noise - own.variance[i])
        v.q[i], v.measured[i] = q, state[i].effort
        if m.observing == 0:
            v.motion_checks.gained[i] = v.motion_checks.recent_gain[i] = 0.0
        else:
            v.motion_checks.gained[i] += v.qd[i] - before
            v.motion_checks.recent_gain[i] += v.qd[i] - before
    m.observing = 1
    return unmeasured


def slower(v: Vectors, i: int, threshold: float) -> bool:
    """
    Return whether joint i is slower than a threshold [rad/s | m/s], or its velocity is noise.

    It is noise where it exceeds the threshold by less than that at rest, and the position does not
    move.
    """
    return bool(abs(v.qd[i]) < threshold or (
        abs(v.qd[i]) < threshold + velocity_noise(v, i)
        and abs(v.velocity_estimator.slow_velocity[i]) < threshold))


def velocity_noise(v: Vectors, i: int) -> float:
    """Return the velocity up to which joint i may be at rest, for its noise [rad/s | m/s]."""
    return min(NOISE_DEVIATIONS * sqrt(v.velocity_estimator.variance[i]), MAX_NOISE)
