# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Pace of a user's own loop, compared with the rate for which the gains were checked."""

import logging
from math import inf, nan

PERIOD_ROUNDING = 1e-6    # periods
LATE_INTERVAL = 1.5    # periods, above which a step is late
LATE_STEPS = 10    # in a row, after which a warning is logged
INTERVAL_WEIGHT = 0.1    # of a new interval in the mean
MAX_INTERVAL = 10.0    # s; a longer interval is a pause

_log = logging.getLogger(__name__)


class Pace:
    """Intervals between the steps of a loop; times are the arguments of :meth:`missed` [s]."""

    def __init__(self):
        self.begin()

    def begin(self) -> None:
        """Forget everything: the next step is the first one."""
        self._last, self._behind, self._slow = -inf, 0.0, 0
        #: Mean interval between the latest steps [s], NaN before the second one.
        self.interval = nan

    def missed(self, now: float, period: float, timeout: float) -> int:
        """
        Return how many periods have passed without a step before this one.

        Fractions add up: a step every 1.25 periods misses one period in four. Time that stands
        still or jumps back does not count, nor does an interval above ``timeout`` [s], a stall.
        """
        elapsed, self._last = now - self._last, now
        if not 0.0 < elapsed <= MAX_INTERVAL:
            return 0
        mean = self.interval if self.interval > 0.0 else elapsed
        self.interval = mean + INTERVAL_WEIGHT * (elapsed - mean)
        self._slow = self._slow + 1 if elapsed > LATE_INTERVAL * period else 0
        if self._slow == LATE_STEPS:
            _log.warning('%s', self.sentence(period))
        if elapsed > timeout:
            return 0
        behind = max(0.0, self._behind + elapsed / period - 1.0)
        whole = int(behind + PERIOD_ROUNDING)
        self._behind = behind - whole
        return whole

    def sentence(self, period: float) -> str:
        """Return a hint for the user if steps come late, else an empty string."""
        if not self.interval > (1.0 + PERIOD_ROUNDING) * period:
            return ''
        return (f'step is called every {1e3 * self.interval:.3g} ms, and rate = {1 / period:.4g} '
                f'Hz promises every {1e3 * period:.3g} ms: set rate to '
                f'{1 / self.interval:.3g}, with which gains are judged, or call step as often')
