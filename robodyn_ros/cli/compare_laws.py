# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommand `compare-laws`: figures and picture of control laws on one trajectory."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from pathlib import Path
from typing import Annotated, TYPE_CHECKING

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text
import typer

from .options import (
    AcceptInertia, AsJson, At, chosen_robot, command, console, DEVELOP, Gravity, Locked,
    locked_joints, print_json, ReportFile, Robot, Root, Tip)
from ..errors import ArgumentError, DemoError, require_modules

if TYPE_CHECKING:
    from ..catalog.robots import CatalogRobot
    from ..control.settings.settings import Settings
    from ..law_comparison import Figures
    from ..model.robot import RobotModel
    from ..report.document import Report


@command(DEVELOP, 'my_arm.urdf --law pd --law my_law:LAW --config my_arm.yaml')
def compare_laws(robot: Robot = 'panda', locked: Locked = [], at: At = '',  # noqa: B006
                 root: Root = '',
                 tip: Tip = '',
                 gravity: Gravity = '',
                 duration: Annotated[float, typer.Option(
                     min=0.5, max=60.0, help='Duration of the motion (s), extended if the limits '
                     'of the robot require it.')] = 4.0,
                 law: Annotated[list[str], typer.Option(
                     '--law', metavar='MODE', help='Law to compare, also one of your own: '
                     'my_law:LAW; default: all of this package. Repeatable.')] = [],  # noqa: B006
                 config: Annotated[list[Path], typer.Option(
                     '--config', metavar='YAML', help='Parameter file of a controller to compare. '
                     'Repeatable.')] = [],  # noqa: B006
                 accept_inertia: AcceptInertia = False,
                 picture: Annotated[Path, typer.Option(
                     '--picture', metavar='PNG', help='File of the picture.')
                     ] = Path('build/compare_laws.png'),
                 report: ReportFile = None, as_json: AsJson = False) -> None:
    """Compare laws or parameter files in MuJoCo with an exact and a perturbed model."""
    require_modules('compare-laws', ['mujoco', 'matplotlib'], DemoError)
    from ..control.laws.registry import FOLLOWING
    from .. import law_comparison
    from ..law_comparison import compare, draw
    from ..model.robot import units

    chosen = chosen_robot(robot, locked, root, tip, gravity, at, roomy=True,
                          accepted_links=['*'] if accept_inertia else None)
    _check(picture)
    out = console()
    candidates = _candidates(robot, chosen.model, law, config, locked, out)
    found: list[Figures] = []
    every, (unit, _) = 2 * (len(candidates) or len(FOLLOWING)), units(chosen.model, 'm')
    with out.status(f'0 of {every}: compiling ...') as status:
        for figures in compare(chosen.model, chosen.pose, duration, candidates):
            found.append(figures)
            result = figures.fault or f'RMS {1e3 * figures.rms:.3g} {unit}'
            done = f'{len(found)} of {every}: {figures.law}, {figures.scene}, {result}'
            status.update(done)
            if not (out.is_terminal or as_json):
                out.print(done)
    if as_json:         # the picture and a report are written all the same
        out.quiet = True
        print_json([{name: value for name, value in one._asdict().items()
                     if name not in ('time', 'error')} for one in found])
    out.print(_table(chosen.model, found))
    given = '--config, else ' if config else ''
    out.print(f'Gains: {given}`robodyn init`. Perturbed model: masses off by up to '
              f'{100 * law_comparison.MASS_ERROR:g} %, unknown friction of the arm '
              f'({100 * law_comparison.MISSING_FRICTION:g} % of the effort limit or that of the '
              f'URDF), efforts {1e3 * law_comparison.EFFORT_DELAY:g} ms late.')
    for figures in (one for one in found if one.fault):
        out.print(f'{figures.scene}, {figures.law}: {figures.fault}: {figures.reason}',
                  style='yellow', soft_wrap=True)
    draw(chosen.model, found, picture)
    out.print(f'errors against time: {picture}', soft_wrap=True)
    if report is not None:
        _report(chosen, found, duration).write(report)
        out.print(f'report: {report}', soft_wrap=True)
    if any(one.fault for one in found):
        raise typer.Exit(1)


def _candidates(robot: str, model: RobotModel, laws: Sequence[str], configs: Sequence[Path],
                locked: Sequence[str], out: Console) -> dict[str, Settings | None]:
    """Return what to compare: settings by name, None for those that suggested gains give a law."""
    from .verify import configured_robot
    from ..control.laws import registry

    found: dict[str, Settings | None] = dict.fromkeys(laws)
    for path in configs:
        _, of, settings = configured_robot(robot, locked_joints(locked), path, out)
        if of.model.joint_names != model.joint_names:
            raise ArgumentError(f'{path} drives the joints {", ".join(of.model.joint_names)}',
                                name='--config', value=str(path), remedy='give its --root, '
                                '--tip and --locked, or choose files for '
                                + ', '.join(model.joint_names))
        found[path.stem if path.stem not in found else str(path)] = settings
    for name, given in found.items():
        mode = given.mode if given else name
        if not registry.find(mode).follows:
            raise ArgumentError(f'{f"mode {mode} of {name}" if given else mode} follows no '
                                'trajectory', name=name, value=mode,
                                remedy=f'choose one of {", ".join(registry.FOLLOWING)}, or a law '
                                'of your own with reference=TRAJECTORY')
    return found


def _report(robot: CatalogRobot, found: list[Figures], duration: float) -> Report:
    from ..control.references import sine_motion
    from ..dynamics import Dynamics
    from ..model.robot import units
    from ..report.document import Report
    from ..report.scene import FRAME_RATE, moving_robot

    model = robot.model
    report = Report(f'Control laws on {model.name}', 'One trajectory in MuJoCo, with the true '
                    'model and with a false one.')
    report.rich('', _table(model, found))
    asked = sine_motion.plan(Dynamics(model), robot.pose, duration)
    time = np.arange(0.0, asked.times[-1], 1 / FRAME_RATE)
    if moving := moving_robot(model, robot.path, time, sine_motion.reference(model, asked)(time)):
        report.page('The trajectory', moving)
    unit, _ = units(model, 'm')
    for scene in dict.fromkeys(one.scene for one in found):
        shown = [one for one in found if one.scene == scene and len(one.time)]
        if shown:
            time = max((one.time for one in shown), key=len)
            report.plot(f'{scene}: error, RMS of all joints', time, {
                one.law: np.interp(time, one.time, 1e3 * one.error, right=np.nan)
                for one in shown}, 'time [s]', f'[{unit}]', logarithmic=True)
    return report


def _check(picture: Path) -> None:
    """Raise :class:`ArgumentError` for a picture that could not be written in the end."""
    try:
        if picture.suffix != '.png':
            raise OSError('it does not end in .png')
        picture.parent.mkdir(parents=True, exist_ok=True)
        picture.touch()
    except OSError as error:
        raise ArgumentError(f'{picture} cannot be written ({error})', name='--picture',
                            value=str(picture),
                            remedy='choose a --picture path that ends in .png') from error


def _table(model: RobotModel, found: list[Figures]) -> Table:
    from ..model.robot import units

    unit, _ = units(model, 'm')
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False,
                  title=f'{model.name}: errors [{unit}], effort roughness [10⁻³ effort limits]')
    for heading in ('model', 'law'):
        table.add_column(heading, no_wrap=True)
    for heading in ('RMS', 'peak', 'steady state', 'at rest', 'roughness'):
        table.add_column(Text(heading), justify='right')
    if any(one.fault for one in found):
        table.add_column('', no_wrap=True)
    scene = ''
    for figures in found:
        if scene not in ('', figures.scene):
            table.add_section()
        table.add_row(figures.scene.split()[0] if figures.scene != scene else '', figures.law,
                      *('' if isnan(value) else f'{1e3 * value:.3g}' for value in figures[2:7]),
                      *([figures.fault] if figures.fault else []))
        scene = figures.scene
    return table
