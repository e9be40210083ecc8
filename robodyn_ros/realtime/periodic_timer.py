# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
A loop of fixed rate on absolute deadlines: no drift, no burst after an overrun.

Points of the grid are ``start + k * period`` on CLOCK_MONOTONIC (the clock of
``time.monotonic_ns``). A point that went by before the loop came for it is missed: it is counted
and never replayed. Linux only.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
import ctypes
import errno
import json
import os
from pathlib import Path
import shutil
import subprocess
import tempfile
from time import monotonic_ns
from typing import NamedTuple

import numpy as np
from numpy import ndarray

from .scheduling import scheduled, Scheduling
from .timing_rules import next_point
from ..errors import ArgumentError

CLOCK_MONOTONIC, TIMER_ABSTIME = 1, 1           # linux/time.h
PR_SET_TIMERSLACK = 29                          # linux/prctl.h
NS_PER_S = 1_000_000_000

_libc = ctypes.CDLL(None, use_errno=True)
_libc.clock_nanosleep.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
_libc.prctl.argtypes = (ctypes.c_int, *4 * (ctypes.c_ulong,))


def sharpen_timers() -> bool:
    """
    Set the timer slack of the calling thread to 1 ns instead of 50 µs.

    Needs no privilege. Return whether the kernel took it.
    """
    return _libc.prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0) == 0


class Grid:
    """
    The points in time of one loop, used by the thread that runs it.

    :param period_ns: distance of the points [ns].
    :param spin_ns: how long before a point the sleep ends, and the clock is watched instead
        [ns]: a CPU is kept busy for what a wake-up takes. Python's own threads wait meanwhile.
    """

    def __init__(self, period_ns: int, spin_ns: int = 0):
        if period_ns <= 0:
            raise ArgumentError(f'a period of {period_ns} ns', name='period_ns', value=period_ns,
                                remedy='use a positive number of nanoseconds')
        if not 0 <= spin_ns < period_ns:
            raise ArgumentError(f'a final spin of {spin_ns} ns', name='spin_ns', value=spin_ns,
                                remedy=f'use a part of the period, which is {period_ns} ns')
        self.period_ns, self.spin_ns = int(period_ns), int(spin_ns)
        self._timespec = (ctypes.c_long * 2)()
        self._address = ctypes.addressof(self._timespec)
        self.start()

    def start(self, at_ns: int | None = None) -> None:
        """Lay the grid through ``at_ns`` (now, if None), which is its present point."""
        #: The present point of the grid [ns]: the one the loop was last sent to.
        self.deadline = monotonic_ns() if at_ns is None else at_ns

    def advance(self) -> int:
        """Advance to the next future deadline; return the number of missed ones."""
        self.deadline, missed = next_point(self.deadline, self.period_ns, monotonic_ns())
        return missed

    def wait(self) -> int:
        """
        Sleep until the next point, without the GIL; return how many points were missed before it.

        A signal does not shorten the sleep, unless its Python handler raises.
        """
        missed = self.advance()
        self.sleep()
        return missed

    def sleep(self) -> None:
        """Sleep until the present point, ``deadline``, as :meth:`wait` does."""
        self._timespec[0], self._timespec[1] = divmod(self.deadline - self.spin_ns, NS_PER_S)
        while error := _libc.clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, self._address, None):
            if error != errno.EINTR:
                raise OSError(error, os.strerror(error))
        while self.spin_ns and monotonic_ns() < self.deadline:
            pass


CYCLICTEST, PYTHON = 'cyclictest', 'Python'     # by whom it is measured
MAX_COUNTED = 100_000    # [µs] in the histogram of cyclictest; later wake-ups are as the latest
CANDIDATE_RATES = (50, 100, 200, 250, 500, 1000, 2000, 4000)    # [Hz]
MAX_LATENESS_SHARE = 0.25    # of a period, for wake-ups at RARE_PERCENTILE
RARE_PERCENTILE = 99.9


class Lateness(NamedTuple):
    """Lateness of each wake-up (N,) [s], and by whom it was measured."""

    late: ndarray
    source: str


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


def measure(rate: float, wanted: Scheduling, seconds: float) -> Lateness:
    """Measure a thread of this rate [Hz] and scheduling for about so long."""
    points = max(2, round(seconds * rate))
    found = _cyclictest(rate, wanted, points) if shutil.which(CYCLICTEST) else None
    if found is not None:
        return Lateness(found, CYCLICTEST)
    with ThreadPoolExecutor(1) as pool:
        return Lateness(pool.submit(_python, rate, wanted, points).result(), PYTHON)


def _cyclictest(rate: float, wanted: Scheduling, points: int) -> ndarray | None:
    """Return the lateness (N,) [s] by cyclictest, None if it is not permitted to run."""
    policy = (['--policy=fifo', f'--priority={wanted.priority}'] if wanted.priority
              else ['--policy=other'])
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / 'result.json'
        done = subprocess.run([
            CYCLICTEST, '--quiet', f'--interval={round(1e6 / rate)}', f'--loops={points}',
            f'--histogram={MAX_COUNTED}', f'--json={result}', *policy,
            *(['--mlockall'] if wanted.lock_memory else []),
            *([] if wanted.keep_awake else ['--default-system'])],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if done.returncode or not result.exists():
            return None
        thread = json.loads(result.read_text())['thread']['0']
    late = np.repeat([int(us) for us in thread['histogram']], [*thread['histogram'].values()])
    beyond = np.full(max(0, thread['cycles'] - len(late)), thread['max'])
    return 1e-6 * np.concatenate([late, beyond])


def _python(rate: float, wanted: Scheduling, points: int) -> ndarray:
    """Return the lateness (N,) [s] of a loop in the calling thread."""
    late, passed = [], 0
    with scheduled(wanted):
        sharpen_timers()
        grid = Grid(round(1e9 / rate))
        while passed < points:
            passed += grid.wait() + 1
            late.append(monotonic_ns() - grid.deadline)
    return 1e-9 * np.array(late)
