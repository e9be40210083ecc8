# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What the loop in Python and the compiled one have to do alike: plain functions for both."""

from math import isnan, nan

COUNT_INTERVAL = 0.05       # s between two counts of the listeners
GRACE = 2_000_000           # ns that a state may come after the clock of its time


def next_point(deadline, period, now):
    """
    Return the next point of a grid that is not over, and how many were missed before it.

    :param deadline: its present point [ns]; ``period`` and ``now`` [ns], integers as well.
    """
    late = now - (deadline + period)
    missed = max(0, -(-late // period))
    return deadline + (missed + 1) * period, missed


def goes_on(now, noticed, last, timeout):
    """
    Whether time has gone on without a state.

    A paused simulation holds the output, and a clock a little behind the states, or one that is
    not heard at all, says nothing; one that has begun anew does.

    :param noticed: time when states were missed before this [s].
    :param last: time of the last cycle [s].
    :param timeout: after which a state is too old [s].
    """
    return now != noticed and (now > last or last - now > timeout)


def lost_since(numbers, seen):
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


def oldest(received):
    """Return the earliest of the (nv,) times [s], NaN where one is not known."""
    first = received[0]
    for i in range(received.shape[0]):
        if isnan(received[i]):
            return nan
        first = min(first, received[i])
    return first
