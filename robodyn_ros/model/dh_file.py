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
of `tool`.
"""

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
import math
from pathlib import Path
from typing import Any

import yaml

from .arithmetic import evaluate, NAME, names, parse
from .dh import CONVENTIONS, DhLink, from_dh, JOINTS
from .robot import RobotModel
from ..errors import ArgumentError, DhFileError

MAX_BYTES = 100_000         # a hundred times what a textbook arm needs
MAX_DEPTH = 8               # nested lists and mappings; the format has four
MAX_LINKS = 50
MAX_VALUES = 500
KEYS = ('name', 'convention', 'gravity', 'base', 'tool', 'links', 'values')
REQUIRED = ('theta', 'd', 'a', 'alpha')
SCALARS = (*REQUIRED, 'offset', 'mass', 'armature', 'rotor_inertia', 'gear_ratio', 'viscous',
           'coulomb', 'static_friction')
ROW_KEYS = (*SCALARS, 'joint', 'com', 'inertia')
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
    """Content of a file before evaluation."""

    path: Path
    name: str
    convention: str
    rows: tuple[Mapping[str, Any], ...]     # by key: an expression, lists of them, or a word
    base: Any                               # (4, 4) of expressions, or None
    tool: Any                               # pose, as `base`
    gravity: Any                            # three expressions
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
    rows = [mapped(row, file.number) for row in file.rows]
    base, tool, gravity = (mapped(part, file.number)
                           for part in (file.base, file.tool, file.gravity))
    try:
        return from_dh([DhLink(**row) for row in rows], file.convention, base, tool, gravity,
                       name=file.name)
    except ArgumentError as error:
        raise DhFileError(f'{file.path}: {error}'.removesuffix(f': {error.remedy}'),
                          name=error.name, value=error.value, remedy=error.remedy) from None


def mapped(part: Any, convert: Convert) -> Any:
    """Return a part of a file with every expression in it converted."""
    if isinstance(part, Expression):
        return convert(part)
    if isinstance(part, Mapping):
        return {key: mapped(value, convert) for key, value in part.items()}
    return [mapped(value, convert) for value in part] if isinstance(part, list) else part


def read_dh(path: str | Path) -> DhFile:
    """Return the content of a file; raises :class:`DhFileError` as :func:`load_dh` does."""
    path = Path(path)
    reader = _Reader(path)
    document = reader.mapping(reader.document(), '', KEYS)
    for key in ('convention', 'links'):
        if key not in document:
            raise reader.error(f'it has no {key!r}', key, f'add it; keys are {", ".join(KEYS)}')
    values = reader.values(document.get('values'))
    rows = reader.items(document['links'], 'links')
    if not 1 <= len(rows) <= MAX_LINKS:
        raise reader.error(f'links has {len(rows)} rows', 'links',
                           f'pass one for each joint, {MAX_LINKS} at most')
    file = DhFile(
        path, reader.word(document['name'], 'name') if 'name' in document else path.stem,
        reader.word(document['convention'], 'convention', CONVENTIONS),
        tuple(reader.row(row, f'row {i + 1}') for i, row in enumerate(rows)),
        reader.placement(document.get('base'), 'base'),
        reader.placement(document.get('tool'), 'tool'), None, values)
    if 'gravity' in document:
        gravity = reader.array(document['gravity'], 'gravity', 3)
    else:
        name, default = GRAVITY
        values.setdefault(name, default)
        if values[name] != default:
            raise reader.error(f'{name} is {values[name]!r} under values, but there is no '
                               "'gravity'", 'gravity', f'add e.g. gravity: [0, 0, -{name}]')
        gravity = [reader.expression(text, 'gravity') for text in ('0', '0', f'-{name}')]
    file = DhFile(**{**vars(file), 'gravity': gravity})
    for part in (*file.rows, file.base, file.tool, file.gravity):
        mapped(part, file.number)
    return file


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

    def error(self, problem: str, name: str, remedy: str, value: object = None) -> DhFileError:
        return DhFileError(f'{self.path}: {problem}', name=name, value=value, remedy=remedy)

    def document(self) -> yaml.Node | None:
        """Return the root of the document, a tree without tags and of bounded size."""
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
            return yaml.compose(text, Loader=yaml.BaseLoader)
        except (yaml.YAMLError, ValueError) as error:
            mark = getattr(error, 'problem_mark', None)
            place = f'line {mark.line + 1} of it' if mark else 'it'
            raise self.error(f'{place} is not YAML ({getattr(error, "problem", None) or "text"})',
                             str(self.path), 'correct it there, or just before') from None

    def mapping(self, node: yaml.Node | None, where: str, keys: tuple[str, ...] | None,
                ) -> dict[str, yaml.Node]:
        """Return a mapping with unique keys, all of them among ``keys``."""
        if not isinstance(node, yaml.MappingNode):
            raise self.error(f'{where or "it"} is not a mapping', where or 'document',
                             f'write key: value, with keys {", ".join(keys or ("of your own",))}')
        found: dict[str, yaml.Node] = {}
        prefix = where and where + ' '
        for key_node, value in node.value:
            key = self.word(key_node, f'a key of {where or "the document"}')
            if key in found:
                raise self.error(f'{prefix}has {key!r} twice', key, 'keep one of them')
            if keys and key not in keys:
                close = get_close_matches(key.lower(), keys, cutoff=0.5)
                raise self.error(f'{prefix}has no key {key!r}', key,
                                 f'did you mean {" or ".join(close)}?' if close else
                                 f'choose one of {", ".join(keys)}')
            found[key] = value
        return found

    def word(self, node: yaml.Node, where: str, choices: tuple[str, ...] = ()) -> str:
        if not isinstance(node, yaml.ScalarNode) or not node.value.strip():
            raise self.error(f'{where} is not a text', where, 'write one')
        if choices and node.value not in choices:
            raise self.error(f'{where} {node.value!r} is not known', where,
                             f'choose one of {", ".join(choices)}', node.value)
        return node.value

    def items(self, node: yaml.Node, where: str) -> list[yaml.Node]:
        if not isinstance(node, yaml.SequenceNode):
            raise self.error(f'{where} is not a list', where, 'write one, [..., ...]')
        return list(node.value)

    def expression(self, node: yaml.Node | str, where: str) -> Expression:
        text = node if isinstance(node, str) else self.word(node, where)
        try:
            return Expression(text, where, parse(text))
        except ArgumentError as error:
            raise self.error(f'{where} {error}'.removesuffix(f': {error.remedy}'), where,
                             error.remedy, text) from None

    def array(self, node: yaml.Node, where: str, *shape: int) -> list[Any]:
        """Return nested lists of expressions of this shape."""
        items = self.items(node, where)
        if len(items) != shape[0]:
            raise self.error(f'{where} has {len(items)} entries', where, f'use {shape[0]}')
        return [self.array(item, where, *shape[1:]) if shape[1:] else
                self.expression(item, where) for item in items]

    def row(self, node: yaml.Node, where: str) -> dict[str, Any]:
        row: dict[str, Any] = {}
        given = self.mapping(node, where, ROW_KEYS)
        for key in REQUIRED:
            if key not in given:
                raise self.error(f'{where} has no {key!r}', key, 'add it, 0 where it is zero')
        for key, value in given.items():
            place = f'{where}, {key}'
            if key == 'joint':
                row[key] = self.word(value, place, JOINTS)
            elif key == 'com':
                row[key] = self.array(value, place, 3)
            elif key == 'inertia':
                row[key] = self.inertia(value, place)
            else:
                row[key] = self.expression(value, place)
        return row

    def inertia(self, node: yaml.Node, where: str) -> list[list[Expression]]:
        if all(isinstance(item, yaml.ScalarNode) for item in self.items(node, where)):
            zero, diagonal = self.expression('0', where), self.array(node, where, 3)
            return [[diagonal[i] if i == j else zero for j in range(3)] for i in range(3)]
        return self.array(node, where, 3, 3)

    def placement(self, node: yaml.Node | None, where: str) -> list[list[Expression]] | None:
        if node is None:
            return None
        if all(isinstance(item, yaml.ScalarNode) for item in self.items(node, where)):
            at = self.array(node, where, 3)
            unit = [self.expression(text, where) for text in ('0', '1')]
            return [[unit[i == j] for j in range(3)] + [at[i] if i < 3 else unit[1]]
                    for i in range(4)]
        return self.array(node, where, 4, 4)

    def values(self, node: yaml.Node | None) -> dict[str, float]:
        values: dict[str, float] = {}
        given = self.mapping(node, 'values', None) if node else {}
        if len(given) > MAX_VALUES:
            raise self.error(f'values has {len(given)} names', 'values',
                             f'use {MAX_VALUES} at most')
        for name, value in given.items():
            if not NAME.fullmatch(name) or name == 'pi':
                raise self.error(f'values has the name {name!r}', name, 'write a letter, then '
                                 'letters, digits and underscores; pi has its value already')
            values[name] = _number(self.path, self.expression(value, f'values, {name}'), values)
        return values
