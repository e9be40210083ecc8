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
           config: Annotated[str, typer.Option(
               '--config', metavar='YAML', help='Write a C library of the controller with these '
               'parameters (experimental).')] = '',
           output: Annotated[Path | None, typer.Option(
               '--output', '-o', metavar='FILE', help='File to write, whose name prefixes the '
               'functions; default: ROBOT.c or ROBOT.js. With --config, the folder; default: '
               'ROBOT_controller.')] = None,
           quantity: Annotated[list[str], typer.Option(
               '--quantity', metavar='NAME', help='Quantity to export, a method of Dynamics; '
               'default: all but derivatives. Repeatable.')] = [],  # noqa: B006
           frame: Annotated[list[str], typer.Option(
               '--frame', metavar='NAME', help='Frame whose pose, Jacobian and Jacobian rate are '
               'exported. Repeatable.')] = [],  # noqa: B006
           single: Annotated[bool, typer.Option(
               '--float', help='Compute in single precision, with --c.')] = False,
           force: Annotated[bool, typer.Option('--force', help='Replace the files.')] = False
           ) -> None:
    """Write the dynamics of a robot as C or JavaScript, or its controller as a C library."""
    if [as_c, as_js, bool(config)].count(True) != 1:
        raise ArgumentError('it is not clear what to write', name='--c', remedy='give one of --c, '
                            '--js and --config')
    if config:
        if locked or root or tip or gravity or quantity or frame or single:
            raise ArgumentError(
                'options are given that --config does not take', name='--config', value=config,
                remedy='leave out --quantity, --frame and --float, and write locked joints, '
                'root, tip and gravity into the parameter file')
        from ..catalog.requirements import require_modules
        from ..errors import RosError

        require_modules('export --config', ['rclpy'], RosError)     # which declares parameters
        from .export_library import run as export_library

        export_library(robot, config, output or Path(f'{Path(robot).stem}_controller'), console(),
                       force=force)
        return
    from .export import run
    from ..catalog.robots import load_robot

    if single and as_js:
        raise ArgumentError('--float is given with --js', name='--float',
                            remedy='leave it out: numbers of JavaScript are doubles')
    chosen = load_robot(robot, locked_joints(locked), [], root=root or None, tip=tip or None,
                        gravity=numbers('--gravity', gravity) or None, massless='warn')
    run(chosen, console(), language='c' if as_c else 'js', output=output, quantities=quantity,
        frames=frame, single=single, force=force)
