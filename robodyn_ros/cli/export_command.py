# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommand `export`."""

from math import isfinite
from pathlib import Path
from typing import Annotated

import typer

from .arguments import numbers
from .options import app, chosen_robot, console, Gravity, Locked, Robot, Root, Tip
from ..catalog.requirements import require_modules
from ..errors import ArgumentError


@app.command()
def export(robot: Robot, locked: Locked = [],  # noqa: B006
           root: Root = '',
           tip: Tip = '',
           gravity: Gravity = '',
           as_c: Annotated[bool, typer.Option(
               '--c', help='Write C99, with a header and a test.')] = False,
           as_js: Annotated[bool, typer.Option('--js', help='Write JavaScript.')] = False,
           config: Annotated[list[str], typer.Option(
               '--config', metavar='YAML', help='Write a C library and a ros2_control plugin of '
               'the controller with this parameter file (experimental). Repeatable: modes, gains '
               'and payloads to select at run time.')] = [],  # noqa: B006
           payload: Annotated[str, typer.Option(
               '--payload', metavar='MASS,DISTANCE', help='With --config: largest mass (kg) of a '
               'payload set at run time, and largest distance (m) of its center from '
               'payload_frame.')] = '',
           aarch64: Annotated[bool, typer.Option(
               '--aarch64', help='With --config: also write machine code for ARM.')] = False,
           output: Annotated[Path | None, typer.Option(
               '--output', '-o', metavar='FILE', help='File to write; its name becomes the '
               'prefix of the functions. Default: ROBOT.c or ROBOT.js. With --config, the '
               'folder; default: ROBOT_controller.')] = None,
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
                '--config takes no options of the dynamics', name='--config', value=config,
                remedy='leave out --quantity, --frame and --float, and write locked joints, '
                'root, tip and gravity into the parameter file')
        load = numbers('--payload', payload) or [0.0, 0.0]
        if len(load) != 2 or not all(isfinite(x) and x >= 0.0 for x in load):
            raise ArgumentError(f'--payload is {payload}', name='--payload', value=payload,
                                remedy='give a mass and a distance of at least 0: 3,0.1')
        from ..errors import RosError

        require_modules('export --config', ['rclpy'], RosError)     # which declares parameters
        from .export_library import run as export_library

        export_library(robot, config, output or Path(f'{Path(robot).stem}_controller'), console(),
                       force=force, payload=(load[0], load[1]), aarch64=aarch64)
        return
    if payload or aarch64:
        raise ArgumentError('--payload and --aarch64 belong to --config', name='--payload',
                            remedy='leave them out, or give --config')
    from .export import run

    if single and as_js:
        raise ArgumentError('--float is given with --js', name='--float',
                            remedy='leave it out: numbers of JavaScript are doubles')
    chosen = chosen_robot(robot, locked, root, tip, gravity, massless='warn')
    run(chosen, console(), language='c' if as_c else 'js', output=output, quantities=quantity,
        frames=frame, single=single, force=force)
