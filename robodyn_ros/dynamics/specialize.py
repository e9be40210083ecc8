# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
From algorithms to machine code for one robot.

The *bound* kernels are thin: they hold the robot's data, keep the workspace of each call on the
stack, and call the generic ones. The *specialised* kernels are straight lines of code that the
algorithms, run on symbols, have left (:mod:`~.trace`); several times faster, and compiled for each
robot anew.
"""

import logging
import sys
from collections.abc import Callable, Mapping
from functools import cache

import numpy as np
from numpy import ndarray

from ..compile_notice import compiling
from ..jit import load
from . import compile as generic_code
from .compile import MODULES, checked_text, dtype_name, literal, output_types
from .model_data import CALLED, SHAPES, Robot, sizes
from .signatures import TABLE
from .templates import ADDRESS, BOUND, PLACE, SPECIALISED, STATES, TOGETHER
from .trace import LANES, Trace, lanes, trace

# What does not depend on the robot's structure gains nothing
SPECIAL = TABLE.keys() - {'friction'}
# More operations than this take too long to compile: the generic kernel does
LARGEST = 8000
# Up to this many are merged into compiled callers, which saves them passing arrays
INLINE = 1500
# Two vectors of the widest SIMD: while one waits for a result, the other goes on
STATES_AT_ONCE = 2 * LANES
# A thread's stack has megabytes: enough for the matrices of any robot, not of any tree.
ON_STACK = 128

_log = logging.getLogger(__name__)
USED = (*MODULES, generic_code, sys.modules[__name__])


def bind(name: str, robot: Robot, specialize: bool, options: Mapping[str, ndarray | float]
         ) -> Callable[..., None]:
    """
    Return the compiled function of a quantity of one robot: inputs in, outputs written.

    :param specialize: compile straight-line code for this robot, or say in the log that it is too
        large for that.
    :param options: the quantity's, which become part of it.
    """
    if specialize and name in SPECIAL:
        if code := _code(name, robot, options):
            return _specialised(name, robot, code)
        _log.warning('%s of this robot takes more than the %d operations that are compiled into '
                     'straight-line code: its generic kernel is used', name, LARGEST)
    quantity = TABLE[name]
    nb, nv = len(robot.bodies), len(robot.chain)
    size, parts = sizes(nb, nv), []
    for field, (dtype, shape) in SHAPES.items():
        numbers = tuple(size[word] for word in shape)
        words = int(np.prod(numbers)) * dtype.itemsize // 8
        parts.append(f'{field} = carray(stack({words}), {numbers}, {dtype_name(dtype)})'
                     if nv <= ON_STACK else f'{field} = np.empty({numbers}, {dtype_name(dtype)})')
    constants = {**{f'robot_{key}': literal(value) for key, value in robot._asdict().items()},
                 **{f'the_{key}': literal(value) if isinstance(value, ndarray) else repr(value)
                    for key, value in options.items()}}
    outputs = [f'out_{key}' for key in quantity.outputs]
    loads = ('unloaded', 'robot_base') if quantity.loaded else ()
    text = BOUND.format(
        name=name, workspace='\n    '.join(parts), fields=', '.join(SHAPES),
        constants='\n'.join(f'{key} = {value}' for key, value in constants.items()),
        robot=', '.join(f'robot_{field}' for field in Robot._fields),
        types=', '.join([*('VECTOR' for _ in quantity.inputs), *output_types(quantity, 0)]),
        arguments=', '.join([*quantity.inputs, *outputs]),
        call=', '.join(['robot', *(f'the_{option}' for option in quantity.options),
                        *quantity.inputs, *loads, 'work', *outputs]))
    return getattr(load(f'{name}_of_one', text, USED), name)


def operations(name: str, robot: Robot) -> int:
    """Return how many operations a quantity of one robot takes; 0 where its code is generic."""
    code = _code(name, robot, {})
    return code.operations if code else 0


def _code(name: str, robot: Robot, options: Mapping[str, ndarray | float], lane: str = ''
          ) -> Trace | None:
    """Return the straight-line code of a quantity, None where there is none to compile."""
    if name not in SPECIAL:
        return None
    try:
        with compiling(name):
            code = trace(name, robot, options, lane)
    except ZeroDivisionError:       # singular at every pose: not finite, as the generic one is
        return None
    return code if code.operations <= LARGEST else None


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
        module = load(f'{name}_address', text, USED)
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
        types=', '.join([*('MATRIX' for _ in quantity.inputs), *output_types(quantity, 1)]),
        call=', '.join(f'{argument}[k]' for argument in arguments))
    return getattr(load(f'{name}_states', text, USED), name)


def together(name: str, robot: Robot, options: Mapping[str, ndarray | float]
             ) -> Callable[..., None] | None:
    """
    Return what :func:`states` does of straight-line code, for several states an instruction.

    None where there is no such code, or where it writes matrices: putting these back, state by
    state, costs what it saves.
    """
    quantity, nb, nv = TABLE[name], len(robot.bodies), len(robot.chain)
    if any(len(shape) > 1 for shape in quantity.outputs.values()):
        return None
    if not (code := _code(name, robot, options, ', lane')):
        return None
    size = sizes(nb, nv)
    outputs = {f'out_{key}': size[shape[0]] for key, shape in quantity.outputs.items()}
    arrays = {**dict.fromkeys(quantity.inputs, nv), **outputs}
    text = TOGETHER.format(
        name=name, nb=nb, nv=nv, lanes=STATES_AT_ONCE, room=lanes(nb),
        types=', '.join('MATRIX' for _ in (*quantity.inputs, *outputs)),
        arguments=', '.join(f'all_{key}' for key in (*quantity.inputs, *outputs)),
        arrays='\n    '.join(
            f'{key} = carray(stack({n} * {STATES_AT_ONCE}), ({n}, {STATES_AT_ONCE}), np.float64)'
            for key, n in arrays.items()),
        read='\n                '.join(f'{key}[i, lane] = all_{key}[state, i]'
                                       for key in quantity.inputs),
        write='\n            '.join(
            f'for i in range({n}):\n                all_{key}[k + lane, i] = {key}[i, lane]'
            for key, n in outputs.items()),
        lines='\n            '.join(code.lines) or 'pass',
        **{field: robot.bodies[field].tolist() for field in ('turn', 'offset', 'driver')})
    return getattr(load(f'{name}_together', text, USED), name)


@cache
def checked(name: str, nv: int, kernel: Callable[..., None]) -> Callable[..., bool]:
    """
    Return ``kernel``, of quantity ``name`` of one robot, behind a look at its inputs.

    It takes a number that it does not use, and returns whether the inputs have the right shape
    and are finite: only then anything is written.
    """
    quantity = TABLE[name]
    arguments = ', '.join([*quantity.inputs, *(f'out_{key}' for key in quantity.outputs)])
    return checked_text(name, f"sys.modules['{kernel.__module__}'].{name}", f'nv = {nv}',
                        arguments)


def _specialised(name: str, robot: Robot, code: Trace) -> Callable[..., None]:
    quantity, nb = TABLE[name], len(robot.bodies)
    room = lanes(nb)
    place = PLACE.format(nb=nb, lanes=room, angles=2 * room, room=3 * room)
    text = SPECIALISED.format(
        name=name,
        types=', '.join([*('VECTOR' for _ in quantity.inputs), *output_types(quantity, 0)]),
        arguments=', '.join([*quantity.inputs, *(f'out_{key}' for key in quantity.outputs)]),
        inline=code.operations <= INLINE, lines='\n    '.join(code.lines) or 'pass',
        place=place if any('trig[' in line for line in code.lines) else '',
        **{field: robot.bodies[field].tolist() for field in ('turn', 'offset', 'driver')})
    return getattr(load(f'{name}_specialised', text, USED), name)
