# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Timing of received messages: clock offsets of other hosts, rate and jitter of a stream."""

from collections import deque
from math import nan

import numpy as np

TRANSIT_WINDOW = 5    # messages; their least transit time counts
MAX_AHEAD, MAX_BEHIND = 0.05, 0.5   # [s]
# [s]; larger offsets mean another epoch, not skew
MAX_CLOCK_OFFSET = 1e6
REMEDY = 'synchronize the hosts (chrony, ptp4l)'


class ClockSkew:
    """
    Difference between the clock of a publisher and that of this host.

    The transit time of a message is its time of receipt on this host's clock minus its time of
    publication on the publisher's. With synchronized clocks, the least of several is short and
    not negative.
    """

    def __init__(self) -> None:
        self._transits: deque[float] = deque(maxlen=TRANSIT_WINDOW)
        self._told = False

    @property
    def offset(self) -> float:
        """Return the least transit time of the latest messages [s], 0 without messages."""
        return min(self._transits, default=0.0)

    def note(self, transit: float, what: str) -> str:
        """
        Note the transit time [s] of a message; return a sentence when a difference appears.

        :param what: comes from the other clock, e.g. ``'joint_trajectory'``.
        """
        if abs(transit) > MAX_CLOCK_OFFSET:
            return ''
        self._transits.append(transit)
        sentence = skew(self.offset, what) if (
            len(self._transits) == TRANSIT_WINDOW or self.offset < 0.0) else ''
        news, self._told = bool(sentence) and not self._told, bool(sentence)
        return sentence if news else ''


def skew(transit: float, what: str) -> str:
    """Return a sentence on the clock that a transit time [s] is relative to, '' if it agrees."""
    if -MAX_AHEAD <= transit <= MAX_BEHIND or abs(transit) > MAX_CLOCK_OFFSET:
        return ''
    if transit < 0.0:
        return f"the clock of {what} is {-transit:.3f} s ahead of this host's; {REMEDY}"
    return (f'{what} comes {transit:.3f} s after it was stamped: its clock is behind this '
            f"host's, or the link is slow; {REMEDY}")


RATE_WINDOW = 100    # intervals
STREAM_TIMEOUT = 1.0    # [s] without a message ends a stream


class StreamRate:
    """Intervals between the latest messages of a stream."""

    def __init__(self):
        self._times: deque[float] = deque(maxlen=RATE_WINDOW + 1)

    def add(self, now: float) -> None:
        """Add a message that arrived at ``now`` [s]; after a pause a new stream begins."""
        if self._times and not 0.0 <= now - self._times[-1] <= STREAM_TIMEOUT:
            self._times.clear()
        self._times.append(now)

    def rate(self, now: float) -> tuple[float, float]:
        """
        Return mean rate [Hz] and standard deviation of the intervals [s] of a present stream.

        Without one the rate is 0 and the deviation NaN.
        """
        if len(self._times) < 3 or now - self._times[-1] > STREAM_TIMEOUT:
            return 0.0, nan
        intervals = np.diff(self._times)
        mean = float(intervals.mean())
        return (1.0 / mean if mean > 0.0 else 0.0), float(intervals.std())
