# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommand `export`."""

from pathlib import Path
from typing import Annotated

import typer

from .arguments import locked_joints, numbers
from .options import app, console, Gravity, Locked, Robot, Root, Tip
from ..errors import ArgumentError


@app.command()
def export(robot: Robot, locked: Locked = [],  # noqa: B006
           root: Root = '',
           tip: Tip = '',
           gravity: Gravity = '',
           as_c: Annotated[bool, typer.Option(
               '--c', help='Write C99, with a header and a test.')] = False,
           as_js: Annotated[bool, typer.Option('--js', help='Write JavaScript.')] = False,
           output: Annotated[Path | None, typer.Option(
               '--output', '-o', metavar='FILE', help='File to write, whose name begins those of '
               'the functions; default: ROBOT.c or ROBOT.js in this folder.')] = None,
           quantity: Annotated[list[str], typer.Option(
               '--quantity', metavar='NAME', help='Quantity to export, a method of Dynamics; '
               'default: all but derivatives. Can be repeated.')] = [],  # noqa: B006
           frame: Annotated[list[str], typer.Option(
               '--frame', metavar='NAME', help='Frame whose pose, Jacobian and rate of the '
               'Jacobian are exported. Can be repeated.')] = [],  # noqa: B006
           single: Annotated[bool, typer.Option(
               '--float', help='Compute in single precision, with --c.')] = False,
           force: Annotated[bool, typer.Option('--force', help='Replace the files.')] = False
           ) -> None:
    """Write the dynamics of a robot as C or JavaScript without dependencies."""
    from .export import run
    from ..catalog.robots import load_robot

    if as_c == as_js:
        raise ArgumentError('no language is chosen' if not as_c else 'two languages are chosen',
                            name='--c', remedy='give either --c or --js')
    if single and as_js:
        raise ArgumentError('--float is given with --js', name='--float',
                            remedy='leave it out: numbers of JavaScript are doubles')
    chosen = load_robot(robot, locked_joints(locked), [], root=root or None, tip=tip or None,
                        gravity=numbers('--gravity', gravity) or None, massless='warn')
    run(chosen, console(), language='c' if as_c else 'js', output=output, quantities=quantity,
        frames=frame, single=single, force=force)
