# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Translation of branch-free Python into LLVM instructions, on numbers or on vectors of numbers.

Numba infers types for each of the thousands of statements of a straight-line kernel, which takes
most of the time of compiling it, and has no vectors. Here each operator becomes an instruction.
"""

import ast
from collections.abc import Callable, Sequence
from functools import cache
import inspect
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from ..compiler.intrinsics import unpack_tuple

WORD = ir.IntType(64)


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
