# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Compilation of the control cycle to machine code, for any robot.

With the environment variable ROBODYN_PLAIN=1 the cycle and its law stay plain Python, in which a
debugger stops: slow, and the same.
"""

import os
import sys
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy import ndarray

from .. import second_process
from ..dynamics import numba_types
from ..dynamics.model_data import BODY
from ..jit import (
    caller,
    compile_callback,
    compile_function,
    is_cached,
    jitable,
    substitute,
    tuple_type,
)
from ..state import STATE
from ..tuple_reference import Reference, reference
from . import (
    collisions,
    contact_brake,
    contact_speed,
    cycle,
    effort_feedforward,
    friction_compensation,
    gravity_check,
    guard,
    guiding,
    limits,
    momentum_observer,
    motion_checks,
    partner_link,
    payload_transition,
    phase_efforts,
    plain_cycle,
    plausibility,
    pose_tracking,
    recorded_cycle,
    ring_buffer,
    self_collision,
    time_scaling,
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
NAME = 'control'

# Steps of the cycle are inlined: each is called once, with hundreds of words of arguments
MODULES = (*law_code.MODULES, *(jitable(m) for m in (
    collisions, contact_brake, contact_speed, effort_feedforward, friction_compensation,
    gravity_check, guard, guiding, limits, momentum_observer, motion_checks, partner_link,
    payload_transition, phase_efforts, plausibility, pose_tracking, self_collision, time_scaling,
    trajectory_tracking, velocity_estimator)),
           jitable(cycle, inline=True, apart=('cycle',)))
RECORDER_MODULES = (*MODULES, sys.modules[__name__], jitable(ring_buffer), recorded_cycle)

_PAYLOAD = tuple_type(PayloadInForce, inertial=numba_types.MATRIX,
                      bodies=np.zeros(1, BODY), robot=numba_types.MODEL_DATA)
_ring, _vectors, _ = ring_buffer.recorder(1, 0)
CYCLE_INPUTS = tuple_type(
    CycleInputs, robot=numba_types.MODEL_DATA, workspace=numba_types.WORKSPACE,
    joints=np.zeros(1, JOINT), settings=np.zeros(1, SETTINGS), law=law_code.LAW_MEMORY,
    cycle_input=np.zeros(1, CYCLE_INPUT), state=np.zeros(1, STATE), points=Points.none(1),
    policy=law_code.POLICY, partner=law_code.PARTNER, task=law_code.TASK_TYPE,
    poses=PosePoints.none(), bounds=law_code.BOUNDS,
    controller_state=np.zeros(1, CONTROLLER_STATE), vectors=_vectors,
    payload=_PAYLOAD, ring=_ring, code=types.int64[::1])
EFFORTS = types.float64[::1]
SIGNATURE = types.boolean(CYCLE_INPUTS, types.float64, EFFORTS)
BY_REFERENCE = types.boolean(Reference(CYCLE_INPUTS), types.float64, EFFORTS)


class CompiledCycle(NamedTuple):
    """The compiled control cycle."""

    cycle: Any              # Numba dispatcher of `recorded_cycle.recorded_cycle`, for Python
    addresses: ndarray      # (2,) int64, for :attr:`.cycle.CycleInputs.code`
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


# Elements of `CycleInputs.code`
CYCLE, RECORDED_CYCLE = range(2)

call_at = caller(BY_REFERENCE)


def call_cycle(inputs: CycleInputs, now: float, tau: ndarray) -> bool:
    """Do what :func:`.cycle.cycle` does, with its machine code."""
    return call_at(inputs.code[CYCLE], (inputs, now, tau))


def call_recorded_cycle(inputs: CycleInputs, now: float, tau: ndarray) -> bool:
    """Do what :func:`.recorded_cycle.recorded_cycle` does, with its machine code."""
    return call_at(inputs.code[RECORDED_CYCLE], (inputs, now, tau))


substitute(cycle.cycle, call_cycle, inline=True)
substitute(recorded_cycle.recorded_cycle, call_recorded_cycle, inline=True)


def _entry(inputs: CycleInputs, now: float, tau: ndarray) -> bool:
    """Run the cycle with inputs from Python."""
    return recorded_cycle.recorded_cycle(reference(inputs), now, tau)


@cache
def begin() -> None:
    """Let a second process compile the cycle meanwhile, if this machine has not done so yet."""
    if not plain() and not is_cached(NAME, cycle.cycle, MODULES):
        second_process.begin(NAME, f'from {__name__} import compiled; compiled()')


@cache
def compiled() -> CompiledCycle:
    """Return the control cycle, from the cache where this machine has compiled it."""
    if plain():
        return CompiledCycle(plain_cycle.cycle, np.zeros(2, np.int64), 'plain Python')
    second_process.wait(NAME)
    of_cycle = compile_callback(NAME, cycle.cycle, BY_REFERENCE, MODULES)
    recorded = compile_callback('recorded_control', recorded_cycle.recorded_cycle, BY_REFERENCE,
                                RECORDER_MODULES)
    entry = compile_function('control_entry', _entry, SIGNATURE, RECORDER_MODULES)
    return CompiledCycle(entry, np.array([of_cycle.address, recorded.address]),
                         cycle.cycle.cache_folder)    # type: ignore[attr-defined]
