# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Application with all subcommands: the files of this folder that declare one."""

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from .options import app, console
from ..model.resources import package_version


def _version(asked: bool) -> None:
    if asked:
        console().print(f'robodyn_ros {package_version()}')
        raise typer.Exit()


@app.callback()
def _common(version: Annotated[bool, typer.Option(
        '--version', callback=_version, is_eager=True, help='Show the version and exit.')] = False,
            ) -> None:
    """Handle the options before the subcommand."""


# Others take seconds: the files with commands import what they need in functions that run
for _file in sorted(Path(__file__).parent.glob('*.py')):
    if '\n@command(' in _file.read_text(encoding='utf-8'):
        import_module(f'{__package__}.{_file.stem}')
