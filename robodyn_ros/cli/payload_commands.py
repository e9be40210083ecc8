# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Options of the subcommands `set-payload`, `find-payload` and `calibrate-float`."""

from pathlib import Path
from typing import Annotated

import typer

from .arguments import numbers
from .options import app, console, NodeName
from ..catalog.requirements import require_modules
from ..errors import RosError

SimTime = Annotated[bool, typer.Option('--sim-time', help='Use the time of /clock.')]
Wait = Annotated[float, typer.Option(min=0.1, help='Seconds to wait for the controller.')]


@app.command('set-payload')
def set_payload(mass: Annotated[float, typer.Option(
                    help='Mass (kg); 0: no payload.')],
                com: Annotated[str, typer.Option(
                    metavar='X,Y,Z', help='Center of mass in the link (m); not needed without a '
                    'mass.')] = '',
                inertia: Annotated[str, typer.Option(
                    metavar='IXX,IXY,IXZ,IYY,IYZ,IZZ', help='Inertia about the center of mass, '
                    'in the axes of the link (kg·m²). Default: a point mass.')] = '',
                frame: Annotated[str, typer.Option(
                    help='Link that holds it. Default: the present payload_frame.')] = '',
                node: NodeName = 'controller', sim_time: SimTime = False,
                wait: Wait = 10.0) -> None:
    """Set the payload of a running controller; fails if the controller refuses it."""
    require_modules('set-payload', ['rclpy'], RosError)
    from .payload import Node
    from .payload import set_payload as run
    run(Node(node, '', sim_time, wait), console(), mass, numbers('--com', com),
        numbers('--inertia', inertia), frame)


@app.command('find-payload')
def find_payload(frame: Annotated[str, typer.Option(
                     help='Link that holds it. Default: payload_frame of the controller, else '
                     'the last link.')] = '',
                 amplitude: Annotated[float, typer.Option(
                     min=0.05, max=1.0,
                     help='Largest displacement of a joint (rad or m).')] = 0.35,
                 duration: Annotated[float, typer.Option(
                     min=5.0, max=60.0, help='Duration of the motion (s).')] = 10.0,
                 setting: Annotated[bool, typer.Option(
                     '--set', help='Set the identified payload.')] = False,
                 states: Annotated[str, typer.Option(
                     help='Topic of the joint states, with efforts.')] = 'joint_states',
                 node: NodeName = 'controller', sim_time: SimTime = False,
                 wait: Wait = 10.0) -> None:
    """
    Identify the payload of a running controller from a short motion about the present pose.

    The motion is NOT CHECKED FOR COLLISIONS: make sure that the way is free.
    """
    require_modules('find-payload', ['rclpy'], RosError)
    from .payload import find, Node
    find(Node(node, states, sim_time, wait), console(), frame=frame, amplitude=amplitude,
         duration=duration, setting=setting)


@app.command('calibrate-float')
def calibrate_float(folder: Annotated[Path, typer.Option(
                        '--output', help='Folder for corrected.urdf and friction.yaml.'
                        )] = Path('calibrated'),
                    amplitude: Annotated[float, typer.Option(
                        min=0.1, max=3.0,
                        help='Largest displacement of a joint (rad or m).')] = 0.6,
                    duration: Annotated[float, typer.Option(
                        min=10.0, max=60.0, help='Duration of the motion (s).')] = 30.0,
                    states: Annotated[str, typer.Option(
                        help='Topic of the joint states, with efforts.')] = 'joint_states',
                    node: NodeName = 'controller', sim_time: SimTime = False,
                    wait: Wait = 10.0) -> None:
    """
    Identify masses and friction from a slow motion, so that the arm floats.

    All joints move about the present pose. The motion is NOT CHECKED FOR COLLISIONS: make sure
    that the way is free. The result is a URDF and friction parameters for the controller.
    """
    require_modules('calibrate-float', ['rclpy'], RosError)
    from .calibrate_float import run
    from .payload import Node
    run(Node(node, states, sim_time, wait), console(), amplitude=amplitude, duration=duration,
        folder=folder)
