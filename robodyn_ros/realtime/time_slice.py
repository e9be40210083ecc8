# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Time slices of threads without a real-time priority, from Linux 6.12 on.

A thread of the EEVDF scheduler that wakes up preempts the running one if its virtual deadline is
earlier, and the deadline is one time slice away. A short slice lets a thread that runs for some
ten microseconds run at once, where it would else wait for the end of another's slice of 3 ms. It
takes no privilege, because its share of the processor stays the same (Stoica and Abdel-Wahab,
"Earliest Eligible Virtual Deadline First", Old Dominion University TR-95-22, 1995).
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, ExitStack
import ctypes
import os
import platform
import struct

MIN_SLICE = 100_000    # [ns] that the kernel accepts
# Numbers of the system calls sched_setattr and sched_getattr, linux/unistd.h
SYSCALL_NUMBERS = {'x86_64': (314, 315), 'aarch64': (274, 275), 'riscv64': (274, 275)}
# size, policy, flags, nice, priority, runtime, deadline, period: linux/sched/types.h
SCHED_ATTR = struct.Struct('=IIQiIQQQ')
RUNTIME_INDEX = 5    # of the time slice in SCHED_ATTR

_libc = ctypes.CDLL(None, use_errno=True)


@contextmanager
def shortened(threads: Iterable[int]) -> Iterator[list[int]]:
    """
    Give threads the time slice MIN_SLICE within the block.

    :param threads: numbers that the kernel has for them; 0: the calling one.
    :returns: the changed threads: none on other kernels, and none that has a real-time priority or
        has ended.
    """
    with ExitStack() as undo:
        changed = []
        for thread in threads:
            before = time_slice(thread)
            if before > MIN_SLICE and set_time_slice(thread, MIN_SLICE):
                undo.callback(set_time_slice, thread, before)
                changed.append(thread)
        yield changed


def time_slice(thread: int) -> int:
    """Return the time slice of a thread [ns], 0 if unknown."""
    attributes = _attributes(thread)
    return attributes[RUNTIME_INDEX] if attributes and attributes[1] == os.SCHED_OTHER else 0


def set_time_slice(thread: int, nanoseconds: int) -> bool:
    """Set the time slice of a thread of SCHED_OTHER; return whether the kernel has done so."""
    attributes = _attributes(thread)
    if not attributes or attributes[1] != os.SCHED_OTHER:
        return False
    attributes[RUNTIME_INDEX] = nanoseconds
    call = SYSCALL_NUMBERS[platform.machine()][0]
    if _libc.syscall(call, thread, ctypes.create_string_buffer(SCHED_ATTR.pack(*attributes)), 0):
        return False
    return time_slice(thread) == nanoseconds


def _attributes(thread: int) -> list[int]:
    """Return the scheduling attributes of a thread, [] if unknown."""
    call = SYSCALL_NUMBERS.get(platform.machine(), (0, 0))[1]
    buffer = ctypes.create_string_buffer(SCHED_ATTR.size)
    if not call or _libc.syscall(call, thread, buffer, SCHED_ATTR.size, 0):
        return []
    return list(SCHED_ATTR.unpack(buffer.raw))
