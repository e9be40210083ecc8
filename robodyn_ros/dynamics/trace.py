# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
The algorithms run once on symbols: what comes out is straight-line code for one robot.

Constants of the robot fold, zeros vanish, common subexpressions merge. It is the same source that
the generic kernels are compiled from, so there is no second implementation to keep right.
"""

from collections.abc import Mapping
from math import cos, sin
from types import FunctionType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from . import entry_points
from .model_data import SHAPES, Robot, Workspace, sizes
from .signatures import TABLE
from .symbolic_scalar import Expression, Graph, straight_line

LANES = 8       # sines and cosines are taken by so many at a time: a remainder would not be SIMD


class Trace(NamedTuple):
    """Lines of a function's body, and how many operations they are."""

    lines: list[str]
    operations: int


def trace(name: str, robot: Robot, options: Mapping[str, Any], lane: str = '') -> Trace:
    """
    Return what a quantity of a robot takes, in terms of ``q``, ... and ``out_...``.

    The lines read ``trig[i]`` and ``trig[lanes(nb) + i]``, the cosine and sine of joint i.

    :param options: those of the quantity.
    :param lane: what follows every index, as ``', lane'`` where each number is one of several.
    """
    quantity, nb, nv = TABLE[name], len(robot.bodies), len(robot.chain)
    graph, size = Graph(), sizes(nb, nv)
    bodies = _records(robot.bodies if quantity.whole else regrouped(robot.bodies))
    work = Workspace(**{field: _memory(field, [size[word] for word in shape])
                        for field, (_, shape) in SHAPES.items()})
    for i, (body, joint) in enumerate(zip(bodies, work.joints)):
        if body.turn:
            joint.cos = graph.symbol(f'trig[{i}{lane}]')
            joint.sin = graph.symbol(f'trig[{lanes(nb) + i}{lane}]')
            joint.slide = 0.0
        else:
            joint.cos, joint.sin = _exact(cos(body.offset)), _exact(sin(body.offset))
            joint.slide = body.slide * graph.symbol(f'q[{body.driver}{lane}]')
    inputs = [np.array([graph.symbol(f'{key}[{i}{lane}]') for i in range(nv)], object)
              for key in quantity.inputs]
    size['k'] = len(options['axes']) if 'axes' in options else 0
    outputs = {key: np.full([size[word] for word in shape], 0.0, object)
               for key, shape in quantity.outputs.items()}
    loads = (work.unloaded, _objects(robot.base)) if quantity.loaded else ()
    given = [_records(value) if key == 'frame' else value for key, value in options.items()]
    symbolic = Robot(bodies, *map(_objects, robot[1:]))         # type: ignore[arg-type]
    term = _placed_terms()[f'loaded_{name}' if quantity.loaded else name]
    term(symbolic, *given, *inputs, *loads, work, *outputs.values())
    return _written(graph, outputs, lane)


def regrouped(bodies: ndarray) -> ndarray:
    """
    Return records of bodies whose joints feel the same, with fewer numbers that are not zero.

    What a joint cannot feel moves to the parent: mass on the axis of one that turns, second
    moments of one that slides (Gautier and Khalil 1990, minimum inertial parameters). Potential
    energy and the centre of mass see the whole bodies; efforts, M, C, accelerations and kinetic
    energy do not notice.
    """
    records = bodies.copy()
    for i in range(len(records) - 1, -1, -1):
        b = records[i]
        E, h, mass = _matrix(b['second']), b['first'].copy(), float(b['mass'])
        if b['turn']:
            moved = np.diag([0.0, 0.0, E[2, 2]])
            h = np.array([0.0, 0.0, h[2]])
            b['mass'], b['first'][2], R = 0.0, 0.0, b['rotation'].reshape(3, 3)
        else:
            moved, mass, h = E, 0.0, np.zeros(3)
            c, s = cos(b['offset']), sin(b['offset'])
            R = b['rotation'].reshape(3, 3) @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
        b['second'] = _six(E - moved)
        if b['parent'] < len(records):
            parent, p = records[b['parent']], b['origin']
            h, moved = R @ h, R @ moved @ R.T
            parent['second'] += _six(moved + np.outer(h, p) + np.outer(p, h)
                                     + mass * np.outer(p, p))
            parent['first'] += h + mass * p
            parent['mass'] += mass
    return records


def lanes(count: int) -> int:
    """Return ``count`` rounded up to whole SIMD vectors."""
    return -(-count // LANES) * LANES


def _written(graph: Graph, outputs: dict[str, ndarray], lane: str) -> Trace:
    """Return the code that fills the outputs: zeros and mirror images of a matrix by loops."""
    before: list[str] = []
    after: list[str] = []
    assigned: dict[str, Any] = {}
    for key, array in outputs.items():
        entries = {index: value for index, value in np.ndenumerate(array)
                   if isinstance(value, Expression) or value != 0.0}
        loops = [f'{"    " * d}for i{d} in range({n}):' for d, n in enumerate(array.shape)]
        inner, index = '    ' * array.ndim, ', '.join(f'i{d}' for d in range(array.ndim))
        if len(entries) < array.size:
            before += [*loops, f'{inner}out_{key}[{index}{lane}] = 0.0']
        if _symmetric(array):
            entries = {(i, j): value for (i, j), value in entries.items() if j <= i}
            after += [loops[0], '    for i1 in range(i0):',
                      f'        out_{key}[i1, i0{lane}] = out_{key}[i0, i1{lane}]']
        assigned.update({f'out_{key}[{", ".join(map(str, i))}{lane}]': value
                         for i, value in entries.items()})
    lines, operations = straight_line(graph, assigned)
    return Trace(before + lines + after, operations)


def _symmetric(array: ndarray) -> bool:
    if array.ndim != 2 or array.shape[0] != array.shape[1] or len(array) < 2:
        return False
    return all(_same(array[i, j], array[j, i]) for i in range(len(array)) for j in range(i))


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, Expression) and isinstance(b, Expression):
        return a.i == b.i
    return not isinstance(a, Expression) and not isinstance(b, Expression) and a == b


def _placed_terms() -> dict[str, Any]:
    """Return the functions of :mod:`~.entry_points` for joints that are placed already."""
    names = dict(vars(entry_points))
    for name, value in vars(entry_points).items():
        if isinstance(value, FunctionType) and value.__module__ == entry_points.__name__:
            names[name] = FunctionType(value.__code__, names, name)
    names['place'] = lambda bodies, q, joints: None
    return names


def _records(array: ndarray) -> list[SimpleNamespace]:
    """Return records as objects of Python's own numbers."""
    return [SimpleNamespace(**dict(zip(array.dtype.names or (), (
        value.tolist() if isinstance(value, ndarray) else value for value in row.item()))))
        for row in array]


def _memory(field: str, shape: list[int]) -> Any:
    dtype = SHAPES[field][0]
    return _records(np.zeros(shape, dtype)) if dtype.names else np.full(shape, 0.0, object)


def _objects(array: ndarray) -> ndarray:
    return np.array(array.tolist(), object)


def _exact(value: float) -> float:
    """Return 0 and ±1 for the cosine of a right angle as π/2 has it."""
    return float(round(value)) if abs(value - round(value)) < 1e-16 else value


def _matrix(six: ndarray) -> ndarray:
    xx, yy, zz, xy, xz, yz = six
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _six(E: ndarray) -> ndarray:
    return np.array([E[0, 0], E[1, 1], E[2, 2], E[0, 1], E[0, 2], E[1, 2]])
