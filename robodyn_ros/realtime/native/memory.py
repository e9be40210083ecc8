# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Memory of the compiled loop, at addresses that stay, and the semaphore of its thread."""

import ctypes
from typing import Any
import weakref

import numpy as np
from numpy import ndarray

from .compile import LOOP_IO
from .ffi import OK, unavailable
from .io import HANDLES, INFO_WORDS, LoopIO
from ..loop_counters import Tally
from ..loop_io import LOOP_STATE
from ..serialized_bytes import no_bytes, rcutils, release, SerializedBytes
from ...compiler.tuple_reference import TupleMemory
from ...wire.decoders import DecoderArrays
from ...wire.joint_state import decoder_arrays

MESSAGE_WORDS = 16                  # no fewer than a SerializedBytes has
SEMAPHORE_WORDS = 8                 # sem_t has 32 bytes
RESERVED_BYTES = 4096    # of a message, before the middleware reallocates

_libc = ctypes.CDLL(None)
_libc.sem_init.argtypes = (ctypes.c_void_p, ctypes.c_int, ctypes.c_uint)
_libc.sem_post.argtypes = (ctypes.c_void_p,)


class LoopMemory:
    """
    Memory of one loop.

    :param states, commands, clock: rclpy's handles of the subscription of states, of the publisher
        of commands, and of the subscription of /clock; None: there is none.
    :param message: serialized command; ``numbers`` its efforts, see :func:`aligned_copy`.
    :param tally, decoder: where it counts, and what it decodes into; None: unused.
    """

    def __init__(self, states: Any, commands: Any, message: ndarray, numbers: ndarray, *,
                 clock: Any = None, tally: Tally | None = None,
                 decoder: DecoderArrays | None = None):
        tally = tally or Tally(np.zeros(1))
        #: Ends the wait of the loop's thread, for a callback that posts it.
        self.semaphore = np.zeros(SEMAPHORE_WORDS, np.int64)
        _libc.sem_init(self.semaphore.ctypes.data, 0, 0)
        #: What the compiled functions work in.
        self.io = io = LoopIO(
            loop_state=np.zeros(1, LOOP_STATE), counts=tally.counts, timing=tally.timing.ring,
            cycle_count=tally.timing.count, seen=tally.seen, pose=tally.pose,
            decoder=decoder or decoder_arrays(('none',)), handles=np.zeros(1, HANDLES),
            message=self._serialized(), tick=self._serialized(),
            info=np.zeros(INFO_WORDS, np.uint64), timespec=np.zeros(2, np.int64),
            listeners=np.zeros(1, np.int64), efforts=numbers)
        self._command, self._message = no_bytes(), message
        self._command.buffer, self._command.length, self._command.capacity = (
            message.ctypes.data, len(message), len(message))
        self._states = states
        for field, address in {
                'states': states.pointer if states else 0,
                'commands': commands.pointer if commands else 0,
                'clock': clock.pointer if clock else 0,
                'message': io.message.ctypes.data, 'tick': io.tick.ctypes.data,
                'effort': ctypes.addressof(self._command), 'info': io.info.ctypes.data,
                'timespec': io.timespec.ctypes.data, 'listeners': io.listeners.ctypes.data,
                'semaphore': self.semaphore.ctypes.data}.items():
            io.handles[field] = address
        io.loop_state['on_ros_time'] = clock is not None
        self._given = TupleMemory(LOOP_IO)
        self._given.write(io)

    def _serialized(self) -> ndarray:
        """Return the structure of a serialized message that librcl may let grow."""
        words = np.zeros(MESSAGE_WORDS, np.int64)
        message = SerializedBytes.from_buffer(words.data)
        ctypes.pointer(message)[0] = no_bytes()
        rcutils().rcutils_uint8_array_resize(ctypes.byref(message),
                                             ctypes.c_size_t(RESERVED_BYTES))
        weakref.finalize(self, release, message)
        return words

    @property
    def address(self) -> int:
        """Return where compiled functions find :attr:`io`, as long as this object lives."""
        return self._given.address

    def wake(self) -> None:
        """Interrupt the current wait of the loop's thread, or the next one."""
        _libc.sem_post(self.semaphore.ctypes.data)

    def set_callback(self, function: int | None, argument: ndarray | None = None) -> None:
        """
        Set (or, with None, remove) the on-new-message callback.

        :param function: its address; it takes the address of ``argument`` (None: of the semaphore)
            and a number.
        :raises DataPathError: the middleware refuses.
        """
        rcl = ctypes.CDLL('librcl.so')
        rcl.rcl_subscription_set_on_new_message_callback.argtypes = 3 * (ctypes.c_void_p,)
        code = rcl.rcl_subscription_set_on_new_message_callback(
            self._states.pointer, function,
            (self.semaphore if argument is None else argument).ctypes.data)
        if code != OK:
            rcutils().rcutils_reset_error()
            raise unavailable(f'rcl_subscription_set_on_new_message_callback returned {code}')


def aligned_copy(message: ndarray, numbers: ndarray) -> tuple[ndarray, ndarray]:
    """Return a copy of a CDR message whose numbers are aligned in memory, and a view of these."""
    begin = numbers.ctypes.data - message.ctypes.data
    copy = np.zeros(len(message) + 8, np.uint8)[-begin % 8:][:len(message)]
    copy[:] = message
    return copy, copy[begin:begin + numbers.nbytes].view('<f8')
