# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Conditions of a run: processor, load, stolen time, idle states, and the cost of a wake-up."""

import ctypes
from functools import cache
import os
from pathlib import Path
import platform
import sys
import threading
from types import SimpleNamespace
from typing import Any

from numba import types
import numpy as np
from robodyn_ros.compiler.jit import compile_function, jitable
from robodyn_ros.realtime import system_checks
from robodyn_ros.realtime.native import io
from robodyn_ros.realtime.native.io import (
    clock_gettime, clock_nanosleep, MONOTONIC, NS_PER_S, OK, sem_post)
from robodyn_ros.realtime.native.loop import SEMAPHORE_WORDS

GAP = 1_000_000             # ns between two wake-ups, in which a CPU may fall asleep
WAKE_UPS = 300
INTEGERS = types.int64[::1]
RELATIVE = np.int32(0)
sem_wait = types.ExternalFunction('sem_wait', types.int32(types.int64))

_libc = ctypes.CDLL(None)


def processor() -> str:
    """Return the name of the CPU."""
    lines = Path('/proc/cpuinfo').read_text().splitlines()
    return next((line.split(':')[1].strip() for line in lines if line.startswith('model name')),
                platform.machine())


def conditions() -> dict[str, Any]:
    """Return what the figures of a run depend on, besides what is measured."""
    facts = {fact.name: fact.value for fact in system_checks.facts()}
    return {'cpu': processor(), 'cpus': len(os.sched_getaffinity(0)),
            'kernel': platform.release(), 'python': platform.python_version(),
            'load': os.getloadavg()[0], 'idle states': facts['idle states'],
            'frequency governor': facts['frequency governor']}


class Stolen:
    """Share of the time of all CPUs that the host has given to others since it was made."""

    def __init__(self) -> None:
        self._before = self._ticks()

    def share(self) -> float:
        """Return it, 0 to 1."""
        total, stolen = np.subtract(self._ticks(), self._before)
        return float(stolen / total) if total else 0.0

    @staticmethod
    def _ticks() -> tuple[int, int]:
        """Return ticks of all kinds, and stolen ones (proc(5): user ... steal, guest ...)."""
        ticks = [int(word) for word in Path('/proc/stat').read_text().split('\n')[0].split()[1:]]
        return sum(ticks[:8]), ticks[7] if len(ticks) > 7 else 0


# Compiled

def waker(go, back, count, timespec, sent):
    """Wake the other thread after each gap; write down when."""
    at = timespec.ctypes.data
    for k in range(count):
        timespec[0], timespec[1] = 0, GAP
        clock_nanosleep(MONOTONIC, RELATIVE, at, 0)
        clock_gettime(MONOTONIC, at)
        sent[k] = timespec[0] * NS_PER_S + timespec[1]
        sem_post(go)
        while sem_wait(back) != OK:     # a signal
            pass


def woken(go, back, count, timespec, woke):
    """Be woken; write down when."""
    at = timespec.ctypes.data
    for k in range(count):
        while sem_wait(go) != OK:
            pass
        clock_gettime(MONOTONIC, at)
        woke[k] = timespec[0] * NS_PER_S + timespec[1]
        sem_post(back)


@cache
def compiled() -> SimpleNamespace:
    """Return the functions as machine code."""
    io.check_symbols()
    signature = types.void(types.int64, types.int64, types.int64, INTEGERS, INTEGERS)
    modules = io, jitable(sys.modules[__name__])
    return SimpleNamespace(waker=compile_function('futex_waker', waker, signature, modules),
                           woken=compile_function('futex_woken', woken, signature, modules))


def wake_cost(same: bool) -> float | None:
    """
    Return the median time from one thread's post of a semaphore to another's waking [µs].

    :param same: both on one CPU, else on two; None where there is only one.
    """
    cpus = sorted(os.sched_getaffinity(0))
    if not same and len(cpus) < 2:
        return None
    go, back = np.zeros((2, SEMAPHORE_WORDS), np.int64)
    for semaphore in go, back:
        _libc.sem_init(ctypes.c_void_p(semaphore.ctypes.data), 0, 0)
    times = np.zeros((2, WAKE_UPS), np.int64)

    def run(function: Any, cpu: int, out: np.ndarray) -> None:
        os.sched_setaffinity(0, {cpu})      # of this thread alone
        function(go.ctypes.data, back.ctypes.data, WAKE_UPS, np.zeros(2, np.int64), out)
    threads = [threading.Thread(target=run, args=(function, cpu, out)) for function, cpu, out in (
        (compiled().woken, cpus[0 if same else 1], times[1]),
        (compiled().waker, cpus[0], times[0]))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return float(np.median(times[1] - times[0]) / 1e3)


def wake_costs() -> dict[str, float | None]:
    """Return :func:`wake_cost` on one CPU, and from one to another [µs]."""
    return {'same CPU': wake_cost(True), 'other CPU': wake_cost(False)}
