# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Tracing of the algorithms into straight-line code for one robot.

The functions of :mod:`~.entry_points` run once with symbolic inputs, scalars that record
arithmetic in a graph: constants of the robot fold, zeros vanish, and common subexpressions merge.
Constants stay floats until they are combined with an expression: 0.0 * x is the float 0.0, and
1.0 * x is x. Equal expressions are one node of the graph, and (a + b) - (a + c) is b - c. The
simplifications change results by no more than rounding, but may lose a NaN: callers have to check
the inputs. The generic kernels are compiled from the same source, so that there is only one
implementation of each algorithm.
"""

from collections.abc import Iterable, Mapping
from math import cos, sin
from types import FunctionType, SimpleNamespace
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy import ndarray

from .entry_points import TABLE
from . import entry_points
from .model_data import dimensions, ModelData, Workspace, WORKSPACE_SHAPES

MAX_LINE = 200      # characters of an expression on one line: the compiler recurses into them
TRIG_GROUP = 8    # sines and cosines that are computed together, without scalar remainder


class Graph:
    """Nodes of expressions in order of creation: operation and indices of its operands."""

    def __init__(self) -> None:
        self.nodes: list[tuple] = []
        self._index: dict[tuple, int] = {}

    def node(self, *key: Any) -> 'Expression':
        """Return the expression of an operation; equal operations share one node."""
        i = self._index.get(key)
        if i is None:
            i = self._index[key] = len(self.nodes)
            self.nodes.append(key)
        return Expression(self, i)

    def symbol(self, text: str) -> 'Expression':
        """Return a value known at run time only, which the Python expression ``text`` loads."""
        return self.node('symbol', text)


class Expression:
    """Number known at run time only: it supports arithmetic, but no tests or conversions."""

    __slots__ = ('graph', 'i')
    __array_ufunc__ = None      # NumPy scalars then defer to the operators of this class
    __hash__ = None             # type: ignore[assignment]

    def __init__(self, graph: Graph, i: int):
        self.graph, self.i = graph, i

    def _refuse(self, *_: object) -> NoReturn:
        raise TypeError('an algorithm depends on a value: it may branch on the structure only')

    __bool__ = __float__ = __int__ = __index__ = __abs__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = _refuse      # type: ignore[assignment]

    def _lift(self, other: Any) -> 'Expression':
        return other if isinstance(other, Expression) else self.graph.node('number', float(other))

    def _negated(self) -> 'Expression | None':
        """Return x if the node is -x, None otherwise."""
        kind, *args = self.graph.nodes[self.i]
        return Expression(self.graph, args[0]) if kind == 'neg' else None

    def __neg__(self) -> 'Expression':
        if (x := self._negated()) is not None:
            return x
        kind, *args = self.graph.nodes[self.i]
        if kind == '-':
            return self.graph.node('-', args[1], args[0])
        return self.graph.node('neg', self.i)

    def __add__(self, other: Any) -> 'Expression':
        if not isinstance(other, Expression):
            if other == 0.0:
                return self
            if other < 0.0:
                return self - (-other)
        other = self._lift(other)
        if (x := other._negated()) is not None:
            return self - x
        if (x := self._negated()) is not None:
            return other - x
        return self.graph.node('+', *sorted((self.i, other.i)))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        if not isinstance(other, Expression):
            if other == 0.0:
                return self
            if other < 0.0:
                return self + (-other)
        other = self._lift(other)
        if self.i == other.i:
            return 0.0
        if (x := other._negated()) is not None:
            return self + x
        if (x := self._negated()) is not None:
            return -(x + other)
        for shared in self._terms():
            if shared in other._terms():
                return self._without(shared) - other._without(shared)
        return self.graph.node('-', self.i, other.i)

    def _terms(self) -> list[int]:
        """Return the two terms of a sum."""
        kind, *args = self.graph.nodes[self.i]
        return args if kind == '+' else []

    def _without(self, term: int) -> 'Expression':
        """Return a sum without one of its terms."""
        a, b = self._terms()
        return Expression(self.graph, b if a == term else a)

    def __rsub__(self, other: Any) -> Any:
        return -self if other == 0.0 else self._lift(other) - self

    def __mul__(self, other: Any) -> Any:
        if not isinstance(other, Expression):
            if other == 0.0:
                return 0.0
            if other == 1.0:
                return self
            if other < 0.0:
                return -(self * -other)
        other = self._lift(other)
        if (x := self._negated()) is not None:
            return -(x * other)
        if (x := other._negated()) is not None:
            return -(self * x)
        return self.graph.node('*', *sorted((self.i, other.i)))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if not isinstance(other, Expression):
            return self * (1.0 / other)
        return self.graph.node('/', self.i, other.i)

    def __rtruediv__(self, other: Any) -> Any:
        return 0.0 if other == 0.0 else self.graph.node('/', self._lift(other).i, self.i)


def _needed(graph: Graph, roots: Iterable[Expression]) -> list[int]:
    """Return the nodes that the roots depend on, in order of creation."""
    seen: set[int] = set()
    todo = [root.i for root in roots]
    while todo:
        if (i := todo.pop()) not in seen:
            seen.add(i)
            kind, *args = graph.nodes[i]
            if kind not in ('symbol', 'number'):
                todo += args
    return sorted(seen)


def straight_line(graph: Graph, outputs: Mapping[str, Any]) -> tuple[list[str], int]:
    """
    Return lines of Python that compute ``outputs``, and their number of operations.

    :param outputs: expressions or numbers, by the text of the assignment target.
    """
    roots = [value for value in outputs.values() if isinstance(value, Expression)]
    order = _needed(graph, roots)
    uses = dict.fromkeys(order, 0)
    for i in order:
        kind, *args = graph.nodes[i]
        for a in args if kind not in ('symbol', 'number') else ():
            uses[a] += 1
    for root in roots:
        uses[root.i] += 1

    lines: list[str] = []
    text: dict[int, str] = {}
    operations = 0

    def name(i: int, prefix: str, value: str) -> None:
        text[i] = f'{prefix}{len(lines)}'
        lines.append(f'{text[i]} = {value}')

    for i in order:
        kind, *args = graph.nodes[i]
        if kind == 'number':
            text[i] = repr(args[0])
        elif kind == 'symbol':
            name(i, 'x', args[0])
        else:
            value = (f'-{text[args[0]]}' if kind == 'neg'
                     else f'{text[args[0]]} {kind} {text[args[1]]}')
            operations += kind != 'neg'
            # An expression that is used once is written in place
            if uses[i] > 1 or len(value) > MAX_LINE:
                name(i, 't', value)
            else:
                text[i] = f'({value})'
    for target, value in outputs.items():
        lines.append(f'{target} = {text[value.i]}' if isinstance(value, Expression)
                     else f'{target} = {float(value)!r}')
    return lines, operations


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

    :param name: key of :data:`~.entry_points.TABLE`.
    :param options: values of the options of the quantity, by name.
    :raises ZeroDivisionError: the quantity is singular in all states.
    """
    quantity, nb, nv = TABLE[name], len(robot.bodies), len(robot.elimination_parent)
    graph, size = Graph(), dimensions(nb, nv, options.get('axes', ()))
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
