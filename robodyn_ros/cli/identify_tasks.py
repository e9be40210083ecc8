# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Tasks of `identify` that write no URDF: --validate, --payload and --drive-gains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TYPE_CHECKING

import numpy as np
from numpy import ndarray
from rich.console import Console

from .options import numbers, table
from .recording_options import OF_LOAD, recording_of, show
from ..errors import ArgumentError

if TYPE_CHECKING:
    from ..catalog.robots import CatalogRobot
    from ..identification.estimation.drive import DriveGains
    from ..identification.estimation.payload import ModelErrors
    from ..identification.motion import Motion
    from ..identification.options import PreparationOptions
    from ..identification.recordings.recording import Recording
    from ..identification.result import Validation
    from ..model.robot import RobotModel

MAX_GAIN_ERROR = 0.2    # of a proposed gain, relative


def validate(robot: CatalogRobot, recording: Recording, friction: Path | None,
             delay: float | None, moving: float | None, options: PreparationOptions, out: Console
             ) -> Validation:
    """
    Print and return how well a model predicts a recording.

    :param delay: of the efforts [s]; None: that of the identification.
    :param moving: samples above this velocity are compared [rad/s | m/s]; None: all.
    """
    from .identification_report import measures
    from ..identification.result import of_model

    motion, model, offset, _ = _prepared(recording, robot, friction, delay, options, out)
    valid = of_model(model, motion, offset, moving)
    out.print(measures(valid, f'{robot.source}' + (f', {friction}' if friction else '')))
    out.print(f'mean relative RMS {100 * valid.relative.mean():.2f} %')
    return valid


def _prepared(recording: Recording, robot: CatalogRobot, friction: Path | None,
              delay: float | None, options: PreparationOptions, out: Console,
              accept: tuple[str, ...] = ()
              ) -> tuple[Motion, RobotModel, ndarray, ModelErrors | None]:
    """Return the checked motion, model and offsets (nv,) with friction, errors; print issues."""
    from ..identification.options import by_kind
    from ..identification.recorded_motion import checked_motion, require_torques
    from ..identification.recordings.recording import usual_period
    from ..identification.result_files import conditions_of
    from ..model.friction_file import read_friction

    require_torques(recording)
    if (found := None if friction is None else conditions_of(friction)) is not None:
        if options.cutoff is None and found.cutoff < 0.5 / usual_period(recording.time):
            options = replace(options, cutoff=found.cutoff)
        delay = found.delay if delay is None else delay
        show([f'delay of the efforts {1e3 * delay:.4g} ms'
              + ', cut-off as identified' * (options.cutoff == found.cutoff)], out)
    motion, notes, issues = checked_motion(recording, robot.model, replace(
        options, accept=(*options.accept, *accept)))
    show([*notes[len(recording.notes):],
          *by_kind(issue for issue in issues if issue.kind not in accept)], out)
    model, offset = (robot.model, np.zeros(robot.model.nv)) if friction is None else \
        read_friction(friction, robot.model)
    return motion.later(delay) if delay else motion, model, offset, found and found.errors


def find_load(robot: CatalogRobot, recording: Recording, frame: str, friction: Path | None,
            delay: float | None, options: PreparationOptions, out: Console) -> dict[str, Any]:
    """Identify the load at a frame; print and return it as parameters of the controller."""
    from .identification_report import print_load
    from ..identification.estimation.payload import find_payload
    from ..identification.options import by_kind
    from ..identification.physics_checks import motion_issues
    from ..model.robot import with_payload

    # The model has no load: at wrist joints the efforts of one may contradict it entirely
    motion, model, offset, errors = _prepared(recording, robot, friction, delay, options, out,
                                              OF_LOAD)
    found = find_payload(model, motion, frame, offset, errors)
    loaded = with_payload(model, frame, found.mass, found.com.tolist(), found.inertia)
    show(by_kind(motion_issues(motion, loaded, OF_LOAD)), out)
    print_load(found, robot.model.joint_names, out)
    out.print('\nparameters of the controller:')
    values = {'payload_frame': found.frame, 'payload_mass': round(found.mass, 4),
              'payload_com': [round(value, 4) for value in found.com.tolist()]}
    if found.inertia is not None:
        values['payload_inertia'] = [float(f'{value:.5g}')
                                     for value in found.inertia[np.triu_indices(3)]]
    for name, value in values.items():
        out.print(f'{name}: {value}')
    return values


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
    name, _, value = known.partition('=')
    gain = numbers('--known', value)
    if known and len(gain) != 1:
        raise ArgumentError(f'--known {known!r} cannot be read', name='--known', value=known,
                            remedy='write a joint and its gain: joint1=12.5')
    motions = _currents([*recordings, *([loaded] if loaded else [])], robot, reading, options, out)
    bodies = with_payload(robot.model, frame, mass, numbers('--com', com)) if loaded else None
    selection, _ = decimated(USUAL_PARAMETERS, motions[0])
    found = estimated(robot.model, motions, selection,
                      [None] * len(recordings) + ([bodies] if bodies else []),
                      name if name in robot.model.joint_names else '')
    if known:
        found = found.anchored(name, gain[0])
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
