# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
From algorithms to machine code: the only file of this room that compiles.

The *generic* entry points take any robot as data and are compiled once per machine. The *bound*
kernels of one robot are thin: they hold its data, keep the workspace of each call on the stack,
and call the generic ones. The *specialised* kernels of one robot are straight lines of code that
the algorithms, run on symbols, have left (:mod:`~.trace`); several times faster, and compiled for
each robot anew.
"""

import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import ModuleType

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic
from numpy import ndarray

from ..jit import jitable, load
from . import (
    bodies,
    coriolis,
    crba,
    derivatives,
    energy,
    forward,
    frames,
    friction,
    joints,
    kinematics,
    operational,
    quantities,
    regressor,
    rnea,
    spatial,
    terms,
    velocity_terms,
)
from .bodies import (
    BODY,
    CALLED,
    FRAME,
    JOINT,
    ROBOT_SHAPES,
    SHAPES,
    WORK,
    Robot,
    Workspace,
    sizes,
)
from .quantities import FACTORED, QUANTITIES, Quantity
from .texts import ADDRESS, BATCH, BOUND, CHECKED, GENERIC, PLACE, SPECIALISED, STATES
from .trace import Trace, lanes, trace

# What text that calls `terms` depends on: pass it on to jit.load.
MODULES: tuple[ModuleType, ...] = (
    bodies, frames, quantities, jitable(spatial, inline=True), jitable(joints, inline=True),
    *map(jitable, (rnea, crba, forward, coriolis, derivatives, kinematics, operational,
                   velocity_terms, energy, regressor, friction, terms)))

TABLE = QUANTITIES | FACTORED
# What does not depend on the robot's structure gains nothing
SPECIAL = TABLE.keys() - {'friction'}

FLOAT = types.float64
VECTOR, MATRIX, STACK = FLOAT[::1], FLOAT[:, ::1], FLOAT[:, :, ::1]


def _constant(kind: types.Type, dimensions: int) -> types.Array:
    return types.Array(kind, dimensions, 'C', readonly=True)


ROBOT = types.NamedTuple(tuple(
    _constant(numba.from_dtype(dtype), len(shape)) for dtype, shape in ROBOT_SHAPES.values()),
    Robot)
WORKSPACE = types.NamedTuple(tuple(
    types.Array(numba.from_dtype(dtype), len(shape), 'C') for dtype, shape in SHAPES.values()),
    Workspace)
OPTION_TYPES = {'frame': _constant(numba.from_dtype(FRAME), 1), 'reference': types.int64,
                'axes': _constant(types.int64, 1), 'damping': FLOAT}
TYPES = {'ROBOT': ROBOT, 'WORKSPACE': WORKSPACE, 'VECTOR': VECTOR, 'MATRIX': MATRIX,
         'STACK': STACK, 'INT': types.int64, 'BASE': _constant(FLOAT, 2),
         **{option.upper(): kind for option, kind in OPTION_TYPES.items()}}


# More operations than this take too long to compile: the generic kernel does
LARGEST = 8000
# Up to this many are merged into compiled callers, which saves them passing arrays
INLINE = 1500

_log = logging.getLogger(__name__)

# A thread's stack has megabytes: enough for the matrices of any robot, not of any tree.
ON_STACK = 128


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
    kinds = ('ROBOT', *(_kind(a) for a in given), 'WORKSPACE', *_outputs(quantity, 0))
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
             *_outputs(quantity, 1))
    rows = {'wrenches': 'wrenches[k % len(wrenches)]',
            **{a: f'{a}[k]' for a in (*quantity.inputs, *outputs)}}
    text = BATCH.format(name=name, types=', '.join(kinds), arguments=', '.join(arguments),
                        call=', '.join(rows.get(a, a) for a in arguments))
    return getattr(load(f'{name}_batch', text, (*MODULES, sys.modules[__name__])), name)


def bind(name: str, robot: Robot, specialize: bool, options: Mapping[str, ndarray | float]
         ) -> Callable[..., None]:
    """
    Return the compiled function of a quantity of one robot: inputs in, outputs written.

    :param specialize: compile straight-line code for this robot, or say in the log that it is too
        large for that.
    :param options: the quantity's, which become part of it.
    """
    if specialize and name in SPECIAL:
        try:
            code = trace(name, robot, options)
        except ZeroDivisionError:       # singular at every pose: not finite, as the generic one is
            code = Trace([], LARGEST + 1)
        if code.operations <= LARGEST:
            return _specialised(name, robot, code)
        _log.warning('%s of this robot takes more than the %d operations that are compiled into '
                     'straight-line code: its generic kernel is used', name, LARGEST)
    quantity = TABLE[name]
    nb, nv = len(robot.bodies), len(robot.chain)
    size, parts = sizes(nb, nv), []
    for field, (dtype, shape) in SHAPES.items():
        numbers = tuple(size[word] for word in shape)
        words = int(np.prod(numbers)) * dtype.itemsize // 8
        parts.append(f'{field} = carray(stack({words}), {numbers}, {_dtype(dtype)})'
                     if nv <= ON_STACK else f'{field} = np.empty({numbers}, {_dtype(dtype)})')
    constants = {**{f'robot_{key}': _literal(value) for key, value in robot._asdict().items()},
                 **{f'the_{key}': _literal(value) if isinstance(value, ndarray) else repr(value)
                    for key, value in options.items()}}
    outputs = [f'out_{key}' for key in quantity.outputs]
    loads = ('unloaded', 'robot_base') if quantity.loaded else ()
    text = BOUND.format(
        name=name, workspace='\n    '.join(parts), fields=', '.join(SHAPES),
        constants='\n'.join(f'{key} = {value}' for key, value in constants.items()),
        robot=', '.join(f'robot_{field}' for field in Robot._fields),
        types=', '.join([*('VECTOR' for _ in quantity.inputs), *_outputs(quantity, 0)]),
        arguments=', '.join([*quantity.inputs, *outputs]),
        call=', '.join(['robot', *(f'the_{option}' for option in quantity.options),
                        *quantity.inputs, *loads, 'work', *outputs]))
    return getattr(load(f'{name}_of_one', text, (*MODULES, sys.modules[__name__])), name)


def operations(name: str, robot: Robot) -> int:
    """Return how many operations a quantity of one robot takes; 0 where its code is generic."""
    count = trace(name, robot, {}).operations if name in SPECIAL else 0
    return count if count <= LARGEST else 0


def with_kernels(robot: Robot) -> Robot:
    """
    Return the robot with the addresses of kernels that are compiled for it alone.

    Compiled code that gets it calls them instead of those for any robot, through :func:`invoke`;
    so it need not be compiled for each robot itself.
    """
    shapes = {'nv': len(robot.chain)}
    addresses = []
    for name in CALLED:
        kernel, quantity = bind(name, robot, True, {}), TABLE[name]
        arguments = [(key, ('nv',)) for key in quantity.inputs] + [
            (f'out_{key}', shape) for key, shape in quantity.outputs.items()]
        text = ADDRESS.format(
            name=name, module=kernel.__module__, count=len(arguments),
            arguments=', '.join(key for key, _ in arguments),
            arrays=', '.join(f'carray({key}, {tuple(shapes[word] for word in shape)})'
                             for key, shape in arguments))
        module = load(f'{name}_address', text, (*MODULES, sys.modules[__name__]))
        addresses.append(getattr(module, name).address)
    table = np.array(addresses, np.int64)
    table.setflags(write=False)
    return robot._replace(addresses=table)


@cache
def states(name: str, kernel: Callable[..., None]) -> Callable[..., None]:
    """Return ``kernel``, of quantity ``name`` of a robot, for states ``first`` to ``last - 1``."""
    quantity = TABLE[name]
    arguments = [*quantity.inputs, *(f'out_{key}' for key in quantity.outputs)]
    text = STATES.format(
        module=kernel.__module__, name=name, arguments=', '.join(arguments),
        types=', '.join([*('MATRIX' for _ in quantity.inputs), *_outputs(quantity, 1)]),
        call=', '.join(f'{argument}[k]' for argument in arguments))
    return getattr(load(f'{name}_states', text, (*MODULES, sys.modules[__name__])), name)


@cache
def checked(name: str, nv: int, kernel: Callable[..., None]) -> Callable[..., bool]:
    """
    Return ``kernel``, of quantity ``name`` of one robot, behind a look at its inputs.

    It takes a number that it does not use, and returns whether the inputs have the right shape
    and are finite: only then anything is written.
    """
    quantity = TABLE[name]
    arguments = ', '.join([*quantity.inputs, *(f'out_{key}' for key in quantity.outputs)])
    return _checked(name, f"sys.modules['{kernel.__module__}'].{name}", f'nv = {nv}', arguments)


@cache
def generic_checked(name: str) -> Callable[..., bool]:
    """Return the same for any robot; it takes the address of its :func:`memory` first."""
    quantity = TABLE[name]
    loads = ('work.unloaded', 'robot.base') if quantity.loaded else ()
    arguments = ', '.join(['robot', *quantity.inputs, *loads, 'work',
                           *(f'out_{key}' for key in quantity.outputs)])
    places = iter(range(2, 2 + len(ROBOT_SHAPES) + len(SHAPES)))

    def arrays(shapes: Mapping[str, tuple[np.dtype, tuple[str, ...]]]) -> list[str]:
        return [f'carray(pointer(at[{next(places)}]), ({", ".join(shape)},), {_dtype(dtype)})'
                for dtype, shape in shapes.values()]

    robot = ', '.join(f'constant({array})' for array in arrays(ROBOT_SHAPES))
    work = ', '.join(arrays(SHAPES))
    return _checked(name, f"generic('{name}')", '\n    '.join([
        f'at = carray(pointer(memory), ({2 + len(ROBOT_SHAPES) + len(SHAPES)},), np.int64)',
        'nb, nv = at[0], at[1]', f'robot = Robot({robot})',
        f'work = Workspace({work})']), arguments)


def _checked(name: str, entry: str, begin: str, call: str) -> Callable[..., bool]:
    quantity = TABLE[name]
    text = CHECKED.format(
        name=name, entry=entry, begin=begin, call=call,
        types=', '.join([*('VECTOR' for _ in quantity.inputs), *_outputs(quantity, 0)]),
        arguments=', '.join([*quantity.inputs, *(f'out_{key}' for key in quantity.outputs)]),
        shapes=' and '.join(f'{key}.shape[0] == nv' for key in quantity.inputs),
        finite=' & '.join(f'np.isfinite({key}[i])' for key in quantity.inputs))
    return getattr(load(f'{name}_checked', text, (*MODULES, sys.modules[__name__])), name)


def memory(robot: Robot, work: Workspace) -> ndarray:
    """
    Return a table of where a robot and a workspace are: one number to pass instead of 24 arrays.

    Whoever keeps it keeps them too.
    """
    return np.array([len(robot.bodies), len(robot.chain),
                     *(array.ctypes.data for array in (*robot, *work))], np.int64)


def _specialised(name: str, robot: Robot, code: Trace) -> Callable[..., None]:
    quantity, nb = TABLE[name], len(robot.bodies)
    room = lanes(nb)
    place = PLACE.format(nb=nb, lanes=room, angles=2 * room, room=3 * room)
    text = SPECIALISED.format(
        name=name, types=', '.join([*('VECTOR' for _ in quantity.inputs), *_outputs(quantity, 0)]),
        arguments=', '.join([*quantity.inputs, *(f'out_{key}' for key in quantity.outputs)]),
        inline=code.operations <= INLINE, lines='\n    '.join(code.lines) or 'pass',
        place=place if any('trig[' in line for line in code.lines) else '',
        **{field: robot.bodies[field].tolist() for field in ('turn', 'offset', 'driver')})
    return getattr(load(f'{name}_specialised', text, (*MODULES, sys.modules[__name__])), name)


def _loads(quantity: Quantity) -> tuple[str, ...]:
    return ('wrenches', 'base') if quantity.loaded else ()


def _kind(argument: str) -> str:
    if argument in OPTION_TYPES or argument == 'base':
        return argument.upper()
    return 'MATRIX' if argument == 'wrenches' else 'VECTOR'


def _outputs(quantity: Quantity, more: int) -> Sequence[str]:
    return [('VECTOR', 'MATRIX', 'STACK')[len(shape) - 1 + more]
            for shape in quantity.outputs.values()]


def _literal(array: ndarray) -> str:
    """Return the text that makes an array again, every bit of it."""
    data = array.tobytes().hex()
    return f"np.frombuffer(bytes.fromhex('{data}'), {_dtype(array.dtype)}).reshape({array.shape})"


def _dtype(dtype: np.dtype) -> str:
    records = {BODY: 'BODY', FRAME: 'FRAME', JOINT: 'JOINT', WORK: 'WORK'}
    return records.get(dtype, f'np.{dtype}')


@intrinsic(prefer_literal=True)
def stack(typing, size):
    """Return a pointer to ``size`` (a constant) float64s in the frame of the calling function."""
    count = getattr(size, 'literal_value', None)
    if count is None:
        return None

    def build(context, builder, signature, args):
        room = cgutils.alloca_once(builder, ir.DoubleType(), size=ir.IntType(64)(count))
        return builder.bitcast(room, ir.IntType(8).as_pointer())
    return types.voidptr(size), build


@intrinsic
def invoke(typing, address, arrays):
    """Call the function at ``address`` with pointers to the data of ``arrays``, a tuple."""
    def build(context, builder, signature, args):
        pointer = ir.DoubleType().as_pointer()
        values = cgutils.unpack_tuple(builder, args[1])
        data = [context.make_array(kind)(context, builder, value).data
                for kind, value in zip(signature.args[1], values)]
        function = ir.FunctionType(ir.VoidType(), [pointer] * len(data)).as_pointer()
        builder.call(builder.inttoptr(args[0], function),
                     [builder.bitcast(d, pointer) for d in data])
        return context.get_dummy_value()
    return types.void(types.int64, arrays), build


@intrinsic
def pointer(typing, address):
    """Return an address as a pointer."""
    def build(context, builder, signature, args):
        return builder.inttoptr(args[0], ir.IntType(8).as_pointer())
    return types.voidptr(types.int64), build


@intrinsic
def constant(typing, array):
    """Return an array that cannot be written through."""
    def build(context, builder, signature, args):
        return impl_ret_borrowed(context, builder, signature.return_type, args[0])
    return array.copy(readonly=True)(array), build

