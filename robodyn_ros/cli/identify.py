# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommand `identify`: files, tables and report of an identification, or a load."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
import re
import shlex
from typing import Annotated, Any, TYPE_CHECKING

from rich.console import Console
import typer

from .identify_tasks import drive_gains, find_load, validate
from .options import (
    as_option, AsJson, chosen_robot, command, console, Gravity, IDENTIFY, Locked, output,
    print_json, Root, Tip)
from .recording_options import (
    Accept, ColumnsOption, CutoffOption, FrictionFile, Joints, OfRobot, Rate, read_options,
    reading_words, recording_of, show, Sources, Topic, UnitsOption)
from ..errors import (
    ArgumentError, DemoError, IdentificationError, ParameterError, require_modules, RobodynError)

if TYPE_CHECKING:
    from ..catalog.robots import CatalogRobot
    from ..identification.options import DataIssue, PipelineOptions
    from ..identification.result import Identification, Validation
    from ..report.scene import MovingRobot

REPORT = 'report.html'
DRIVES = 'Torque constants'      # panel of the help
DECLARED_ENCODING = re.compile(r'^(\ufeff?\s*<\?xml[^>]*?)\s+encoding\s*=\s*(["\']).*?\2')
UNIDENTIFIED = 3        # exit code: files were written, in which joints are without friction
MOST_WARNINGS = 3       # about the URDF, without --verbose


@command(IDENTIFY, 'motion.npz --robot my_arm.urdf')
def identify(
        robot: OfRobot, recordings: Sources = [],  # noqa: B006
        validation: Annotated[Path | None, typer.Option(
            '--validate', metavar='RECORDING', help='Recording to predict: by the model that is '
            'fitted to the others or, without others, by --robot and --friction.')] = None,
        locked: Locked = [], root: Root = '', tip: Tip = '', gravity: Gravity = '',  # noqa: B006
        columns: ColumnsOption = [], units: UnitsOption = [],  # noqa: B006
        rate: Rate = None, topic: Topic = '', joints: Joints = '',
        accept: Accept = [], cutoff: CutoffOption = None,  # noqa: B006
        split: Annotated[float, typer.Option(
            help='Fraction of each recording used for fitting; the rest is predicted. Not used '
            'with --validate.')] = 0.7,
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
        drives: Annotated[bool, typer.Option(
            '--drive-gains', help='Identify the torque constants from motor currents; --known or '
            '--loaded makes them absolute.', rich_help_panel=DRIVES)] = False,
        known: Annotated[str, typer.Option(
            metavar='JOINT=GAIN', help='Gain of one joint from its data sheet (N·m/A).',
            rich_help_panel=DRIVES)] = '',
        loaded: Annotated[Path | None, typer.Option(
            metavar='RECORDING', help='Recording with a known load at --frame.',
            rich_help_panel=DRIVES)] = None,
        mass: Annotated[float, typer.Option(
            help='Mass of that load (kg).', rich_help_panel=DRIVES)] = 0.0,
        com: Annotated[str, typer.Option(
            metavar='X,Y,Z', help='Its center of mass in --frame (m).', rich_help_panel=DRIVES
            )] = '0,0,0',
        friction: FrictionFile = None,
        force: Annotated[bool, typer.Option(
            '--force', help='Replace files that exist, even if the result predicts worse than a '
            'constant.')] = False,
        verbose: Annotated[bool, typer.Option(
            '--verbose', help='Print all notes, parameters and tables of the report.')] = False,
        output: Annotated[Path, output('Folder of the results.', 'FOLDER')] = Path('identified'),
        as_json: AsJson = False) -> None:
    """Identify inertias and friction, a load, or torque constants; validate a model."""
    from ..identification.options import ParameterSelection, PipelineOptions, PreparationOptions
    from ..report import REQUIRED_MODULES

    if not (recordings or validation) or payload + drives + (validation is not None) > 1:
        raise ArgumentError('it is not clear what to identify', name='RECORDING', remedy='pass '
                            'recordings, or one to --validate, or both; with --payload or '
                            '--drive-gains recordings only')
    if not drives and (loaded or mass or known) or frame and not (drives or payload):
        raise ArgumentError('--loaded, --mass and --known are those of --drive-gains, and --frame '
                            'of --payload, too', name='--drive-gains', remedy='add it, or leave '
                            'them out')
    out = console(as_json)
    chosen = chosen_robot(robot, locked, root, tip, gravity,
                          massless='warn' if recordings else 'refuse')
    reading = read_options(columns, units, rate, topic, joints)
    preparation = PreparationOptions(cutoff=cutoff, accept=tuple(accept))
    late, code = seconds('--delay', delay), 0
    if drives:
        figures = drive_gains(chosen, recordings, (loaded, frame, mass, com), known, reading,
                              preparation, out)
    elif payload:
        if len(recordings) > 1:
            raise ParameterError('--payload takes one recording', name='--payload',
                                 value=len(recordings), remedy='leave the others out')
        figures = find_load(chosen, recording_of(recordings[0], chosen, reading, out), frame,
                            friction, late, preparation, out)
    elif validation is not None and not recordings:
        figures = measured(validate(chosen, recording_of(validation, chosen, reading, out),
                                    friction, late, moving or None, preparation, out))
    else:
        require_modules('identify', REQUIRED_MODULES, IdentificationError)
        selection = ParameterSelection(static=static, directions=directions, moving=moving)
        options = PipelineOptions(selection, armature, split, late, tilt and not root,
                                  distance('--presliding', presliding), preparation, force)
        found = run(recordings, validation, chosen, reading, options, output, out,
                    robot_options(chosen, root, tip, gravity),
                    reading_words(columns, units, rate, topic, joints), verbose=verbose)
        figures, code = measured(found.validation), UNIDENTIFIED * bool(found.unidentified)
    if as_json:
        print_json(figures)
    if code:
        raise typer.Exit(code)


def measured(of: Validation) -> dict[str, Any]:
    """Return how well a model predicts, for a script: RMS [N·m | N], also relative."""
    return {'joints': of.joint_names, 'rms': of.rms, 'relative': of.relative,
            'mean_relative': of.relative.mean()}


def run(paths: Sequence[Path], verification: Path | None, robot: CatalogRobot,
        reading: dict[str, Any], options: PipelineOptions, output: Path, out: Console,
        same_robot: Sequence[str] = (), same_files: Sequence[str] = (), *,
        verbose: bool = False) -> Identification:
    """
    Identify the robot, print a summary, write the files and a report.

    :param paths: of the recordings that are fitted; ``verification``: of the one that is not.
    :param same_robot: options by which another command has this robot; ``same_files``: those by
        which it reads recordings likewise.
    :param verbose: print all notes and tables of the report, too.
    """
    from .identification_report import report
    from ..identification.pipeline import run as identified, Source
    from ..identification.result_files import FRICTION, URDF, writable_folder
    from ..report.document import hashed
    from ..report.scene import MovingRobot

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
                found, written = identified(
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
                report(found, source.text, _scene(moving, out),
                       hashed([*paths, verification, robot.path])).html(), encoding='utf-8')
    out.print(f'wrote {", ".join(map(str, (*written, output / REPORT)))}', soft_wrap=True)
    if not verbose:
        out.print('all parameters, terms and notes: in the report, or with --verbose')
    out.print('check it on another recording: ' + shlex.join([
        'robodyn', 'identify', '--validate', 'RECORDING', '--robot', str(output / URDF),
        '--friction', str(output / FRICTION), *same_robot, *same_files]), soft_wrap=True)
    out.print('suggested next excitation: ' + shlex.join([
        'robodyn', 'excite', str(with_meshes(output / URDF, robot.path)),
        *same_robot, '--at', ','.join(f'{value:.6g}' for value in robot.pose), *same_files,
        '--criterion', 'information',
        *(word for path in paths for word in ('--after', str(path)))]), soft_wrap=True)
    return found


def _print_summary(found: Identification, source: str, out: Console) -> None:
    """Print how well the result predicts, and friction and armature of each joint."""
    from .identification_report import summary_table
    from ..identification.result import NOMINAL

    mean, before = (100 * of.relative.mean() for of in (
        found.validation, found.validations[NOMINAL]))
    if found.unidentified:
        out.print(f'! {found.unidentified_line}', style='yellow', soft_wrap=True)
    out.print(f'{found.nominal.name}: {found.estimate.base.rank} base parameters from {source}, '
              f'method {found.estimate.method}', soft_wrap=True)
    out.print(f'error of predicted efforts, mean relative RMS on motion that was not fitted: '
              f'{mean:.2f} %, with the original URDF {before:.1f} %', soft_wrap=True)
    out.print(summary_table(found))


def _print_tables(found: Identification, out: Console) -> None:
    """Print parameters, friction, terms and errors."""
    from .identification_report import (
        band_table, comparison, friction_table, measures, parameter_table)
    from ..identification.result import TERMS_TITLE

    out.print(parameter_table(found))
    out.print(friction_table(found))
    if found.terms:
        out.print(TERMS_TITLE, style='bold')
        show(found.terms, out)
    out.print(comparison(found.validations))
    for name, why in found.absent.items():
        out.print(f'{name}: {why}')
    out.print(measures(found.validation, f'{found.estimate.method}, as exported'))
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
    from ..identification.excitation.collisions import shapes

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
    """Return the text of a URDF with its line endings, without a declaration of its encoding."""
    from ..identification.urdf_update import decoded, encoding_of
    from ..model.urdf_source import expanded, is_xacro

    if is_xacro(path):
        return expanded(path)
    content = path.read_bytes()
    text = decoded(content, encoding_of(content))
    return DECLARED_ENCODING.sub(r'\1', text, count=1)


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
