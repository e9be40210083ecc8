# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Arithmetic expressions in text form: 0.5, pi/2, -l1/2, (m1 + m2)*l1**2.

The text is parsed with the grammar of Python, and only arithmetic nodes of the syntax tree are
evaluated: no code is executed. The same tree gives floats or, with other leaves, formulas.
"""

import ast
from collections.abc import Callable, Mapping
import re
from typing import Any

from ..errors import ArgumentError

MAX_LENGTH = 200        # characters; expressions written by hand have about twenty
MAX_POWER = 8           # exponents are integers up to this: 9**9**9 is not evaluated
MAX_TERMS = 100         # of an expression after expansion
NAME = re.compile(r'[A-Za-z][A-Za-z0-9_]{0,30}', re.ASCII)
REMEDY = ('write a number, a name, or + - * / ** of them; pi is known, powers are whole numbers '
          f'up to {MAX_POWER}')


def parse(text: str) -> ast.expr:
    """
    Return the syntax tree of an expression.

    :raises ArgumentError: the text is not an expression, or too long.
    """
    if len(text) > MAX_LENGTH:
        raise _refused(text, f'it has more than {MAX_LENGTH} characters')
    if not text.isascii():
        raise _refused(text, 'it has characters that are not ASCII')
    try:
        tree = ast.parse(text.strip(), mode='eval').body
        if _terms(tree, text) > MAX_TERMS:
            raise _refused(text, f'written out, it has more than {MAX_TERMS} terms')
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        if isinstance(error, ArgumentError):
            raise
        raise _refused(text, 'it is not an expression') from None
    return tree


def names(tree: ast.expr) -> set[str]:
    """Return the names that an expression uses, except pi."""
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - {'pi'}


def evaluate(tree: ast.expr, known: Mapping[str, Any], number: Callable[[str], Any]) -> Any:
    """
    Return the value of a tree from :func:`parse`.

    :param known: values of the names, pi included.
    :param number: converts a decimal literal.
    :raises KeyError: a name is not known.
    :raises ArithmeticError: division by zero, or overflow.
    """
    if isinstance(tree, ast.Constant):
        return number(repr(tree.value))
    if isinstance(tree, ast.Name):
        return known[tree.id]
    if isinstance(tree, ast.UnaryOp):
        value = evaluate(tree.operand, known, number)
        return -value if isinstance(tree.op, ast.USub) else value
    assert isinstance(tree, ast.BinOp)          # `parse` lets nothing else through
    left = evaluate(tree.left, known, number)
    if isinstance(tree.op, ast.Pow):
        return left ** ast.literal_eval(tree.right)
    right = evaluate(tree.right, known, number)
    if isinstance(tree.op, ast.Div):
        if right == 0:
            raise ZeroDivisionError('division by zero')
        return left / right
    return (left + right if isinstance(tree.op, ast.Add) else
            left - right if isinstance(tree.op, ast.Sub) else left * right)


def _terms(tree: ast.AST, text: str) -> int:
    """Return the number of terms of an expression after expansion; refuse other syntax."""
    if isinstance(tree, ast.Constant):
        if type(tree.value) not in (int, float):
            raise _refused(text, f'{tree.value!r} is not a number')
        return 1
    if isinstance(tree, ast.Name):
        if not NAME.fullmatch(tree.id):
            raise _refused(text, 'a name in it is too long, or begins with an underscore')
        return 1
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, (ast.USub, ast.UAdd)):
        return _terms(tree.operand, text)
    if isinstance(tree, ast.BinOp):
        left = _terms(tree.left, text)
        if isinstance(tree.op, ast.Pow):
            return left ** _power(tree.right, text)
        right = _terms(tree.right, text)
        if isinstance(tree.op, (ast.Add, ast.Sub)):
            return left + right
        if isinstance(tree.op, (ast.Mult, ast.Div)):
            return left * right
    raise _refused(text, 'it contains more than arithmetic')


def _power(tree: ast.expr, text: str) -> int:
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
        tree = tree.operand
    if not (isinstance(tree, ast.Constant) and type(tree.value) is int
            and tree.value <= MAX_POWER):
        raise _refused(text, 'an exponent in it is not supported')
    return tree.value


def _refused(text: str, why: str) -> ArgumentError:
    shown = text if len(text) <= 60 else text[:60] + ' ...'
    return ArgumentError(f'{shown!r} cannot be used: {why}', name='expression', value=text,
                         remedy=REMEDY)
