# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommand `new`: commented templates of a control law and of a driver, and their tests."""

from enum import Enum
from importlib.util import find_spec
from keyword import iskeyword
from pathlib import Path
from typing import Annotated

import typer

from .options import command, console, DEVELOP, Force, output, template, write_texts
from ..errors import ArgumentError, check_new


class Kind(str, Enum):
    """What there are templates of."""

    LAW = 'law'
    DRIVER = 'driver'


@command(DEVELOP, 'law my_spring')
def new(kind: Annotated[Kind, typer.Argument(help='What to write.')],
        name: Annotated[str, typer.Argument(
            metavar='NAME', help='Its name, and that of its module, such as my_spring.')],
        folder: Annotated[Path, output('Folder to write to.', 'FOLDER')] = Path('.'),
        force: Force = False) -> None:
    """Write a commented template of a control law or of a driver, and its test."""
    law = kind == Kind.LAW
    constant = name.upper() if law else ''.join(map(str.capitalize, name.split('_')))
    if not name.isidentifier() or iskeyword(name) or name != name.lower():
        raise ArgumentError(f'{name!r} is not a module name', name='NAME', value=name,
                            remedy='use lower-case letters, digits and underscores: my_spring')
    texts = {folder / f'{prefix}{name}.py': template(f'{prefix}{kind.value}.py').substitute(
        name=name, constant=constant) for prefix in ('', 'test_')}
    if not force:
        check_new(texts, 'NAME', 'choose another name, or replace with --force')
    write_texts(texts, '--output', 'choose another --output')
    module, test = texts
    install = '' if find_spec('pytest') else 'pip install pytest && '
    parameter = 'mode' if law else 'driver'
    console().print(f'{module}: the {kind.value}, parameter {parameter} {name}:{constant}\n'
                    f'{test}: its test\nrun the test: {install}python -m pytest {test}')
