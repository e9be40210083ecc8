# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
# flake8: noqa: A005
"""
Input and output of the compiled loop: the operations of :mod:`~robodyn_ros.realtime.loop`.

``advance`` and ``decode``, which are compiled for themselves, are in :mod:`~.loop`.
"""

import ctypes
import math
from typing import Any, NamedTuple

import llvmlite.binding
from numba import types
import numpy as np
from numpy import ndarray

from ..loop import COUNTING, PUBLISHING, SLEEPING, TAKING
from ...dynamics.numba_types import array_at
from ...wire import decoders
from ...wire.cdr import TAKE_FAILED, unavailable
from ...wire.decoders import DecoderArrays

SYMBOLS = {
    'librcl.so': ('rcl_take_serialized_message', 'rcl_publish_serialized_message',
                  'rcl_publisher_get_subscription_count',
                  'rcl_subscription_set_on_new_message_callback'),
    'librcutils.so': ('rcutils_reset_error', 'rcutils_get_default_allocator'),
    None: ('clock_gettime', 'clock_nanosleep', 'sem_clockwait', 'sem_post',
           'sem_trywait'),
}
OK = 0                                          # rcl/types.h
REALTIME, MONOTONIC, ABSOLUTE, EINTR = map(np.int32, (0, 1, 1, 4))      # linux/time.h, errno.h
NS_PER_S = 1_000_000_000

word, i32 = types.int64, types.int32


def _external(name: str, *kinds: Any, result: Any = i32) -> Any:
    """Return a C function as compiled code calls it; the linker finds it by its name."""
    return types.ExternalFunction(name, result(*kinds))


rcl_take = _external('rcl_take_serialized_message', word, word, word, word)
rcl_publish = _external('rcl_publish_serialized_message', word, word, word)
rcl_count = _external('rcl_publisher_get_subscription_count', word, word)
rcl_forget_error = _external('rcutils_reset_error', result=types.void)
clock_gettime = _external('clock_gettime', i32, word)
clock_nanosleep = _external('clock_nanosleep', i32, i32, word, word)
sem_clockwait = _external('sem_clockwait', word, i32, word)
sem_trywait = _external('sem_trywait', word)
sem_post = _external('sem_post', word)


def check_symbols() -> None:
    """
    Load the libraries whose functions the loop calls.

    Without a function the linker would end the process.

    :raises DataPathError: a library or a function is missing.
    """
    for library, names in SYMBOLS.items():
        try:
            loaded = ctypes.CDLL(library)
        except OSError as error:
            raise unavailable(f'{library} cannot be loaded ({error})') from error
        for name in names:
            if not hasattr(loaded, name):
                raise unavailable(f'{library or "libc"} has no {name}')
        if library:
            llvmlite.binding.load_library_permanently(library)


# Addresses, and the newest time of /clock.
HANDLES = np.dtype([
    ('states', np.int64), ('commands', np.int64), ('clock', np.int64),      # rcl handles, or 0
    ('message', np.int64), ('tick', np.int64), ('effort', np.int64),    # serialized messages
    ('info', np.int64), ('timespec', np.int64), ('listeners', np.int64),
    ('semaphore', np.int64),        # posted: a message is there
    ('clock_time', float),          # s
])
# rmw_message_info_t has 64 to 72 bytes: its words of these numbers are the source_timestamp [ns]
# and the publication_sequence_number
INFO_WORDS, INFO_EXPECTED, PUBLISHED, SEQUENCE = 32, 9, 0, 2
NO_SEQUENCE = np.uint64(2**64 - 1)
# Words of a serialized message, see `cdr.SerializedBytes`
BUFFER, LENGTH, CAPACITY = 0, 1, 2


class LoopIO(NamedTuple):
    """Arrays that a loop works in; compiled code reaches them as a tuple."""

    loop_state: ndarray     # (1,) LOOP_STATE
    counts: ndarray         # (1,) COUNTS
    timing: ndarray         # (N,) TIMING, a ring of the latest cycles
    cycle_count: ndarray    # (1,) int64, number of cycles that the ring was given
    seen: ndarray           # (nv,) numbers of the samples that were counted last
    pose: ndarray           # (nv,) positions [rad | m] that the last cycle had
    decoder: DecoderArrays
    handles: ndarray        # (1,) HANDLES, addresses of those below and of librcl's
    message: ndarray        # (16,) int64, the serialized state taken last: its structure
    tick: ndarray           # (16,) int64, of /clock
    info: ndarray           # (INFO_WORDS,) uint64, rmw_message_info_t
    timespec: ndarray       # (2,) int64, struct timespec
    listeners: ndarray      # (1,) int64
    efforts: ndarray        # (nv,) numbers of the serialized command


# OPERATIONS of the loop, by their names

def steady_ns(io: LoopIO) -> int:
    """Return the steady time [ns]."""
    return clock_ns(io, MONOTONIC)


def wall_clock_ns(io: LoopIO) -> int:
    """Return the time of day [ns]."""
    return clock_ns(io, REALTIME)


def sleep_until(io: LoopIO, deadline: int) -> None:
    """Sleep until a steady time [ns], the last ``spin`` of it awake."""
    w = io.loop_state[0]
    asleep = deadline - int(1e9 * w.spin)
    code = EINTR
    while code == EINTR:
        io.timespec[0], io.timespec[1] = asleep // NS_PER_S, asleep % NS_PER_S
        code = clock_nanosleep(MONOTONIC, ABSOLUTE, io.handles[0].timespec, 0)
    while w.spin > 0.0 and steady_ns(io) < deadline:
        pass
    if code != OK:
        w.failed, w.error = SLEEPING, code


def wait_until(io: LoopIO, deadline: int) -> bool:
    """Sleep until a message comes (True) or until a steady time [ns]."""
    h = io.handles[0]
    while True:
        io.timespec[0], io.timespec[1] = deadline // NS_PER_S, deadline % NS_PER_S
        if sem_clockwait(h.semaphore, MONOTONIC, h.timespec) == 0:
            while sem_trywait(h.semaphore) == 0:
                pass
            return True
        if steady_ns(io) >= deadline:
            return False


def take(io: LoopIO) -> bool:
    """Take the next joint state; return whether there was one."""
    h = io.handles[0]
    return take_message(io, h.message, io.message, h.states, h.info)


def stamp_taken(io: LoopIO) -> float:
    """Return the header stamp [s] of the state taken last, NaN where it is too short."""
    return first_time(io.message)


def publication_time(io: LoopIO) -> int:
    """Return when the state taken last was published [ns, time of day]."""
    return int(io.info[PUBLISHED])


def cycle_time(io: LoopIO) -> float:
    """Return the time on the clock of the cycle [s]: steady, or the newest of /clock."""
    h = io.handles[0]
    if h.clock == 0:
        return steady_ns(io) * 1e-9
    if take_message(io, h.tick, io.tick, h.clock, 0):
        h.clock_time = first_time(io.tick)
    return h.clock_time


def count_listeners(io: LoopIO) -> int:
    """Return the number of subscribers of the commands."""
    code = rcl_count(io.handles[0].commands, io.handles[0].listeners)
    if code != OK:
        note_failure(io, COUNTING, code)
    return io.listeners[0]


def publish(io: LoopIO, tau: ndarray) -> None:
    """Publish the efforts."""
    for i in range(tau.shape[0]):
        io.efforts[i] = tau[i]
    publish_message(io)


# What they are made of

def clock_ns(io: LoopIO, clock: np.int32) -> int:
    """Return the time of a clock of the system [ns]."""
    clock_gettime(clock, io.handles[0].timespec)
    return io.timespec[0] * NS_PER_S + io.timespec[1]


def take_message(io: LoopIO, address: int, message: ndarray, handle: int, info: int) -> bool:
    """
    Take a message from a subscription; return whether there was one.

    The middleware may move the bytes of the message.

    :param message: its structure, which is at ``address``.
    :param info: address where to write what the middleware knows of it, or 0.
    """
    code = rcl_take(handle, address, info, 0)
    if code == OK and message[BUFFER] != 0 and 0 <= message[LENGTH] <= message[CAPACITY]:
        return True
    if code != TAKE_FAILED:
        note_failure(io, TAKING, code)
    return False


def publish_message(io: LoopIO) -> bool:
    """Publish the serialized command; return whether that worked."""
    code = rcl_publish(io.handles[0].commands, io.handles[0].effort, 0)
    if code != OK:
        note_failure(io, PUBLISHING, code)
    return code == OK


def note_failure(io: LoopIO, operation: int, code: int) -> None:
    """Note which operation has failed, and what it returned."""
    rcl_forget_error()
    io.loop_state[0].failed, io.loop_state[0].error = operation, code


def content(message: ndarray) -> ndarray:
    """Return the bytes of a message that was taken; good until the next take."""
    return array_at(message[BUFFER], (message[LENGTH],), np.uint8)  # type: ignore[call-arg]


def first_time(message: ndarray) -> float:
    """Return the time [s] that a message begins with, NaN where it is too short."""
    b = content(message)
    return decoders.time_of(b) if b.shape[0] >= decoders.STAMP_END else math.nan


def sequence_number(info: ndarray) -> float:
    """Return the number that a message's publisher counts by, NaN where there is none."""
    return math.nan if info[SEQUENCE] == NO_SEQUENCE else float(info[SEQUENCE])
