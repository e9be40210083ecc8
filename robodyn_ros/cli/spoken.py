# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Remedies that name arguments of Python, in the words of the command line."""

import ast
import re
import shlex
from typing import Any

LITERAL = r"\{(?:[^{}]|\{[^{}]*\})*\}|\((?:'[^']*'|[^()'])*\)|'[^']*'|[\d.]+"
ARGUMENT = re.compile(rf'\b(units|columns|joint_names|accept|rate|topic|locked)=({LITERAL})')

WORD = re.compile(r': ([a-z]+)([,}])')     # what stands for a number: {'joint2': position}


def as_options(text: str) -> str:
    """Return a message with `--units effort.joint2=-N·m` for units={'effort': {'joint2': ...}}."""
    return ARGUMENT.sub(_option, text)


def _option(match: re.Match[str]) -> str:
    name, literal = match.groups()
    try:
        value = ast.literal_eval(WORD.sub(r": '\1'\2", literal))
    except (ValueError, SyntaxError):
        return match[0]
    return ' '.join(f'--{option} {_quoted(word)}' for option, word in _words(name, value))


def _words(name: str, value: Any) -> list[tuple[str, str]]:
    if isinstance(value, dict):
        return [(name, f'{key}{dot}={_text(of)}') for key, each in value.items()
                for dot, of in ([(f'.{joint}', unit) for joint, unit in each.items()]
                                if isinstance(each, dict) else [('', each)])]
    if name == 'accept':
        return [(name, word) for word in value]
    return [('joints' if name == 'joint_names' else name, _text(value))]


def _text(value: Any) -> str:
    if isinstance(value, tuple | list):
        return ','.join(map(_text, value))
    return '...' if value is ... else str(value)


def _quoted(word: str) -> str:
    """Return a word as a shell takes it; letters such as · need no quotes."""
    return word if re.fullmatch(r'[\w.,=/·°*-]+', word) else shlex.quote(word)
