# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Recommendation of a control rate from measured wake-up latencies."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy import ndarray

CANDIDATE_RATES = (50, 100, 200, 250, 500, 1000, 2000, 4000)    # [Hz]
MAX_LATENESS_SHARE = 0.25    # of a period, for wake-ups at RARE_PERCENTILE
RARE_PERCENTILE = 99.9


class Verdict(NamedTuple):
    """Recommended loop rate."""

    rate: int           # [Hz], 0: no candidate rate is sustained
    late: float         # [s] lateness of wake-ups at RARE_PERCENTILE
    worst: float        # [s] largest lateness

    @property
    def margin(self) -> float:
        """Return the time left for the cycle [s]."""
        return 1.0 / self.rate - self.late if self.rate else 0.0

    @property
    def lost(self) -> int:
        """Return the number of periods that the largest lateness skips at this rate."""
        return int(self.worst * self.rate)


def judge(late: Sequence[ndarray], fastest: float) -> Verdict:
    """
    Return the highest candidate rate at which rare lateness is a small share of the period.

    :param late: lateness of the wake-ups of each run, (N,) [s].
    :param fastest: rate of the fastest run [Hz], an upper bound of the result.
    """
    rare = max(float(np.percentile(run, RARE_PERCENTILE)) for run in late)
    good = [rate for rate in CANDIDATE_RATES
            if rate <= fastest and rare <= MAX_LATENESS_SHARE / rate]
    return Verdict(max(good, default=0), rare, max(float(run.max()) for run in late))
