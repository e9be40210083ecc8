# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The decoders as machine code: compiled on first use, loaded from the disk afterwards."""

from functools import cache
from types import ModuleType

from ..jit import jitable, load
from . import cdr, decode_status, decoders

TEXT = '''
"""Decoders of robodyn_ros.wire.decoders, compiled for the arrays their classes hold."""
from numba import njit

from robodyn_ros.jit import OPTIONS
from robodyn_ros.wire import decoders

bytes_in = 'Array(uint8, 1, "C", readonly=True)'


@njit(f'int64({bytes_in}, int64, float64, float64, uint8[::1], int64[::1], int64[::1], '
      'int64[::1], uint8[::1], uint8[::1], float64[:, ::1], uint8[::1], float64[:, ::1], '
      'float64[::1])',
      cache=True, **OPTIONS)
def joint_state(b, length, received, sequence, names, ends, layout, permutation, known, mask,
                scratch, scratch_bytes, state, stamp):
    return decoders.joint_state(b, length, received, sequence, names, ends, layout, permutation,
                              known, mask, scratch, scratch_bytes, state, stamp)


@njit(f'int64({bytes_in}, int64, float64[::1], uint8[::1], float64[::1])', cache=True, **OPTIONS)
def efforts(b, length, scratch, scratch_bytes, out):
    return decoders.efforts(b, length, scratch, scratch_bytes, out)
'''


@cache
def compiled_decoders() -> ModuleType:
    """Return the module of compiled decoders: ``joint_state`` and ``efforts``."""
    jitable(cdr, inline=True)
    jitable(decoders)
    return load('wire', TEXT, (cdr, decode_status, decoders))
