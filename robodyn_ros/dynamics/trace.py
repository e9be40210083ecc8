# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
# flake8: noqa: A005
"""
Tracing of the algorithms into straight-line code for one robot.

The functions of :mod:`~.entry_points` run once with symbolic inputs: constants of the robot fold,
zeros vanish, and common subexpressions merge. The generic kernels are compiled from the same
source, so that there is only one implementation of each algorithm.
"""

from collections.abc import Mapping
from math import cos, sin
from types import FunctionType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from . import entry_points
from .model_data import dimensions, ModelData, Workspace, WORKSPACE_SHAPES
from .signatures import TABLE
from .symbolic_scalar import Expression, Graph, straight_line

TRIG_GROUP = 8    # sines and cosines that are computed together, without scalar remainder


class Trace(NamedTuple):
    """
    Statements of the body of a function.

    :param zeros: loops that fill outputs with zeros.
    :param body: assignments of what is not zero.
    :param copies: loops that copy the lower triangles of symmetric matrices to the upper ones.
    :param operations: number of arithmetic operations.
    """

    zeros: list[str]
    body: list[str]
    copies: list[str]
    operations: int

    @property
    def lines(self) -> list[str]:
        """Return all lines."""
        return [*self.zeros, *self.body, *self.copies]


def trace(name: str, robot: ModelData, options: Mapping[str, Any]) -> Trace:
    """
    Return straight-line code for a quantity of a robot.

    The code reads the inputs ``q``, ..., and ``trig[i]`` and ``trig[lanes(nb) + i]``, the cosine
    and sine of joint i, and writes ``out_...``.

    :param name: key of :data:`~.signatures.TABLE`.
    :param options: values of the options of the quantity, by name.
    :raises ZeroDivisionError: the quantity is singular in all states.
    """
    quantity, nb, nv = TABLE[name], len(robot.bodies), len(robot.elimination_parent)
    graph, size = Graph(), dimensions(nb, nv)
    bodies = _records(robot.bodies if quantity.needs_full_inertia else regrouped(robot.bodies))
    work = Workspace(**{field: _workspace_field(field, [size[word] for word in shape])
                        for field, (_, shape) in WORKSPACE_SHAPES.items()})
    for i, (body, joint) in enumerate(zip(bodies, work.joints)):
        if body.turn:
            joint.cos = graph.symbol(f'trig[{i}]')
            joint.sin = graph.symbol(f'trig[{lanes(nb) + i}]')
            joint.slide = 0.0
        else:
            joint.cos, joint.sin = _rounded(cos(body.offset)), _rounded(sin(body.offset))
            joint.slide = body.slide * graph.symbol(f'q[{body.driver}]')
    inputs = [np.array([graph.symbol(f'{key}[{i}]') for i in range(nv)], object)
              for key in quantity.inputs]
    size['k'] = len(options['axes']) if 'axes' in options else 0
    outputs = {key: np.full([size[word] for word in shape], 0.0, object)
               for key, shape in quantity.outputs.items()}
    loads = (work.unloaded, _object_array(robot.base)) if quantity.takes_external_wrench else ()
    given = [_records(value) if key == 'frame' else value for key, value in options.items()]
    symbolic = ModelData(bodies, *map(_object_array, robot[1:]))         # type: ignore[arg-type]
    function = _placed_entry_points()[quantity.entry_point(name)]
    function(symbolic, *given, *inputs, *loads, work, *outputs.values())
    return _assignments(graph, outputs)


def regrouped(bodies: ndarray) -> ndarray:
    """
    Return equivalent records of bodies with fewer nonzero inertial parameters.

    Parameters without effect on the joint of their body move to the parent: mass and moments along
    the axis of a revolute joint, second moments of a prismatic one (Gautier and Khalil 1990,
    minimum inertial parameters). Efforts, M, C, accelerations and kinetic energy stay the same;
    potential energy and center of mass do not.
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
        b['second'] = _six_entries(E - moved)
        if b['parent'] < len(records):
            parent, p = records[b['parent']], b['origin']
            h, moved = R @ h, R @ moved @ R.T
            parent['second'] += _six_entries(moved + np.outer(h, p) + np.outer(p, h)
                                             + mass * np.outer(p, p))
            parent['first'] += h + mass * p
            parent['mass'] += mass
    return records


def lanes(count: int) -> int:
    """Return ``count`` rounded up to whole SIMD vectors."""
    return -(-count // TRIG_GROUP) * TRIG_GROUP


def _assignments(graph: Graph, outputs: dict[str, ndarray]) -> Trace:
    """Return code that fills the outputs, with loops for zeros and for symmetric entries."""
    zeros: list[str] = []
    copies: list[str] = []
    assigned: dict[str, Any] = {}
    for key, array in outputs.items():
        entries = {index: value for index, value in np.ndenumerate(array)
                   if isinstance(value, Expression) or value != 0.0}
        loops = [f'{"    " * d}for i{d} in range({n}):' for d, n in enumerate(array.shape)]
        inner, index = '    ' * array.ndim, ', '.join(f'i{d}' for d in range(array.ndim))
        if len(entries) < array.size:
            zeros += [*loops, f'{inner}out_{key}[{index}] = 0.0']
        if _symmetric(array):
            entries = {(i, j): value for (i, j), value in entries.items() if j <= i}
            copies += [loops[0], '    for i1 in range(i0):',
                      f'        out_{key}[i1, i0] = out_{key}[i0, i1]']
        assigned.update({f'out_{key}[{", ".join(map(str, i))}]': value
                         for i, value in entries.items()})
    body, operations = straight_line(graph, assigned)
    return Trace(zeros, body, copies, operations)


def _symmetric(array: ndarray) -> bool:
    if array.ndim != 2 or array.shape[0] != array.shape[1] or len(array) < 2:
        return False
    return all(_same(array[i, j], array[j, i]) for i in range(len(array)) for j in range(i))


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, Expression) and isinstance(b, Expression):
        return a.i == b.i
    return not isinstance(a, Expression) and not isinstance(b, Expression) and a == b


def _placed_entry_points() -> dict[str, Any]:
    """Return the functions of :mod:`~.entry_points`, with given joint transforms."""
    names = dict(vars(entry_points))
    for name, value in vars(entry_points).items():
        if isinstance(value, FunctionType) and value.__module__ == entry_points.__name__:
            names[name] = FunctionType(value.__code__, names, name)
    names['place_joints'] = lambda bodies, q, joints: None
    return names


def _records(array: ndarray) -> list[SimpleNamespace]:
    """Return records as objects with attributes of Python numbers."""
    return [SimpleNamespace(**dict(zip(array.dtype.names or (), (
        value.tolist() if isinstance(value, ndarray) else value for value in row.item()))))
        for row in array]


def _workspace_field(field: str, shape: list[int]) -> Any:
    dtype = WORKSPACE_SHAPES[field][0]
    return _records(np.zeros(shape, dtype)) if dtype.names else np.full(shape, 0.0, object)


def _object_array(array: ndarray) -> ndarray:
    return np.array(array.tolist(), object)


def _rounded(value: float) -> float:
    """Return 0 and ±1 for the cosine of a multiple of π/2 in floating point."""
    return float(round(value)) if abs(value - round(value)) < 1e-16 else value


def _matrix(six: ndarray) -> ndarray:
    xx, yy, zz, xy, xz, yz = six
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _six_entries(E: ndarray) -> ndarray:
    return np.array([E[0, 0], E[1, 1], E[2, 2], E[0, 1], E[0, 2], E[1, 2]])
