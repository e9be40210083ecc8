# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of docs/safety.md: the test of each, and the mutation of the code that disables it."""

import ast
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
import inspect
from pathlib import Path
from types import ModuleType
from typing import NamedTuple, TypeVar

import robodyn_ros

PACKAGE = Path(robodyn_ros.__file__).parent
CONTEXT = 'ctx', 'type_comment', 'kind'     # fields that do not matter


class Mutation(NamedTuple):
    """
    A change of one place.

    :param where: function, method or module; ``find``, ``instead``: pattern and replacement.
    """

    where: object
    find: str
    instead: str

    @property
    def file(self) -> str:
        """Return the path of the source below robodyn_ros/."""
        source = inspect.getsourcefile(inspect.unwrap(self.where))
        return Path(source).relative_to(PACKAGE).as_posix()

    @property
    def name(self) -> str:
        """Return the name of the function in its module; '' for a module."""
        return getattr(inspect.unwrap(self.where), '__qualname__', '')

    def applied(self, text: str) -> str:
        """
        Return the text of the source with the change made.

        :raises AssertionError: the pattern matches nothing, or more than one place.
        """
        tree, pattern = ast.parse(text), parsed(self.find)
        found = [(node, held) for node in ast.walk(definition(tree, self.where))
                 if (held := matched(pattern, node)) is not None]
        assert len(found) == 1, (
            f'{self.find!r} matches {len(found)} places of {self.where}, not one: '
            'adapt the pattern of the row')
        (node, held), new = found[0], ast.parse(self.instead).body
        new = [Filled(held).visit(statement) for statement in new]
        return ast.unparse(Replaced(node, new[0].value if isinstance(node, ast.expr) else new)
                           .visit(tree))


def parsed(pattern: str) -> ast.AST:
    """Return the only statement, or the expression that it is."""
    statement, = ast.parse(pattern if not pattern.startswith('return') else
                           f'def f():\n    {pattern}').body
    if isinstance(statement, ast.FunctionDef):
        statement, = statement.body
    return statement.value if isinstance(statement, ast.Expr) else statement


def definition(tree: ast.Module, where: object) -> ast.AST:
    """Return the definition of a function or method in its module; of a module, all of it."""
    found: ast.AST = tree
    if not isinstance(where, ModuleType):
        for name in inspect.unwrap(where).__qualname__.split('.'):
            found, = (n for n in found.body if getattr(n, 'name', '') == name)
    return found


def matched(pattern: object, node: object) -> dict[str, ast.AST] | None:
    """Return what the names of a pattern stand for; None if it does not match."""
    if isinstance(pattern, ast.Name) and pattern.id.startswith('_') and isinstance(node, ast.expr):
        return {} if pattern.id == '_' else {pattern.id: node}
    if isinstance(pattern, list) and isinstance(node, list) and len(pattern) == len(node):
        parts = [matched(p, n) for p, n in zip(pattern, node)]
    elif isinstance(pattern, ast.AST) and type(pattern) is type(node):
        parts = [matched(getattr(pattern, f), getattr(node, f))
                 for f in pattern._fields if f not in CONTEXT]
    else:
        return {} if not isinstance(pattern, (ast.AST, list)) and pattern == node else None
    if None in parts:
        return None
    return {name: part for held in parts for name, part in held.items()}


class Filled(ast.NodeTransformer):
    """The replacement, with what its names stand for."""

    def __init__(self, held: dict[str, ast.AST]):
        self._held = held

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Replace a name of the pattern."""
        return self._held.get(node.id, node)


class Replaced(ast.NodeTransformer):
    """A tree with something else in the place of a node."""

    def __init__(self, node: ast.AST, new: ast.AST | list[ast.AST]):
        self._node, self._new = node, new

    def visit(self, node: ast.AST) -> ast.AST | list[ast.AST]:
        return self._new if node is self._node else self.generic_visit(node)


Test = TypeVar('Test', bound=Callable)


@dataclass(frozen=True)
class Row:
    """
    One fault ("row") of docs/safety.md.

    :param fault: its name there; ``codes``: reason codes it may latch.
    :param mutation: the change of the code that disables the row; its test must then fail.
    """

    fault: str
    codes: tuple[str, ...]
    mutation: Mutation


def row(fault: str, *codes: str, where: object, find: str, instead: str) -> Callable[[Test], Test]:
    """Mark a test as that of a row; :class:`Mutation` explains the keywords."""
    def mark(test: Test) -> Test:
        test.row = Row(fault, codes, Mutation(where, find, instead))
        return test
    return mark


def with_rows() -> list[Callable]:
    """Return every test that is one of a row, in the order of the files."""
    return [test for path in sorted(Path(__file__).parent.glob('test_*_faults.py'))
            for test in vars(import_module(path.stem)).values() if hasattr(test, 'row')]
