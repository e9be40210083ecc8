# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Options of the subcommand `calibrate-collision`."""

from pathlib import Path
from typing import Annotated

import typer

from ..errors import RosError
from .options import app, console
from .payload_commands import NodeName, SimTime, Wait


@app.command('calibrate-collision')
def calibrate_collision(duration: Annotated[float, typer.Option(
                            min=1.0, max=3600.0, help='How long to listen [s].')] = 60.0,
                        margin: Annotated[float, typer.Option(
                            min=1.0, max=10.0, help='Factor of the thresholds over the external '
                            'efforts without contact.')] = 1.5,
                        setting: Annotated[bool, typer.Option(
                            '--set', help='Set the thresholds that were found.')] = False,
                        output: Annotated[Path | None, typer.Option(
                            help='Parameter file to write.')] = None,
                        node: NodeName = 'controller', sim_time: SimTime = False,
                        wait: Wait = 10.0) -> None:
    """
    Learn collision thresholds while the arm does its usual motions and touches nothing.

    Move it meanwhile, for instance with `robodyn play`: the thresholds fit the motions that were
    heard, their speeds and their loads. They are printed, and set with --set.

    Example: robodyn calibrate-collision --duration 60 --set
    """
    from ..catalog.requirements import require_modules

    require_modules('calibrate-collision', ['rclpy'], RosError)
    from .calibrate_collision import run
    from .payload import Node
    run(Node(node, '', sim_time, wait), console(), duration=duration, margin=margin,
        setting=setting, output=output)
