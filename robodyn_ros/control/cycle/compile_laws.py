# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Compilation of control laws, each on its own, and their call by the compiled control cycle."""

from functools import cache
import sys
from types import FunctionType, ModuleType
from typing import Any

from numba import types
from numba.extending import register_jitable
import numpy as np
from numpy import ndarray

from .call import ADDRESS, copied, no_law
from . import call
from .. import algebra, rotations
from ..inputs import task
from ..inputs.partner import Partner, Policy
from ..inputs.task import Bounds, TASK, Task
from ..laws import (
    adaptive, cartesian_impedance, computed_torque, disturbance_observer, dynamics, law, pd,
    registry, spring, task_space)
from ..laws.law import Arm, Law
from ..steps import robot_dynamics
from ..steps.cycle_data import JOINT, LawMemory
from ...compiler.jit import compile_callback, FASTMATH, is_cached, jitable, substitute, tuple_type
from ...compiler.linking import caller
from ...compiler.numba_private import rows_as_tuple, uncounted_options
from ...compiler.tuple_reference import Reference, reference
from ...dynamics import numba_types, pseudo_inertia
from ...dynamics.model_data import no_frame
from ...dynamics.numba_types import MATRIX, VECTOR

INTEGERS = types.int64[::1]
LAW_MEMORY = tuple_type(LawMemory, **no_law(1)._asdict())
POLICY = tuple_type(Policy, **Policy.none(1)._asdict())
BOUNDS = tuple_type(Bounds, **Bounds.none(1)._asdict())
PARTNER = tuple_type(Partner, **Partner.none(1)._asdict())
TASK_TYPE = tuple_type(Task, **Task.of(np.zeros(1, TASK), no_frame(), 1)._asdict())
ARM = tuple_type(
    Arm, time=types.float64, dt=types.float64, joints=np.zeros(1, JOINT),
    robot=Reference(numba_types.MODEL_DATA), workspace=Reference(numba_types.WORKSPACE),
    payload_body=types.int64, payload_time=types.float64, policy=Reference(POLICY),
    partner=Reference(PARTNER), coupled=types.int64, task=Reference(TASK_TYPE),
    bounds=Reference(BOUNDS), guided=types.int64,
    **dict.fromkeys(call.VECTORS, VECTOR))
ENTRY_SIGNATURE = types.void(Reference(LAW_MEMORY), Reference(ARM), VECTOR)
# Packages that a law of a user may use, and whose functions are not those of a law
FOREIGN_PACKAGES = {*sys.stdlib_module_names, 'llvmlite', 'numba', 'numpy', 'robodyn_ros', 'scipy'}

# Modules of functions that laws may call
LAW_MODULES: tuple[ModuleType, ...] = (
    *robot_dynamics.MODULES,
    jitable(robot_dynamics, apart=tuple(f.function.__name__ for f in robot_dynamics.GENERIC)),
    jitable(rotations), task, jitable(dynamics), law, call, jitable(algebra, inline=True),
    jitable(task_space, inline=True), jitable(pd), jitable(computed_torque),
    jitable(disturbance_observer),
    jitable(pseudo_inertia, inline=True), jitable(adaptive),
    jitable(spring, inline=True),
    jitable(cartesian_impedance, inline=True))


call_at = caller(ENTRY_SIGNATURE)


def rows_type(kind: Any) -> Any:
    """Return the Numba type of a NamedTuple class of gains or memory."""
    kinds = tuple(MATRIX if len(shape) == 2 else VECTOR for shape in registry.memory_shapes(kind))
    return (types.NamedTuple(kinds, kind) if MATRIX in kinds
            else types.NamedUniTuple(VECTOR, len(kinds), kind))


def rows_of(kind: Any) -> Any:
    """
    Return a function for compiled code: a (K, nv) array as a NamedTuple of its first rows.

    Shapes that a field states are constants of the code, which ``reshape`` would not make of them.

    :param kind: NamedTuple class that needs at most K rows, see :func:`.registry.memory_rows`.
    """
    return rows_as_tuple(rows_type(kind), registry.memory_shapes(kind))


def call_compiled(law: LawMemory, arm: Arm, tau: ndarray) -> None:
    """Call the compiled law, as :func:`.call.call_law` calls the plain one."""
    for i in range(tau.shape[0]):
        tau[i] = np.nan
    law.returned[0] = 0
    call_at(law.code[ADDRESS], (law, reference(arm), tau))
    if law.returned[0] == 0:
        tau[0] = np.nan


substitute(call.call_law, call_compiled, inline=True)


# Of the law that `_entry` is compiled for: see `compiled_law`
_efforts: Any = None
_gains: Any = None
_memory: Any = None


def _entry(law: LawMemory, arm: Arm, tau: ndarray) -> None:
    """Run a law."""
    _efforts(arm, _gains(law.gains), _memory(law.memory), tau)
    law.returned[0] = 1


def _entry_with_copies(law: LawMemory, arm: Arm, tau: ndarray) -> None:
    """Run a law of a user."""
    _efforts(reference(copied(law, arm)), _gains(law.gains), _memory(law.memory), tau)
    law.returned[0] = 1


@cache
def compiled_law(law: Law) -> Any:
    """
    Return the compiled law, whose ``address`` the cycle calls, from the cache where it is there.

    :raises numba.core.errors.NumbaError: the function of the law does not compile.
    """
    # Globals of its own, not a closure: Numba would take its contents into the key of the cache
    run: Any = _entry if law in registry.BUILT_IN else _entry_with_copies
    entry = FunctionType(run.__code__, {
        **globals(), '_efforts': law.efforts, '_gains': rows_of(registry.gains_class(law)),
        '_memory': rows_of(registry.memory_class(law))}, f'law_{law.name}')
    name = f'law_{law.name}'
    if law in registry.BUILT_IN:
        return compile_callback(name, entry, ENTRY_SIGNATURE, _modules(law))
    spaces = user_namespaces(law)
    files = [module for place in spaces if (module := sys.modules.get(place))
             and getattr(module, '__file__', None)]
    return compile_callback(name, entry, ENTRY_SIGNATURE,
                            (*LAW_MODULES, *files, sys.modules[__name__]),
                            constants=repr([_constants(space) for space in spaces.values()]),
                            cached=len(files) == len(spaces))


def _modules(law: Law) -> tuple[ModuleType, ...]:
    """Return the modules of one of our laws."""
    own = sys.modules[law.efforts.__module__]
    return (*LAW_MODULES, own if own in LAW_MODULES else jitable(own), sys.modules[__name__])


def law_is_cached(law: Law) -> bool:
    """Return whether this machine has compiled one of our laws before."""
    return is_cached(f'law_{law.name}', _entry, ENTRY_SIGNATURE, _modules(law))


def compile_laws() -> None:
    """Compile our laws into the cache."""
    for built_in in registry.BUILT_IN:
        compiled_law(built_in)


def user_namespaces(law: Law) -> dict[str, dict[str, Any]]:
    """
    Return the namespaces of a law of a user, by their modules: its own, and those that it uses.

    Their functions are made known to the compiler, with bounds checks and without allocations.
    """
    found: dict[str, dict[str, Any]] = {}
    waiting = [(str(law.efforts.__module__), law.efforts.__globals__)]
    while waiting:
        place, space = waiting.pop()
        if place in found or place.split('.')[0] in FOREIGN_PACKAGES:
            continue
        found[place] = space
        for value in list(space.values()):
            if isinstance(value, FunctionType) and str(value.__module__) == place:
                register_jitable(boundscheck=True, **uncounted_options(), fastmath=FASTMATH,
                                 error_model='numpy')(value)
            elif isinstance(value, FunctionType):
                waiting.append((str(value.__module__), value.__globals__))
            elif isinstance(value, ModuleType):
                waiting.append((value.__name__, vars(value)))
    return found


def _constants(space: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return the values of a namespace that compiled code contains, wherever they come from."""
    return [(name, value.tolist() if isinstance(value, ndarray) else value)
            for name, value in sorted(space.items()) if name.isidentifier()
            and isinstance(value, (bool, int, float, complex, str, tuple, ndarray))
            and not name.startswith('__')]


MODULES = (*LAW_MODULES, jitable(call, inline=True), sys.modules[__name__])
