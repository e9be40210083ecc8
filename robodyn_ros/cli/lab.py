# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The subcommands of a lab that wants the parameters of its robot: from motions to a URDF."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from ..errors import RosError
from .arguments import locked_joints, numbers
from .common import At, Locked, Robot, Root, Tip, app, console


@app.command()
def excite(robot: Robot, locked: Locked = [], at: At = '',  # noqa: B006
           root: Root = '',
           tip: Tip = '',
           output: Annotated[Path, typer.Option(help='Where the trajectory goes: YAML of a '
                                                     'JointTrajectory.')] = Path('excite.yaml'),
           picture: Annotated[Path | None, typer.Option(
               metavar='PNG', help='Where the picture goes; otherwise beside the '
                                   'trajectory.')] = None,
           harmonics: Annotated[int, typer.Option(help='Waves of the series, 2 or more.')] = 5,
           period: Annotated[float, typer.Option(help='Of the first one (s).')] = 10.0,
           repeat: Annotated[int, typer.Option(help='Periods in the file.')] = 1,
           starts: Annotated[int, typer.Option(help='Random motions to start from.')] = 5,
           criterion: Annotated[str, typer.Option(
               help='condition (smallest) or information (most).')] = 'condition',
           include: Annotated[str, typer.Option(
               help='What of the joints is to be identified besides the inertias: some of '
                    'friction, offset, armature, with commas; or nothing.')] = 'friction',
           velocity: Annotated[float, typer.Option(
               help='Share of the velocity limits that may be used.')] = 0.8,
           effort: Annotated[float, typer.Option(
               help='Share of the effort limits that may be used.')] = 0.7,
           position: Annotated[float, typer.Option(
               help='Share of the range of each joint that may be used.')] = 0.95,
           ranges: Annotated[list[str], typer.Option(
               '--range', metavar='JOINT=LOWER:UPPER', help='Where a joint may go (rad or m).')
           ] = [],  # noqa: B006
           velocity_limit: Annotated[list[str], typer.Option(
               metavar='[JOINT=]V', help='Velocity limit, below that of the URDF.')
           ] = [],  # noqa: B006
           acceleration: Annotated[list[str], typer.Option(
               metavar='[JOINT=]A', help='Acceleration limit; without one, efforts alone bound '
                                         'it.')] = [],  # noqa: B006
           kind: Annotated[str, typer.Option(
               '--shapes', help='What may not touch: the shapes of collision or of visual '
                                'elements, or none.')] = 'collision',
           ground: Annotated[float | None, typer.Option(
               help='Height of the ground above the origin of the base (m).')] = None,
           clearance: Annotated[float, typer.Option(
               min=0.0, help='Distance that is kept (m).')] = 0.01,
           approach: Annotated[float, typer.Option(
               help='Time to go to the start in (s); 0: the robot has to be there.')] = 0.0,
           seed: Annotated[int, typer.Option(min=0, help='Of the random motions.')] = 0) -> None:
    """Find a motion that tells as much as possible of the parameters of a robot."""
    from ..demo.robot import choose
    from ..identification.excitation.fourier import Fourier
    from ..identification.excitation.motion_limits import Shares
    from .excite import run

    chosen = choose(robot, locked_joints(locked), numbers('--at', at), root=root or None,
                    tip=tip or None)
    run(chosen, console(), output=output, picture=picture, series=Fourier(harmonics, period),
        criterion=criterion, starts=starts, seed=seed, shares=Shares(position, velocity, effort),
        velocity=velocity_limit, acceleration=acceleration, ranges=ranges,
        include=[word.strip() for word in include.split(',') if word.strip()], kind=kind,
        ground=ground, clearance=clearance, approach=approach, repeat=repeat)


States = Annotated[str, typer.Option('--states', help='Topic of the joint states.')]
Wait = Annotated[float, typer.Option(
    min=0.1, help='Seconds to wait for who should be there.')]
Overwrite = Annotated[bool, typer.Option('--overwrite', help='Replace a recording.')]


@app.command()
def play(file: Annotated[Path, typer.Argument(
             metavar='FILE', help='Trajectory, as robodyn excite writes it: YAML of a '
                                  'JointTrajectory.')],
         topic: Annotated[str, typer.Option(
             help='Of the references of the controller.')] = '/controller/joint_trajectory',
         states: States = 'joint_states',
         delay: Annotated[float, typer.Option(min=0.0, help='Seconds to wait before it.')] = 0.0,
         approach: Annotated[float, typer.Option(
             min=0.0, metavar='SECONDS', help='Go from where the joints are to the start of the '
             'motion first, in so many seconds or more: no joint faster than half of its fastest '
             'in FILE. NOTHING LOOKS FOR COLLISIONS on this way: see that it is free. 0: the '
             'robot has to be there.')] = 0.0,
         record: Annotated[Path | None, typer.Option(
             metavar='FILE', help='Record the motion meanwhile: .npz or .csv.')] = None,
         overwrite: Overwrite = False,
         unconfirmed: Annotated[bool, typer.Option(
             '--unconfirmed', help='Do not ask the diagnostics of the controller whether it '
             'follows: for controllers of others.')] = False,
         sim_time: Annotated[bool, typer.Option(
             '--sim-time', help='Take the time of /clock.')] = False,
         wait: Wait = 10.0) -> None:
    """Play a trajectory to a running controller; fails where the controller refuses it."""
    from ..demo.requirements import check

    check('play', ['rclpy'], RosError)
    from .play import play
    play(file, console(), topic=topic, states=states, delay=delay, slowly=approach, into=record,
         overwrite=overwrite, confirm=not unconfirmed, sim_time=sim_time, wait=wait)


@app.command()
def record(file: Annotated[Path, typer.Argument(
               metavar='FILE', help='Where the recording goes: .npz or .csv.')],
           topic: Annotated[str, typer.Option(
               help='Of sensor_msgs/JointState.')] = 'joint_states',
           seconds: Annotated[float | None, typer.Option(
               min=0.1, help='Seconds from the first message on; otherwise until '
                             'Ctrl-C.')] = None,
           overwrite: Overwrite = False, wait: Wait = 30.0) -> None:
    """Record joint states, with velocities and efforts, into a file for identification."""
    from ..demo.requirements import check

    check('record', ['rclpy'], RosError)
    from .play import record_to
    record_to(file, console(), topic=topic, seconds=seconds, wait=wait, overwrite=overwrite)


Source = Annotated[Path, typer.Argument(
    metavar='RECORDING', help='CSV or .npz file, or a bag of ROS 2: time, positions and efforts '
                              'of the joints.')]
OfRobot = Annotated[str, typer.Option(
    '--robot', metavar='ROBOT', help='Path of a URDF file, or a known name: two_link, panda, ...')]
ColumnsOption = Annotated[list[str], typer.Option(
    '--columns', metavar='QUANTITY=PATTERN', help='Columns of time, position, velocity or effort, '
    'where their headers do not tell: position=q{i} ({i} from 1, {i0} from 0, {name}), or a list '
    'of headers and numbers from 0: effort=13-18.')]
UnitsOption = Annotated[list[str], typer.Option(
    '--units', metavar='QUANTITY=UNIT', help='deg, deg/s, mN·m, ms ..., a minus before it turns '
    'the sign; or a factor to SI. Of one joint: effort.joint2=-N·m.')]
Joints = Annotated[str, typer.Option(
    '--joints', metavar='J1,J2,...', help='Joints of the robot in the order of the columns, where '
    'their headers have but numbers; of a bag: what it calls the joints of the robot, in the '
    'order of the robot.')]
Rate = Annotated[float | None, typer.Option(
    '--rate', help='Samples a second (Hz), where there is no column of time.')]
Topic = Annotated[str, typer.Option('--topic', help='In a bag, where there are several.')]
Accept = Annotated[list[str], typer.Option(
    '--accept', metavar='KIND', help='Doubt about the recording that shall not stop anything.')]
CutoffOption = Annotated[float | None, typer.Option(
    '--cutoff', help='Of the low-pass filter (Hz), inf for none; otherwise by a rule.')]
FrictionFile = Annotated[Path | None, typer.Option(
    '--friction', metavar='YAML', help='friction.yaml of an identification.')]


@app.command('identify')
def identify_command(
        recording: Source, robot: OfRobot,
        locked: Locked = [], root: Root = '', tip: Tip = '',  # noqa: B006
        columns: ColumnsOption = [], units: UnitsOption = [],  # noqa: B006
        rate: Rate = None, topic: Topic = '', joints: Joints = '',
        accept: Accept = [], cutoff: CutoffOption = None,  # noqa: B006
        split: Annotated[float, typer.Option(
            help='Share of the motion that is fitted; the rest is predicted.')] = 0.7,
        method: Annotated[str, typer.Option(
            help='consistent: bodies that can exist, which a URDF needs; or weighted.'
            )] = 'consistent',
        directions: Annotated[bool, typer.Option(
            '--directions', help='Friction of its own forward and backward.')] = False,
        static: Annotated[bool, typer.Option(
            '--static', help='Static friction apart from Coulomb friction.')] = False,
        speeds: Annotated[bool, typer.Option(
            '--speeds', help='Fit the speeds at which the friction curve bends.')] = False,
        armature: Annotated[bool | None, typer.Option(
            '--armature/--no-armature', help='Find the inertia of the rotors, or keep that of the '
            'URDF; otherwise where it shows.')] = None,
        moving: Annotated[float | None, typer.Option(
            min=0.0, help='Fit a joint only while it moves faster (rad/s | m/s): friction that '
            'sticks at reversals is not modelled.')] = None,
        delay: Annotated[str, typer.Option(
            metavar='auto|SECONDS', help='By which efforts were measured after positions.'
            )] = 'auto',
        tilt: Annotated[bool, typer.Option(
            '--tilt/--no-tilt', help='Look for a small tilt of the base; not with --root.'
            )] = True,
        presliding: Annotated[str, typer.Option(
            metavar='auto|none|RAD[,RAD]', help='Way over which friction turns round after a '
            'reversal, and that of friction which does so slowly.')] = 'auto',
        payload: Annotated[bool, typer.Option(
            '--payload', help='The robot is known: find what it holds at --frame.')] = False,
        frame: Annotated[str, typer.Option(help='Link that holds the load.')] = '',
        friction: FrictionFile = None,
        output: Annotated[Path, typer.Option(
            metavar='FOLDER', help='For the URDF, friction, numbers, pictures and the report.'
            )] = Path('identified')) -> None:
    """Find the inertias and the friction of a robot in a recording of its motion."""
    from ..demo.robot import choose
    from ..identification.chain import Wishes
    from ..identification.estimation.regression import Choice
    from ..identification.preparation.options import Options
    from .identify import payload as find
    from .identify import recording_of, run, seconds, ways

    chosen = choose(robot, locked_joints(locked), [], root=root or None, tip=tip or None)
    given = recording_of(recording, chosen, columns, units, rate, topic, joints, console())
    options = Options(cutoff=cutoff, accept=tuple(accept))
    late = seconds('--delay', delay)
    if payload:
        find(chosen, given, frame, friction, late or 0.0, options, console())
        return
    choice = Choice(static=static, directions=directions, moving=moving)
    wishes = Wishes(choice, armature, method, split, speeds, late, tilt and not root,
                    ways('--presliding', presliding), options)
    run(recording, chosen, given, wishes, output, console(), sys.argv[1:])


@app.command()
def validate(recording: Source, robot: OfRobot, friction: FrictionFile = None,
             locked: Locked = [], root: Root = '', tip: Tip = '',  # noqa: B006
             columns: ColumnsOption = [], units: UnitsOption = [],  # noqa: B006
             rate: Rate = None, topic: Topic = '', joints: Joints = '',
             accept: Accept = [], cutoff: CutoffOption = None,  # noqa: B006
             delay: Annotated[float, typer.Option(
                 metavar='SECONDS', help='By which efforts were measured after positions.')] = 0.0,
             ) -> None:
    """Measure how well a model predicts the efforts of a recording."""
    from ..demo.robot import choose
    from ..identification.preparation.options import Options
    from .identify import recording_of
    from .identify import validate as run

    chosen = choose(robot, locked_joints(locked), [], root=root or None, tip=tip or None)
    given = recording_of(recording, chosen, columns, units, rate, topic, joints, console())
    run(chosen, given, friction, delay, Options(cutoff=cutoff, accept=tuple(accept)), console())
