# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommand `drive-gains`: efforts per ampere, from recordings of motor currents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, TYPE_CHECKING

from rich.console import Console
import typer

from .options import (
    chosen_robot,
    command,
    console,
    Gravity,
    IDENTIFY,
    Locked,
    numbers,
    Root,
    table,
    Tip,
)
from .recording_options import (
    Accept,
    ColumnsOption,
    CutoffOption,
    Joints,
    OfRobot,
    Rate,
    read_options,
    recording_of,
    show,
    Sources,
    Topic,
    UnitsOption,
)
from ..errors import ArgumentError

if TYPE_CHECKING:
    from ..catalog.robots import CatalogRobot
    from ..identification.estimation.drive import DriveGains
    from ..identification.options import PreparationOptions

MAX_GAIN_ERROR = 0.2    # of a proposed gain, relative


@command(IDENTIFY, 'motion.npz --robot my_arm.urdf')
def drive_gains(
        recordings: Sources, robot: OfRobot,
        loaded: Annotated[Path | None, typer.Option(
            metavar='RECORDING', help='Recording with a known load at --frame.')] = None,
        frame: Annotated[str, typer.Option(help='Link that holds the load.')] = '',
        mass: Annotated[float, typer.Option(help='Mass of the load (kg).')] = 0.0,
        com: Annotated[str, typer.Option(
            metavar='X,Y,Z', help='Its center of mass in --frame (m).')] = '0,0,0',
        known: Annotated[str, typer.Option(
            metavar='JOINT=GAIN', help='Gain of one joint from its data sheet (N·m/A), instead '
            'of a load.')] = '',
        locked: Locked = [], root: Root = '', tip: Tip = '', gravity: Gravity = '',  # noqa: B006
        columns: ColumnsOption = [], units: UnitsOption = [],  # noqa: B006
        rate: Rate = None, topic: Topic = '', joints: Joints = '',
        accept: Accept = [], cutoff: CutoffOption = None) -> None:  # noqa: B006
    """Estimate the torque constants that convert motor currents to efforts."""
    from ..identification.estimation.drive import drive_gains as estimated
    from ..identification.estimation.filtered_columns import decimated
    from ..identification.options import PreparationOptions, USUAL_PARAMETERS
    from ..model.robot import with_payload

    if (loaded is None) != (mass == 0.0) or (loaded is None) != (not frame):
        raise ArgumentError('--loaded, --frame and --mass belong together', name='--loaded',
                            value=str(loaded), remedy='pass all three, or none')
    chosen = chosen_robot(robot, locked, root, tip, gravity, massless='warn')
    reading = read_options(columns, units, rate, topic, joints)
    out = console()
    paths = [*recordings, *([loaded] if loaded else [])]
    motions = _currents(paths, chosen, reading, PreparationOptions(
        cutoff=cutoff, accept=tuple(accept)), out)
    load = with_payload(chosen.model, frame, mass, numbers('--com', com)) if loaded else None
    selection, _ = decimated(USUAL_PARAMETERS, motions[0])
    name, _, value = known.partition('=')
    found = estimated(chosen.model, motions, replace(selection, armature=True),
                        [None] * len(recordings) + ([load] if loaded else []),
                        name if name in chosen.model.joint_names else '')
    if known:
        found = found.anchored(name, numbers('--known', value)[0])
    report(found, out)


def _currents(paths: Sequence[Path], robot: CatalogRobot, reading: dict[str, Any],
              options: PreparationOptions, out: Console) -> list[Any]:
    """Return the motions of recordings whose efforts are currents."""
    from ..identification.recorded_motion import checked_motions

    recordings = [recording_of(path, robot, reading, out) for path in paths]
    for recording, path in zip(recordings, paths):
        if recording.effort_unit != 'A':
            raise ArgumentError(f'the efforts of {path} are no currents', name='--units',
                                value=recording.effort_unit, remedy='pass --units effort=A')
    checked = checked_motions(recordings, robot.model, options, len(paths) > 1)
    for each in checked:
        show(list(each.issues), out)
    return [each.motion for each in checked]


def report(found: DriveGains, out: Console) -> None:
    """Print the gains, and the options by which `robodyn identify` takes them."""
    rows = table('Drive gains', 'joint', 'N·m/A | N/A' + (', relative' if found.relative else ''),
                 'standard error', 'RMS left [A]')
    for name, gain, error, sigma in zip(found.joint_names, found.gains, found.standard_errors,
                                        found.sigma):
        rows.add_row(name, f'{gain:.4g}', f'{error:.2g}', f'{sigma:.3g}')
    out.print(rows)
    for line in found.undetermined:
        out.print(f'! not determined: {line}', style='yellow')
    uncertain = [name for name, gain, error in zip(
        found.joint_names, found.gains, found.standard_errors)
        if not error < MAX_GAIN_ERROR * abs(gain)]
    if uncertain:
        out.print(f'! uncertain by more than {MAX_GAIN_ERROR:.0%}: {", ".join(uncertain)}; take '
                  'these gains from a data sheet, or record a load farther from the axes of these '
                  'joints, and faster motion', style='yellow')
    if not found.relative:
        out.print('efforts in N·m: robodyn identify ... ' + ' '.join(
            f'--units effort.{name}={"GAIN" if name in uncertain else f"{gain:.5g}"}'
            for name, gain in zip(found.joint_names, found.gains)))
