# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Kernels of one robot: bound to its data, or specialized.

A *bound* kernel holds the data of the robot, keeps its workspace on the stack, and calls the
generic kernel. A *specialized* kernel is straight-line code from tracing the algorithms with the
data of the robot (:mod:`~.trace`): several times faster, but compiled for each robot.
"""

from collections.abc import Callable, Mapping
from functools import cache
import logging
import sys
from typing import Any

import numpy as np
from numpy import ndarray

from .compile import checked_kernel, dtype_name, literal, MODULES, output_types
from .entry_points import TABLE
from . import compile as generic_code, llvm_code
from .model_data import ADDRESSED_KERNELS, dimensions, ModelData, WORKSPACE_SHAPES
from .templates import ADDRESS, BOUND, PLACE, SIMD_BATCH, SPECIALIZED, STATE_LOOP
from .trace import lanes, Trace, trace
from ..compiler.jit import load
from ..compiler.second_process import compiling

# Friction does not depend on the structure of the robot
SPECIALIZED_QUANTITIES = TABLE.keys() - {'friction'}
# More operations take too long to compile: the bound kernel is used instead
MAX_OPERATIONS = 8000
# Kernels with up to this many operations are inlined into compiled callers
MAX_INLINED_OPERATIONS = 1500
# Workspaces of more joints could exceed the stack of a thread
MAX_STACK_JOINTS = 128

_log = logging.getLogger(__name__)
SOURCES = (*MODULES, generic_code, llvm_code, sys.modules[__name__])


def bind(name: str, robot: ModelData, specialize: bool, options: Mapping[str, Any]
         ) -> Callable[..., None]:
    """
    Return the compiled function of a quantity of one robot, of its inputs and outputs alone.

    :param name: key of :data:`~.entry_points.TABLE`.
    :param specialize: whether to compile straight-line code for this robot; if that takes more
        than :data:`MAX_OPERATIONS`, a warning is logged and the kernel is bound.
    :param options: values of the options of the quantity, which are built into the function.
    """
    if specialize and name in SPECIALIZED_QUANTITIES:
        if code := _straight_line(name, robot, options):
            return _specialized(name, robot, code, options)
        _log.warning('%s of this robot takes more than %d operations, the limit for specialized '
                     'code: the generic kernel is used', name, MAX_OPERATIONS)
    quantity = TABLE[name]
    nb, nv = len(robot.bodies), len(robot.elimination_parent)
    size, parts = dimensions(nb, nv), []
    for field, (dtype, shape) in WORKSPACE_SHAPES.items():
        numbers = tuple(size[word] for word in shape)
        words = int(np.prod(numbers)) * dtype.itemsize // 8
        element = dtype_name(dtype)
        parts.append(f'{field} = array_at(stack({words}), {numbers}, {element})'
                     if nv <= MAX_STACK_JOINTS else f'{field} = np.empty({numbers}, {element})')
    constants = {**{f'robot_{key}': literal(value) for key, value in robot._asdict().items()},
                 **{f'the_{key}': literal(value) if isinstance(value, ndarray) else repr(value)
                    for key, value in options.items()}}
    outputs = [f'out_{key}' for key in quantity.outputs]
    loads = ('unloaded', 'robot_base') if quantity.takes_external_wrench else ()
    text = BOUND.format(
        name=name, workspace='\n    '.join(parts), fields=', '.join(WORKSPACE_SHAPES),
        constants='\n'.join(f'{key} = {value}' for key, value in constants.items()),
        robot=', '.join(f'robot_{field}' for field in ModelData._fields),
        types=', '.join([*('VECTOR' for _ in quantity.inputs), *output_types(quantity, 0)]),
        arguments=', '.join([*quantity.inputs, *outputs]),
        call=', '.join(['robot', *(f'the_{option}' for option in quantity.options),
                        *quantity.inputs, *loads, 'work', *outputs]))
    return getattr(load(f'{name}_of_one', text, SOURCES), name)


def operations(name: str, robot: ModelData) -> int:
    """Return the number of operations of the specialized kernel of a quantity; 0 without one."""
    code = _straight_line(name, robot, {})
    return code.operations if code else 0


def _straight_line(name: str, robot: ModelData, options: Mapping[str, Any]
                   ) -> Trace | None:
    """Return the straight-line code of a quantity, None if the bound kernel is to be used."""
    if name not in SPECIALIZED_QUANTITIES:
        return None
    try:
        with compiling(name):
            code = trace(name, robot, options)
    except ZeroDivisionError:       # singular in all states; the bound kernel gives NaN
        return None
    return code if code.operations <= MAX_OPERATIONS else None


def with_kernels(robot: ModelData) -> ModelData:
    """
    Return the robot with the addresses of its specialized kernels.

    Compiled code calls them through :func:`~.numba_types.invoke` instead of the generic kernels,
    and so need not itself be compiled for each robot.
    """
    table = np.array([kernel_address(name, robot, {}) for name in ADDRESSED_KERNELS], np.int64)
    table.setflags(write=False)
    return robot._replace(addresses=table)


def kernel_address(name: str, robot: ModelData, options: Mapping[str, Any]) -> int:
    """
    Return the address of a specialized kernel, for :func:`~.numba_types.invoke`.

    It takes pointers to the inputs of the quantity, then to its outputs.

    :param name: key of :data:`~.entry_points.TABLE`.
    :param options: values of the options of the quantity.
    """
    return int(kernel_callback(name, robot, options).address)


def kernel_callback(name: str, robot: ModelData, options: Mapping[str, Any]) -> Any:
    """Return the function of :func:`kernel_address`, as Numba has compiled it."""
    kernel, quantity = bind(name, robot, True, options), TABLE[name]
    size = dimensions(len(robot.bodies), len(robot.elimination_parent), options.get('axes', ()))
    arguments = [(key, ('nv',)) for key in quantity.inputs] + [
        (f'out_{key}', shape) for key, shape in quantity.outputs.items()]
    text = ADDRESS.format(
        name=name, module=kernel.__module__, count=len(arguments),
        arguments=', '.join(key for key, _ in arguments),
        arrays=', '.join(f'carray({key}, {tuple(size[word] for word in shape)})'
                         for key, shape in arguments))
    return getattr(load(f'{name}_address', text, SOURCES), name)


@cache
def state_loop(name: str, kernel: Callable[..., None]) -> Callable[..., None]:
    """
    Return a compiled loop of a kernel over a range of states, as :func:`~.compile.batch`.

    :param name: key of :data:`~.entry_points.TABLE`.
    :param kernel: of the quantity, from :func:`bind`.
    """
    quantity = TABLE[name]
    arguments = [*quantity.inputs, *(f'out_{key}' for key in quantity.outputs)]
    text = STATE_LOOP.format(
        module=kernel.__module__, name=name, arguments=', '.join(arguments),
        types=', '.join([*('MATRIX' for _ in quantity.inputs), *output_types(quantity, 1)]),
        call=', '.join(f'{argument}[k]' for argument in arguments))
    return getattr(load(f'{name}_state_loop', text, SOURCES), name)


def simd_batch(name: str, robot: ModelData, options: Mapping[str, Any],
               kernel: Callable[..., None]) -> Callable[..., bool] | None:
    """
    Return specialized code that computes several states per SIMD instruction.

    Its arguments are those of :func:`state_loop`. It returns whether the inputs are finite. None
    if there is no specialized code, or if the outputs are matrices: writing these back state by
    state takes the time that SIMD saves.

    :param name: key of :data:`~.entry_points.TABLE`.
    :param kernel: of the quantity, from :func:`bind`.
    :param options: values of the options of the quantity.
    """
    quantity, nb, nv = TABLE[name], len(robot.bodies), len(robot.elimination_parent)
    if any(len(shape) > 1 for shape in quantity.outputs.values()):
        return None
    if not (code := _straight_line(name, robot, options)):
        return None
    size = dimensions(nb, nv)
    outputs = {f'out_{key}': size[shape[0]] for key, shape in quantity.outputs.items()}
    arguments = (*quantity.inputs, *outputs)
    text = SIMD_BATCH.format(
        name=name, module=kernel.__module__, nv=nv, inputs=quantity.inputs, outputs=outputs,
        room=lanes(nb), lines='\n'.join(code.body),
        types=', '.join('MATRIX' for _ in arguments), arguments=', '.join(arguments),
        rows=', '.join(f'{key}[state]' for key in arguments),
        finite=' & '.join(f'np.isfinite({key}[state, i])' for key in quantity.inputs),
        **_angles(robot))
    return getattr(load(f'{name}_simd_batch', text, SOURCES), name)


@cache
def checked(name: str, nv: int, kernel: Callable[..., None]) -> Callable[..., bool]:
    """
    Return the checked kernel of a quantity of one robot, see :data:`~.templates.CHECKED`.

    :param name: key of :data:`~.entry_points.TABLE`.
    :param nv: number of joints.
    :param kernel: of the quantity, from :func:`bind`.
    """
    quantity = TABLE[name]
    arguments = ', '.join([*quantity.inputs, *(f'out_{key}' for key in quantity.outputs)])
    return checked_kernel(name, f"sys.modules['{kernel.__module__}'].{name}", f'nv = {nv}',
                          arguments)


def _specialized(name: str, robot: ModelData, code: Trace,
                 options: Mapping[str, Any]) -> Callable[..., None]:
    quantity, nb, nv = TABLE[name], len(robot.bodies), len(robot.elimination_parent)
    size, room = dimensions(nb, nv, options.get('axes', ())), lanes(nb)
    columns = {f'out_{key}': size[shape[-1]] for key, shape in quantity.outputs.items()
               if len(shape) > 1}
    arguments = [*quantity.inputs, *(f'out_{key}' for key in quantity.outputs)]
    trig = ['trig'] if any('trig[' in line for line in code.body) else []
    text = SPECIALIZED.format(
        name=name,
        types=', '.join([*('VECTOR' for _ in quantity.inputs), *output_types(quantity, 0)]),
        arguments=', '.join(arguments), inline=code.operations <= MAX_INLINED_OPERATIONS,
        lines='\n'.join(code.body), names=[*trig, *arguments], columns=columns,
        arrays=', '.join([*trig, *arguments]), zeros='\n    '.join(code.zeros),
        copies='\n    '.join(code.copies),
        place=PLACE.format(nb=nb, lanes=room, angles=2 * room, room=3 * room) if trig else '',
        **_angles(robot))
    return getattr(load(f'{name}_specialized', text, SOURCES), name)


def _angles(robot: ModelData) -> dict[str, list[float]]:
    """Return the fields of :class:`~.llvm_code.Angles`, by name."""
    return {field: robot.bodies[field].tolist() for field in ('turn', 'offset', 'driver')}
