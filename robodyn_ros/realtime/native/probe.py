# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Trial of what the native loop relies on, with a topic of its own."""

from collections.abc import Callable
import ctypes
from functools import cache
import time
from typing import Any

from numba import types
import numpy as np

from .io import (
    CAPACITY, check_symbols, INFO_EXPECTED, LENGTH, NS_PER_S, publish_message, PUBLISHED,
    sequence_number, take, wait_until)
from .loop import compiled_callback, io_at, IO_MODULES, LoopMemory
from ...compiler.jit import compile_function
from ...wire.cdr import unavailable

TRIAL_TIMEOUT = 5.0    # [s]
CANARY = np.uint64(0xA5A5A5A5A5A5A5A5)
TRIAL_BYTES = 64, 100_000    # the second size makes the middleware reallocate


def probe(states: Any, commands: Any, send: Callable[[bytes], None],
          drain: Callable[[], list[Any]]) -> None:
    """
    Try with a topic of its own what the loop relies on.

    :param states, commands: rclpy's handles of a subscription and a publisher of one topic, whose
        other ends are ``send`` and ``drain`` (a list of samples).
    :raises DataPathError: something is missing, or is not what this package takes it for.
    """
    check_symbols()
    back = np.frombuffer(b'\0\1\0\0' + bytes(range(60)), np.uint8)
    memory = LoopMemory(states, commands, back, np.zeros(1))
    with states, commands:
        memory.set_callback(compiled_callback().address)
        try:
            expected = 0.0
            for size in TRIAL_BYTES:
                sent = b'\0\1\0\0' + bytes(range(1, 61)) + bytes(size - 64)
                number = _received(memory, sent, send)
                answer = _answer(drain)
                if [sample.message for sample in answer] != [back.tobytes()]:
                    raise unavailable('a trial message was received altered')
                if not expected < number == answer[0].number - 1:
                    raise unavailable('it does not read the numbers of messages')
                expected = answer[0].number
        finally:
            memory.set_callback(None)


def trial(address: int) -> int:
    """
    Wait for a message, take it, publish; return the number of the message, -1: a failure.

    :param address: of the LoopIO in memory.
    """
    io = io_at(address)
    wait_until(io, io.loop_state[0].deadline)
    if not take(io) or not publish_message(io):
        return -1
    return int(sequence_number(io.info))


@cache
def compiled_trial() -> Any:
    """
    Return the compiled function of the trial, the same for every node.

    :raises DataPathError: a function that it calls is missing.
    """
    check_symbols()
    return compile_function('native_trial', trial, types.int64(types.int64), IO_MODULES)


def _received(memory: LoopMemory, sent: bytes, send: Callable[[bytes], None]) -> int:
    """Send a message and let the trial take it; return its number if it came as it was sent."""
    io = memory.io
    io.info[:] = CANARY
    allocator = io.message[CAPACITY + 1:].copy()
    run = compiled_trial()
    send(sent)
    io.loop_state['deadline'] = time.monotonic_ns() + round(TRIAL_TIMEOUT * NS_PER_S)
    number = run(memory.address)
    if number < 0:
        raise unavailable(f'no message came back (rcl error {io.loop_state["error"][0]})')
    got = ctypes.string_at(int(io.message[0]), int(io.message[LENGTH]))
    if got != sent or io.message[CAPACITY] < len(sent):
        raise unavailable('a message came back as another one')
    if ((io.info[INFO_EXPECTED:] != CANARY).any()
            or (io.message[CAPACITY + 1:] != allocator).any()):
        raise unavailable('librcl writes where it is not expected to')
    if abs(time.time_ns() - int(io.info[PUBLISHED])) > 2 * TRIAL_TIMEOUT * NS_PER_S:
        raise unavailable('it does not read when messages were published')
    return number


def _answer(drain: Callable[[], list[Any]]) -> list[Any]:
    """Wait for what the trial has published."""
    answers, end = drain(), time.monotonic() + TRIAL_TIMEOUT
    while not answers and time.monotonic() < end:
        time.sleep(0.001)
        answers += drain()
    return answers
