# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Counters and timing of a control loop, in arrays that compiled code writes as well."""

from typing import Any

import numpy as np
from numpy import ndarray

from . import timing_rules
from .statistics import Timing
from ..wire.decoders import ACCEPTED, REASONS

COUNTS = np.dtype([
    ('samples', np.int64, (len(REASONS),)),     # by what the decoder answered
    ('overruns', np.int64),                     # times the loop came too late for a point
    ('missed', np.int64),                       # points of the grid that went by in all
    ('lost', np.int64),                         # samples that were published and never came
    ('slow_publishes', np.int64),               # that took the middleware longer than a period
])


def count_sample(counts: Any, code: int, numbers: ndarray, seen: ndarray) -> None:
    """
    Count a sample in a record ``COUNTS``.

    :param code: decode status of the sample.
    :param numbers: (nv,) number of each joint's newest sample; ``seen``: those counted last.
    """
    counts.samples[code] += 1
    if code == ACCEPTED:
        counts.lost += timing_rules.lost_since(numbers, seen)


def count_missed(counts: Any, missed: int) -> None:
    """Count the points of the grid that were missed before a wake-up in a record ``COUNTS``."""
    counts.missed += missed
    if missed != 0:
        counts.overruns += 1


class Tally:
    """
    One thread counts, any may ask.

    :param numbers: (nv,) number of each joint's newest sample, kept up to date by the decoder.
    :param keep: how many cycles ``timing`` holds.
    """

    def __init__(self, numbers: ndarray, keep: int = 2048):
        self.numbers, self.seen = numbers, np.array(numbers)
        #: (nv,) positions of the samples that the last cycle had, see `rules.moving`.
        self.pose = np.full(len(numbers), np.nan)
        self.counts = np.zeros(1, COUNTS)
        self._record = self.counts.view(np.recarray)[0]
        self.timing = Timing(keep)

    def clear(self) -> None:
        """Reset all counters."""
        self.seen[...] = self.numbers
        self.pose[...] = np.nan
        self.counts[...] = np.zeros((), COUNTS)
        self.timing.clear()

    def sample(self, code: int) -> None:
        """Count a sample, by what the decoder answered."""
        count_sample(self._record, code, self.numbers, self.seen)

    def late(self, missed: int) -> None:
        """Count the points of the grid that were missed before a wake-up."""
        count_missed(self._record, missed)

    @property
    def missed(self) -> int:
        """Points of the grid that went by."""
        return int(self.counts['missed'][0])

    @property
    def overruns(self) -> int:
        """Return how often the loop came too late for a point of the grid."""
        return int(self.counts['overruns'][0])

    @property
    def lost(self) -> int:
        """Return how many samples were published and never came."""
        return int(self.counts['lost'][0])

    @property
    def slow_publishes(self) -> int:
        """Efforts whose publishing took longer than a period."""
        return int(self.counts['slow_publishes'][0])

    @property
    def accepted(self) -> int:
        """Return how many samples were used."""
        return int(self.counts['samples'][0, ACCEPTED])

    @property
    def refused(self) -> dict[str, int]:
        """Return how many samples were not used, by the reason."""
        numbers = self.counts['samples'][0].tolist()    # read often: no NumPy scalars
        return {REASONS[code]: number for code, number in enumerate(numbers)
                if code != ACCEPTED and number}
