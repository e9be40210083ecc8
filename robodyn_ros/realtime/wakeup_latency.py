# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Wake-up latency of a periodic thread on this machine, and the control rate that it sustains.

cyclictest of rt-tests measures it where it is installed and permitted. Otherwise a Python loop
does, which wakes up later than the compiled one of the controller.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
import json
from pathlib import Path
import shutil
import subprocess
import tempfile
from time import monotonic_ns
from typing import NamedTuple

import numpy as np
from numpy import ndarray

from .periodic_timer import Grid, sharpen_timers
from .scheduling import scheduled, Scheduling

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
