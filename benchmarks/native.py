# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
The other end of a control loop in compiled code: what is published when, and what is heard when.

Python takes no part while it runs, so that what is measured is the loop and not its measurement.
"""

import sys
import time
from functools import cache
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numba import carray
from numpy import ndarray

from robodyn_ros.dynamics.numba_types import pointer
from robodyn_ros.jit import jitable, load
from robodyn_ros.realtime import rcl, timing_rules
from robodyn_ros.wire.effort import EffortEncoder

NOBODY = SimpleNamespace(pointer=0)
NO_BYTES = np.zeros(4, np.uint8)

# One record, at an address that a thread of the middleware is given.
EAR = np.dtype([
    ('words', np.int64), ('message', np.int64), ('info', np.int64), ('timespec', np.int64),
    ('times', np.int64), ('numbers', np.int64), ('bytes', np.int64),    # addresses of columns
    ('size', np.int64), ('count', np.int64),    # their length; messages so far
    ('begin', np.int64), ('length', np.int64),  # of the numbers in a message; of a message
    ('strange', np.int64),                      # messages of another length
])

TEXT = '''
from numba import cfunc, njit, types

from benchmarks import native
from robodyn_ros.jit import OPTIONS
from robodyn_ros.realtime import rcl


@cfunc(types.void(types.int64, types.int64), cache=True)
def on_message(address, number):
    native.hear(address)


@njit(types.int64(rcl.OWN[0], rcl.OWN[9], types.uint8[::1], types.float64[::1],
                  types.float64[::1], types.int64[::1], types.int64, types.int64, types.int64),
      cache=True, **OPTIONS)
def speak(words, timespec, message, number, values, times, first, count, period):
    return native.speak(words[0], timespec, message, number, values, times, first, count, period)
'''


# Compiled

def hear(address):
    """Take down what has come in and when, in the thread that has brought it."""
    ear = carray(pointer(address), (1,), EAR)[0]    # type: ignore[call-arg]
    w = rcl.words_at(ear.words)
    timespec = carray(pointer(ear.timespec), (2,), np.int64)    # type: ignore[call-arg]
    message = carray(pointer(ear.message), (16,), np.int64)     # type: ignore[call-arg]
    info = carray(pointer(ear.info), (rcl.INFO_WORDS,), np.uint64)  # type: ignore[call-arg]
    now = rcl.nanoseconds(w, timespec)
    if rcl.sem_trywait(w.turn) != 0:        # another thread of the middleware takes this one too
        return
    times = carray(pointer(ear.times), (ear.size,), np.int64)   # type: ignore[call-arg]
    numbers = carray(pointer(ear.numbers), (ear.size,), np.int64)   # type: ignore[call-arg]
    width = ear.length - ear.begin
    efforts = carray(pointer(ear.bytes), (ear.size, width), np.uint8)   # type: ignore[call-arg]
    while rcl.taken(w, w.message, message, w.states, w.info):
        k = ear.count
        if message[1] < ear.length:
            ear.strange += 1
            continue
        b, place = rcl.content(message), k % ear.size
        for i in range(width):
            efforts[place, i] = b[ear.begin + i]
        times[place], numbers[place] = now, np.int64(info[rcl.SEQUENCE])
        ear.count = k + 1
    rcl.sem_post(w.turn)


def speak(w, timespec, message, number, values, times, first, count, period):
    """Publish a state at each point of the grid; return how many points were missed."""
    missed = 0
    for k in range(first, first + count):
        w.deadline, late = timing_rules.next_point(w.deadline, period,
                                                   rcl.nanoseconds(w, timespec))
        missed += late
        rcl.sleep_until(w, timespec, w.deadline)
        number[0] = values[k % values.shape[0]]
        times[k % times.shape[0]] = rcl.nanoseconds(w, timespec)
        if rcl.rcl_publish(w.commands, w.effort, 0) != rcl.OK:
            return -1
    return missed


# What Python sees of it

@cache
def compiled() -> ModuleType:
    """Return the two functions as machine code."""
    rcl.check_symbols()
    jitable(rcl)
    return load('loop_bench', TEXT, (rcl, jitable(timing_rules), jitable(sys.modules[__name__])))


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
        self._area = area = rcl._Area(handle, NOBODY, NO_BYTES)
        self._size, self._ear = size, np.zeros(1, EAR)
        for field, value in {
                'words': area.words, 'message': area.message, 'info': area.info,
                'timespec': area.timespec, 'times': self._columns.times,
                'numbers': self._columns.numbers, 'bytes': self._columns.efforts}.items():
            self._ear[field] = value.ctypes.data
        self._ear['size'], self._ear['length'] = size, len(encoder.message)
        self._ear['begin'] = len(encoder.message) - encoder.numbers.nbytes
        rcl._libc.sem_post(area.turn.ctypes.data)

    def open(self) -> None:
        """Begin to listen."""
        self._area.be_called(compiled().on_message.address, self._ear)

    def close(self) -> None:
        """Listen no more."""
        self._area.be_called(None, self._ear)

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
        self._message, begin = rcl.aligned_copy(message, number)
        self._area, self._values = rcl._Area(NOBODY, handle, self._message), values
        self._number = begin
        self._times, self.count = np.zeros(size, np.int64), 0
        self._area.words['deadline'] = time.monotonic_ns()

    def speak(self, count: int, rate: float) -> int:
        """Publish so many states [Hz], without the GIL; return how many points were missed."""
        missed = compiled().speak(
            self._area.words, self._area.timespec, self._message, self._number, self._values,
            self._times, self.count, count, round(1e9 / rate))
        if missed < 0:
            raise RuntimeError('a state could not be published')
        self.count += count
        return missed

    def times(self, first: int, count: int) -> ndarray:
        """When state ``first`` and those after it were published (count,) [ns]."""
        return self._times[np.arange(first, first + count) % len(self._times)]
