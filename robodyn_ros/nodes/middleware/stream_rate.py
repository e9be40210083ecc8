# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Rate and jitter of a stream of messages."""

from collections import deque
from math import nan

import numpy as np

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
