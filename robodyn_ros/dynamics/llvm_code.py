# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Translation of branch-free Python into LLVM instructions, on numbers or on vectors of numbers.

Numba infers types for each of the thousands of statements of a straight-line kernel, which takes
most of the time of compiling it, and has no vectors. Here each operator becomes an instruction.

For four states at a time, each number of the code is a vector with one element per state. The rows
of the inputs are transposed in registers, sines and cosines are computed where they are needed,
and the outputs are transposed back: nothing goes through memory but constants and what does not
fit into the registers.
"""

import ast
from collections.abc import Callable, Mapping, Sequence
from functools import cache
import inspect
import re
from typing import Any, NamedTuple

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from .spatial import QUARTERS_PER_RADIAN, REDUCTION_LIMIT, remainder_cos_sin
from ..compiler.numba_private import unpack_tuple

WORD = ir.IntType(64)
SIMD_LANES = 4    # float64s of a vector of 256 bits
FLOAT_ALIGNMENT = 8    # bytes
VECTOR = ir.VectorType(ir.DoubleType(), SIMD_LANES)
WORDS = ir.VectorType(WORD, SIMD_LANES)
# The last bits of a sum with this number are those of the nearest integer
ROUNDING_SHIFT = 1.5 * 2.0**52
# Of two vectors: even and odd elements by turns, and halves
EVEN, ODD, LOWER, UPPER = (0, 4, 2, 6), (1, 5, 3, 7), (0, 1, 4, 5), (2, 3, 6, 7)


class Translator:
    """
    Translation of statements at the position of a builder.

    A value is a float64, or ``lanes`` of them in a vector, on which an instruction operates at
    once. The fast-math flags are added by Numba, for all instructions of the function.

    :param lanes: 1 for numbers.
    :param read: called with an array and an index in the text; returns the value of the element.
    :param write: called with array, index and value for an assignment to an element.
    """

    def __init__(self, builder: ir.IRBuilder, lanes: int = 1,
                 read: Callable[[str, tuple[int, ...]], Any] | None = None,
                 write: Callable[[str, tuple[int, ...], Any], None] | None = None):
        self._builder, self._lanes, self._read, self._write = builder, lanes, read, write
        self._kind = ir.VectorType(ir.DoubleType(), lanes) if lanes > 1 else ir.DoubleType()
        self._names: dict[str, Any] = {}
        self._operators: dict[type, Callable[[Any, Any], Any]] = {
            ast.Add: builder.fadd, ast.Sub: builder.fsub, ast.Mult: builder.fmul,
            ast.Div: builder.fdiv}

    def constant(self, value: float) -> Any:
        """Return a constant."""
        return ir.Constant(self._kind, [value] * self._lanes if self._lanes > 1 else value)

    def call(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Translate the body of a plain function; return what it returns, a tuple."""
        names, parameters = self._names, inspect.signature(function).parameters
        self._names = dict(zip(parameters, arguments))
        *statements, result = _statements(function)
        self.run(statements)
        values = [self._value(one) for one in result.value.elts]
        self._names = names
        return values

    def run(self, statements: Sequence[Any]) -> None:
        """Translate assignments."""
        for statement in statements:
            assert isinstance(statement, ast.Assign), ast.dump(statement)
            target, value = statement.targets[0], self._value(statement.value)
            if isinstance(target, ast.Name):
                self._names[target.id] = value
            else:
                assert self._write
                self._write(*_place(target), value)

    def _value(self, node: Any) -> Any:
        builder = self._builder
        if isinstance(node, ast.Name):
            return self._names[node.id]
        if isinstance(node, ast.Constant):
            return self.constant(float(node.value))  # type: ignore[arg-type]
        if isinstance(node, ast.Subscript):
            assert self._read
            return self._read(*_place(node))
        if isinstance(node, ast.BinOp):
            left, right = self._value(node.left), self._value(node.right)
            return self._operators[type(node.op)](left, right)
        assert isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub), ast.dump(node)
        if isinstance(node.operand, ast.Constant):
            return self.constant(-float(node.operand.value))    # type: ignore[arg-type]
        return builder.fneg(self._value(node.operand))


def straight_line(lines: str, names: Sequence[str], columns: dict[str, int]) -> Any:
    """
    Return a function for compiled code that executes lines of :mod:`~.trace`.

    Its argument is the tuple of the arrays that the lines read and write, C-contiguous float64.

    :param names: of the arrays in the lines.
    :param columns: number of columns of the matrices among them.
    """
    @intrinsic
    def execute(typing, arrays):
        def build(context, builder, signature, args):
            data = {name: context.make_array(kind)(context, builder, value).data
                    for name, kind, value in zip(names, signature.args[0],
                                                 unpack_tuple(builder, args[0]))}

            def element(name: str, index: tuple[int, ...]) -> Any:
                *row, column = index
                place = row[0] * columns[name] + column if row else column
                return builder.gep(data[name], [WORD(place)])

            Translator(builder, read=lambda *at: builder.load(element(*at)),
                       write=lambda name, index, value: builder.store(value, element(name, index))
                       ).run(ast.parse(lines).body)
            return context.get_dummy_value()
        return types.void(arrays), build
    return execute


def _place(node: Any) -> tuple[str, tuple[int, ...]]:
    """Return name and constant index of an element of an array."""
    index = ast.literal_eval(node.slice)
    return node.value.id, index if isinstance(index, tuple) else (index,)


@cache
def _statements(function: Callable[..., Any]) -> list[Any]:
    """Return the statements of a function, without its docstring."""
    definition: Any = ast.parse(inspect.getsource(function)).body[0]
    return [node for node in definition.body if not isinstance(node, ast.Expr)]


class Angles(NamedTuple):
    """Angle ``turn * q[driver] + offset`` of each body about its joint axis."""

    turn: Sequence[float]
    offset: Sequence[float]
    driver: Sequence[int]

    def limit(self) -> float:
        """Return the distance from 0 up to which no angle is beyond REDUCTION_LIMIT, or < 0."""
        limits = [(REDUCTION_LIMIT - abs(offset)) / abs(turn)
                  for turn, offset in zip(self.turn, self.offset) if turn]
        return min([REDUCTION_LIMIT, *limits])


def four_states(lines: str, inputs: Sequence[str], nv: int, outputs: Mapping[str, int],
                angles: Angles, first_sine: int) -> Any:
    """
    Return a function ``f(first, usable, arrays)`` for compiled code.

    It executes the lines for states ``first`` to ``first + 3``. The result of a state is undefined
    if its positions are too far from 0 for :func:`~.spatial.cos_sin`, or an input, an
    output or the sum of the outputs is not finite. ``usable`` (4,) int64 becomes 0 for such a
    state, and the function returns False.

    :param lines: of :mod:`~.trace`.
    :param inputs: names of the inputs (N, nv).
    :param outputs: names and lengths of the outputs (N, ...); ``arrays`` are the inputs, then
        these, float64 and C-contiguous.
    :param first_sine: index of the first sine in ``trig``.
    """
    @intrinsic
    def execute(typing, first, usable, arrays):
        def build(context, builder, signature, args):
            data = [builder.gep(context.make_array(kind)(context, builder, value).data,
                                [builder.mul(args[0], WORD(n))])
                    for kind, value, n in zip(signature.args[2],
                                              unpack_tuple(builder, args[2]),
                                              [*(nv for _ in inputs), *outputs.values()])]
            values = {name: _load(builder, start, nv) for name, start in zip(inputs, data)}
            vectors = _results(builder, lines, values, outputs, angles, first_sine)
            mask = _usable(builder, values['q'], [*_unread(lines, values), *vectors],
                           angles.limit())
            for start, count in zip(data[len(inputs):], outputs.values()):
                _store(builder, start, vectors[:count])
                del vectors[:count]
            place = context.make_array(signature.args[1])(context, builder, args[1]).data
            builder.store(builder.sext(mask, WORDS),
                          builder.bitcast(place, WORDS.as_pointer()), align=FLOAT_ALIGNMENT)
            bits = ir.IntType(SIMD_LANES)
            return builder.icmp_signed('==', builder.bitcast(mask, bits), bits(-1))
        return types.boolean(first, usable, arrays), build
    return execute


def _usable(builder: ir.IRBuilder, positions: list, others: list, limit: float) -> Any:
    """
    Return which states have positions within the limit, and ``others`` that are finite.

    An output is finite only if all inputs from which it is computed are: what is divided by are
    inertias, which depend on positions alone.
    """
    def total(terms: list) -> Any:
        result = terms[0]
        for term in terms[1:]:
            result = builder.fadd(result, term)
        return result

    constant = Translator(builder, SIMD_LANES).constant
    # 0 times what is not finite is NaN, which is not less than anything
    result = builder.fadd(total([builder.fmul(x, x) for x in positions]),
                          builder.fmul(total(others), constant(0.0)))
    return builder.fcmp_ordered('<=', result, constant(limit * abs(limit)))


def _results(builder: ir.IRBuilder, lines: str, values: Mapping[str, list],
             outputs: Mapping[str, int], angles: Angles, first_sine: int) -> list:
    """Return the vectors that the lines assign, of one output after the other."""
    trig: dict[int, Any] = {}

    def read(name: str, index: tuple[int, ...]) -> Any:
        (i,) = index
        if name != 'trig':
            return values[name][i]
        if i not in trig:
            body = i % first_sine
            angle = values['q'][angles.driver[body]]
            if angles.turn[body] != 1.0:
                angle = builder.fmul(angle, code.constant(angles.turn[body]))
            if angles.offset[body] != 0.0:
                angle = builder.fadd(angle, code.constant(angles.offset[body]))
            trig[body], trig[first_sine + body] = _cos_sin(builder, code, angle)
        return trig[i]

    def write(name: str, index: tuple[int, ...], value: Any) -> None:
        results[name][index[0]] = value

    code = Translator(builder, SIMD_LANES, read, write)
    results = {name: [code.constant(0.0)] * n for name, n in outputs.items()}
    code.run(ast.parse(lines).body)
    return [one for columns in results.values() for one in columns]


def _unread(lines: str, values: Mapping[str, list]) -> list:
    """Return the inputs that the lines do not read, but for positions."""
    return [one for name, columns in values.items() if name != 'q'
            for i, one in enumerate(columns) if not re.search(rf'\b{name}\[{i}\]', lines)]


def _cos_sin(builder: ir.IRBuilder, code: Translator, angle: Any) -> tuple[Any, Any]:
    """Return cosines and sines as :func:`~.spatial.cos_sin`, with operations on bits."""
    def with_sign_of(value: Any, bits: Any) -> Any:
        sign = builder.and_(bits, _words(1 << 63))
        return builder.bitcast(builder.xor(builder.bitcast(value, WORDS), sign), VECTOR)

    integers = code.constant(ROUNDING_SHIFT)
    shifted = builder.fadd(builder.fmul(angle, code.constant(QUARTERS_PER_RADIAN)), integers)
    c, s = code.call(remainder_cos_sin, angle, builder.fsub(shifted, integers))
    quadrant = builder.bitcast(shifted, WORDS)
    once, twice = builder.shl(quadrant, _words(63)), builder.shl(quadrant, _words(62))
    odd = builder.icmp_signed('<', once, _words(0))
    return (with_sign_of(builder.select(odd, s, c), builder.xor(once, twice)),
            with_sign_of(builder.select(odd, c, s), twice))


def _words(value: int) -> Any:
    return ir.Constant(WORDS, [value] * SIMD_LANES)


def _load(builder: ir.IRBuilder, start: Any, columns: int) -> list:
    """Return the columns of four rows."""
    loaded: dict[int, Any] = {}
    for column in _tiles(columns):
        rows = [builder.load(_as_vector(builder, start, row * columns + column), '',
                             FLOAT_ALIGNMENT)
                for row in range(SIMD_LANES)]
        loaded.update(enumerate(_transposed(builder, rows), column))
    for column in range(columns if columns < SIMD_LANES else 0):
        vector: Any = ir.Constant(VECTOR, [0.0] * SIMD_LANES)
        for row in range(SIMD_LANES):
            element = builder.load(builder.gep(start, [WORD(row * columns + column)]))
            vector = builder.insert_element(vector, element, WORD(row))
        loaded[column] = vector
    return [loaded[column] for column in range(columns)]


def _store(builder: ir.IRBuilder, start: Any, vectors: list) -> None:
    """Write columns of four rows."""
    columns = len(vectors)
    for column in _tiles(columns):
        for row, vector in enumerate(_transposed(builder, vectors[column:column + SIMD_LANES])):
            builder.store(vector, _as_vector(builder, start, row * columns + column),
                          align=FLOAT_ALIGNMENT)
    for column in range(columns if columns < SIMD_LANES else 0):
        for row in range(SIMD_LANES):
            builder.store(builder.extract_element(vectors[column], WORD(row)),
                          builder.gep(start, [WORD(row * columns + column)]))


def _tiles(columns: int) -> list[int]:
    """Return the first columns of square tiles that cover all; the last ones may overlap."""
    if columns < SIMD_LANES:
        return []
    return [*range(0, columns - SIMD_LANES + 1, SIMD_LANES),
            *([columns - SIMD_LANES] if columns % SIMD_LANES else [])]


def _as_vector(builder: ir.IRBuilder, start: Any, element: int) -> Any:
    return builder.bitcast(builder.gep(start, [WORD(element)]), VECTOR.as_pointer())


def _transposed(builder: ir.IRBuilder, rows: list) -> list:
    """Return the columns of four vectors."""
    def shuffle(a: Any, b: Any, mask: tuple[int, ...]) -> Any:
        return builder.shuffle_vector(
            a, b, ir.Constant(ir.VectorType(ir.IntType(32), SIMD_LANES), mask))
    pairs = [[shuffle(rows[i], rows[i + 1], mask) for i in (0, 2)] for mask in (EVEN, ODD)]
    return [shuffle(pair[0], pair[1], half) for half in (LOWER, UPPER) for pair in pairs]
