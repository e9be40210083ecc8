# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Generic kernels: the algorithms compiled once per machine, with the robot as data.

The kernels of one robot are made by :mod:`~.specialize`.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
import sys
from types import ModuleType

import numpy as np
from numpy import ndarray

from .entry_points import Quantity, TABLE
from . import (
    coriolis, entry_points, forward_dynamics, friction, kinematics, model_data, numba_types, rnea,
    spatial)
from .model_data import (
    BODY, FRAME, JOINT, MODEL_DATA_SHAPES, ModelData, WORK, Workspace, WORKSPACE_SHAPES)
from .numba_types import OPTION_TYPES
from .templates import BATCH, CHECKED, FINITE, GENERIC
from ..compiler.jit import jitable, load

# Modules whose sources decide what a generated module that calls `entry_points` compiles to: they
# are part of its cache key in `jit.load`.
MODULES: tuple[ModuleType, ...] = (
    model_data, numba_types, jitable(spatial, inline=True),
    *map(jitable, (rnea, forward_dynamics, coriolis, kinematics, friction, entry_points)))


@cache
def generic(name: str) -> Callable[..., None]:
    """
    Return the compiled function of a quantity for any robot.

    The first call on a machine compiles. The function takes a :class:`~.model_data.ModelData`, the
    options and inputs of the quantity, wrenches and base motion if it takes external wrenches, a
    :class:`~.model_data.Workspace`, and the outputs.

    :param name: key of :data:`~.entry_points.TABLE`.
    """
    quantity = TABLE[name]
    given = (*quantity.options, *quantity.inputs, *_external_inputs(quantity))
    arguments = ('robot', *given, 'work', *(f'out_{key}' for key in quantity.outputs))
    types = ('MODEL_DATA', *map(_type_name, given), 'WORKSPACE', *output_types(quantity, 0))
    text = GENERIC.format(name=name, entry_point=quantity.entry_point(name),
                          types=', '.join(types), arguments=', '.join(arguments))
    return getattr(load(name, text, MODULES), name)


@cache
def batch(name: str) -> Callable[..., None]:
    """
    Return the compiled function of a quantity that loops over states.

    It takes ``first`` and ``last``, the bounds of a half-open range of states, then the arguments
    of :func:`generic`, with a leading dimension of inputs, wrenches and outputs. A single wrench
    array (1, nb, 6) applies to all states.

    :param name: key of :data:`~.entry_points.TABLE`.
    """
    quantity = TABLE[name]
    outputs = [f'out_{key}' for key in quantity.outputs]
    arguments = ('robot', *quantity.options, *quantity.inputs, *_external_inputs(quantity), 'work',
                 *outputs)
    types = ('MODEL_DATA', *map(str.upper, quantity.options), *('MATRIX' for _ in quantity.inputs),
             *(('STACK', 'BASE') if quantity.takes_external_wrench else ()), 'WORKSPACE',
             *output_types(quantity, 1))
    rows = {'wrenches': 'wrenches[k % len(wrenches)]',
            **{a: f'{a}[k]' for a in (*quantity.inputs, *outputs)}}
    text = BATCH.format(name=name, types=', '.join(types), arguments=', '.join(arguments),
                        call=', '.join(rows.get(a, a) for a in arguments))
    return getattr(load(f'{name}_batch', text, (*MODULES, sys.modules[__name__])), name)


@cache
def finite() -> Callable[[ndarray], bool]:
    """Return the compiled function that tests whether all elements of an array (n,) are finite."""
    return load('finite', FINITE, (sys.modules[__name__],)).finite


@cache
def generic_checked(name: str) -> Callable[..., bool]:
    """
    Return the checked kernel of a quantity for any robot, see :data:`~.templates.CHECKED`.

    Its first argument is the address of an :func:`address_table`.

    :param name: key of :data:`~.entry_points.TABLE`, of a quantity without options.
    """
    quantity = TABLE[name]
    loads = ('work.unloaded', 'robot.base') if quantity.takes_external_wrench else ()
    arguments = ', '.join(['robot', *quantity.inputs, *loads, 'work',
                           *(f'out_{key}' for key in quantity.outputs)])
    count = 2 + len(MODEL_DATA_SHAPES) + len(WORKSPACE_SHAPES)
    places = iter(range(2, count))

    def arrays(shapes: Mapping[str, tuple[np.dtype, tuple[str, ...]]]) -> list[str]:
        return [f'array_at(at[{next(places)}], ({", ".join(shape)},), {dtype_name(dtype)})'
                for dtype, shape in shapes.values()]

    robot = ', '.join(f'constant({array})' for array in arrays(MODEL_DATA_SHAPES))
    work = ', '.join(arrays(WORKSPACE_SHAPES))
    return checked_kernel(name, f"generic('{name}')", '\n    '.join([
        f'at = array_at(memory, ({count},), np.int64)',
        'nb, nv = at[0], at[1]', f'robot = ModelData({robot})',
        f'work = Workspace({work})']), arguments)


def address_table(robot: ModelData, work: Workspace) -> ndarray:
    """
    Return nb, nv and the addresses of the arrays of a robot and a workspace, int64.

    Passing the address of this table instead of the arrays saves Numba from unboxing each of them
    in every call. The table does not own the arrays: the caller keeps them alive.
    """
    return np.array([len(robot.bodies), len(robot.elimination_parent),
                     *(array.ctypes.data for array in (*robot, *work))], np.int64)


def checked_kernel(name: str, entry: str, begin: str, call: str) -> Callable[..., bool]:
    """
    Return the compiled function of :data:`~.templates.CHECKED`.

    :param name: key of :data:`~.entry_points.TABLE`.
    :param entry: Python expression of the compiled function to call.
    :param begin: statements that define ``nv`` and what ``call`` needs.
    :param call: arguments of the call.
    """
    quantity = TABLE[name]
    text = CHECKED.format(
        name=name, entry=entry, begin=begin, call=call,
        types=', '.join([*('VECTOR' for _ in quantity.inputs), *output_types(quantity, 0)]),
        arguments=', '.join([*quantity.inputs, *(f'out_{key}' for key in quantity.outputs)]),
        shapes=' and '.join(f'{key}.shape[0] == nv' for key in quantity.inputs),
        finite=' & '.join(f'np.isfinite({key}[i])' for key in quantity.inputs))
    return getattr(load(f'{name}_checked', text, (*MODULES, sys.modules[__name__])), name)


def _external_inputs(quantity: Quantity) -> tuple[str, ...]:
    return ('wrenches', 'base') if quantity.takes_external_wrench else ()


def _type_name(argument: str) -> str:
    if argument in OPTION_TYPES or argument == 'base':
        return argument.upper()
    return 'MATRIX' if argument == 'wrenches' else 'VECTOR'


def output_types(quantity: Quantity, more: int) -> Sequence[str]:
    """Return the type names of the outputs of a quantity, with ``more`` leading dimensions."""
    return [('VECTOR', 'MATRIX', 'STACK')[len(shape) - 1 + more]
            for shape in quantity.outputs.values()]


def literal(array: ndarray) -> str:
    """Return a Python expression that reproduces an array exactly."""
    data = array.tobytes().hex()
    flat = f"np.frombuffer(bytes.fromhex('{data}'), {dtype_name(array.dtype)})"
    return f'{flat}.reshape({array.shape})'


def dtype_name(dtype: np.dtype) -> str:
    """Return the Python expression of a dtype in generated code."""
    records = {BODY: 'BODY', FRAME: 'FRAME', JOINT: 'JOINT', WORK: 'WORK'}
    return records.get(dtype, f'np.{dtype}')
