# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Timing rules of the control loop: steps of the wall clock, deadlines, stalls, silence, counters.

The cycle is on the steady clock and compares it with the stamps of the states, which the wall
clock of their publisher gives. A step of it is the same for a publisher on this host, whose stamps
keep their age then, and none for another one, whose stamps keep their distance from the steady
clock.
"""

from __future__ import annotations

from math import inf, isnan, nan
from typing import Any

import numpy as np
from numpy import ndarray

from ..wire.decoders import ACCEPTED, DecoderArrays, REASONS, RECEIVED, STAMP

MIN_STEP = 1e-3    # [s] within two samples; less is drift of the clock, or a preempted thread
MAX_UNSHARED = 10    # messages that were sent before a step; later ones have another clock

# Counters of a loop
COUNTS = np.dtype([
    ('samples', np.int64, (len(REASONS),)),     # by what the decoder answered
    ('overruns', np.int64),                     # times the loop came too late for a point
    ('missed', np.int64),                       # points of the grid that went by in all
    ('lost', np.int64),                         # samples that were published and never came
    ('slow_publishes', np.int64),               # that took the middleware longer than a period
])
#: Fields of `loop.LOOP_STATE`.
STATE = [
    ('wall_clock', 'i8'),       # ns ahead of the steady clock when it was last followed; 0: never
    ('clock_step', float),      # s, sum of the steps that the stamps took with it
    ('stamp_age', float),       # s from stamp to receipt of the last state, without these steps
    ('unshared', 'i8'),         # messages since a step that did not take it
]


def begin(state: ndarray) -> None:
    """Begin with clocks of which nothing is known."""
    state['wall_clock'] = state['unshared'] = 0
    state['clock_step'] = 0.0


def correct_stamps(decoder: DecoderArrays, w: Any, received: float, wall_clock: int) -> None:
    """
    Remove steps of the wall clock from the stamps of the message decoded last.

    :param w: record ``LOOP_STATE``.
    :param received: time of receipt of the message, on the steady clock [s].
    :param wall_clock: time of day minus steady time [ns].
    """
    if decoder.stamp[0] == 0.0:
        return
    if w.wall_clock == 0:
        w.wall_clock = wall_clock
    age = received - decoder.stamp[0] + w.clock_step
    step = 1e-9 * (wall_clock - w.wall_clock)
    w.unshared += 1
    if abs(step) < MIN_STEP or w.unshared > MAX_UNSHARED:
        w.wall_clock, w.unshared = wall_clock, 0
    elif abs(age + step - w.stamp_age) < abs(age - w.stamp_age):
        w.wall_clock, w.unshared = wall_clock, 0
        w.clock_step += step
        age += step
    w.stamp_age = age
    for i in range(decoder.state.shape[0]):
        if decoder.state[i, RECEIVED] == received:
            decoder.state[i, STAMP] = decoder.stamp[0] - w.clock_step


LISTENER_COUNT_PERIOD = 0.05    # [s]
CLOCK_GRACE = 2_000_000    # [ns] that a state may come after the clock message of its time


def next_point(deadline: int, period: int, now: int) -> tuple[int, int]:
    """
    Return the next point of a grid that is not over, and how many were missed before it.

    :param deadline: its present point [ns].
    :param period, now: of the grid, and the present time [ns].
    """
    late = now - (deadline + period)
    missed = max(0, -(-late // period))
    return deadline + (missed + 1) * period, missed


def stall(before: float, asked: int, woke: int) -> float:
    """
    Return how long [s] the loop has stalled.

    :param before: longest stall since the last cycle [s].
    :param asked: latest instant at which the loop should have run [ns]; ``woke``: when it ran.
    """
    return max(before, 1e-9 * (woke - asked))


def outdated(goes_on: bool, begun: int, now: int, timeout: float) -> bool:
    """
    Return whether an effort is too old to be published, because the loop stalled.

    The final message is always sent.

    :param goes_on: whether another message follows.
    :param begun: when its cycle began [ns]; ``now`` [ns].
    :param timeout: after which a state is too old [s].
    """
    return goes_on and 1e-9 * (now - begun) > timeout


def silence(fault: bool, simulated: bool, period: float, timeout: float) -> float:
    """
    Return how long [s] the loop waits for a state before it runs a cycle without one.

    On steady time, a cycle halfway to the timeout distinguishes missing states from a stalled
    loop. In a simulation, each state has one answer, and time advances with the states.

    :param fault: whether a fault is latched, whose efforts continue without states.
    :param simulated: whether the cycle is on ROS time.
    :param period, timeout: of the loop and of the states [s].
    """
    if fault:
        return period
    return timeout if simulated else 0.5 * timeout


def moving(position: ndarray, seen: ndarray, stands: bool, since: int, before: float,
           now: int) -> tuple[int, float]:
    """
    Return since when [ns], and for how long [s], the arm has moved while time is stopped.

    Only samples that differ from those before count: a paused simulation may repeat the same one.

    :param position: (nv,) of the newest samples.
    :param seen: (nv,) those of the last call; overwritten.
    :param stands: whether time is unchanged since the last call.
    :param since, before: answer of the last call.
    :param now: steady time [ns].
    """
    changed = False
    for i in range(position.shape[0]):
        if position[i] != seen[i]:
            changed = True
        seen[i] = position[i]
    if not stands:
        return 0, 0.0
    if not changed:
        return since, before
    if since == 0:
        since = now
    return since, 1e-9 * (now - since)


def goes_on(now: float, noticed: float, last: float, timeout: float) -> bool:
    """
    Return whether time has advanced without a state.

    A paused simulation, a missing clock or one slightly behind the states does not count; a
    restarted clock does.

    :param noticed: time when states were missed before this [s].
    :param last: time of the last cycle [s].
    :param timeout: after which a state is too old [s].
    """
    return now != noticed and (now > last or last - now > timeout)


def lost_since(numbers: ndarray, seen: ndarray) -> int:
    """
    Return how many published samples were lost since the last call.

    :param numbers: (nv,) number of each joint's newest sample, NaN before it; a sample carries
        joints of one publisher.
    :param seen: (nv,) those of the last call; overwritten.
    """
    most = 1.0
    for i in range(numbers.shape[0]):
        # The numbers of a restarted publisher decrease: no loss
        gap = numbers[i] - seen[i]
        if gap > most:                  # no NaN is
            most = gap
        seen[i] = numbers[i]
    return int(most) - 1


def count_sample(counts: Any, code: int, numbers: ndarray, seen: ndarray) -> None:
    """
    Count a sample in a record ``COUNTS``.

    :param code: decode status of the sample.
    :param numbers: (nv,) number of each joint's newest sample; ``seen``: those counted last.
    """
    counts.samples[code] += 1
    if code == ACCEPTED:
        counts.lost += lost_since(numbers, seen)


def count_missed(counts: Any, missed: int) -> None:
    """Count the points of the grid that were missed before a wake-up in a record ``COUNTS``."""
    counts.missed += missed
    if missed != 0:
        counts.overruns += 1


def oldest(received: ndarray) -> float:
    """Return the earliest of the (nv,) times [s], NaN where one is not known."""
    first = received[0]
    for i in range(received.shape[0]):
        if isnan(received[i]):
            return nan
        first = min(first, received[i])
    return first


def newest(times: ndarray) -> float:
    """Return the latest of the (nv,) times [s] that are known, -inf for none."""
    last = -inf
    for i in range(times.shape[0]):
        if times[i] > last:                 # no NaN is
            last = times[i]
    return last
