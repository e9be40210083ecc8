# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Timing rules of the control loop: deadlines, stalls, silence."""

from math import inf, isnan, nan

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
