# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The compiled loop of one controller, as Python starts, calls and ends it."""

from collections.abc import Callable
from contextlib import ExitStack
import time
from typing import Any

from .compile import compiled_callback, compiled_loop
from .memory import aligned_copy, LoopMemory
from .. import loop
from ..loop_counters import Tally
from ..loop_io import CALLED, COUNTING, PUBLISHING, SLEEPING, TAKING
from ..loop_settings import LoopSettings, TIMER, TRIGGERS
from ...compiler.tuple_reference import TupleMemory
from ...control.controller.controller import Controller
from ...control.cycle.compile import CYCLE_INPUTS
from ...errors import DataPathError
from ...wire.effort import EffortEncoder
from ...wire.joint_state import JointStateDecoder

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
