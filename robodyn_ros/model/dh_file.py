# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
YAML files of Denavit-Hartenberg parameters, with numbers or symbolic expressions.

    name: two_link                  # default: the name of the file
    convention: modified            # or standard, see `dh.py`
    gravity: [0, -g, 0]             # [m/s²] in the frame base; otherwise [0, 0, -g], g = 9.81
    links:                          # one row for each joint, with the fields of `DhLink`
      - {theta: 0, d: 0, a: 0,  alpha: 0, joint: revolute, mass: m1, com: [l1, 0, 0]}
      - {theta: 0, d: 0, a: l1, alpha: 0, joint: revolute, mass: m2, com: [l2, 0, 0]}
    tool: [l2, 0, 0]                # where the frame tool is; three numbers, or 4 rows of 4
    values: {l1: 0.5, l2: 0.4, m1: 2, m2: 1, g: 9.81}

Every number may be an expression of numbers, pi and the names under `values`; a value may use the
names above it. `theta`, `d`, `a` and `alpha` are required, the other fields have the defaults of
`DhLink`; `inertia` is three numbers, the diagonal, or three rows of three; `base` has the format
of `tool`. What rows, poses and gravity may be is checked by :func:`.dh.from_dh`.
"""

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
import math
from pathlib import Path
import re
from typing import Any

import yaml

from .arithmetic import evaluate, NAME, names, parse
from .dh import from_dh
from .robot import RobotModel
from ..errors import ArgumentError, DhFileError, printable, RobodynError, UnknownNameError

MAX_BYTES = 100_000         # a hundred times what a textbook arm needs
MAX_DEPTH = 8               # nested lists and mappings; the format has four
MAX_LINKS = 50
MAX_VALUES = 500
KEYS = ('name', 'convention', 'gravity', 'base', 'tool', 'links', 'values')
TEXT = re.compile(r'name|convention|row \d+, joint')      # places; at others there are numbers
GRAVITY = 'g', 9.81         # [m/s²]

Convert = Callable[['Expression'], Any]


@dataclass(frozen=True)
class Expression:
    """A number of the file: its text, the key where it is given, and its syntax tree."""

    text: str
    where: str
    tree: ast.expr


@dataclass(frozen=True)
class DhFile:
    """Content of a file before evaluation: mappings and lists of texts and expressions."""

    path: Path
    name: str
    convention: str
    rows: list[Any]
    base: Any                               # None where it is not given
    tool: Any
    gravity: Any
    values: Mapping[str, float]             # by name, in the order of the file

    def number(self, expression: Expression) -> float:
        """Return the value of an expression, or raise :class:`DhFileError`."""
        return _number(self.path, expression, self.values)


def load_dh(path: str | Path) -> RobotModel:
    """
    Load a robot from a YAML file of Denavit-Hartenberg parameters.

    The format is described in :mod:`~robodyn_ros.model.dh_file`; ``examples/`` has two files.

    :param path: of the file.
    :return: the model, as from :func:`~robodyn_ros.from_dh`.
    :raises DhFileError: the file cannot be read or is invalid; the message names row and key.
    :raises InertiaError: the inertia of a link is invalid, or M(q) is not positive definite.

    >>> from robodyn_ros import load_dh
    >>> from robodyn_ros.model.resources import rows_path
    >>> load_dh(rows_path('craig_2r')).joint_names
    ('joint1', 'joint2')
    """
    file = read_dh(path)
    rows, base, tool, gravity = (mapped(part, file.number)
                                 for part in (file.rows, file.base, file.tool, file.gravity))
    try:
        return from_dh(rows, file.convention, base, tool, gravity, name=file.name)
    except (ArgumentError, UnknownNameError) as error:
        raise _refused(file.path, error) from None


def mapped(part: Any, convert: Convert) -> Any:
    """Return a part of a file with every expression in it converted."""
    if isinstance(part, Expression):
        return convert(part)
    if isinstance(part, Mapping):
        return {key: mapped(value, convert) for key, value in part.items()}
    return [mapped(value, convert) for value in part] if isinstance(part, list) else part


def read_dh(path: str | Path) -> DhFile:
    """
    Return the content of a file, of which every number can be computed.

    :raises DhFileError: as :func:`load_dh` does, which also checks rows, poses and gravity.
    """
    path = Path(path)
    reader = _Reader(path)
    document = reader.document()
    if not isinstance(document, dict):
        raise reader.error('it is not a mapping', 'document',
                           f'write key: value, with keys {", ".join(KEYS)}')
    for key in document:
        if key not in KEYS:
            raise _refused(path, UnknownNameError('key', key, KEYS))
    for key in ('convention', 'links'):
        if key not in document:
            raise reader.error(f'it has no {key!r}', key, f'add it; keys are {", ".join(KEYS)}')
    rows, values = document['links'], reader.values(document.get('values', {}))
    if not isinstance(rows, list) or not 1 <= len(rows) <= MAX_LINKS:
        raise reader.error(f'links is not a list of 1 to {MAX_LINKS} rows', 'links',
                           'pass one for each joint')
    gravity = document.get('gravity')
    if gravity is None:
        name, default = GRAVITY
        values.setdefault(name, default)
        if values[name] != default:
            raise reader.error(f'{name} is {values[name]!r} under values, but there is no '
                               "'gravity'", 'gravity', f'add e.g. gravity: [0, 0, -{name}]')
        gravity = [reader.expression(text, 'gravity') for text in ('0', '0', f'-{name}')]
    file = DhFile(path, document.get('name', path.stem), document['convention'], rows,
                  document.get('base'), document.get('tool'), gravity, values)
    for part in (rows, file.base, file.tool, gravity):
        mapped(part, file.number)
    return file


def _refused(path: Path, error: RobodynError, where: str = '') -> DhFileError:
    """Return an error of a part as one of the file."""
    return DhFileError(f'{path}: {where}{error}'.removesuffix(f': {error.remedy}'),
                       name=error.name, value=error.value, remedy=error.remedy)


def _number(path: Path, expression: Expression, values: Mapping[str, float]) -> float:
    def refused(problem: str, remedy: str) -> DhFileError:
        return DhFileError(f'{path}: {expression.where} {expression.text!r} {problem}',
                           name=expression.where, value=expression.text, remedy=remedy)
    for name in sorted(names(expression.tree) - values.keys()):
        close = get_close_matches(name, values, cutoff=0.5)
        raise refused(f'uses {name}, which has no value',
                      f'did you mean {" or ".join(close)}?' if close else
                      f'add it under values, e.g. values: {{{name}: 1.0}}')
    try:
        value = float(evaluate(expression.tree, {**values, 'pi': math.pi}, float))
    except ArithmeticError as error:
        raise refused(f'cannot be computed ({error})', 'use a finite number') from None
    if not math.isfinite(value):
        raise refused(f'is {value}', 'use a finite number')
    return value


class _Reader:
    """Parser of the YAML document, which leaves all scalars as text: 1:30 is not 90."""

    def __init__(self, path: Path):
        self.path = path

    def error(self, problem: str, name: str, remedy: str) -> DhFileError:
        return DhFileError(f'{self.path}: {problem}', name=name, remedy=remedy)

    def document(self) -> Any:
        """Return the content of the document, a tree without tags and of bounded size."""
        try:
            with self.path.open('rb') as file:
                text = file.read(MAX_BYTES + 1)
        except OSError as error:
            raise self.error(f'it cannot be read ({error.strerror})', str(self.path),
                             'pass the path of a file of DH rows') from None
        if len(text) > MAX_BYTES:
            raise self.error(f'it has more than {MAX_BYTES} bytes', str(self.path),
                             'pass a file of DH rows')
        depth = 0
        try:
            for event in yaml.parse(text, Loader=yaml.BaseLoader):
                depth += (isinstance(event, yaml.CollectionStartEvent)
                          - isinstance(event, yaml.CollectionEndEvent))
                if (depth > MAX_DEPTH or isinstance(event, yaml.AliasEvent)
                        or getattr(event, 'tag', None)):
                    line = event.start_mark.line + 1 if event.start_mark else 0
                    raise self.error(f'line {line} has a tag, an alias or '
                                     f'more than {MAX_DEPTH} levels', str(self.path),
                                     'write it without them')
            node = yaml.compose(text, Loader=yaml.BaseLoader)
        except (yaml.YAMLError, ValueError) as error:
            mark = getattr(error, 'problem_mark', None)
            place = f'line {mark.line + 1} of it' if mark else 'it'
            raise self.error(f'{place} is not YAML ({getattr(error, "problem", None) or "text"})',
                             str(self.path), 'correct it there, or just before') from None
        return None if node is None else self.part(node, '')

    def part(self, node: yaml.Node, where: str) -> Any:
        """
        Return a part of the document: a mapping with unique keys, a list, a text or an expression.

        :param where: its place, for errors, '' for the whole document.
        """
        if TEXT.fullmatch(where):
            return self.text(node, where)
        if isinstance(node, yaml.SequenceNode):
            return [self.part(item, f'row {i}' if where == 'links' else where)
                    for i, item in enumerate(node.value, 1)]
        if not isinstance(node, yaml.MappingNode):
            return self.expression(node.value, where)
        found: dict[str, Any] = {}
        for key_node, value in node.value:
            key = self.text(key_node, f'a key of {where or "the document"}')
            if key in found:
                raise self.error(f'{where or "it"} has {key!r} twice', key, 'keep one of them')
            place = printable(key)
            found[key] = self.part(value, f'{where}, {place}' if where else place)
        return found

    def text(self, node: yaml.Node, where: str) -> str:
        if not isinstance(node, yaml.ScalarNode) or not node.value.strip():
            raise self.error(f'{where} is not a text', where, 'write one')
        return node.value

    def expression(self, text: str, where: str) -> Expression:
        try:
            return Expression(text, where, parse(text))
        except ArgumentError as error:
            raise _refused(self.path, error, f'{where} ') from None

    def values(self, given: Any) -> dict[str, float]:
        """Return the numbers under `values`, of which each may use those above it."""
        if not isinstance(given, dict) or len(given) > MAX_VALUES:
            raise self.error(f'values is not a mapping of up to {MAX_VALUES} names', 'values',
                             'write name: value')
        values: dict[str, float] = {}
        for name, expression in given.items():
            if not NAME.fullmatch(name) or name == 'pi':
                raise self.error(f'values has the name {name!r}', name, 'write a letter, then '
                                 'letters, digits and underscores; pi has its value already')
            if not isinstance(expression, Expression):
                raise self.error(f'values, {name} is not a number', name, 'write one')
            values[name] = _number(self.path, expression, values)
        return values
