# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Measurement of the wake-up latency of a periodic loop on this machine."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
import sys
import threading
from time import monotonic_ns

import numpy as np
from numpy import ndarray

from .native.lateness import compiled_lateness
from .periodic_timer import Grid, sharpen_timers
from .scheduling import Outcome, scheduled, Scheduling

SWITCH_INTERVAL = 1e-4    # [s], as in the nodes


@dataclass(frozen=True)
class Case:
    """
    One way to run a loop.

    :param native: without the interpreter, as the compiled data path runs.
    :param busy: while another thread of the process keeps the interpreter busy.
    :param spin: see ``Grid`` [s].
    """

    rate: float             # Hz
    native: bool = False
    busy: bool = False
    scheduling: Scheduling = Scheduling()
    spin: float = 0.0


@dataclass(frozen=True)
class Lateness:
    """Lateness of each wake-up, (N,) [s], and the granted scheduling."""

    late: ndarray
    outcome: Outcome


def measure(case: Case, seconds: float) -> Lateness:
    """Run a loop in a thread of its own for about so long."""
    found: list[Lateness] = []
    n, period, spin = max(2, round(seconds * case.rate)), round(1e9 / case.rate), round(
        1e9 * case.spin)
    run = compiled_lateness() if case.native else _lateness

    def loop() -> None:
        late = np.zeros(n, np.int64)
        with scheduled(case.scheduling) as outcome:
            sharpen_timers()
            woke = run(period, spin, np.zeros(2, np.int64), late)
        found.append(Lateness(late[:woke] * 1e-9, outcome))
    with _interpreter(case.busy):
        thread = threading.Thread(target=loop, name='wake_up')
        thread.start()
        thread.join()
    return found[0]


def _lateness(period: int, spin: int, timespec: ndarray, late: ndarray) -> int:
    grid, missed, woke = Grid(period, spin), 0, 0
    while woke + missed < len(late):
        missed += grid.wait()
        late[woke] = monotonic_ns() - grid.deadline
        woke += 1
    return woke


def _spin(over: threading.Event) -> None:
    while not over.is_set():
        pass


@contextmanager
def _interpreter(busy: bool) -> Iterator[None]:
    """Keep the GIL busy by another thread, if requested."""
    over, before = threading.Event(), sys.getswitchinterval()
    hog = threading.Thread(target=_spin, args=(over,), name='hog')
    sys.setswitchinterval(SWITCH_INTERVAL)
    if busy:
        hog.start()
    try:
        yield
    finally:
        over.set()
        if busy:
            hog.join()
        sys.setswitchinterval(before + 1e-7)    # Python cuts off what is less than 1e-6
