# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Options of the subcommands `jog`, `teach` and `calibrate-collision`."""

from pathlib import Path
from typing import Annotated

import typer

from .identification_commands import States
from .options import app, console, NodeName
from .payload_commands import SimTime, Wait
from ..catalog.requirements import require_modules
from ..errors import RosError


@app.command('calibrate-collision')
def calibrate_collision(duration: Annotated[float, typer.Option(
                            min=1.0, max=3600.0, help='Duration of the recording (s).')] = 60.0,
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
    Learn collision thresholds from usual motions of the arm, without contact.

    Move the arm meanwhile, for instance with `robodyn play`: the thresholds fit the recorded
    motions, speeds and loads. --set sets them in the controller.

    Example: robodyn calibrate-collision --duration 60 --set
    """
    require_modules('calibrate-collision', ['rclpy'], RosError)
    from .calibrate_collision import run
    from .payload import Node
    run(Node(node, '', sim_time, wait), console(), duration=duration, margin=margin,
        setting=setting, output=output)


@app.command()
def jog(linear: Annotated[float, typer.Option(
            min=1e-4, help='Initial linear speed (m/s).')] = 0.05,
        angular: Annotated[float, typer.Option(
            min=1e-3, help='Initial angular speed (rad/s).')] = 0.2,
        hold: Annotated[float, typer.Option(
            min=0.05, max=2.0, help='Duration of the motion after a key press (s); longer than '
            'the repeat delay of the keyboard.')] = 0.5,
        node: NodeName = 'controller', sim_time: SimTime = False, wait: Wait = 10.0) -> None:
    """
    Move the frame of a task-space law (`task_frame`) from the keyboard.

    The controller must run cartesian_impedance or operational_space. The frame stops --hold after
    the last key press, and `twist_timeout` after the terminal is closed.

    Example: robodyn jog --linear 0.02
    """
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
              min=0.01, max=1.0, help='Speed limit of the replay, as a share of the velocity '
              'limits; slower parts stay slow.')] = 0.3,
          smoothing: Annotated[float, typer.Option(
              min=0.02, max=2.0, metavar='SECONDS', help='Knot spacing of the spline through a '
              'motion: larger values remove more tremor.')] = 0.15,
          states: States = 'joint_states',
          overwrite: Annotated[bool, typer.Option(
              '--overwrite', help='Replace FILE.')] = False,
          node: NodeName = 'controller', sim_time: SimTime = False, wait: Wait = 10.0) -> None:
    """
    Record poses or a motion of an arm that is guided by hand, and write a trajectory.

    Joint angles change linearly between two poses. The motion is NOT CHECKED FOR COLLISIONS:
    play it slowly first.

    Example: robodyn teach way.yaml
    """
    require_modules('teach', ['rclpy'], RosError)
    from .payload import Node
    from .teach import run
    run(Node(node, states, sim_time, wait), file, console(), motion=motion, speed=speed,
        smoothing=smoothing, overwrite=overwrite)
