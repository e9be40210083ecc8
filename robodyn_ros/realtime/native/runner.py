# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The compiled loop of one controller, as Python starts, calls and ends it."""

from collections.abc import Callable
from contextlib import ExitStack
import time
from typing import Any

from numpy import ndarray

from .compile import compiled_callback, compiled_loop
from .memory import aligned_copy, LoopMemory
from .. import loop
from ..loop_counters import Tally
from ..loop_io import CALLED, COUNTING, PUBLISHING, SLEEPING, TAKING
from ...compiler.tuple_reference import TupleMemory
from ...control.cycle.compile import CYCLE_INPUTS
from ...control.steps.cycle_data import Cycle
from ...errors import DataPathError
from ...wire.decoders import DecoderArrays

CALLS = {TAKING: 'rcl_take_serialized_message', PUBLISHING: 'rcl_publish_serialized_message',
         COUNTING: 'rcl_publisher_get_subscription_count', SLEEPING: 'clock_nanosleep'}


class NativeLoop:
    """
    The compiled loop of one controller, for one thread.

    :param trigger: timer, state, or inline: each state is answered in the thread of the
        middleware that has brought it.
    :param inputs: gives what the compiled cycle takes, as of now.
    :param tau: (nv,) efforts [N·m | N].
    :param decoder: memory of the decoder of joint states.
    :param message, numbers: the effort message, and its numbers.
    :param states, commands, clock: rclpy's handles; ``clock`` None: time is the steady clock.
    :param tally: where it counts.
    :param max_messages: that are taken at a time.
    :param spin: how long before each point of the grid the clock is watched [s].
    :param fault_phase: number of the phase in which silence is not waited for.
    :raises DataPathError: a function that the loop calls is missing.
    """

    def __init__(self, trigger: str, inputs: Callable[[], Cycle], tau: ndarray,
                 decoder: DecoderArrays, message: ndarray, numbers: ndarray, states: Any,
                 commands: Any, clock: Any | None, tally: Tally, *, max_messages: int, rate: float,
                 spin: float, fault_phase: int):
        self._loop = compiled_loop(trigger)
        effort, out = aligned_copy(message, numbers)
        self._memory = memory = LoopMemory(states, commands, effort, out, clock=clock, tally=tally,
                                           decoder=decoder)
        self._io = io = memory.io
        for field, value in {
                'max_messages': max_messages, 'period': round(1e9 / rate),
                'spin': round(1e9 * spin), 'on_state': trigger != 'timer',
                'fault_phase': fault_phase}.items():
            io.loop_state[field] = value
        self._inputs, self._tau = inputs, tau
        self._given = TupleMemory(CYCLE_INPUTS)
        self._callback: tuple[int, ndarray] | None = None
        if trigger != 'timer':
            self._callback = (compiled_callback(trigger).address,
                              io.handles if trigger == 'inline' else memory.semaphore)
        self._handles = [handle for handle in (states, commands, clock) if handle]

    def call(self) -> None:
        """Make the loop come back at its next waking, to see what has changed; any thread may."""
        self._io.loop_state['called'] = 1
        self._memory.wake()

    def run(self, over: Callable[[], bool]) -> None:
        """
        Run until the loop ends.

        :raises DataPathError: a call has failed.
        """
        state = self._io.loop_state
        with ExitStack() as held:
            for handle in self._handles:            # not destroyed while held
                held.enter_context(handle)
            loop.begin(state, time.monotonic_ns())
            if self._callback is not None:
                self._memory.set_callback(*self._callback)
                held.callback(self._memory.set_callback, None, self._memory.semaphore)
            while True:
                state['called'] = 0                 # before looking at what it was called for
                if over():
                    return
                self._given.write(self._inputs())
                failed = self._loop(self._memory.address, self._given.address, self._tau)
                if failed != CALLED:
                    raise DataPathError(
                        f'{CALLS[failed]} returned {state["error"][0]}', name=CALLS[failed],
                        value=int(state['error'][0]), remedy='zero is the last message')
