# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommand `simulate`: a robot with its parameter file in MuJoCo, without ROS."""

from __future__ import annotations

from collections.abc import Sequence
import csv
from pathlib import Path
from typing import Annotated, TYPE_CHECKING

import numpy as np
from numpy import ndarray
import typer

from .options import (
    At, command, console, Locked, locked_joints, MODEL, numbers, ReportFile, Robot, table)
from ..errors import ArgumentError, DemoError, require_modules, SimulationError, writing

if TYPE_CHECKING:
    from ..closed_loop import Simulated
    from ..report.document import Report


@command(MODEL, 'my_arm.urdf --config my_arm.yaml --motion excite.yaml --csv run.csv')
def simulate(robot: Robot, config: Annotated[Path | None, typer.Option(
                 metavar='YAML', help='Parameter file of the controller; default: '
                 'config/ROBOT.yaml.')] = None,
             motion: Annotated[Path | None, typer.Option(
                 metavar='FILE', help='Trajectory to follow from its start, as `robodyn teach` or '
                 '`excite` writes it, or a recording; default: hold the pose.')] = None,
             duration: Annotated[float | None, typer.Option(
                 min=0.01, help='Duration (s); default: that of the motion, else 2.')] = None,
             locked: Locked = [], at: At = '',  # noqa: B006
             csv_file: Annotated[Path | None, typer.Option(
                 '--csv', metavar='FILE', help='Also write time, positions, velocities, efforts '
                 'and references.')] = None,
             mcap: Annotated[Path | None, typer.Option(
                 '--mcap', metavar='FILE', help='Also write a flight recording, which `robodyn '
                 'replay` opens.')] = None,
             report: ReportFile = None) -> None:
    """Simulate a robot under its parameter file in MuJoCo; fails at a fault."""
    require_modules('simulate', ['mujoco'], DemoError)
    from .verify import configured_robot, waypoints
    from ..closed_loop import simulate as simulated
    from ..model.robot import units
    from ..model.validate import check_inertias

    if at and motion is not None:
        raise ArgumentError('--at has no effect with --motion', name='--at', value=at,
                            remedy='leave it out: the simulation begins where the motion does')
    out = console()
    values, chosen, settings = configured_robot(robot, locked_joints(locked), config, out,
                                                numbers('--at', at))
    check_inertias(chosen.model, values.get('accepted_links', []))
    asked = None if motion is None else waypoints(motion, chosen.model, settings)
    pose = chosen.pose if asked is None or asked.positions is None else asked.positions[0]
    seconds = duration or (2.0 if asked is None else float(asked.times[-1]))
    run = simulated(chosen.model, settings, pose, seconds, asked, record=mcap)
    if csv_file is not None:
        write_csv(csv_file, run.time, run.model.joint_names, run[1:4], run.reference)
    error, (unit, of_effort) = 1e3 * run.error, units(chosen.model, 'm')
    shown = table(f'{chosen.name}, {settings.mode}, {seconds:g} s', 'joint',
                  f'RMS error [{unit}]', f'greatest error [{unit}]',
                  f'greatest effort [{of_effort}]')
    for i, name in enumerate(chosen.model.joint_names):
        of_joint = error[~np.isnan(error[:, i]), i]
        errors = ('-', '-') if not len(of_joint) else (
            f'{np.sqrt(np.mean(of_joint**2)):.3g}', f'{abs(of_joint).max():.3g}')
        shown.add_row(name, *errors, f'{abs(run.effort[:, i]).max():.4g}')
    out.print(shown)
    for path in filter(None, (csv_file, mcap)):
        out.print(f'written: {path}', soft_wrap=True)
    if run.warning:
        out.print(f'! {run.warning}', style='yellow', soft_wrap=True)
    if report is not None:
        _report(run, f'{chosen.name} under {settings.mode}', [chosen.path, config, motion]
                ).write(report)
        out.print(f'report: {report}', soft_wrap=True)
    if run.fault:
        raise SimulationError(f'fault {run.code} at {run.fault_time:.3f} s: {run.fault}',
                              name=run.code, remedy='see safety.md, or `robodyn verify` for the '
                              'cause')


def write_csv(path: Path, time: ndarray, joint_names: Sequence[str],
              motion: Sequence[ndarray], reference: ndarray) -> None:
    """
    Write a row for each period, with the columns that `robodyn identify` reads.

    :param time: (N,) [s]; ``motion``: positions, velocities and efforts (N, nv), as ``reference``.
    """
    columns = dict(zip(('position', 'velocity', 'effort', 'reference'), (*motion, reference)))
    with writing(path, '--csv', 'choose a file for --csv'), path.open(
            'w', newline='', encoding='utf-8') as file:
        writer = csv.writer(file)
        writer.writerow(['time', *(f'{what}.{name}' for what in columns
                                   for name in joint_names)])
        writer.writerows(np.column_stack([time, *columns.values()]).tolist())


def _report(run: Simulated, title: str, files: list[Path | None]) -> Report:
    from ..report.document import Band, hashed, Report
    from ..report.run_figure import FAULT_COLOR

    report = Report(title, run.warning, bad=bool(run.fault), files=hashed(files), verdict=(
        f'Fault {run.code} at {run.fault_time:.3f} s: {run.fault}.' if run.fault else
        f'No fault in {run.time[-1]:.3g} s.'))
    bands = [Band(run.fault_time, run.time[-1], 'FAULT', FAULT_COLOR)] if run.fault else []
    for what, values, unit in (
            ('Tracking error', run.error, '[rad | m]'), ('Position', run.position, '[rad | m]'),
            ('Velocity', run.velocity, '[rad/s | m/s]'), ('Effort', run.effort, '[N·m | N]')):
        if np.isfinite(values).any():
            report.plot(what, run.time, dict(zip(run.model.joint_names, values.T)), 'time [s]',
                        unit, bands=bands)
    return report
