# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommands `identify` and `validate`: parsing of their options, tables of their results."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
import shlex
from typing import Any

import numpy as np
from numpy import ndarray
from rich.console import Console

from .arguments import as_option
from .identification_report import report
from .identification_tables import (
    band_table,
    comparison,
    friction_table,
    load_table,
    measures,
    parameter_table,
    summary_table,
)
from ..catalog.robots import CatalogRobot
from ..errors import ArgumentError, DemoError, IdentificationError, RobodynError
from ..identification.data_checks.data_issue import by_kind, DataIssue
from ..identification.data_checks.physics_checks import motion_issues
from ..identification.estimation.payload import find_payload, ModelErrors
from ..identification.excitation.collision_geometry import shapes
from ..identification.motion import Motion
from ..identification.options import PipelineOptions, PreparationOptions
from ..identification.pipeline import run as identify
from ..identification.pipeline import Source
from ..identification.recorded_motion import checked_motion
from ..identification.recordings.read import read
from ..identification.recordings.recording import Recording
from ..identification.result import Identification, NOMINAL, of_model, TERMS_TITLE, Validation
from ..identification.result_files import conditions_of, FRICTION, URDF, writable_folder
from ..model.friction_file import read_friction
from ..model.payload import with_payload
from ..model.robot import RobotModel
from ..model.urdf_source import expanded, is_xacro
from ..report.scene import MovingRobot

REPORT = 'report.html'
MOST_WARNINGS = 3       # about the URDF, without --verbose
# Kinds of issues that an unknown load causes
OF_LOAD = ('effort sign', 'effort unit', 'gravity', 'mounting', 'direction', 'order', 'time',
           'model', 'position unit')


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


def seconds(option: str, text: str, choices: str = 'seconds') -> float | None:
    """Return a time [s] or another number, None for 'auto'."""
    if text.strip() == 'auto':
        return None
    try:
        return float(text)
    except ValueError:
        raise ArgumentError(f'{option} {text!r} cannot be read', name=option, value=text,
                            remedy=f'write {choices}, or auto') from None


def distance(option: str, text: str) -> float | None:
    """Return a distance [rad], 0 for 'none', None for 'auto'."""
    return 0.0 if text.strip() == 'none' else seconds(option, text, 'a distance in rad, none')


def _factor(value: Any) -> Any:
    """Return a factor to SI as a number, a unit as it is."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return value


def run(paths: Sequence[Path], verification: Path | None, robot: CatalogRobot,
        reading: dict[str, Any], options: PipelineOptions, output: Path, out: Console,
        same_robot: Sequence[str] = (), same_files: Sequence[str] = (), *,
        verbose: bool = False) -> None:
    """
    Identify the robot, print a summary, and write the files and a report.

    :param paths: of the recordings that are fitted; ``verification``: of the one that is not.
    :param same_robot: options by which another command has this robot; ``same_files``: those by
        which it reads recordings likewise.
    :param verbose: print all notes and tables of the report, too.
    """
    warnings = robot.model.warnings
    for warning in warnings if verbose else warnings[:MOST_WARNINGS]:
        out.print(f'! {warning}', style='yellow', soft_wrap=True)
    notes: list[str | DataIssue] = []

    def notify(line: str | DataIssue) -> None:
        notes.append(line)
        if verbose:
            show([line], out)
    source = Source(tuple(paths), robot.model, _text(robot.path), reading,
                    '--gravity' in same_robot, verification)
    with MovingRobot() as moving:
        with out.status('') as status:          # in a terminal only
            try:
                found, written = identify(
                    source, options, output, notify, lambda name: status.update(f'{name} ...'),
                    lambda parts: moving.draw(robot.model, robot.path, parts.test.time,
                                              parts.test.position))
            except RobodynError:
                if not verbose:         # what is refused was often only read wrongly
                    show(notes, out)
                raise
        if verbose:
            _print_tables(found, out)
        else:
            _print_summary(found, source.text, out)
        for line in found.rendered_issues(as_option):
            out.print(f'! {line}', style='yellow', soft_wrap=True)
        with out.status('writing the report ...'), writable_folder(output):
            (output / REPORT).write_text(
                report(found, source.text, _scene(moving, out)).html(), encoding='utf-8')
    out.print(f'wrote {", ".join(map(str, (*written, output / REPORT)))}', soft_wrap=True)
    if not verbose:
        out.print('all parameters, terms and notes: in the report, or with --verbose')
    out.print('check it on another recording: ' + shlex.join([
        'robodyn', 'validate', 'RECORDING', '--robot', str(output / URDF), '--friction',
        str(output / FRICTION), *same_robot, *same_files]), soft_wrap=True)
    out.print('suggested next excitation: ' + shlex.join([
        'robodyn', 'excite', str(with_meshes(output / URDF, robot.path)),
        *same_robot, '--at', ','.join(f'{value:.6g}' for value in robot.pose), *same_files,
        '--criterion', 'information',
        *(word for path in paths for word in ('--after', str(path)))]), soft_wrap=True)


def _print_summary(found: Identification, source: str, out: Console) -> None:
    """Print how well the result predicts, and friction and armature of each joint."""
    mean, before = (100 * of.relative.mean() for of in (
        found.validation, found.validations[NOMINAL]))
    out.print(f'{found.nominal.name}: {found.estimate.base.rank} base parameters from {source}, '
              f'method {found.estimate.method}', soft_wrap=True)
    out.print(f'error of predicted efforts, mean relative RMS on motion that was not fitted: '
              f'{mean:.2f} %, with the original URDF {before:.1f} %', soft_wrap=True)
    out.print(summary_table(found))


def _print_tables(found: Identification, out: Console) -> None:
    """Print parameters, friction, terms and errors."""
    out.print(parameter_table(found))
    out.print(friction_table(found))
    if found.terms:
        out.print(TERMS_TITLE, style='bold')
        show(found.terms, out)
    out.print(comparison(found.validations))
    for name, why in found.absent.items():
        out.print(f'{name}: {why}')
    out.print(measures(found.validation, f'{found.estimate.method}, as exported'))
    if found.band is not None:
        out.print(band_table(found.band, found.estimate.sigma))


def _scene(moving: MovingRobot, out: Console) -> str:
    """Return the page of the moving robot, '' where it cannot be drawn, which is printed."""
    try:
        return moving.page()
    except DemoError as error:
        out.print(f'! {error}', style='yellow')
        return ''


def with_meshes(corrected: Path, original: Path) -> Path:
    """Return the corrected URDF, or the original one where meshes are found beside that only."""
    for path in (corrected, original):
        try:
            shapes(path)
        except IdentificationError:
            continue
        return path
    return corrected


def robot_options(robot: CatalogRobot, root: str, tip: str, gravity: str) -> list[str]:
    """
    Return the options by which a command has the same robot, from a URDF that is written.

    Joints that the configuration of a known robot locks are named: the URDF has no configuration.
    """
    own = robot.parameters['simulator']
    locked = [f'{name}={value:g}' for name, value in zip(
        own.get('locked_joints', []), own.get('locked_positions', []))]
    return [word for option, values in (('--locked', locked), ('--root', [root]), (
        '--tip', [tip]), ('--gravity', [gravity])) for value in values if value
        for word in (option, value)]


def _text(path: Path) -> str:
    """Return the text of a URDF with its line endings."""
    try:
        return expanded(path) if is_xacro(path) else path.read_bytes().decode()
    except UnicodeDecodeError:
        raise ArgumentError(f'{path} is not UTF-8', name='--robot', value=str(path),
                            remedy='save it as UTF-8') from None


def validate(robot: CatalogRobot, recording: Recording, friction: Path | None,
             delay: float | None, moving: float | None, options: PreparationOptions, out: Console
             ) -> Validation:
    """
    Print and return how well a model predicts a recording.

    :param delay: of the efforts [s]; None: that of the identification.
    :param moving: samples above this velocity are compared [rad/s | m/s]; None: all.
    """
    options, delay, _ = _conditions(recording, friction, delay, options, out)
    motion = _checked(recording, robot, options, out)
    model, offset = _with_friction(robot.model, friction)
    motion = motion.later(delay) if delay else motion
    valid = of_model(model, motion, offset, moving)
    out.print(measures(valid, f'{robot.source}' + (f', {friction}' if friction else '')))
    out.print(f'mean relative RMS {100 * valid.relative.mean():.2f} %')
    return valid


def _conditions(recording: Recording, friction: Path | None, delay: float | None,
                options: PreparationOptions, out: Console
                ) -> tuple[PreparationOptions, float, ModelErrors | None]:
    """Return options and delay, those that are not given as identified, and errors."""
    found = None if friction is None else conditions_of(friction)
    if found is None:
        return options, delay or 0.0, None
    rate = 1.0 / float(np.median(np.diff(recording.time)))
    if options.cutoff is None and found.cutoff < rate / 2.0:
        options = replace(options, cutoff=found.cutoff)
    delay = found.delay if delay is None else delay
    show([f'delay of the efforts {1e3 * delay:.4g} ms, cut-off as identified'
          if options.cutoff == found.cutoff else
          f'delay of the efforts {1e3 * delay:.4g} ms'], out)
    return options, delay, found.errors


def payload(robot: CatalogRobot, recording: Recording, frame: str, friction: Path | None,
            delay: float | None, options: PreparationOptions, out: Console) -> None:
    """Identify the load at a frame and print it as parameters of the controller."""
    options, delay, errors = _conditions(recording, friction, delay, options, out)
    # The model has no load: at wrist joints the efforts of one may contradict it entirely
    motion, notes, issues = checked_motion(recording, robot.model, replace(
        options, accept=(*options.accept, *OF_LOAD)))
    show([*notes[len(recording.notes):],
          *by_kind(issue for issue in issues if issue.kind not in OF_LOAD)], out)
    model, offset = _with_friction(robot.model, friction)
    motion = motion.later(delay) if delay else motion
    found = find_payload(model, motion, frame, offset, errors)
    loaded = with_payload(model, frame, found.mass, found.com.tolist(), found.inertia)
    show(by_kind(motion_issues(motion, loaded, motion.cutoff, motion.effort_unit, OF_LOAD)), out)
    out.print(load_table(found, robot.model.joint_names))
    for line in found.unseen:
        out.print(f'! not determined: {line}', style='yellow')
    out.print('\nparameters of the controller:')
    com = ', '.join(f'{value:.4f}' for value in found.com)
    out.print(f'payload_frame: {found.frame}\npayload_mass: {found.mass:.4f}\n'
              f'payload_com: [{com}]')
    if found.inertia is not None:
        moments = ', '.join(f'{value:.5g}' for value in found.inertia[np.triu_indices(3)])
        out.print(f'payload_inertia: [{moments}]')


def _checked(recording: Recording, robot: CatalogRobot, options: PreparationOptions, out: Console
             ) -> Motion:
    """Return the checked motion, and print notes and issues."""
    motion, notes, issues = checked_motion(recording, robot.model, options)
    show([*notes[len(recording.notes):], *by_kind(issues)], out)
    return motion


def _with_friction(model: RobotModel, file: Path | None) -> tuple[RobotModel, ndarray]:
    """Return the model with the friction of a file, if any, and offsets (nv,) [N·m | N]."""
    return (model, np.zeros(model.nv)) if file is None else read_friction(file, model)


def show(lines: Iterable[str | DataIssue], out: Console) -> None:
    """Print notes, and issues in yellow."""
    for line in lines:
        if isinstance(line, DataIssue):
            out.print(f'! {line.render(as_option)}', style='yellow')
        else:
            out.print(f'- {line}')
