# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Options of the subcommands that read recordings, and what they mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, TYPE_CHECKING

from rich.console import Console
import typer

from .options import as_option
from ..errors import ArgumentError

if TYPE_CHECKING:
    from ..catalog.robots import CatalogRobot
    from ..identification.options import DataIssue
    from ..identification.recordings.recording import Recording

READING = 'Recordings'      # panel of a help
# Kinds of issues that an unknown load causes
OF_LOAD = ('effort sign', 'effort unit', 'gravity', 'mounting', 'direction', 'order', 'time',
           'model', 'position unit')

Sources = Annotated[list[Path], typer.Argument(
    metavar='RECORDING...', help='CSV, .npz, .mat files or bags of ROS 2, of the same columns and '
                                 'units: time, positions and efforts of the joints.')]
OfRobot = Annotated[str, typer.Option(
    '--robot', metavar='ROBOT', help='Path of a URDF file, or a known name: two_link, panda, ...')]
ColumnsOption = Annotated[list[str], typer.Option(
    '--columns', metavar='QUANTITY=PATTERN', help='Columns of time, position, velocity or effort '
    'with other headers: position=q{i} ({i} from 1, {i0} from 0, {name}), or headers and numbers '
    'from 0: effort=13-18.', rich_help_panel=READING)]
UnitsOption = Annotated[list[str], typer.Option(
    '--units', metavar='QUANTITY=UNIT', help='deg, deg/s, mN·m, ms ..., with a minus to invert '
    'the sign; or a factor to SI. For one joint: effort.joint2=-N·m.', rich_help_panel=READING)]
Joints = Annotated[str, typer.Option(
    '--joints', metavar='J1,J2,...', help='Joints in the order of the columns, if the headers '
    'have numbers only; for a bag: its joint names, in the order of the robot.',
    rich_help_panel=READING)]
Rate = Annotated[float | None, typer.Option(
    '--rate', help='Sample rate (Hz), if there is no time column.', rich_help_panel=READING)]
Topic = Annotated[str, typer.Option(
    '--states', help='Topic of the joint states in a bag that has several.',
    rich_help_panel=READING)]
Accept = Annotated[list[str], typer.Option(
    '--accept', metavar='KIND', help='Kind of data issue to accept, as its message says.',
    rich_help_panel=READING)]
CutoffOption = Annotated[float | None, typer.Option(
    '--cutoff', help='Cut-off frequency of the low-pass filter (Hz); inf: none; default: '
                     'automatic.', rich_help_panel=READING)]
FrictionFile = Annotated[Path | None, typer.Option(
    '--friction', metavar='YAML', help='friction.yaml of an identification; cut-off, delay and '
    'the uncertainty of the model are those of the parameters.yaml beside it.')]


def read_options(columns: Iterable[str], units: Iterable[str], rate: float | None, topic: str,
                 joints: str) -> dict[str, Any]:
    """Return the keyword arguments of :func:`~.recordings.read.read` that options mean."""
    names = [name.strip() for name in joints.split(',') if name.strip()]
    return {'columns': pairs('--columns', columns) or None,
            'units': {key: _factor(value) for key, value in pairs('--units', units).items()}
            or None, 'rate': rate, 'topic': topic or None, 'joint_names': names or None}


def reading_words(columns: Iterable[str], units: Iterable[str], rate: float | None, topic: str,
                  joints: str) -> list[str]:
    """Return the options by which another command reads recordings likewise."""
    rates = [] if rate is None else [f'{rate:.15g}']
    return [word for option, values in (
        ('--columns', columns), ('--units', units), ('--rate', rates), ('--states', [topic]),
        ('--joints', [joints])) for value in values if value for word in (option, value)]


def recording_of(path: Path, robot: CatalogRobot, reading: Mapping[str, Any], out: Console
                 ) -> Recording:
    """
    Return the recording of a robot, and print how it was read.

    The notes are printed before any check: what is refused later was often only read wrongly.
    """
    from ..identification.recordings.read import read

    found = read(path, robot.model, **reading)
    show(found.notes, out)
    return found


def pairs(option: str, words: Iterable[str]) -> dict[str, Any]:
    """
    Return values by quantity, or by quantity and joint: ``effort.joint2=-N·m``.

    :param option: for errors.
    :raises ArgumentError: a word is no pair, or a quantity is given both for all joints and for
        one.
    """
    found: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition('=')
        if not equals or not value:
            raise ArgumentError(f'{option} {word!r} cannot be read', name=option, value=word,
                                remedy='write a quantity and what it is: position=q{i}, '
                                       'effort=mN·m, effort.joint2=-N·m')
        quantity, dot, joint = name.strip().partition('.')
        if not dot:
            found[quantity] = value.strip()
        else:
            of_joints = found.setdefault(quantity, {})
            if not isinstance(of_joints, dict):
                raise ArgumentError(f'{option} speaks of {quantity} twice', name=option,
                                    value=word, remedy='for all joints, or joint by joint')
            of_joints[joint] = _factor(value.strip())
    return found


def _factor(value: Any) -> Any:
    """Return a factor to SI as a number, a unit as it is."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return value


def show(lines: Iterable[str | DataIssue], out: Console) -> None:
    """Print notes, and issues in yellow."""
    from ..identification.options import DataIssue

    for line in lines:
        if isinstance(line, DataIssue):
            out.print(f'! {line.render(as_option)}', style='yellow')
        else:
            out.print(f'- {line}')
