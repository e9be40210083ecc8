# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The results as two tables."""

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from ..model.robot import RobotModel
from .results import Loop, Results


def units(model: RobotModel) -> tuple[str, str]:
    """Return the units of thousandths of positions, and of efforts, for tables and axes."""
    slides = {kind == 'prismatic' for kind in model.joint_types}
    if len(slides) > 1:
        return 'mrad | mm', 'N·m | N'
    return ('mm', 'N') if slides.pop() else ('mrad', 'N·m')


def tables(model: RobotModel, results: Results) -> Group:
    """Return what was measured in each mode, and the verdicts."""
    unit, _ = units(model)
    measured = Table(title=f'{model.name}: what was measured', title_justify='left',
                     title_style='bold', box=box.SIMPLE_HEAD)
    measured.add_column('mode')
    for column in (f'drift [{unit}]', f'RMS error [{unit}]', f'peak error [{unit}]', 'rate [Hz]',
                   'missed periods', 'refused samples'):
        measured.add_column(Text(column), justify='right')

    def loop(figures: Loop) -> list[str]:
        return [f'{figures.rate:.1f}', str(figures.missed), str(figures.refused)]
    if results.floating is not None:
        measured.add_row('gravity_compensation', f'{1e3 * results.floating.drift:.3g}', '', '',
                         *loop(results.floating.loop))
    for tracking in results.trackings:
        measured.add_row(tracking.mode, '', f'{1e3 * tracking.rms:.3g}',
                         f'{1e3 * tracking.peak:.3g}', *loop(tracking.loop))

    verdicts = Table(title='What had to be', title_justify='left', title_style='bold',
                     box=box.SIMPLE_HEAD)
    for column in ('check', 'measured', 'required', ''):
        verdicts.add_column(column)
    for check in results.checks:
        verdicts.add_row(check.what, check.measured, check.required,
                         Text('passed', 'green') if check.passed else Text('FAILED', 'bold red'))
    return Group(measured, verdicts)
