# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommand `view`."""

from typing import Annotated

import typer

from .options import app, At, chosen_robot, console, Gravity, Locked, Robot, Root, Tip
from ..catalog.requirements import require_modules
from ..errors import DemoError, ParameterError, RosError


@app.command()
def view(robot: Robot, locked: Locked = [], at: At = '',  # noqa: B006
         root: Root = '',
         tip: Tip = '',
         gravity: Gravity = '',
         port: Annotated[int, typer.Option(
             min=1, max=65535, help='Port of the page on localhost; the next free one if it is in '
             'use.')] = 8080,
         browser: Annotated[bool, typer.Option(
             '--browser/--no-browser', help='Open the page in the browser.')] = True,
         live: Annotated[bool, typer.Option(
             '--live', help='Show the joint states and diagnostics of a running robot; publishes '
             'nothing.')] = False,
         allow_control: Annotated[bool, typer.Option(
             '--allow-control', help='With --live: change mode, gains and payload, reset, move a '
             'target pose, push a simulated arm.')] = False,
         states: Annotated[str, typer.Option(
             '--states', help='Topic of the joint states, with --live.')] = 'joint_states',
         node: Annotated[str, typer.Option(
             help='Name of the controller, with its namespace, with --live.')] = 'controller',
         simulator: Annotated[str, typer.Option(
             help='Name of the simulator, with its namespace, with --allow-control.')
             ] = 'simulator') -> None:
    """Show a robot in the browser: joints, gravity torques, center of mass, inertias."""
    from ..viewer import REQUIRED_MODULES

    require_modules('view', REQUIRED_MODULES, DemoError)
    if live:
        require_modules('view --live', ['rclpy'], RosError)
    elif allow_control:
        raise ParameterError('--allow-control is given without --live', name='--allow-control',
                             remedy='add --live: a robot that does not run is not controlled')
    from .view import Control, follow, run
    chosen = chosen_robot(robot, locked, root, tip, gravity, at, massless='warn')
    if live:
        follow(chosen, port, browser, console(), states, controller=node,
               control=Control(simulator) if allow_control else None)
    else:
        run(chosen, port, browser, console())
