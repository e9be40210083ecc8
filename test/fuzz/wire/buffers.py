# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Memory that forgives nothing: for plain Python by checks, for machine code by the processor."""

from collections.abc import Callable, Iterable
import ctypes
import mmap
import os

import numpy as np
from numpy import ndarray
from robodyn_ros.state import STATE
from robodyn_ros.wire import decoders
from robodyn_ros.wire.decoders import DecoderArrays

PAGE = mmap.PAGESIZE
LONGEST = 1 << 16           # bytes of a message that can be delivered
NONE, READ, WRITE = 0, 1, 2         # <sys/mman.h>

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mprotect.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int


class Strict:
    """
    An array of which only elements that exist may be touched; negative indices do not count.

    It takes no slices: decoders go byte by byte.
    """

    def __init__(self, array: ndarray):
        self.array, self.shape = array, array.shape

    def _checked(self, index):
        for i, size in zip(index if isinstance(index, tuple) else (index,), self.shape):
            assert 0 <= i < size, f'element {index} of an array of shape {self.shape}'
        return index

    def __getitem__(self, index):
        return self.array[self._checked(index)]

    def __setitem__(self, index, value):
        self.array[self._checked(index)] = value


class Pages:
    """At least ``size`` bytes, and a page behind them that nobody may touch."""

    def __init__(self, size: int):
        self._size = -(-size // PAGE) * PAGE
        memory = mmap.mmap(-1, self._size + PAGE)
        #: (size,) uint8 that ends where the page begins.
        self.bytes = np.frombuffer(memory, np.uint8, self._size)
        self._address = self.bytes.ctypes.data
        _protect(self._address + self._size, PAGE, NONE)

    def allow(self, access: int) -> None:
        """Say what may be done with the bytes: NONE, READ or READ | WRITE."""
        _protect(self._address, self._size, access)


def _protect(address: int, size: int, access: int) -> None:
    if _libc.mprotect(address, size, access):
        raise OSError(ctypes.get_errno(), 'mprotect: ' + os.strerror(ctypes.get_errno()))


def guarded(array: ndarray) -> ndarray:
    """Return a copy of an array that ends where nobody may touch anything."""
    memory = Pages(max(array.nbytes, 1)).bytes
    copy = memory[memory.size - array.nbytes:].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


class Letterbox:
    """
    Delivers messages that can be read up to their last byte, and until the next one comes.

    Each lies elsewhere than the one before, which nobody may touch any more: who has kept an
    address dies of it.
    """

    def __init__(self) -> None:
        self._now, self._before = Pages(LONGEST), Pages(LONGEST)

    def deliver(self, message: bytes) -> ndarray:
        """Return the message as (len(message),) uint8, not to be written to."""
        self._now, self._before = self._before, self._now
        self._before.allow(NONE)
        self._now.allow(READ | WRITE)
        array = self._now.bytes[LONGEST - len(message):]
        array[:] = np.frombuffer(message, np.uint8)
        array.flags.writeable = False
        self._now.allow(READ)
        return array


def joint_state_arrays(names: Iterable[str], known: int,
                       hold: Callable[[ndarray], ndarray] = np.array) -> DecoderArrays:
    """
    Return what a decoder of these joints holds, as its class makes it.

    :param known: bytes of names that it can remember.
    :param hold: puts an array where it is to be.
    """
    encoded = [name.encode() for name in names]
    n = len(encoded)
    scratch = hold(np.zeros((n, 3)))
    return DecoderArrays(
        names=hold(np.frombuffer(b''.join(encoded), np.uint8)),
        ends=hold(np.cumsum([0, *map(len, encoded)])),
        layout=hold(np.zeros(decoders.LAYOUT_SIZE, np.int64)), permutation=hold(np.full(n, -1)),
        known=hold(np.zeros(known, np.uint8)), mask=hold(np.zeros(known, np.uint8)),
        scratch=scratch, scratch_bytes=scratch.reshape(-1).view(np.uint8),
        state=hold(np.full((n, len(STATE.names or ())), np.nan)), stamp=hold(np.full(1, np.nan)))


def effort_arrays(n: int, hold: Callable[[ndarray], ndarray] = np.array) -> tuple[ndarray, ...]:
    """Return what a decoder of ``n`` efforts holds, and where it writes them."""
    scratch = hold(np.zeros(n))
    return scratch, scratch.view(np.uint8), hold(np.full(n, np.nan))
