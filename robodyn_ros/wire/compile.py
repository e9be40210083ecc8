# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The decoders as machine code: compiled on first use, loaded from the disk afterwards."""

from functools import cache
from typing import Any, NamedTuple

from numba import types

from .decoders import DecoderArrays
from . import cdr, decoders
from ..compiler.jit import compile_function, jitable, tuple_type

MODULES = (jitable(cdr, inline=True), jitable(decoders))

BYTES = types.Array(types.uint8, 1, 'C', readonly=True)
INTEGERS, FLOATS = types.int64[::1], types.float64[::1]
DECODER_ARRAYS = tuple_type(
    DecoderArrays, names=types.uint8[::1], ends=INTEGERS, layout=INTEGERS, permutation=INTEGERS,
    known=types.uint8[::1], mask=types.uint8[::1], scratch=types.float64[:, ::1],
    scratch_bytes=types.uint8[::1], state=types.float64[:, ::1], stamp=FLOATS)
JOINT_STATE = types.int64(BYTES, types.int64, types.float64, types.float64, DECODER_ARRAYS)
EFFORTS = types.int64(BYTES, types.int64, FLOATS, types.uint8[::1], FLOATS)


class Decoders(NamedTuple):
    """The compiled functions of :mod:`~.decoders`."""

    joint_state: Any        # Numba dispatchers
    efforts: Any


@cache
def compiled_joint_state() -> Any:
    """Return the compiled decoder of joint states."""
    return compile_function('wire', decoders.joint_state, JOINT_STATE, MODULES)


@cache
def compiled_efforts() -> Any:
    """Return the compiled decoder of effort commands, which a controller does not need."""
    return compile_function('wire', decoders.efforts, EFFORTS, MODULES)


def compiled_decoders() -> Decoders:
    """Return both compiled decoders."""
    return Decoders(compiled_joint_state(), compiled_efforts())
