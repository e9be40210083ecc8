# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Numbers as a person writes them in a file: 0.5, pi/2, -l1/2, (m1 + m2)*l1**2.

The text is parsed by Python's own grammar, and of its tree only arithmetic is walked: nothing is
ever executed. The same tree gives floats and, with other leaves, formulas.
"""

import ast
import re
from collections.abc import Callable, Mapping
from typing import Any

from ..errors import ArgumentError

MAX_LENGTH = 200        # characters; what a person writes for one number has twenty
MAX_POWER = 8           # powers are whole numbers up to this: 9**9**9 is never begun
MAX_TERMS = 100         # of an expression without brackets
NAME = re.compile(r'[A-Za-z][A-Za-z0-9_]{0,30}', re.ASCII)
REMEDY = ('write a number, a name, or + - * / ** of them; pi is known, powers are whole numbers '
          f'up to {MAX_POWER}')


def parse(text: str) -> ast.expr:
    """Return the tree of an expression; :class:`ArgumentError` for what is none."""
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
        raise _refused(text, 'it is no expression') from None
    return tree


def names(tree: ast.expr) -> set[str]:
    """Return the names an expression uses, without pi."""
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - {'pi'}


def evaluate(tree: ast.expr, known: Mapping[str, Any], number: Callable[[str], Any]) -> Any:
    """
    Return the value of a tree of :func:`parse`.

    :param known: what each name stands for, pi among them.
    :param number: makes a number out of the decimal digits of one.
    :raises KeyError: for a name that is not known; ArithmeticError: division by 0, overflow.
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
    """Return how many terms a tree of arithmetic has without brackets, refuse any other tree."""
    if isinstance(tree, ast.Constant):
        if type(tree.value) not in (int, float):
            raise _refused(text, f'{tree.value!r} is no number')
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
    raise _refused(text, 'something in it is no arithmetic')


def _power(tree: ast.expr, text: str) -> int:
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
        tree = tree.operand
    if not (isinstance(tree, ast.Constant) and type(tree.value) is int
            and tree.value <= MAX_POWER):
        raise _refused(text, 'a power in it cannot be used')
    return tree.value


def _refused(text: str, why: str) -> ArgumentError:
    shown = text if len(text) <= 60 else text[:60] + ' ...'
    return ArgumentError(f'{shown!r} cannot be used: {why}', name='expression', value=text,
                         remedy=REMEDY)
