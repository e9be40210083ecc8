# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommands of the parameter identification: identify, validate."""

from pathlib import Path
from typing import Annotated

import typer

from .options import app, AsJson, chosen_robot, console, Gravity, Locked, print_json, Root, Tip
from ..catalog.requirements import require_modules
from ..errors import IdentificationError, ParameterError

Source = Annotated[Path, typer.Argument(
    metavar='RECORDING', help='CSV or .npz file, or a bag of ROS 2: time, positions and efforts '
                              'of the joints.')]
Sources = Annotated[list[Path], typer.Argument(
    metavar='RECORDING...', help='CSV, .npz, .mat files or bags of ROS 2, of the same columns and '
                                 'units: time, positions and efforts of the joints.')]
OfRobot = Annotated[str, typer.Option(
    '--robot', metavar='ROBOT', help='Path of a URDF file, or a known name: two_link, panda, ...')]
ColumnsOption = Annotated[list[str], typer.Option(
    '--columns', metavar='QUANTITY=PATTERN', help='Columns of time, position, velocity or effort '
    'with other headers: position=q{i} ({i} from 1, {i0} from 0, {name}), or headers and numbers '
    'from 0: effort=13-18.')]
UnitsOption = Annotated[list[str], typer.Option(
    '--units', metavar='QUANTITY=UNIT', help='deg, deg/s, mN·m, ms ..., with a minus to invert '
    'the sign; or a factor to SI. For one joint: effort.joint2=-N·m.')]
Joints = Annotated[str, typer.Option(
    '--joints', metavar='J1,J2,...', help='Joints in the order of the columns, if the headers '
    'have numbers only; for a bag: its joint names, in the order of the robot.')]
Rate = Annotated[float | None, typer.Option(
    '--rate', help='Sample rate (Hz), if there is no time column.')]
Topic = Annotated[str, typer.Option(
    '--states', help='Topic of the joint states in a bag that has several.')]
Accept = Annotated[list[str], typer.Option(
    '--accept', metavar='KIND', help='Kind of data issue to accept, as its message says.')]
CutoffOption = Annotated[float | None, typer.Option(
    '--cutoff', help='Cut-off frequency of the low-pass filter (Hz); inf: none; default: '
                     'automatic.')]
FrictionFile = Annotated[Path | None, typer.Option(
    '--friction', metavar='YAML', help='friction.yaml of an identification; cut-off, delay and '
    'the uncertainty of the model are those of the parameters.yaml beside it.')]


@app.command('identify')
def identify_command(
        recordings: Sources, robot: OfRobot,
        verify: Annotated[Path | None, typer.Option(
            metavar='RECORDING', help='Recording to predict; the others are fitted.')] = None,
        locked: Locked = [], root: Root = '', tip: Tip = '', gravity: Gravity = '',  # noqa: B006
        columns: ColumnsOption = [], units: UnitsOption = [],  # noqa: B006
        rate: Rate = None, topic: Topic = '', joints: Joints = '',
        accept: Accept = [], cutoff: CutoffOption = None,  # noqa: B006
        split: Annotated[float, typer.Option(
            help='Fraction of each recording used for fitting; the rest is predicted. Not used '
            'with --verify.')] = 0.7,
        directions: Annotated[bool, typer.Option(
            '--directions', help='Separate friction for both directions.')] = False,
        static: Annotated[bool, typer.Option(
            '--static', help='Static friction in addition to Coulomb friction.')] = False,
        armature: Annotated[bool | None, typer.Option(
            '--armature/--no-armature', help='Estimate the rotor inertia, or keep that of the '
            'URDF; default: where it is significant.')] = None,
        moving: Annotated[float | None, typer.Option(
            min=0.0, help='Use samples of a joint above this velocity only (rad/s | '
            'm/s).')] = None,
        delay: Annotated[str, typer.Option(
            metavar='auto|SECONDS', help='Delay of the efforts relative to the positions.'
            )] = 'auto',
        tilt: Annotated[bool, typer.Option(
            '--tilt/--no-tilt', help='Estimate a small tilt of the base; not with --root.'
            )] = True,
        presliding: Annotated[str, typer.Option(
            metavar='auto|none|RAD', help='Distance after a reversal over which friction changes '
            'its sign.')] = 'auto',
        payload: Annotated[bool, typer.Option(
            '--payload', help='Identify the load at --frame; the robot is known.')] = False,
        frame: Annotated[str, typer.Option(help='Link that holds the load.')] = '',
        friction: FrictionFile = None,
        force: Annotated[bool, typer.Option(
            '--force', help='Write the files even if the result predicts worse than a constant.'
            )] = False,
        verbose: Annotated[bool, typer.Option(
            '--verbose', help='Print all notes, parameters and tables of the report.')] = False,
        output: Annotated[Path, typer.Option(
            metavar='FOLDER', help='Folder of the results.'
            )] = Path('identified')) -> None:
    """Identify the inertias and the friction of a robot from a recording of its motion."""
    from .identify import (
        distance,
        read_options,
        reading_words,
        recording_of,
        robot_options,
        run,
        seconds,
    )
    from .identify import payload as find
    from ..identification.options import ParameterSelection, PipelineOptions, PreparationOptions
    from ..report import REQUIRED_MODULES

    chosen = chosen_robot(robot, locked, root, tip, gravity, massless='warn')
    reading = read_options(columns, units, rate, topic, joints)
    preparation = PreparationOptions(cutoff=cutoff, accept=tuple(accept))
    late = seconds('--delay', delay)
    if payload:
        if len(recordings) > 1 or verify is not None:
            raise ParameterError('--payload takes one recording', name='--payload',
                                 value=len(recordings), remedy='leave --verify and the other '
                                                               'recordings out')
        given = recording_of(recordings[0], chosen, reading, console())
        find(chosen, given, frame, friction, late, preparation, console())
        return
    require_modules('identify', REQUIRED_MODULES, IdentificationError)
    selection = ParameterSelection(static=static, directions=directions, moving=moving)
    options = PipelineOptions(selection, armature, split, late, tilt and not root,
                              distance('--presliding', presliding), preparation, force)
    same_robot = robot_options(chosen, root, tip, gravity)
    run(recordings, verify, chosen, reading, options, output, console(), same_robot,
        reading_words(columns, units, rate, topic, joints), verbose=verbose)


@app.command()
def validate(recording: Source, robot: OfRobot, friction: FrictionFile = None,
             locked: Locked = [], root: Root = '', tip: Tip = '',  # noqa: B006
             gravity: Gravity = '',
             columns: ColumnsOption = [], units: UnitsOption = [],  # noqa: B006
             rate: Rate = None, topic: Topic = '', joints: Joints = '',
             accept: Accept = [], cutoff: CutoffOption = None,  # noqa: B006
             delay: Annotated[float | None, typer.Option(
                 metavar='SECONDS', help='Delay of the efforts relative to the positions; '
                 'default: that in parameters.yaml beside --friction, or none.')] = None,
             moving: Annotated[float | None, typer.Option(
                 min=0.0, help='Evaluate samples of a joint only above this velocity (rad/s | '
                 'm/s).')] = None, as_json: AsJson = False) -> None:
    """Evaluate how well a model predicts the efforts of a recording."""
    from .identify import read_options, recording_of
    from .identify import validate as run
    from ..identification.options import PreparationOptions

    chosen = chosen_robot(robot, locked, root, tip, gravity)
    out = console(as_json)
    given = recording_of(recording, chosen, read_options(columns, units, rate, topic, joints), out)
    found = run(chosen, given, friction, delay, moving or None,
                PreparationOptions(cutoff=cutoff, accept=tuple(accept)), out)
    if as_json:
        print_json({'joints': found.joint_names, 'rms': found.rms, 'relative': found.relative,
                    'mean_relative': found.relative.mean()})
