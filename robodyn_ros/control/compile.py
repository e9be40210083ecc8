# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Compilation of the control cycle to machine code, for any robot."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import types

from ..dynamics import compile as dynamics
from ..dynamics import numba_types
from ..jit import compile_function, jitable, tuple_type
from ..state import STATE
from . import (
    cycle,
    gravity_check,
    guard,
    laws,
    limits,
    motion_checks,
    phase_efforts,
    plausibility,
    ring_buffer,
    robot_dynamics,
    trajectory_tracking,
    velocity_estimator,
)
from .cycle import CycleInputs
from .dtypes import CONTROLLER_STATE, CYCLE_INPUT, JOINT, SETTINGS
from .trajectory_tracking import Points

MODULES = (*dynamics.MODULES, dynamics, *(jitable(m) for m in (
    cycle, gravity_check, guard, laws, limits, motion_checks, phase_efforts, plausibility,
    robot_dynamics, trajectory_tracking, velocity_estimator)),
           jitable(ring_buffer, inline=True))

_ring, _vectors = ring_buffer.recorder(1, 0)
CYCLE_INPUTS = tuple_type(
    CycleInputs, robot=numba_types.MODEL_DATA, workspace=numba_types.WORKSPACE,
    joints=np.zeros(1, JOINT), settings=np.zeros(1, SETTINGS),
    cycle_input=np.zeros(1, CYCLE_INPUT), state=np.zeros(1, STATE), points=Points.none(1),
    controller_state=np.zeros(1, CONTROLLER_STATE), vectors=_vectors, ring=_ring)
EFFORTS = types.float64[::1]
SIGNATURE = types.boolean(CYCLE_INPUTS, types.float64, EFFORTS)


class CompiledCycle(NamedTuple):
    """The compiled control cycle."""

    cycle: Any              # Numba dispatcher of `cycle.recorded_cycle`
    code: str               # name of the machine code; other sources or another CPU: another one


@cache
def compiled() -> CompiledCycle:
    """Return the compiled control cycle, from the cache where this machine has compiled it."""
    compiled_cycle = compile_function('control', cycle.recorded_cycle, SIGNATURE, MODULES)
    return CompiledCycle(compiled_cycle, compiled_cycle.py_func.cache_folder)
