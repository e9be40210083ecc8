# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Options of the subcommands `jog`, `teach` and `calibrate-collision`."""

from pathlib import Path
from typing import Annotated

import typer

from .identification_commands import States
from .options import app, console, NodeName
from .payload_commands import SimTime, Wait
from ..errors import RosError


@app.command('calibrate-collision')
def calibrate_collision(duration: Annotated[float, typer.Option(
                            min=1.0, max=3600.0, help='Duration of the recording [s].')] = 60.0,
                        margin: Annotated[float, typer.Option(
                            min=1.0, max=10.0, help='Factor of the thresholds over the external '
                            'efforts without contact.')] = 1.5,
                        setting: Annotated[bool, typer.Option(
                            '--set', help='Set the thresholds in the controller.')] = False,
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


@app.command()
def jog(linear: Annotated[float, typer.Option(
            min=1e-4, help='Speed along the axes at the beginning [m/s].')] = 0.05,
        angular: Annotated[float, typer.Option(
            min=1e-3, help='Speed about the axes at the beginning [rad/s].')] = 0.2,
        hold: Annotated[float, typer.Option(
            min=0.05, max=2.0, help='How long a key moves the frame [s]; its repetition prolongs '
            'it. Shorter than the delay of the repetition, the motion stops in between.')] = 0.5,
        node: NodeName = 'controller', sim_time: SimTime = False, wait: Wait = 10.0) -> None:
    """
    Move the frame of a task-space law (`task_frame`) from the keyboard.

    The controller has to run in cartesian_impedance or operational_space. Let go of the key, and
    the frame comes to rest after --hold; close the terminal, and after `twist_timeout`.

    Example: robodyn jog --linear 0.02
    """
    from ..catalog.requirements import require_modules

    require_modules('jog', ['rclpy'], RosError)
    from .jog import run
    from .payload import Node
    run(Node(node, '', sim_time, wait), console(), linear=linear, angular=angular, hold=hold)


@app.command()
def teach(file: Annotated[Path, typer.Argument(
              metavar='FILE', help='Trajectory file to write, for robodyn play.')],
          motion: Annotated[bool, typer.Option(
              '--motion', help='Record one motion between two keys, instead of poses.')] = False,
          speed: Annotated[float, typer.Option(
              min=0.01, max=1.0, help='Highest speed when it is repeated, as a share of the '
              'velocity limits; what was shown slower stays as slow.')] = 0.3,
          smoothing: Annotated[float, typer.Option(
              min=0.02, max=2.0, metavar='SECONDS', help='Spacing of the knots of the spline '
              'through a motion: more removes more tremor, and more of the motion.')] = 0.15,
          states: States = 'joint_states',
          overwrite: Annotated[bool, typer.Option(
              '--overwrite', help='Replace FILE.')] = False,
          node: NodeName = 'controller', sim_time: SimTime = False, wait: Wait = 10.0) -> None:
    """
    Show poses, or a motion, by hand to an arm in gravity_compensation, and write a trajectory.

    The way between two poses is straight in the joint angles. Nothing is checked for collisions
    here: play it slowly first.

    Example: robodyn teach way.yaml
    """
    from ..catalog.requirements import require_modules

    require_modules('teach', ['rclpy'], RosError)
    from .payload import Node
    from .teach import run
    run(Node(node, states, sim_time, wait), file, console(), motion=motion, speed=speed,
        smoothing=smoothing, overwrite=overwrite)
