# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Changes of source code that are found by structure: names of variables and format are free."""

import ast
from dataclasses import dataclass
from pathlib import Path

WILDCARD = '_'


@dataclass(frozen=True)
class Mutation:
    """
    A change of one expression or of consecutive statements.

    :param module: dotted, relative to the package, as ``control.guard``; followed by ``:name``,
        it is confined to the function, method or class of that name.
    :param change: the code to find, compared as syntax trees. ``_`` matches any expression;
        as the name of an argument or a target it matches any name. A statement with a body
        matches one whose body is the same.
    :param to: what stands there instead; statements for an expression statement replace it.
    """

    module: str
    change: str
    to: str

    def path(self, package: Path) -> Path:
        """Return the file of the module in a copy of the package."""
        return package.joinpath(*self.module.partition(':')[0].split('.')).with_suffix('.py')

    def apply(self, package: Path) -> str:
        """
        Return the changed source of the module.

        :raises AssertionError: the code is not there, or is there more than once.
        """
        path, name = self.path(package), self.module.partition(':')[2]
        assert path.exists(), f'{self}: there is no {path}; name the module that has the code now'
        tree = ast.parse(path.read_text(), str(path))
        places = [tree] if not name else [
            node for node in ast.walk(tree)
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
            and node.name == name]
        assert len(places) == 1, f'{self}: {path} has {len(places)} definitions of {name}, not 1'
        found = self._found(places[0])
        lines = ', '.join(str(line) for line, *_ in found) or 'none'
        assert len(found) == 1, (
            f'{self}: {path} has this code {len(found)} times (lines: {lines}), not once. '
            'Adapt `change` to the code that the row depends on now, or add `:function` to '
            '`module`')
        _, parent, field, where, length = found[0]
        if where is None:
            setattr(parent, field, _parsed(self.to)[0].value)
        else:
            new = _parsed(self.to)
            getattr(parent, field)[where:where + length] = (
                [new[0].value] if self._is_expression() else new)
        return ast.unparse(ast.fix_missing_locations(tree)) + '\n'

    def _is_expression(self) -> bool:
        """Whether an expression takes the place of an expression."""
        return all(len(code) == 1 and isinstance(code[0], ast.Expr)
                   for code in (_parsed(self.change), _parsed(self.to)))

    def _found(self, tree: ast.AST) -> list[tuple]:
        """Return (line, parent, field, index, length) of each match."""
        wanted = _parsed(self.change)
        pattern = [wanted[0].value] if self._is_expression() else wanted
        found = []
        for parent in ast.walk(tree):
            for field, value in ast.iter_fields(parent):
                if isinstance(value, ast.AST) and matches(pattern[0], value) and len(pattern) == 1:
                    found.append((getattr(value, 'lineno', 0), parent, field, None, 1))
                elif isinstance(value, list):
                    found += [(value[k].lineno, parent, field, k, len(pattern))
                              for k in range(len(value) - len(pattern) + 1)
                              if all(map(matches, pattern, value[k:]))]
        return found


def _parsed(code: str) -> list[ast.stmt]:
    """Return the statements of a piece of a function, which may return and await."""
    body = ''.join(f'    {line}\n' for line in code.splitlines())
    [function] = ast.parse(f'async def piece():\n{body}').body
    return function.body


def matches(pattern: object, node: object) -> bool:
    """Whether a piece of a syntax tree is as the pattern, in which `_` is any expression."""
    if isinstance(pattern, ast.Name) and pattern.id == WILDCARD and isinstance(node, ast.expr):
        return True
    if type(pattern) is not type(node):
        return False
    if isinstance(pattern, ast.AST):
        return all(matches(value, getattr(node, field, None))
                   for field, value in ast.iter_fields(pattern)
                   if not isinstance(value, ast.expr_context))
    if isinstance(pattern, list):
        return len(pattern) == len(node) and all(map(matches, pattern, node))
    return pattern == node or pattern == WILDCARD
