# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Clocks of other hosts that differ from this host's, from times of publication and of receipt."""

from collections import deque

TRANSIT_WINDOW = 5    # messages; their least transit time counts
MAX_AHEAD, BEHIND = 0.05, 0.5       # s; a message cannot arrive before it has been published
# s: a time of publication or a stamp that is further off is none of this epoch
MAX_CLOCK_OFFSET = 1e6
REMEDY = 'synchronize the hosts (chrony, ptp4l)'


class ClockSkew:
    """
    Difference between the clock of a publisher and that of this host.

    The transit time of a message is its receipt by the clock here minus its publication by the
    clock there. It is never negative with the same clock, and the least of several is short.
    """

    def __init__(self) -> None:
        self._transits: deque[float] = deque(maxlen=TRANSIT_WINDOW)
        self._told = False

    @property
    def offset(self) -> float:
        """Least transit time of the latest messages [s], 0 if there are none."""
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
    if -MAX_AHEAD <= transit <= BEHIND or abs(transit) > MAX_CLOCK_OFFSET:
        return ''
    if transit < 0.0:
        return f"the clock of {what} is {-transit:.3f} s ahead of this host's; {REMEDY}"
    return (f'{what} comes {transit:.3f} s after it was stamped: its clock is behind this '
            f"host's, or the link is slow; {REMEDY}")
