# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Recommendation of a control rate from measured wake-up latencies."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy import ndarray

RATES = (50, 100, 200, 250, 500, 1000, 2000, 4000)      # Hz, what people ask for
SHARE = 0.25        # of a period that 999 of 1000 wake-ups may be late at most
RARE = 99.9         # percentile that stands for them


class Verdict(NamedTuple):
    """What a loop may be asked for."""

    rate: int           # Hz, 0: none of RATES
    late: float         # s, what 999 of 1000 wake-ups were late at most
    worst: float        # s, the latest of all

    @property
    def margin(self) -> float:
        """Return what those leave of the period for the cycle itself [s]."""
        return 1.0 / self.rate - self.late if self.rate else 0.0

    @property
    def lost(self) -> int:
        """Points of the grid that the latest of all would have cost at that rate."""
        return int(self.worst * self.rate)


def judge(late: Sequence[ndarray], fastest: float) -> Verdict:
    """
    Return the highest of RATES whose period is four times what 999 of 1000 wake-ups were late.

    :param late: of each run, (N,) [s] that its wake-ups were late.
    :param fastest: rate of the fastest run [Hz]: none above it is promised.
    """
    rare = max(float(np.percentile(run, RARE)) for run in late)
    good = [rate for rate in RATES if rate <= fastest and rare <= SHARE / rate]
    return Verdict(max(good, default=0), rare, max(float(run.max()) for run in late))
