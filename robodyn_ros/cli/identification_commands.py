# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommands of the parameter identification: excite, play, record, identify, validate."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from ..errors import IdentificationError, ParameterError, RosError
from .arguments import locked_joints, numbers
from .options import At, Locked, Robot, Root, Tip, app, console


@app.command()
def excite(robot: Robot, locked: Locked = [], at: At = '',  # noqa: B006
           root: Root = '',
           tip: Tip = '',
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
           ground: Annotated[float | None, typer.Option(
               help='Height of the ground above the origin of the base (m).')] = None,
           clearance: Annotated[float, typer.Option(
               min=0.0, help='Minimum distance between shapes (m).')] = 0.01,
           approach: Annotated[float, typer.Option(
               help='Duration of a motion to the start (s); 0: the robot must be there.')] = 0.0,
           seed: Annotated[int, typer.Option(
               min=0, help='Seed of the random motions.')] = 0) -> None:
    """Optimize an exciting trajectory for parameter identification."""
    from ..catalog.robots import load_robot
    from ..identification.excitation.fourier import Fourier
    from ..identification.excitation.motion_limits import Shares
    from .excite import run

    chosen = load_robot(robot, locked_joints(locked), numbers('--at', at), root=root or None,
                    tip=tip or None)
    run(chosen, console(), output=output, picture=picture, series=Fourier(harmonics, period),
        criterion=criterion, starts=starts, seed=seed, shares=Shares(position, velocity, effort),
        velocity=velocity_limit, acceleration=acceleration, ranges=ranges,
        include=[word.strip() for word in include.split(',') if word.strip()], kind=kind,
        ground=ground, clearance=clearance, approach=approach, repeat=repeat)


States = Annotated[str, typer.Option('--states', help='Topic of the joint states.')]
Wait = Annotated[float, typer.Option(
    min=0.1, help='Seconds to wait for publishers and subscribers.')]
Overwrite = Annotated[bool, typer.Option('--overwrite', help='Replace a recording.')]


@app.command()
def play(file: Annotated[Path, typer.Argument(
             metavar='FILE', help='Trajectory, as robodyn excite writes it: YAML of a '
                                  'JointTrajectory.')],
         topic: Annotated[str, typer.Option(
             help='Topic of the references of the controller.')] = '/controller/joint_trajectory',
         states: States = 'joint_states',
         delay: Annotated[float, typer.Option(
             min=0.0, help='Seconds to wait before the motion.')] = 0.0,
         approach: Annotated[float, typer.Option(
             min=0.0, metavar='SECONDS', help='First move from the present pose to the start of '
             'the motion, in at least this time, and with at most half of the highest velocity '
             'of each joint in FILE. This motion is NOT CHECKED FOR COLLISIONS: make sure that '
             'the way is free. 0: the robot must be there.')] = 0.0,
         record: Annotated[Path | None, typer.Option(
             metavar='FILE', help='Also record the motion: .npz or .csv.')] = None,
         overwrite: Overwrite = False,
         unconfirmed: Annotated[bool, typer.Option(
             '--unconfirmed', help='Do not check the diagnostics of the controller: for '
             'controllers of other packages.')] = False,
         sim_time: Annotated[bool, typer.Option(
             '--sim-time', help='Use the time of /clock.')] = False,
         learn: Annotated[int | None, typer.Option(
             min=0, max=1000, metavar='N', help='Repeat the motion N times and learn the efforts '
             'that its error lacks (iterative learning control); 0: play it once with those '
             'learned before.')] = None,
         learned: Annotated[Path | None, typer.Option(
             metavar='FILE', help='File of the learned efforts, which is read if it exists. '
             'Default: FILE.learned.npz.')] = None,
         picture: Annotated[Path | None, typer.Option(
             metavar='PNG', help='Picture of the errors of all repeats.')] = None,
         wait: Wait = 10.0) -> None:
    """Send a trajectory to a running controller; fails if the controller refuses it."""
    from ..catalog.requirements import require_modules

    require_modules('play', ['rclpy'], RosError)
    if learn is None and (learned or picture):
        raise ParameterError('nothing is learned', name='--learned' if learned else '--picture',
                             remedy='give --learn N too')
    if learn is not None:
        if record or unconfirmed or delay:
            raise ParameterError('--learn goes without --record, --unconfirmed and --delay',
                                 name='--learn', remedy='leave them out')
        from .learn import learn as learn_motion
        learn_motion(file, console(), topic=topic, states=states, repeats=learn, kept=learned,
                     picture=picture, slowly=approach, sim_time=sim_time, wait=wait)
        return
    from .play import play
    play(file, console(), topic=topic, states=states, delay=delay, slowly=approach, into=record,
         overwrite=overwrite, confirm=not unconfirmed, sim_time=sim_time, wait=wait)


@app.command()
def record(file: Annotated[Path, typer.Argument(
               metavar='FILE', help='File of the recording: .npz or .csv.')],
           topic: Annotated[str, typer.Option(
               help='Topic of sensor_msgs/JointState.')] = 'joint_states',
           seconds: Annotated[float | None, typer.Option(
               min=0.1, help='Seconds from the first message on; default: until '
                             'Ctrl-C.')] = None,
           overwrite: Overwrite = False, wait: Wait = 30.0) -> None:
    """Record joint states, with velocities and efforts, into a file for identification."""
    from ..catalog.requirements import require_modules

    require_modules('record', ['rclpy'], RosError)
    from .play import record_to
    record_to(file, console(), topic=topic, seconds=seconds, wait=wait, overwrite=overwrite)


Source = Annotated[Path, typer.Argument(
    metavar='RECORDING', help='CSV or .npz file, or a bag of ROS 2: time, positions and efforts '
                              'of the joints.')]
Sources = Annotated[list[Path], typer.Argument(
    metavar='RECORDING...', help='CSV, .npz, .mat files or bags of ROS 2, of the same columns and '
                                 'units: time, positions and efforts of the joints.')]
OfRobot = Annotated[str, typer.Option(
    '--robot', metavar='ROBOT', help='Path of a URDF file, or a known name: two_link, panda, ...')]
ColumnsOption = Annotated[list[str], typer.Option(
    '--columns', metavar='QUANTITY=PATTERN', help='Columns of time, position, velocity or effort, '
    'if their headers are not recognized: position=q{i} ({i} from 1, {i0} from 0, {name}), or a '
    'list of headers and numbers from 0: effort=13-18.')]
UnitsOption = Annotated[list[str], typer.Option(
    '--units', metavar='QUANTITY=UNIT', help='deg, deg/s, mN·m, ms ..., with a minus to invert '
    'the sign; or a factor to SI. For one joint: effort.joint2=-N·m.')]
Joints = Annotated[str, typer.Option(
    '--joints', metavar='J1,J2,...', help='Joints of the robot in the order of the columns, if '
    'their headers contain numbers only; for a bag: its names of the joints, in the order of '
    'the robot.')]
Rate = Annotated[float | None, typer.Option(
    '--rate', help='Sample rate (Hz), if there is no time column.')]
Topic = Annotated[str, typer.Option('--topic', help='Topic in a bag that has several.')]
Gravity = Annotated[str, typer.Option(
    '--gravity', metavar='X,Y,Z', help='Gravity (m/s²) in the frame of the base, for a robot that '
    'does not stand upright; default: that of the URDF, or 0,0,-9.81.')]
Accept = Annotated[list[str], typer.Option(
    '--accept', metavar='KIND', help='Kind of data issue to accept, as its message says.')]
CutoffOption = Annotated[float | None, typer.Option(
    '--cutoff', help='Cut-off of the low-pass filter (Hz), inf for none; default: automatic.')]
FrictionFile = Annotated[Path | None, typer.Option(
    '--friction', metavar='YAML', help='friction.yaml of an identification.')]


@app.command('identify')
def identify_command(
        recordings: Sources, robot: OfRobot,
        verify: Annotated[Path | None, typer.Option(
            metavar='RECORDING', help='Recording that is predicted, and not fitted; the others '
            'are fitted as a whole.')] = None,
        locked: Locked = [], root: Root = '', tip: Tip = '', gravity: Gravity = '',  # noqa: B006
        columns: ColumnsOption = [], units: UnitsOption = [],  # noqa: B006
        rate: Rate = None, topic: Topic = '', joints: Joints = '',
        accept: Accept = [], cutoff: CutoffOption = None,  # noqa: B006
        split: Annotated[float, typer.Option(
            help='Fraction of each recording used for fitting; the rest is predicted. Not used '
            'with --verify.')] = 0.7,
        method: Annotated[str, typer.Option(
            help='consistent: physically consistent, as a URDF requires; or weighted.'
            )] = 'consistent',
        directions: Annotated[bool, typer.Option(
            '--directions', help='Separate friction for both directions.')] = False,
        static: Annotated[bool, typer.Option(
            '--static', help='Static friction in addition to Coulomb friction.')] = False,
        speeds: Annotated[bool, typer.Option(
            '--speeds', help='Fit the velocity scales of the friction curve.')] = False,
        armature: Annotated[bool | None, typer.Option(
            '--armature/--no-armature', help='Estimate the rotor inertia, or keep that of the '
            'URDF; default: where it is significant.')] = None,
        moving: Annotated[float | None, typer.Option(
            min=0.0, help='Use samples of a joint only above this velocity (rad/s | m/s): '
            'stiction at reversals is not modelled.')] = None,
        delay: Annotated[str, typer.Option(
            metavar='auto|SECONDS', help='Delay of the efforts relative to the positions.'
            )] = 'auto',
        tilt: Annotated[bool, typer.Option(
            '--tilt/--no-tilt', help='Estimate a small tilt of the base; not with --root.'
            )] = True,
        presliding: Annotated[str, typer.Option(
            metavar='auto|none|RAD[,RAD]', help='Presliding distance after a reversal, and that '
            'of slow Coulomb friction.')] = 'auto',
        payload: Annotated[bool, typer.Option(
            '--payload', help='Identify the load at --frame; the robot is known.')] = False,
        frame: Annotated[str, typer.Option(help='Link that holds the load.')] = '',
        friction: FrictionFile = None,
        force: Annotated[bool, typer.Option(
            '--force', help='Write the files of a result that predicts worse than a constant.'
            )] = False,
        output: Annotated[Path, typer.Option(
            metavar='FOLDER', help='Folder of the results.'
            )] = Path('identified')) -> None:
    """Identify the inertias and the friction of a robot from a recording of its motion."""
    from ..catalog.requirements import require_modules
    from ..catalog.robots import load_robot
    from ..identification.estimation.parameter_selection import ParameterSelection
    from ..identification.options import PipelineOptions
    from ..identification.preparation.options import PreparationOptions
    from .identify import (
        distances,
        read_options,
        recording_of,
        robot_options,
        run,
        seconds,
    )
    from .identify import payload as find

    chosen = load_robot(robot, locked_joints(locked), [], root=root or None, tip=tip or None,
                        gravity=numbers('--gravity', gravity) or None)
    reading = read_options(columns, units, rate, topic, joints)
    preparation = PreparationOptions(cutoff=cutoff, accept=tuple(accept))
    late = seconds('--delay', delay)
    if payload:
        if len(recordings) > 1 or verify is not None:
            raise ParameterError('--payload takes one recording', name='--payload',
                                 value=len(recordings), remedy='leave --verify and the other '
                                                               'recordings out')
        given = recording_of(recordings[0], chosen, reading, console())
        find(chosen, given, frame, friction, late or 0.0, preparation, console())
        return
    require_modules('identify', ['matplotlib', 'jinja2'], IdentificationError)
    selection = ParameterSelection(static=static, directions=directions, moving=moving)
    options = PipelineOptions(selection, armature, method, split, speeds, late, tilt and not root,
                              distances('--presliding', presliding), preparation, force)
    same_robot = robot_options(chosen, root, tip, gravity)
    run(recordings, verify, chosen, reading, options, output, console(), sys.argv[1:], same_robot)


@app.command()
def validate(recording: Source, robot: OfRobot, friction: FrictionFile = None,
             locked: Locked = [], root: Root = '', tip: Tip = '',  # noqa: B006
             gravity: Gravity = '',
             columns: ColumnsOption = [], units: UnitsOption = [],  # noqa: B006
             rate: Rate = None, topic: Topic = '', joints: Joints = '',
             accept: Accept = [], cutoff: CutoffOption = None,  # noqa: B006
             delay: Annotated[float, typer.Option(
                 metavar='SECONDS', help='Delay of the efforts relative to the positions.')] = 0.0,
             moving: Annotated[float | None, typer.Option(
                 min=0.0, help='Evaluate samples of a joint only above this velocity (rad/s | '
                 'm/s).')] = None) -> None:
    """Evaluate how well a model predicts the efforts of a recording."""
    from ..catalog.robots import load_robot
    from ..identification.preparation.options import PreparationOptions
    from .identify import read_options, recording_of
    from .identify import validate as run

    chosen = load_robot(robot, locked_joints(locked), [], root=root or None, tip=tip or None,
                        gravity=numbers('--gravity', gravity) or None)
    given = recording_of(recording, chosen, read_options(columns, units, rate, topic, joints),
                         console())
    run(chosen, given, friction, delay, moving or None,
        PreparationOptions(cutoff=cutoff, accept=tuple(accept)), console())
