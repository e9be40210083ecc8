# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Efforts per ampere from motor currents, for `robodyn identify --drive-gains`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TYPE_CHECKING

from rich.console import Console

from .options import numbers, table
from .recording_options import recording_of, show
from ..errors import ArgumentError

if TYPE_CHECKING:
    from ..catalog.robots import CatalogRobot
    from ..identification.estimation.drive import DriveGains
    from ..identification.options import PreparationOptions

MAX_GAIN_ERROR = 0.2    # of a proposed gain, relative


def drive_gains(robot: CatalogRobot, recordings: Sequence[Path], load: tuple[Path | None, str,
                float, str], known: str, reading: dict[str, Any], options: PreparationOptions,
                out: Console) -> dict[str, Any]:
    """
    Estimate, print and return the torque constants that convert motor currents to efforts.

    :param load: recording of a known load, its link, its mass [kg] and its center of mass [m].
    :param known: ``JOINT=GAIN`` of a data sheet, '' for none.
    """
    from ..identification.estimation.drive import drive_gains as estimated
    from ..identification.estimation.filtered_columns import decimated
    from ..identification.options import USUAL_PARAMETERS
    from ..model.robot import with_payload

    loaded, frame, mass, com = load
    if not (loaded is None) == (mass == 0.0) == (not frame):
        raise ArgumentError('--loaded, --frame and --mass belong together', name='--loaded',
                            value=str(loaded), remedy='pass all three, or none')
    motions = _currents([*recordings, *([loaded] if loaded else [])], robot, reading, options, out)
    bodies = with_payload(robot.model, frame, mass, numbers('--com', com)) if loaded else None
    selection, _ = decimated(USUAL_PARAMETERS, motions[0])
    name, _, value = known.partition('=')
    found = estimated(robot.model, motions, replace(selection, armature=True),
                      [None] * len(recordings) + ([bodies] if bodies else []),
                      name if name in robot.model.joint_names else '')
    if known:
        found = found.anchored(name, numbers('--known', value)[0])
    report(found, out)
    return {'joints': found.joint_names, 'gains': found.gains, 'relative': found.relative,
            'standard_errors': found.standard_errors}


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
