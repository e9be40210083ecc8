# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Symbolic scalars that record arithmetic in a graph and print it as straight-line Python.

Constants stay floats until they are combined with an expression: 0.0 * x is the float 0.0, and
1.0 * x is x. Equal expressions are one node of the graph, so that common subexpressions are
computed once, and (a + b) - (a + c) is b - c. The simplifications change results by no more than
rounding, but may lose a NaN: callers have to check the inputs.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

MAX_LINE = 200      # characters of an expression on one line: the compiler recurses into them


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
