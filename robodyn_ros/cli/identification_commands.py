# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommands of the motion for an identification: excite, play, record."""

from pathlib import Path
from typing import Annotated

import typer

from .identify_commands import ColumnsOption, Joints, Rate, Topic, UnitsOption
from .options import (
    app,
    At,
    chosen_robot,
    console,
    Gravity,
    Locked,
    NodeName,
    Robot,
    Root,
    Tip,
    warn_of_option,
)
from ..catalog.requirements import require_modules
from ..errors import RosError


@app.command()
def excite(robot: Robot, locked: Locked = [], at: At = '',  # noqa: B006
           root: Root = '',
           tip: Tip = '',
           gravity: Gravity = '',
           output: Annotated[Path, typer.Option(help='File of the trajectory: YAML of a '
                                                     'JointTrajectory.')] = Path('excite.yaml'),
           picture: Annotated[Path | None, typer.Option(
               metavar='PNG', help='File of the picture; default: beside the '
                                   'trajectory.')] = None,
           harmonics: Annotated[int, typer.Option(
               help='Harmonics of the Fourier series, 2 or more.')] = 5,
           period: Annotated[float, typer.Option(help='Period of the first harmonic (s).')] = 10.0,
           repeat: Annotated[int, typer.Option(help='Number of periods in the file.')] = 1,
           starts: Annotated[int, typer.Option(help='Number of random initial motions.')] = 5,
           criterion: Annotated[str, typer.Option(
               help='condition (minimize) or information (maximize).')] = 'condition',
           include: Annotated[str, typer.Option(
               help='Joint parameters to identify besides the inertias: friction, offset, '
                    'armature, separated by commas; or nothing.')] = 'friction',
           velocity: Annotated[float, typer.Option(
               help='Fraction of the velocity limits that may be used.')] = 0.8,
           effort: Annotated[float, typer.Option(
               help='Fraction of the effort limits that may be used.')] = 0.7,
           position: Annotated[float, typer.Option(
               help='Fraction of the range of each joint that may be used.')] = 0.95,
           ranges: Annotated[list[str], typer.Option(
               '--range', metavar='JOINT=LOWER:UPPER', help='Allowed range of a joint (rad or m).')
           ] = [],  # noqa: B006
           velocity_limit: Annotated[list[str], typer.Option(
               metavar='[JOINT=]V', help='Velocity limit, below that of the URDF.')
           ] = [],  # noqa: B006
           acceleration: Annotated[list[str], typer.Option(
               metavar='[JOINT=]A', help='Acceleration limit; default: bounded by the efforts '
                                         'only.')] = [],  # noqa: B006
           kind: Annotated[str, typer.Option(
               '--shapes', help='Shapes checked for collisions: those of collision or '
                                'visual elements, or none.')] = 'collision',
           packages: Annotated[list[Path], typer.Option(
               '--package-dir', metavar='FOLDER', help='ROS package with meshes of the URDF, or '
               'folder that contains such packages. Can be repeated.')] = [],  # noqa: B006
           ground: Annotated[float | None, typer.Option(
               help='Height of the ground above the origin of the base (m).')] = None,
           clearance: Annotated[float, typer.Option(
               min=0.0, help='Minimum distance between shapes (m).')] = 0.01,
           after: Annotated[list[Path], typer.Option(
               '--after', metavar='RECORDING', help='Recording that there is already: the motion '
               'is to tell what it does not. Can be repeated.')] = [],  # noqa: B006
           columns: ColumnsOption = [], units: UnitsOption = [],  # noqa: B006
           rate: Rate = None, topic: Topic = '', joints: Joints = '',
           approach: Annotated[float, typer.Option(
               help='Duration of a motion to the start (s); 0: the robot must be there.')] = 0.0,
           seed: Annotated[int, typer.Option(
               min=0, help='Seed of the random motions.')] = 0) -> None:
    """Optimize an exciting trajectory for parameter identification."""
    from .excite import run
    from .identify import read_options
    from ..identification.excitation.fourier import Fourier
    from ..identification.excitation.motion_limits import Shares

    chosen = chosen_robot(robot, locked, root, tip, gravity, at)
    run(chosen, console(), output=output, picture=picture, series=Fourier(harmonics, period),
        criterion=criterion, starts=starts, seed=seed, shares=Shares(position, velocity, effort),
        velocity=velocity_limit, acceleration=acceleration, ranges=ranges,
        include=[word.strip() for word in include.split(',') if word.strip()], kind=kind,
        packages=packages, ground=ground, clearance=clearance, approach=approach, repeat=repeat,
        after=after, reading=read_options(columns, units, rate, topic, joints))


States = Annotated[str, typer.Option('--states', help='Topic of the joint states.')]
Wait = Annotated[float, typer.Option(
    min=0.1, help='Seconds to wait for publishers and subscribers.')]
Overwrite = Annotated[bool, typer.Option('--overwrite', help='Replace a recording.')]


@app.command()
def play(file: Annotated[Path, typer.Argument(
             metavar='FILE', help='Trajectory, as robodyn excite writes it: YAML of a '
                                  'JointTrajectory.')],
         node: NodeName = 'controller',
         topic: Annotated[str, typer.Option(hidden=True)] = '',      # before 0.9
         states: States = 'joint_states',
         delay: Annotated[float, typer.Option(
             min=0.0, help='Seconds to wait before the motion.')] = 0.0,
         approach: Annotated[float, typer.Option(
             min=0.0, metavar='SECONDS', help='Minimum duration of a motion from the present pose '
             'to the start, at no more than half of the highest velocities in FILE. It is NOT '
             'CHECKED FOR COLLISIONS: keep the way free. 0: the robot must be there.')] = 0.0,
         record: Annotated[Path | None, typer.Option(
             metavar='FILE', help='Also record the motion: .npz or .csv.')] = None,
         overwrite: Overwrite = False,
         unconfirmed: Annotated[bool, typer.Option(
             '--unconfirmed', help='Do not check diagnostics, for controllers of other '
             'packages.')] = False,
         sim_time: Annotated[bool, typer.Option(
             '--sim-time', help='Use the time of /clock.')] = False,
         wait: Wait = 10.0) -> None:
    """Send a trajectory to a running controller; fails if the controller refuses it."""
    require_modules('play', ['rclpy'], RosError)
    if topic:
        warn_of_option('--topic', '--node')
    topic = topic or f'/{node.strip("/")}/joint_trajectory'
    from .play import play
    play(file, console(), topic=topic, states=states, delay=delay, slowly=approach, into=record,
         overwrite=overwrite, confirm=not unconfirmed, sim_time=sim_time, wait=wait)


@app.command()
def record(file: Annotated[Path, typer.Argument(
               metavar='FILE', help='File of the recording: .npz or .csv.')],
           states: States = 'joint_states',
           duration: Annotated[float | None, typer.Option(
               min=0.1, help='Duration from the first message on (s); default: until '
                             'Ctrl-C.')] = None,
           overwrite: Overwrite = False, wait: Wait = 30.0) -> None:
    """Record joint states, with velocities and efforts, into a file for identification."""
    require_modules('record', ['rclpy'], RosError)
    from .play import record_to
    record_to(file, console(), topic=states, seconds=duration, wait=wait, overwrite=overwrite)
