# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
From algorithms to machine code for any robot; :mod:`~.specialize` does so for one.

The *generic* entry points take any robot as data and are compiled once per machine.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import ModuleType

import numpy as np
from numpy import ndarray

from ..jit import jitable, load
from . import (
    coriolis,
    crba,
    derivatives,
    energy,
    entry_points,
    forward_dynamics,
    frame_assignment,
    friction,
    joint_transforms,
    kinematics,
    model_data,
    numba_types,
    operational_space,
    regressor,
    rnea,
    signatures,
    spatial,
    velocity_terms,
)
from .model_data import BODY, FRAME, JOINT, ROBOT_SHAPES, SHAPES, WORK, Robot, Workspace
from .numba_types import OPTION_TYPES
from .signatures import TABLE, Quantity
from .templates import BATCH, CHECKED, FINITE, GENERIC

# What text that calls `terms` depends on: pass it on to jit.load.
MODULES: tuple[ModuleType, ...] = (
    model_data, frame_assignment, numba_types, signatures, jitable(spatial, inline=True),
    jitable(joint_transforms, inline=True),
    *map(jitable, (rnea, crba, forward_dynamics, coriolis, derivatives, kinematics,
                   operational_space, velocity_terms, energy, regressor, friction, entry_points)))


@cache
def generic(name: str) -> Callable[..., None]:
    """
    Return the compiled function of a quantity, for any robot.

    The first call on a machine compiles. The function takes the robot, the quantity's options and
    inputs, wrenches and base if it is loaded, a workspace, and its outputs.
    """
    quantity = TABLE[name]
    given = (*quantity.options, *quantity.inputs, *_loads(quantity))
    arguments = ('robot', *given, 'work', *(f'out_{key}' for key in quantity.outputs))
    kinds = ('ROBOT', *(_kind(a) for a in given), 'WORKSPACE', *output_types(quantity, 0))
    text = GENERIC.format(name=name, term=f'loaded_{name}' if quantity.loaded else name,
                          types=', '.join(kinds), arguments=', '.join(arguments))
    return getattr(load(name, text, MODULES), name)


@cache
def batch(name: str) -> Callable[..., None]:
    """
    Return the compiled function of a quantity over the states ``first`` to ``last - 1``.

    It takes these two, then what that of :func:`generic` takes, with one more dimension of inputs,
    wrenches and outputs; the wrenches of state k are those of k modulo their number.
    """
    quantity = TABLE[name]
    outputs = [f'out_{key}' for key in quantity.outputs]
    arguments = ('robot', *quantity.options, *quantity.inputs, *_loads(quantity), 'work', *outputs)
    kinds = ('ROBOT', *map(str.upper, quantity.options), *('MATRIX' for _ in quantity.inputs),
             *(('STACK', 'BASE') if quantity.loaded else ()), 'WORKSPACE',
             *output_types(quantity, 1))
    rows = {'wrenches': 'wrenches[k % len(wrenches)]',
            **{a: f'{a}[k]' for a in (*quantity.inputs, *outputs)}}
    text = BATCH.format(name=name, types=', '.join(kinds), arguments=', '.join(arguments),
                        call=', '.join(rows.get(a, a) for a in arguments))
    return getattr(load(f'{name}_batch', text, (*MODULES, sys.modules[__name__])), name)


@cache
def finite() -> Callable[[ndarray], bool]:
    """Return the compiled function that says whether all numbers of an array (n,) are finite."""
    return load('finite', FINITE, (sys.modules[__name__],)).finite


@cache
def generic_checked(name: str) -> Callable[..., bool]:
    """Return the same for any robot; it takes the address of its :func:`memory` first."""
    quantity = TABLE[name]
    loads = ('work.unloaded', 'robot.base') if quantity.loaded else ()
    arguments = ', '.join(['robot', *quantity.inputs, *loads, 'work',
                           *(f'out_{key}' for key in quantity.outputs)])
    places = iter(range(2, 2 + len(ROBOT_SHAPES) + len(SHAPES)))

    def arrays(shapes: Mapping[str, tuple[np.dtype, tuple[str, ...]]]) -> list[str]:
        return [f'carray(pointer(at[{next(places)}]), ({", ".join(shape)},), {dtype_name(dtype)})'
                for dtype, shape in shapes.values()]

    robot = ', '.join(f'constant({array})' for array in arrays(ROBOT_SHAPES))
    work = ', '.join(arrays(SHAPES))
    return checked_text(name, f"generic('{name}')", '\n    '.join([
        f'at = carray(pointer(memory), ({2 + len(ROBOT_SHAPES) + len(SHAPES)},), np.int64)',
        'nb, nv = at[0], at[1]', f'robot = Robot({robot})',
        f'work = Workspace({work})']), arguments)


def memory(robot: Robot, work: Workspace) -> ndarray:
    """
    Return a table of where a robot and a workspace are: one number to pass instead of 24 arrays.

    Whoever keeps it keeps them too.
    """
    return np.array([len(robot.bodies), len(robot.chain),
                     *(array.ctypes.data for array in (*robot, *work))], np.int64)


def checked_text(name: str, entry: str, begin: str, call: str) -> Callable[..., bool]:
    """Return the compiled function of :data:`~.templates.CHECKED` around ``entry``."""
    quantity = TABLE[name]
    text = CHECKED.format(
        name=name, entry=entry, begin=begin, call=call,
        types=', '.join([*('VECTOR' for _ in quantity.inputs), *output_types(quantity, 0)]),
        arguments=', '.join([*quantity.inputs, *(f'out_{key}' for key in quantity.outputs)]),
        shapes=' and '.join(f'{key}.shape[0] == nv' for key in quantity.inputs),
        finite=' & '.join(f'np.isfinite({key}[i])' for key in quantity.inputs))
    return getattr(load(f'{name}_checked', text, (*MODULES, sys.modules[__name__])), name)


def _loads(quantity: Quantity) -> tuple[str, ...]:
    return ('wrenches', 'base') if quantity.loaded else ()


def _kind(argument: str) -> str:
    if argument in OPTION_TYPES or argument == 'base':
        return argument.upper()
    return 'MATRIX' if argument == 'wrenches' else 'VECTOR'


def output_types(quantity: Quantity, more: int) -> Sequence[str]:
    """Return the names of the types of a quantity's outputs, with ``more`` dimensions."""
    return [('VECTOR', 'MATRIX', 'STACK')[len(shape) - 1 + more]
            for shape in quantity.outputs.values()]


def literal(array: ndarray) -> str:
    """Return the text that makes an array again, every bit of it."""
    data = array.tobytes().hex()
    flat = f"np.frombuffer(bytes.fromhex('{data}'), {dtype_name(array.dtype)})"
    return f'{flat}.reshape({array.shape})'


def dtype_name(dtype: np.dtype) -> str:
    """Return what compiled text calls a type of elements."""
    records = {BODY: 'BODY', FRAME: 'FRAME', JOINT: 'JOINT', WORK: 'WORK'}
    return records.get(dtype, f'np.{dtype}')
