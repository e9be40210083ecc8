# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A loop that only sleeps, without the interpreter."""

from functools import cache
from typing import Any

from numba import types
from numpy import ndarray
from robodyn_ros.compiler.jit import compile_function
from robodyn_ros.realtime.native import io
from robodyn_ros.realtime.native.io import (
    ABSOLUTE, clock_gettime, clock_nanosleep, MONOTONIC, NS_PER_S)

SIGNATURE = types.int64(types.int64, types.int64, types.int64[::1], types.int64[::1])


def lateness(period: int, spin: int, timespec: ndarray, late: ndarray) -> int:
    """
    Sleep until each point of a grid; return how many wake-ups there were.

    :param period, spin: of the grid [ns], see :class:`~robodyn_ros.realtime.periodic_timer.Grid`.
    :param timespec: (2,) int64, memory of the function.
    :param late: (N,) int64, how much later than its point each wake-up was [ns]. N points pass.
    """
    at = timespec.ctypes.data
    clock_gettime(MONOTONIC, at)
    point, missed = timespec[0] * NS_PER_S + timespec[1], 0
    woke = 0
    while woke + missed < late.shape[0]:
        point += period
        timespec[0], timespec[1] = (point - spin) // NS_PER_S, (point - spin) % NS_PER_S
        clock_nanosleep(MONOTONIC, ABSOLUTE, at, 0)
        clock_gettime(MONOTONIC, at)
        while timespec[0] * NS_PER_S + timespec[1] < point:
            clock_gettime(MONOTONIC, at)
        late[woke] = timespec[0] * NS_PER_S + timespec[1] - point
        over = late[woke] // period
        point += over * period
        missed += over
        woke += 1
    return woke


@cache
def compiled_lateness() -> Any:
    """Return :func:`lateness` as machine code."""
    return compile_function('wake_up', lateness, SIGNATURE, (io,))
