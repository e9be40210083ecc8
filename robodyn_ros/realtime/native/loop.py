# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
The compiled loop of one controller, as Python compiles, starts, calls and ends it.

Machine code is made on first use and loaded from the disk afterwards. The same loop serves every
robot: it calls the compiled control cycle, and knows its data by address.
"""

from collections.abc import Callable
from contextlib import ExitStack
import ctypes
from functools import cache
import sys
import time
from typing import Any
import weakref

from numba import types
import numpy as np
from numpy import ndarray

from . import io
from .io import check_symbols, content, HANDLES, INFO_WORDS, LoopIO, OK, sem_post, sequence_number
from .. import loop, statistics, timing_rules
from ..loop import CALLED, COUNTING, LOOP_STATE, PUBLISHING, SLEEPING, TAKING
from ..loop_settings import LoopSettings, TIMER, TRIGGERS
from ..statistics import Tally
from ..timing_rules import COUNTS
from ...compiler.jit import compile_callback, compile_function, jitable, substitute, tuple_type
from ...compiler.tuple_reference import dereference, reference_to, TupleMemory
from ...control.controller.controller import Controller
from ...control.cycle import compile as control, ring_buffer
from ...control.cycle.compile import CYCLE_INPUTS
from ...errors import DataPathError
from ...wire import compile as wire
from ...wire.cdr import no_bytes, rcutils, release, SerializedBytes, unavailable
from ...wire.codecs import decoder_arrays, EffortEncoder, JointStateDecoder
from ...wire.decoders import DecoderArrays

FLOATS, INTEGERS = types.float64[::1], types.int64[::1]

LOOP_IO = tuple_type(
    LoopIO, loop_state=np.zeros(1, LOOP_STATE), counts=np.zeros(1, COUNTS),
    timing=statistics.no_cycles(1), cycle_count=INTEGERS, seen=FLOATS, pose=FLOATS,
    decoder=wire.DECODER_ARRAYS, handles=np.zeros(1, HANDLES), message=INTEGERS, tick=INTEGERS,
    info=types.uint64[::1], timespec=INTEGERS, listeners=INTEGERS, efforts=FLOATS)
CALLBACK = types.void(types.int64, types.int64)

# Modules of what reads and writes messages; with those of the cycle
IO_MODULES = (*wire.MODULES, statistics, jitable(timing_rules),
              jitable(io), jitable(loop, apart=tuple(f.__name__ for f in loop.OPERATIONS)))
MODULES = (*control.RECORDER_MODULES, *IO_MODULES)

#: ``io_at(address)``, in compiled code: the LoopIO in memory.
io_at: Any = reference_to(LOOP_IO)


def post(semaphore: int, number: int) -> None:
    """Wake the thread of the loop, called by the middleware for each message."""
    sem_post(semaphore)


LOOPS = {'timer': loop.on_grid, 'state': loop.on_state}     # by trigger


def compiled_loop(trigger: str) -> Any:
    """
    Return the compiled loop of a trigger, the same for every robot.

    It takes the addresses of two :class:`~robodyn_ros.compiler.tuple_reference.TupleMemory`, of a
    LoopIO and of a Cycle, and efforts (nv,), and returns as :func:`.loop.on_grid`.

    :param trigger: timer or state.
    :raises DataPathError: a function that the loop calls is missing.
    """
    check_symbols()
    _substitute_operations()
    return compile_function(f'native_loop_{trigger}', _from_python(LOOPS[trigger]),
                            types.int64(types.int64, types.int64, control.EFFORTS),
                            (*MODULES, sys.modules[__name__]))


@cache
def _from_python(loop_of_trigger: Any) -> Any:
    """Return the function that runs a loop with arguments from Python."""
    def from_python(io: int, inputs: int, tau: ndarray) -> int:
        return loop_of_trigger(io_at(io), control.inputs_at(inputs), tau)
    return from_python


def compiled_callback() -> Any:
    """Return :func:`post` as machine code."""
    check_symbols()
    return compile_callback('native_callback', post, CALLBACK, (io,))


@cache
def _substitute_operations() -> None:
    """Link the compiled loop to the operations of :mod:`~.io`, the compiled decoder and cycle."""
    recorded_cycle, joint_state = ring_buffer.recorded_cycle, wire.compiled_joint_state()

    def advance(io: LoopIO, inputs: Any, now: float, tau: ndarray) -> bool:
        return recorded_cycle(inputs, now, tau)

    def decode(io: LoopIO, received: float) -> int:
        b = content(io.message)
        return joint_state(b, b.shape[0], received, sequence_number(io.info),
                           dereference(io.decoder))

    compiled_apart: dict[str, Any] = {'advance': advance, 'decode': decode}
    for operation in loop.OPERATIONS:
        name = operation.__name__
        substitute(operation, compiled_apart.get(name) or getattr(io, name))


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
            loop_state=np.zeros(1, LOOP_STATE), counts=tally.counts, timing=tally.ring,
            cycle_count=tally.cycle_count, seen=tally.seen, pose=tally.pose,
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


CALLS = {TAKING: 'rcl_take_serialized_message', PUBLISHING: 'rcl_publish_serialized_message',
         COUNTING: 'rcl_publisher_get_subscription_count', SLEEPING: 'clock_nanosleep'}


class NativeLoop:
    """
    The compiled loop of one controller, for one thread.

    :param states, commands, clock: rclpy's handles; ``clock`` None: time is the steady clock.
    :param tally: where it counts.
    :param max_messages: that are taken at a time.
    :raises DataPathError: a function that the loop calls is missing.
    """

    def __init__(self, settings: LoopSettings, controller: Controller, decoder: JointStateDecoder,
                 tally: Tally, max_messages: int, states: Any, commands: Any, clock: Any | None):
        self._loop, self._controller = compiled_loop(settings.trigger), controller
        encoder = EffortEncoder(controller.model.nv)
        effort, out = aligned_copy(encoder.message, encoder.numbers)
        self._memory = memory = LoopMemory(states, commands, effort, out, clock=clock, tally=tally,
                                           decoder=decoder.arrays)
        self._state = memory.io.loop_state
        self._state[...] = loop.initial_state(settings, max_messages, clock is not None)
        self._given = TupleMemory(CYCLE_INPUTS)
        self._callback = None if settings.trigger == TRIGGERS[TIMER] else compiled_callback()
        self._handles = [handle for handle in (states, commands, clock) if handle]

    def call(self) -> None:
        """Make the loop come back at its next waking, to see what has changed; any thread may."""
        self._state['called'] = 1
        self._memory.wake()

    def run(self, over: Callable[[], bool]) -> None:
        """
        Run until the loop ends.

        :raises DataPathError: a call has failed.
        """
        state = self._state
        with ExitStack() as held:
            for handle in self._handles:            # not destroyed while held
                held.enter_context(handle)
            loop.begin(state, time.monotonic_ns())
            if self._callback is not None:
                self._memory.set_callback(self._callback.address)
                held.callback(self._memory.set_callback, None)
            while True:
                state['called'] = 0                 # before looking at what it was called for
                if over():
                    return
                self._given.write(self._controller.inputs)
                failed = self._loop(self._memory.address, self._given.address,
                                    self._controller.tau)
                if failed != CALLED:
                    raise DataPathError(
                        f'{CALLS[failed]} returned {state["error"][0]}', name=CALLS[failed],
                        value=int(state['error'][0]), remedy='zero is the last message')
