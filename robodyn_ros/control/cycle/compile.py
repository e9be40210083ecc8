# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Compilation of the control cycle to machine code, for any robot.

With the environment variable ROBODYN_PLAIN=1 the cycle and its law stay plain Python, in which a
debugger stops: slow, and the same.
"""

from collections.abc import Callable
from functools import cache
import sys
from typing import Any, NamedTuple

from numba import from_dtype, types
import numpy as np
from numpy import ndarray

from .compile_ahead import CODE_NAME, plain
from . import compile_ahead, compile_laws as law_code, cycle, plain_cycle, ring_buffer
from .trial import address_of
from ..inputs import partner, pose_tracking
from ..inputs.pose_tracking import Points, PosePoints
from ..laws.law import Law
from ..laws.registry import BUILT_IN
from ..steps import acceleration_limits, cycle_data, plausibility, robot_dynamics, time_scaling
from ..steps.cycle_data import CONTROLLER_STATE, Cycle, CYCLE_INPUT, JOINT, SETTINGS, STEPS
from ..steps.payload_transition import PayloadInForce
from ...compiler import second_process
from ...compiler.jit import (
    compile_callback, compile_function, is_cached, jitable, substitute, tuple_type)
from ...compiler.linking import caller, LinkedFunction
from ...compiler.tuple_reference import Reference, reference_to, TupleMemory
from ...dynamics import compile as dynamics_code, numba_types
from ...dynamics.entry_points import TABLE
from ...dynamics.model_data import BODY, ModelData
from ...state import STATE

OPTIONAL = 'control laws and optional parts of the control cycle'
# Quantities of the library, with which settings are checked
CHECKING_KERNELS = 'gravity', 'jacobian', 'mass_matrix', 'pose'

# Called for each joint: a call would take longer than they do
INLINED_STEPS = acceleration_limits, plausibility
MODULES = (*law_code.MODULES, jitable(pose_tracking), jitable(partner),
           *(jitable(step, inline=step in INLINED_STEPS, apart=('slow_down',))
             for step in (cycle_data, *STEPS) if step not in law_code.MODULES),
           jitable(cycle, inline=True,
                   apart=('cycle', 'law_efforts', 'track_pose', 'compensate_friction',
                          'bound_efforts')),
           sys.modules[__name__])       # CODE and what reads it are merged into the cycle
RECORDER_MODULES = (*MODULES, jitable(ring_buffer, apart=('recorded_cycle',)))

_PAYLOAD = tuple_type(PayloadInForce, inertial=numba_types.MATRIX, friction=numba_types.MATRIX,
                      bodies=np.zeros(1, BODY), robot=numba_types.MODEL_DATA)
_ring, _vectors, _ = ring_buffer.recorder(1, 0)
CYCLE_INPUTS = tuple_type(
    Cycle, robot=numba_types.MODEL_DATA, workspace=numba_types.WORKSPACE,
    joints=np.zeros(1, JOINT), settings=from_dtype(SETTINGS), law=law_code.LAW_MEMORY,
    cycle_input=from_dtype(CYCLE_INPUT), state=np.zeros(1, STATE), points=Points.none(1),
    policy=law_code.POLICY, partner=law_code.PARTNER, task=law_code.TASK_TYPE,
    poses=PosePoints.none(), bounds=law_code.BOUNDS,
    controller=from_dtype(CONTROLLER_STATE), vectors=_vectors,
    payload=_PAYLOAD, ring=_ring, code=types.int64[::1])
EFFORTS = types.float64[::1]
STEP = types.boolean(types.int64, types.float64, EFFORTS)
STEP_ALL = types.void(types.int64[::1], types.float64, types.float64[:, ::1], types.boolean[::1])
BY_REFERENCE = types.boolean(Reference(CYCLE_INPUTS), types.float64, EFFORTS)
LAW_EFFORTS = types.void(
    Reference(CYCLE_INPUTS), Reference(numba_types.MODEL_DATA), types.int64, types.int64,
    types.boolean, types.float64, types.float64, types.float64, EFFORTS)
TRACK_POSE = BOUND_REFERENCE = types.void(
    Reference(CYCLE_INPUTS), Reference(numba_types.MODEL_DATA), types.float64)
COMPENSATE_FRICTION = types.void(
    Reference(CYCLE_INPUTS), Reference(numba_types.MODEL_DATA), types.int64, types.float64)
BOUND_EFFORTS = types.void(Reference(CYCLE_INPUTS), Reference(numba_types.MODEL_DATA))
# Elements of `Cycle.code`; those of optional parts are 0 until settings need them
CYCLE, RECORDED_CYCLE, POSE, FRICTION, REFERENCE_BOUNDS, EFFORT_BOUNDS = CODE = range(6)


class CompiledCycle(NamedTuple):
    """The compiled control cycle."""

    step: Any               # Numba dispatcher of `_step`
    addresses: ndarray      # (6,) int64, see :meth:`code_for`
    code: str               # name of the machine code; other sources or another CPU: another one

    def code_for(self, settings: ndarray, robot: ModelData) -> ndarray:
        """
        Return :attr:`.Cycle.code` (6,), with all compiled that a cycle may call.

        :param settings: (1,) ``SETTINGS``.
        :param robot: the dynamics of these settings.
        """
        if self.step is not None:
            load_parts(settings, robot)
            for part in needed_parts(settings):
                self.addresses[part.place] = part_address(part)
        return self.addresses

    def prepare(self, c: Cycle,
                memory: TupleMemory) -> Callable[[float, ndarray], bool]:
        """
        Return a function that runs the cycle, :func:`.recorded_cycle`.

        It takes ``now`` and ``tau``. To write the inputs where the cycle reads them takes longer
        than the cycle; it is done here, and not for each cycle.

        :param memory: of ``CYCLE_INPUTS``; functions returned before for the same one take these
            inputs, too.
        """
        if self.step is None:
            return plain_cycle.prepared(c)
        step = self.step
        memory.write(c)
        address = memory.address

        def run(now: float, tau: ndarray, owner: TupleMemory = memory) -> bool:
            return step(address, now, tau)
        return run


#: The cycle in plain Python.
PLAIN = CompiledCycle(None, np.zeros(len(CODE), np.int64), 'plain Python')


def law_address(law: Law) -> int:
    """
    Return the address of a compiled law, 0 where the cycle is plain Python.

    :raises ParameterError: the law does not compile, see :func:`.trial.address_of`.
    """
    return 0 if plain() else address_of(law)


class Part(NamedTuple):
    """
    A part of the cycle with machine code of its own, which other parts call.

    One with a setting is optional: it is compiled where settings need it, and in the background
    otherwise. With all of them the first start of a controller would take much longer.
    """

    place: int                  # of its address in `Cycle.code`
    function: Callable[..., Any]    # of the cycle's data, and more
    signature: Any
    setting: str = ''           # field of SETTINGS that is not 0 where an optional part is needed

    @property
    def name(self) -> str:
        """Name of its machine code."""
        return self.function.__name__

    def is_cached(self) -> bool:
        """Return whether this machine has compiled it."""
        return is_cached(self.name, self.function, self.signature, MODULES)

    def compiled(self) -> Any:
        """Return the function, compiled now or before."""
        return compile_callback(self.name, self.function, self.signature, MODULES)

    def call(self) -> Callable[..., Any]:
        """Return the replacement of the function in compiled code."""
        place, call = self.place, caller(self.signature)

        def call_part(*arguments: Any) -> Any:
            return call(arguments[0].code[place], arguments)
        return call_part


# Optional parts, in the order in which the background compiles them: first those that are tuned
# while an arm moves
PARTS = (Part(FRICTION, cycle.compensate_friction, COMPENSATE_FRICTION, 'compensates_friction'),
         Part(POSE, cycle.track_pose, TRACK_POSE, 'follows_pose'),
         Part(REFERENCE_BOUNDS, time_scaling.slow_down, BOUND_REFERENCE, 'bounded'),
         Part(EFFORT_BOUNDS, cycle.bound_efforts, BOUND_EFFORTS, 'bounded'))
for part in (Part(CYCLE, cycle.cycle, BY_REFERENCE),
             Part(RECORDED_CYCLE, ring_buffer.recorded_cycle, BY_REFERENCE), *PARTS):
    substitute(part.function, part.call(), inline=True)

# A part of the cycle, which this process compiles while another one compiles the rest
LINKED_EFFORTS = LinkedFunction('law_efforts', cycle.law_efforts, LAW_EFFORTS, MODULES,
                                allocates=False)
inputs_at = reference_to(CYCLE_INPUTS)


def _step(address: int, now: float, tau: ndarray) -> bool:
    """Run the cycle with the inputs at an address."""
    return ring_buffer.recorded_cycle(inputs_at(address), now, tau)


def _step_all(addresses: ndarray, now: float, tau: ndarray, published: ndarray) -> None:
    """Run the cycles of N robots with the inputs at N addresses; ``tau`` is (N, nv)."""
    for i in range(addresses.shape[0]):
        published[i] = ring_buffer.recorded_cycle(inputs_at(addresses[i]), now, tau[i])


@cache
def batch_step() -> Any:
    """Return the Numba dispatcher of :func:`_step_all`, compiled now or before."""
    _recorder()
    return compile_function('control_steps', _step_all, STEP_ALL, RECORDER_MODULES)


@cache
def begin() -> None:
    """Compile the cycle in a second process, if this machine has not done so yet."""
    if not (plain() or is_compiled()):
        compile_ahead.begin()


def compile_cycle() -> None:
    """Compile the cycle, and that which records, into the cache, without running them."""
    LINKED_EFFORTS.promise()
    compiled_cycle()
    _recorder()


def compiled_cycle() -> Any:
    """Return the machine code of the cycle, compiled now or before."""
    return compile_callback(CODE_NAME, cycle.cycle, BY_REFERENCE, MODULES, allocates=False)


def compiled_recorded_cycle() -> Any:
    """Return the recorded cycle likewise; it calls the cycle at its address."""
    return compile_callback('recorded_control', ring_buffer.recorded_cycle, BY_REFERENCE,
                            RECORDER_MODULES, allocates=False)


def _recorder() -> tuple[Any, Any]:
    """Return the recorded cycle and `_step`."""
    return (compiled_recorded_cycle(),
            compile_function('control_step', _step, STEP, RECORDER_MODULES))


@cache
def part_address(part: Part) -> int:
    """Return the address of the machine code of a part, compiled now or before."""
    second_process.wait(OPTIONAL, part.is_cached)
    return int(part.compiled().address)


def needed_parts(settings: ndarray) -> list[Part]:
    """Return the optional parts that settings, (1,) ``SETTINGS``, need."""
    return [part for part in PARTS if settings[part.setting][0]]


def needs_generic_dynamics(settings: ndarray, robot: ModelData) -> bool:
    """
    Return whether a cycle with settings, (1,) ``SETTINGS``, may call the dynamics for any robot.

    It does for a robot without kernels, and while the payload changes. Until it changes for the
    first time, its number is 0 in settings and controller state.
    """
    return bool(robot.addresses[0] == 0 or settings['payload'][0] != 0)


@cache
def load_generic_dynamics() -> None:
    """Load the dynamics for any robot, compiled now or before."""
    second_process.wait(OPTIONAL, robot_dynamics.are_cached)
    robot_dynamics.load_generic()


def load_parts(settings: ndarray, robot: ModelData) -> None:
    """Load the code that a cycle with settings, (1,) ``SETTINGS``, and a robot may call."""
    for part in needed_parts(settings):
        part_address(part)
    if needs_generic_dynamics(settings, robot):
        load_generic_dynamics()


def load_all_parts() -> None:
    """Load all optional parts."""
    load_generic_dynamics()
    for part in PARTS:
        part_address(part)


def others_are_cached() -> bool:
    """Return whether this machine has compiled all optional parts and all of our laws."""
    return (robot_dynamics.are_cached() and all(part.is_cached() for part in PARTS)
            and all(map(law_code.law_is_cached, BUILT_IN)))


def begin_others() -> bool:
    """Run :func:`compile_others` in a background process; return whether it runs."""
    return second_process.begin(
        OPTIONAL, f'from {__name__} import compile_others; compile_others()', nice=19)


def compile_others() -> None:
    """Compile into the cache the code that a controller needs when its settings change."""
    for quantity in CHECKING_KERNELS:
        dynamics_code.generic(quantity)
        if not TABLE[quantity].options:
            dynamics_code.generic_checked(quantity)
    load_all_parts()
    law_code.compile_laws()


def is_compiled() -> bool:
    """Return whether this machine has compiled the control cycle."""
    return not plain() and is_cached(CODE_NAME, cycle.cycle, BY_REFERENCE, MODULES)


@cache
def compiled() -> CompiledCycle:
    """Return the control cycle, from the cache where this machine has compiled it."""
    if plain():
        return PLAIN
    LINKED_EFFORTS.load()
    recorded, step = _recorder()            # while the second process compiles the cycle
    second_process.wait(CODE_NAME, is_compiled)
    addresses = np.zeros(len(CODE), np.int64)
    addresses[[CYCLE, RECORDED_CYCLE]] = compiled_cycle().address, recorded.address
    return CompiledCycle(step, addresses,
                         cycle.cycle.cache_folder)    # type: ignore[attr-defined]
