# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Compilation of the control cycle to machine code, for any robot.

With the environment variable ROBODYN_PLAIN=1 the cycle and its law stay plain Python, in which a
debugger stops: slow, and the same.
"""

import os
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import types

from ..dynamics import numba_types
from ..dynamics.model_data import BODY
from ..jit import compile_function, jitable, tuple_type
from ..state import STATE
from . import (
    collisions,
    cycle,
    effort_feedforward,
    friction_compensation,
    gravity_check,
    guard,
    limits,
    momentum_observer,
    motion_checks,
    partner_link,
    payload_transition,
    phase_efforts,
    plain_cycle,
    plausibility,
    pose_tracking,
    ring_buffer,
    trajectory_tracking,
    velocity_estimator,
)
from .cycle import CycleInputs
from .dtypes import CONTROLLER_STATE, CYCLE_INPUT, JOINT, SETTINGS
from .laws import compile as law_code
from .laws.law import Law
from .laws.trial import address_of
from .payload_transition import PayloadInForce
from .pose_tracking import PosePoints
from .trajectory_tracking import Points

VARIABLE = 'ROBODYN_PLAIN'

# Steps of the cycle are inlined: each is called once, with hundreds of words of arguments
MODULES = (*law_code.MODULES, *(jitable(m) for m in (
    collisions, effort_feedforward, friction_compensation, gravity_check, guard, limits,
    momentum_observer, motion_checks, partner_link, payload_transition, phase_efforts,
    plausibility, pose_tracking, trajectory_tracking, velocity_estimator)),
           *(jitable(m, inline=True) for m in (cycle, ring_buffer)))

_PAYLOAD = tuple_type(PayloadInForce, inertial=numba_types.MATRIX,
                      bodies=np.zeros(1, BODY), robot=numba_types.MODEL_DATA)
_ring, _vectors, _ = ring_buffer.recorder(1, 0)
CYCLE_INPUTS = tuple_type(
    CycleInputs, robot=numba_types.MODEL_DATA, workspace=numba_types.WORKSPACE,
    joints=np.zeros(1, JOINT), settings=np.zeros(1, SETTINGS), law=law_code.LAW_MEMORY,
    cycle_input=np.zeros(1, CYCLE_INPUT), state=np.zeros(1, STATE), points=Points.none(1),
    policy=law_code.POLICY, partner=law_code.PARTNER, task=law_code.TASK_TYPE,
    poses=PosePoints.none(),
    controller_state=np.zeros(1, CONTROLLER_STATE), vectors=_vectors,
    payload=_PAYLOAD, ring=_ring)
EFFORTS = types.float64[::1]
SIGNATURE = types.boolean(CYCLE_INPUTS, types.float64, EFFORTS)


class CompiledCycle(NamedTuple):
    """The compiled control cycle."""

    cycle: Any              # Numba dispatcher of `cycle.recorded_cycle`
    code: str               # name of the machine code; other sources or another CPU: another one


def plain() -> bool:
    """Return whether the environment asks for a control cycle in plain Python."""
    return os.environ.get(VARIABLE, '0') != '0'


def law_address(law: Law) -> int:
    """
    Return the address of a compiled law, 0 where the cycle is plain Python.

    :raises ParameterError: the law does not compile, see :func:`.laws.trial.address_of`.
    """
    return 0 if plain() else address_of(law)


@cache
def compiled() -> CompiledCycle:
    """Return the control cycle, from the cache where this machine has compiled it."""
    if plain():
        return CompiledCycle(plain_cycle.cycle, 'plain Python')
    compiled_cycle = compile_function('control', cycle.recorded_cycle, SIGNATURE, MODULES)
    return CompiledCycle(compiled_cycle, compiled_cycle.py_func.cache_folder)
