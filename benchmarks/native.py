# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
The other end of a control loop in compiled code: what is published when, and what is heard when.

Python takes no part while it runs, so that what is measured is the loop and not its measurement.
"""

from functools import cache
import sys
import time
from types import SimpleNamespace
from typing import Any, NamedTuple

from numba import types
import numpy as np
from numpy import ndarray
from robodyn_ros.compiler.jit import compile_callback, compile_function, jitable
from robodyn_ros.dynamics.numba_types import array_at
from robodyn_ros.realtime import timing_rules
from robodyn_ros.realtime.loop import LOOP_STATE
from robodyn_ros.realtime.native.io import (
    check_symbols, content, HANDLES, INFO_WORDS, LENGTH, LoopIO, publish_message, sem_post,
    sem_trywait, SEQUENCE, sleep_until, steady_ns, take)
from robodyn_ros.realtime.native.loop import (
    aligned_copy, CALLBACK, IO_MODULES, LOOP_IO, LoopMemory)
from robodyn_ros.wire.codecs import EffortEncoder

NO_BYTES = np.zeros(4, np.uint8)

# One record, at an address that a thread of the middleware is given.
EAR = np.dtype([
    ('handles', np.int64), ('loop_state', np.int64),                    # addresses of records
    ('times', np.int64), ('numbers', np.int64), ('bytes', np.int64),    # addresses of columns
    ('size', np.int64), ('count', np.int64),    # their length; messages so far
    ('begin', np.int64), ('length', np.int64),  # of the numbers in a message; of a message
    ('strange', np.int64),                      # messages of another length
])

INTEGERS = types.int64[::1]
SPEAK = types.int64(LOOP_IO, types.float64[::1], INTEGERS, types.int64, types.int64, types.int64)


# Compiled

def hear(address, number):
    """Take down what has come in and when, in the thread that has brought it."""
    ear = array_at(address, (1,), EAR)[0]    # type: ignore[call-arg]
    io, semaphore = io_at(ear), handles_at(ear.handles).semaphore
    now = steady_ns(io)
    if sem_trywait(semaphore) != 0:         # another thread of the middleware takes this one too
        return
    times = array_at(ear.times, (ear.size,), np.int64)   # type: ignore[call-arg]
    numbers = array_at(ear.numbers, (ear.size,), np.int64)   # type: ignore[call-arg]
    width = ear.length - ear.begin
    efforts = array_at(ear.bytes, (ear.size, width), np.uint8)   # type: ignore[call-arg]
    while take(io):
        k = ear.count
        if io.message[LENGTH] < ear.length:
            ear.strange += 1
            continue
        b, place = content(io.message), k % ear.size
        for i in range(width):
            efforts[place, i] = b[ear.begin + i]
        times[place], numbers[place] = now, np.int64(io.info[SEQUENCE])
        ear.count = k + 1
    sem_post(semaphore)


def handles_at(address):
    """Return the record at an address, whose semaphore is posted while no thread has the turn."""
    return array_at(address, (1,), HANDLES)[0]       # type: ignore[call-arg]


def io_at(ear):
    """Return what messages are taken with; the fields that take no part are ``timespec``."""
    handles = array_at(ear.handles, (1,), HANDLES)       # type: ignore[call-arg]
    state = array_at(ear.loop_state, (1,), LOOP_STATE)   # type: ignore[call-arg]
    h = handles[0]
    message = array_at(h.message, (16,), np.int64)       # type: ignore[call-arg]
    info = array_at(h.info, (INFO_WORDS,), np.uint64)    # type: ignore[call-arg]
    unused = timespec = array_at(h.timespec, (2,), np.int64)     # type: ignore[call-arg]
    return LoopIO(state, unused, unused, unused, unused, unused, unused, handles, message, unused,
                  info, timespec, unused, unused)


def speak(io, values, times, first, count, period):
    """Publish a state at each point of the grid; return how many points were missed."""
    w, missed = io.loop_state[0], 0
    for k in range(first, first + count):
        w.deadline, late = timing_rules.next_point(w.deadline, period, steady_ns(io))
        missed += late
        sleep_until(io, w.deadline)
        io.efforts[0] = values[k % values.shape[0]]
        times[k % times.shape[0]] = steady_ns(io)
        if not publish_message(io):
            return -1
    return missed


# What Python sees of it

@cache
def compiled() -> SimpleNamespace:
    """Return the functions as machine code."""
    check_symbols()
    modules = (*IO_MODULES, jitable(sys.modules[__name__]))
    return SimpleNamespace(
        on_message=compile_callback('loop_bench', hear, CALLBACK, modules),
        speak=compile_function('loop_bench', speak, SPEAK, modules))


class Heard(NamedTuple):
    """What an ear has heard, oldest first."""

    times: ndarray          # (N,) ns, CLOCK_MONOTONIC
    numbers: ndarray        # (N,) that the publisher counts its messages by
    efforts: ndarray        # (N, n) N·m | N


class Ear:
    """
    Takes down every effort message of a subscription that no executor takes from.

    :param handle: rclpy's, of the subscription; it must live as long as the ear is open.
    :param n: efforts in a message.
    :param size: messages that are kept, the latest ones.
    """

    def __init__(self, handle: Any, n: int, size: int):
        encoder = EffortEncoder(n)
        self._columns = Heard(np.zeros(size, np.int64), np.zeros(size, np.int64),
                              np.zeros((size, n)))
        self._memory = LoopMemory(handle, None, NO_BYTES, np.zeros(1))
        self._size, self._ear = size, np.zeros(1, EAR)
        self._ear['size'], self._ear['length'] = size, len(encoder.message)
        self._ear['begin'] = len(encoder.message) - encoder.numbers.nbytes
        for field, value in {
                'handles': self._memory.io.handles, 'loop_state': self._memory.io.loop_state,
                'times': self._columns.times, 'numbers': self._columns.numbers,
                'bytes': self._columns.efforts}.items():
            self._ear[field] = value.ctypes.data
        self._memory.wake()

    def open(self) -> None:  # noqa: A003
        """Begin to listen."""
        self._memory.set_callback(compiled().on_message.address, self._ear)

    def close(self) -> None:
        """Listen no more."""
        self._memory.set_callback(None)

    @property
    def strange(self) -> int:
        """Messages that were too short to be efforts."""
        return int(self._ear['strange'][0])

    @property
    def count(self) -> int:
        """Messages taken down."""
        return int(self._ear['count'][0])

    def heard(self, begin: int = 0) -> Heard:
        """Return a copy of what has been heard from message ``begin`` on."""
        end = self.count
        if end - begin > self._size:
            raise RuntimeError(f'{end - begin} messages are more than the {self._size} kept')
        kept = np.arange(begin, end) % self._size
        return Heard(*(column[kept] for column in self._columns))


class Voice:
    """
    Publishes one state message again and again, in which one number changes.

    :param handle: rclpy's, of the publisher; it must live as long as the voice.
    :param message, number: bytes of a message, and the (1,) view of one of its float64.
    :param values: (N,) what that number is in turn: values[k % N] in state k.
    :param size: of how many states the latest times are kept.
    """

    def __init__(self, handle: Any, message: ndarray, number: ndarray, values: ndarray, size: int):
        self._memory = LoopMemory(None, handle, *aligned_copy(message, number))
        self._values = values
        self._times, self.count = np.zeros(size, np.int64), 0
        self._memory.io.loop_state['deadline'] = time.monotonic_ns()

    def speak(self, count: int, rate: float) -> int:
        """Publish so many states [Hz], without the GIL; return how many points were missed."""
        missed = compiled().speak(self._memory.io, self._values, self._times, self.count, count,
                                  round(1e9 / rate))
        if missed < 0:
            raise RuntimeError('a state could not be published')
        self.count += count
        return missed

    def times(self, first: int, count: int) -> ndarray:
        """When state ``first`` and those after it were published (count,) [ns]."""
        return self._times[np.arange(first, first + count) % len(self._times)]
