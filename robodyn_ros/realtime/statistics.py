# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
# flake8: noqa: A005
"""Timing statistics of a control loop: a ring buffer of its latest cycles, and percentiles."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
import json
from math import inf
from pathlib import Path
import threading
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from .timing_rules import COUNTS
from ..errors import ArgumentError, reading
from ..wire.decoders import ACCEPTED, REASONS

# Timing of one cycle; NaN where unknown.
TIMING = np.dtype([
    ('woke', float),            # s, CLOCK_MONOTONIC
    ('wake_up', float),         # s later than its point of the grid; NaN where states wake it
    ('cycle', float),           # s from there until everything is published
    ('age', float),             # s, of the oldest joint's state when the efforts are computed
    ('answer', float),          # s from a new state's publication until the efforts are out
])
PERCENTILES = (50.0, 99.0, 99.9, 100.0)


def no_cycles(n: int) -> ndarray:
    """(n,) TIMING of which nothing is known, in memory that is there and not only promised."""
    return np.full(len(TIMING.names or ()) * n, np.nan).view(TIMING)


class Tally:
    """
    Counters of a loop, and the timing of its latest cycles; one thread writes, any may ask.

    A concurrent read of the timing sees old and new cycles, and at worst one that is half updated.

    :param numbers: (nv,) number of each joint's newest sample, kept up to date by the decoder.
    :param keep: how many cycles ``ring`` holds.
    """

    def __init__(self, numbers: ndarray, keep: int = 2048):
        self.numbers, self.seen = numbers, np.array(numbers)
        #: (nv,) positions of the samples that the last cycle had, see `rules.moving`.
        self.pose = np.full(len(numbers), np.nan)
        self.counts = np.zeros(1, COUNTS)
        #: Ring (keep,) of TIMING; the next cycle goes to ``cycle_count[0] % keep``.
        self.ring, self.cycle_count = no_cycles(keep), np.zeros(1, np.int64)

    def clear(self) -> None:
        """Reset all counters."""
        self.seen[...] = self.numbers
        self.pose[...] = np.nan
        self.counts[...] = np.zeros((), COUNTS)
        self.cycle_count[0] = 0

    def newest(self, most: int | None = None) -> ndarray:
        """Return a copy of the latest cycles, at ``most`` so many, oldest first."""
        count, size = int(self.cycle_count[0]), len(self.ring)
        n = min(count, size, size if most is None else most)
        return self.ring[np.arange(count - n, count) % size]

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


class Spread(NamedTuple):
    """A quantity in figures, in its own unit; NaN without any sample."""

    mean: float
    deviation: float            # standard deviation
    p50: float
    p99: float
    p999: float
    max: float  # noqa: A003

    def named(self) -> dict[str, float]:
        """Return them by the names that people read."""
        return dict(zip(('mean', 'deviation', 'p50', 'p99', 'p99.9', 'max'), self))


def spread(samples: ndarray) -> Spread:
    """Return the figures of the finite ones among (N,) samples."""
    x = samples[np.isfinite(samples)]
    if not len(x):
        return Spread(*(np.nan,) * len(Spread._fields))
    return Spread(*mean_and_deviation(x), *map(float, np.percentile(x, PERCENTILES)))


def mean_and_deviation(samples: ndarray) -> tuple[float, float]:
    """Return the mean and standard deviation of the finite ones among (N,) samples, or NaN."""
    x = samples[np.isfinite(samples)]
    return (float(x.mean()), float(x.std())) if len(x) else (np.nan, np.nan)


def rate(cycles: ndarray) -> tuple[float, float]:
    """
    Return mean and standard deviation of the rate [Hz] at which (N,) TIMING follow each other.

    The deviation is that of the periods to first order: the mean of 1/period itself would be
    ruled by the one short period after each late wake-up.
    """
    periods = np.diff(cycles['woke'])
    if not len(periods) or not (mean := periods.mean()) > 0.0:
        return np.nan, np.nan
    return float(1.0 / mean), float(periods.std() / mean**2)


OK, WARN, ERROR = range(3)


class Threshold(NamedTuple):
    """A quantity that should stay small."""

    what: str
    value: float
    warn: float
    error: float
    unit: str

    @property
    def level(self) -> int:
        """OK, WARN or ERROR; what is not known is OK."""
        return ERROR if self.value > self.error else WARN if self.value > self.warn else OK

    def __str__(self) -> str:
        limit = self.error if self.level == ERROR else self.warn
        # Three figures, without the power of ten that g gives a thousand
        value, most = (f'{float(f"{number:.3g}"):g}' for number in (self.value, limit))
        return f'{self.what} {value} {self.unit}, more than {most}'


def worst(thresholds: Iterable[Threshold]) -> tuple[int, str]:
    """Return the highest level with the messages of all that reach it; (OK, '') if none does."""
    every = list(thresholds)
    level = max((t.level for t in every), default=OK)
    return level, '; '.join(str(t) for t in every if t.level == level) if level else ''


def quality(cycles: ndarray, nominal: float, *, rate_warn: float, rate_error: float,
            execution_warn: float, execution_error: float, jitter_warn: float,
            jitter_error: float) -> list[Threshold]:
    """
    Check (N,) TIMING by the quantities that ros2_control uses for its loops.

    These are mean error and standard deviation of the rate, and mean and standard deviation of
    the execution time. Limits of the rate are shares of it, not in Hz as in ros2_control.

    :param nominal: rate that the loop should have [Hz]; inf: any rate is right.
    :param rate_warn, rate_error: limits, as shares of the nominal rate.
    :param execution_warn, execution_error: limits of the mean execution time [s], at most half a
        period and a period.
    :param jitter_warn, jitter_error: limits of its standard deviation [s], bounded as well.
    """
    mean, deviation = rate(cycles)
    work, jitter = mean_and_deviation(cycles['cycle'])
    if fixed := nominal < inf:
        execution_warn = min(execution_warn, 0.5 / nominal)
        execution_error = min(execution_error, 1.0 / nominal)
    out = [Threshold('execution time', 1e6 * work, 1e6 * execution_warn,
                     1e6 * execution_error, 'us'),
           Threshold('execution time deviation', 1e6 * jitter, 1e6 * jitter_warn,
                     1e6 * jitter_error, 'us')]
    if fixed:
        out[:0] = [Threshold(what, value, rate_warn * nominal, rate_error * nominal, 'Hz')
                   for what, value in (('rate error', abs(mean - nominal)),
                                       ('rate deviation', deviation))]
    return out


FORMAT = 'robodyn_ros timing 1'
MAX_CYCLES = 1 << 20    # 17 minutes at 1 kHz, 40 MiB


@dataclass
class TimingAbout:
    """Metadata of a recording."""

    rate: float                 # Hz, nominal
    trigger: str                # timer | state
    data_path: str
    scheduling: str
    cycles: int                 # since the activation, of which the latest were kept
    overruns: int               # times the loop came too late for a point of its grid
    missed: int                 # points in total
    lost: int                   # samples that were published and never came


class Recording(NamedTuple):
    """A recording as it was read."""

    cycles: ndarray             # (N,) TIMING
    about: TimingAbout


def save(path: Path, cycles: ndarray, about: TimingAbout) -> None:
    """
    Write (N,) TIMING; a file that was there is replaced when the new one is complete.

    :raises OSError: it cannot be written.
    """
    part = path.with_name(f'{path.name}.{threading.get_native_id()}.part')
    try:
        with part.open('wb') as out:
            columns: dict[str, Any] = {name: cycles[name] for name in TIMING.names or ()}
            np.savez(out, format=FORMAT, about=json.dumps(asdict(about)), **columns)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def load(path: Path) -> Recording:
    """
    Read a recording.

    :raises ArgumentError: the file cannot be read, or is not a recording.
    """
    remedy = 'give the file that the parameter timing_file of the controller names'
    with reading(path, ArgumentError, 'file', remedy), np.load(path, allow_pickle=False) as file:
        if str(file['format']) != FORMAT:
            raise ValueError('another format')
        columns = [np.asarray(file[name], float) for name in TIMING.names or ()]
        about = TimingAbout(**json.loads(str(file['about'])))
        cycles = no_cycles(len(columns[0]))
        for name, column in zip(TIMING.names or (), columns):
            cycles[name] = column
        return Recording(cycles, about)
