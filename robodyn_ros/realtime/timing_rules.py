# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Timing rules of the control loop: deadlines, stalls, silence."""

from math import isnan, nan

from numpy import ndarray

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
    Return for how long [s] the loop has stood still although it should have run.

    :param before: what no cycle has been told yet [s]; the longest counts.
    :param asked: latest instant at which the loop wanted to run, and ``woke``: when it did [ns].
    """
    return max(before, 1e-9 * (woke - asked))


def outdated(goes_on: bool, begun: int, now: int, timeout: float) -> bool:
    """
    Whether an effort must not be published any more: the loop stood still while it was computed.

    The last message of all is sent however late it is, for none follows that would be better.

    :param goes_on: whether another one follows.
    :param begun: when its cycle began [ns]; ``now`` [ns].
    :param timeout: after which a state is too old [s].
    """
    return goes_on and 1e-9 * (now - begun) > timeout


def silence(fault: bool, simulated: bool, period: float, timeout: float) -> float:
    """
    Return for how long [s] the loop waits for a state, until it runs a cycle without one.

    On steady time a cycle halfway to the timeout tells states that stay away from a loop that
    stands still. In a simulation a state has one answer, and time is what comes with it.

    :param fault: whether a fault is latched, whose efforts go on without states.
    :param simulated: whether the cycle is on ROS time.
    :param period, timeout: of the loop and of the states [s].
    """
    if fault:
        return period
    return timeout if simulated else 0.5 * timeout


def moving(position: ndarray, seen: ndarray, stands: bool, since: int, before: float,
           now: int) -> tuple[int, float]:
    """
    Return since when [ns], and for how long [s], the arm has moved while time stands still.

    Only samples that differ from those before count: a paused simulation may repeat the same one.

    :param position: (nv,) of the newest samples.
    :param seen: (nv,) those of the last call; overwritten.
    :param stands: whether time has not changed since the last call.
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
    Whether time has gone on without a state.

    A paused simulation holds the output, and a clock a little behind the states, or one that is
    not heard at all, says nothing; one that has begun anew does.

    :param noticed: time when states were missed before this [s].
    :param last: time of the last cycle [s].
    :param timeout: after which a state is too old [s].
    """
    return now != noticed and (now > last or last - now > timeout)


def lost_since(numbers: ndarray, seen: ndarray) -> int:
    """
    Return how many samples were published and never came since the last call.

    :param numbers: (nv,) number of each joint's newest sample, NaN before it; a sample carries
        joints of one publisher.
    :param seen: (nv,) those of the last call; overwritten.
    """
    most = 1.0
    for i in range(numbers.shape[0]):
        # A publisher that began anew counts from the beginning: its numbers fall, nothing is lost
        gap = numbers[i] - seen[i]
        if gap > most:                  # no NaN is
            most = gap
        seen[i] = numbers[i]
    return int(most) - 1


def oldest(received: ndarray) -> float:
    """Return the earliest of the (nv,) times [s], NaN where one is not known."""
    first = received[0]
    for i in range(received.shape[0]):
        if isnan(received[i]):
            return nan
        first = min(first, received[i])
    return first
