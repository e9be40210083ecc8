# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Result tables of the demo for a terminal of 80 columns, and its report as a page."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from .results import Loop, Results, thousandths
from ..model.robot import RobotModel
from ..report.document import Report
from ..report.scene import moving_robot
from ..report.units import units


def tables(model: RobotModel, results: Results) -> Group:
    """Return the measurements in each mode, if there are any, and the pass/fail checks."""
    unit, _ = units(model, 'm')
    measured = _table(f'{model.name}: measurements')
    measured.add_column('mode', no_wrap=True)
    for column in (f'drift [{unit}]', f'RMS error [{unit}]', f'peak error [{unit}]', 'rate [Hz]',
                   'missed periods', 'rejected samples'):
        measured.add_column(Text(column), justify='right')

    def loop(figures: Loop) -> list[str]:
        return [f'{figures.rate:.1f}', str(figures.missed), str(figures.refused)]
    if results.floating is not None:
        measured.add_row('gravity_compensation', thousandths(results.floating.drift), '', '',
                         *loop(results.floating.loop))
    for tracking in results.trackings:
        measured.add_row(tracking.mode, '', thousandths(tracking.rms),
                         thousandths(tracking.peak), *loop(tracking.loop))

    verdicts = _table(f'{model.name}: checks' if not measured.row_count else 'Checks')
    for column in ('check', 'measured', 'required'):
        verdicts.add_column(column)
    verdicts.add_column('result', no_wrap=True)
    for check in results.checks:
        verdicts.add_row(check.what, check.measured, check.required,
                         Text('passed', 'green') if check.passed else Text('FAILED', 'bold red'))
    return Group(measured, verdicts) if measured.row_count else Group(verdicts)


def page(model: RobotModel, urdf: Path, results: Results,
         parameters: Mapping[str, Mapping[str, Any]]) -> Report:
    """
    Return the report of a run.

    :param urdf: file with the shapes of the robot; ``parameters`` of each node by name.
    """
    unit, effort_unit = units(model, 'm')
    report = Report(f'Demo: {model.name}', 'Free fall, gravity compensation, a push, and one '
                    'trajectory under three control laws of equal stiffness.')
    for table in tables(model, results).renderables:
        report.rich('', table)
    if results.trackings:
        best = min(results.trackings, key=lambda tracking: tracking.rms)
        if scene := moving_robot(model, urdf, best.time, best.position):
            report.page(f'The motion, under {best.mode}', scene)
        first = results.trackings[0].time
        report.plot('Tracking error, RMS of all joints', first, {
            one.mode: np.interp(first, one.time, 1e3 * np.sqrt(np.mean(one.error**2, axis=1)))
            for one in results.trackings}, 'time [s]', f'[{unit}]', logarithmic=True)
    for one in results.trackings:
        for name, values, of in (('error', 1e3 * one.error, unit),
                                 ('effort', one.effort, effort_unit)):
            report.plot(f'{one.mode}: {name} of each joint', one.time,
                        dict(zip(model.joint_names, values.T)), 'time [s]', f'[{of}]')
    for node, given in parameters.items():
        report.parameters(f'Parameters of the {node}', given)
    return report


def _table(title: str) -> Table:
    return Table(title=title, title_justify='left', title_style='bold', box=box.SIMPLE_HEAD,
                 pad_edge=False, padding=(0, 1, 0, 0))
