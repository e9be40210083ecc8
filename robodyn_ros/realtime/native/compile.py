# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The loop, and the callbacks of the middleware, as machine code: one compilation on a machine."""

from functools import cache
import sys
from types import FunctionType
from typing import Any

from numba import types
import numpy as np
from numpy import ndarray

from . import ffi, io
from .ffi import check_symbols, sem_post
from .io import content, HANDLES, LoopIO, sequence_number
from .. import (
    clock_steps,
    loop,
    loop_counters,
    loop_io,
    serialized_bytes,
    statistics,
    timing_rules,
)
from ..loop_counters import COUNTS
from ..loop_io import LOOP_STATE
from ...compiler.jit import compile_callback, compile_function, jitable, substitute, tuple_type
from ...compiler.tuple_reference import dereference, reference_to
from ...control.cycle import compile as control
from ...control.cycle import ring_buffer
from ...wire import compile as wire

FLOATS, INTEGERS = types.float64[::1], types.int64[::1]

LOOP_IO = tuple_type(
    LoopIO, loop_state=np.zeros(1, LOOP_STATE), counts=np.zeros(1, COUNTS),
    timing=statistics.no_cycles(1), cycle_count=INTEGERS, seen=FLOATS, pose=FLOATS,
    decoder=wire.DECODER_ARRAYS, handles=np.zeros(1, HANDLES), message=INTEGERS, tick=INTEGERS,
    info=types.uint64[::1], timespec=INTEGERS, listeners=INTEGERS, efforts=FLOATS)
CALLBACK = types.void(types.int64, types.int64)

# Modules of what reads and writes messages; of the loops
IO_MODULES = (*wire.MODULES, serialized_bytes, jitable(loop_counters), statistics, loop_io,
              jitable(clock_steps), jitable(timing_rules), ffi, jitable(io))
MODULES = (*control.RECORDER_MODULES, *IO_MODULES, jitable(loop))

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
    return compile_callback('native_callback', post, CALLBACK, (ffi,))


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
    for name, operation in vars(loop_io).items():
        if isinstance(operation, FunctionType) and operation.__module__ == loop_io.__name__:
            substitute(operation, compiled_apart.get(name) or getattr(io, name))
