# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
A loop of fixed rate on absolute deadlines: no drift, no burst after an overrun.

Points of the grid are ``start + k * period`` on CLOCK_MONOTONIC (the clock of
``time.monotonic_ns``). A point that went by before the loop came for it is missed: it is counted
and never replayed. Linux only.
"""

import ctypes
import errno
import os
from time import monotonic_ns

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
                                remedy='give a positive number of nanoseconds')
        if not 0 <= spin_ns < period_ns:
            raise ArgumentError(f'a final spin of {spin_ns} ns', name='spin_ns', value=spin_ns,
                                remedy=f'give a part of the period, which is {period_ns} ns')
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
