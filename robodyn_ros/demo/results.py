# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Measurements and checks of the demo, their tables, pictures and report."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import nan
from pathlib import Path
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np
from numpy import ndarray
from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ..model.robot import RobotModel, units
from ..report.document import hashed, Report
from ..report.run_figure import COLORS
from ..report.scene import moving_robot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CONTACT_DURATION = 0.5    # [s], at most
WITHOUT, WITH = 'without detection', 'with detection'     # of a contact
RESULTS = {True: Text('passed', 'green'), False: Text('FAILED', 'bold red'),
           None: Text('not shown', 'yellow')}
RESOLUTION = 1e-6       # rad | m: smaller distances are below what an encoder resolves


def thousandths(value: float) -> str:
    """Return a distance in mrad or mm, `< 0.001` below the resolution of encoders."""
    return f'{1e3 * value:.3g}' if value >= RESOLUTION else f'< {1e3 * RESOLUTION:g}'


class Tracking(NamedTuple):
    """Trajectory under one control law: time [s] from its start, errors and states."""

    mode: str
    time: ndarray               # (N,)
    error: ndarray              # (N, nv) [rad | m] measured less reference
    effort: ndarray             # (N, nv) [N·m | N]
    position: ndarray           # (N, nv) [rad | m]

    @property
    def rms(self) -> float:
        """Root of the mean square over time and joints [rad | m]."""
        return float(np.sqrt(np.mean(np.square(self.error))))

    @property
    def peak(self) -> float:
        """Largest error of any joint [rad | m]."""
        return float(np.abs(self.error).max())


class Trace(NamedTuple):
    """A quantity over time: (N,) [s], (N,), and what it should be, (N,)."""

    time: ndarray
    value: ndarray
    reference: ndarray


class Check(NamedTuple):
    """Condition that must hold, and whether it does; None: this arm cannot show it."""

    what: str
    measured: str
    required: str
    passed: bool | None


@dataclass
class Results:
    """Checks of one run, and what the tables and the picture show of its scene."""

    checks: list[Check] = field(default_factory=list)
    drift: float = nan          # rad | m, of the floating joint that went furthest
    trackings: list[Tracking] = field(default_factory=list)
    traces: dict[str, Trace] = field(default_factory=dict)      # of the contact scene
    found: float = nan          # s from the first contact to the detection

    @property
    def passed(self) -> bool:
        """Whether no check has failed."""
        return all(check.passed is not False for check in self.checks)

    @property
    def verdict(self) -> str:
        """Return a sentence: the first check that has failed, with what it has measured."""
        failed = [check for check in self.checks if check.passed is False]
        if not failed:
            shown = sum(check.passed is True for check in self.checks)
            return (f'All {len(self.checks)} checks have passed.' if shown == len(self.checks) else
                    f'{shown} of {len(self.checks)} checks have passed, the others cannot fail '
                    'with this arm at this pose.')
        first = failed[0]
        return (f'{len(failed)} of {len(self.checks)} checks have failed: {first.what}: measured '
                f'{first.measured}, required {first.required}.')


def tables(model: RobotModel, results: Results) -> Group:
    """Return the measurements in each mode, if there are any, and the pass/fail checks."""
    unit, _ = units(model, 'm')
    measured = _table(f'{model.name}: measurements')
    measured.add_column('mode', no_wrap=True)
    for column in (f'drift [{unit}]', f'RMS error [{unit}]', f'peak error [{unit}]'):
        measured.add_column(Text(column), justify='right')
    if results.trackings:
        measured.add_row('gravity_compensation', thousandths(results.drift), '', '')
    for one in results.trackings:
        measured.add_row(one.mode, '', thousandths(one.rms), thousandths(one.peak))
    verdicts = _table(f'{model.name}: checks', 'check', 'measured', 'required')
    verdicts.add_column('result', no_wrap=True)
    for check in results.checks:
        verdicts.add_row(*check[:3], RESULTS[check.passed])
    return Group(*([measured] if measured.row_count else []), verdicts)


def real_time_table(values: dict[str, str], busy: bool) -> Table:
    """
    Return what the control loop has achieved in real time, which no check depends on.

    :param values: of its diagnostics.
    :param busy: whether other processes compete for the processors.
    """
    table = _table('Control loop in real time' + (
        ', measured while the machine was busy' if busy else ''), 'rate [Hz]', 'missed periods',
        'state to effort p50 [us]', 'p99 [us]')
    if values.get('phase') == 'RUNNING':
        table.add_row(*(values.get(name, '') for name in (
            'rate [Hz]', 'missed periods', 'state to effort p50 [us]',
            'state to effort p99 [us]')))
    else:
        table.add_row(values.get('reason code') or 'not RUNNING', '', '', '')
    return table


def page(model: RobotModel, urdf: Path, results: Results, shown: list[RenderableType],
         parameters: Mapping[str, Mapping[str, Any]]) -> Report:
    """
    Return the report of a run.

    :param urdf: file with the shapes of the robot; ``parameters`` of each node by name.
    """
    unit, effort_unit = units(model, 'm')
    report = Report(f'Demo: {model.name}', 'Free fall, gravity compensation, a push, and one '
                    'trajectory under three control laws of equal stiffness.',
                    verdict=results.verdict, bad=not results.passed, files=hashed([urdf]))
    for table in shown:
        report.rich('', table)
    best = min(results.trackings, key=lambda tracking: tracking.rms)
    if scene := moving_robot(model, urdf, best.time, best.position):
        report.page(f'The motion, under {best.mode}', scene)
    report.plot('Tracking error, RMS of all joints', best.time, {
        one.mode: 1e3 * np.sqrt(np.mean(one.error**2, axis=1)) for one in results.trackings},
        'time [s]', f'[{unit}]', logarithmic=True)
    report.legend(dict(zip(model.joint_names, COLORS)))
    for name, of in (('error', unit), ('effort', effort_unit)):
        for one in results.trackings:
            values = 1e3 * one.error if name == 'error' else one.effort
            report.plot(f'{one.mode}: {name} of each joint, up to {abs(values).max():.3g} {of}',
                        one.time, dict(zip(model.joint_names, values.T)), 'time [s]', '',
                        small=True)
    for node, given in parameters.items():
        report.parameters(f'Parameters of the {node}', given)
    return report


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify='left', title_style='bold', box=box.SIMPLE_HEAD,
                  pad_edge=False, padding=(0, 1, 0, 0))
    for column in columns:
        table.add_column(Text(column))
    return table


MIN_SHOWN_ERROR = 1e-3    # [mrad | mm], of the logarithmic axis
BEFORE, AFTER = 0.1, 0.8        # s around the contact


def late_force(pressed: Trace) -> float:
    """Return the largest force of the post from CONTACT_DURATION after the contact on [N]."""
    return float(pressed.value[pressed.time > CONTACT_DURATION].max())


def draw(model: RobotModel, results: Results, path: Path) -> None:
    """Write the picture of a scene as PNG."""
    from matplotlib.figure import Figure  # which takes its time

    figure = Figure(figsize=(13, 10) if results.trackings else (12, 7.5), layout='constrained',
                    dpi=110)
    (_draw_trackings if results.trackings else _draw_contacts)(figure, model, results)
    for axes in figure.axes:
        axes.grid(which='both', alpha=0.25)
    figure.savefig(path)


def _draw_trackings(figure: 'Figure', model: RobotModel, results: Results) -> None:
    """Draw tracking error (all joints, then each) and effort against time."""
    import matplotlib as mpl

    trackings: list[Tracking] = results.trackings
    unit, effort_unit = units(model, 'm')
    grid = figure.add_gridspec(3, len(trackings), height_ratios=(1.1, 1, 1))
    figure.suptitle(f'{_plain(model.name)}: one trajectory, three control laws of equal stiffness')
    norms = figure.add_subplot(grid[0, :])
    for one in trackings:
        norm = 1e3 * np.sqrt(np.mean(one.error**2, axis=1))
        norms.semilogy(one.time, np.maximum(norm, MIN_SHOWN_ERROR), lw=1.2,
                       label=f'{one.mode}: RMS {1e3 * one.rms:.3g} {unit}')
    norms.set(ylabel=f'error, RMS of all joints [{unit}]', xlim=(0, trackings[0].time[-1]),
              ylim=(MIN_SHOWN_ERROR, None))
    norms.legend(loc='lower right', ncols=len(trackings))
    colors = mpl.colormaps['tab10' if model.nv <= 10 else 'viridis'].resampled(max(model.nv, 10))
    efforts = None
    for column, one in enumerate(trackings):
        errors = figure.add_subplot(grid[1, column], sharex=norms, title=one.mode)
        efforts = figure.add_subplot(grid[2, column], sharex=norms, sharey=efforts,
                                     xlabel='time [s]')
        for joint, name in enumerate(model.joint_names):
            errors.plot(one.time, 1e3 * one.error[:, joint], color=colors(joint), lw=1.1)
            efforts.plot(one.time, one.effort[:, joint], color=colors(joint), lw=1.1,
                         label=_plain(name))
        if column == 0:
            errors.set_ylabel(f'error of each joint [{unit}]\n(note the scales)')
            efforts.set_ylabel(f'effort [{effort_unit}]')
            figure.legend(*efforts.get_legend_handles_labels(), loc='outside lower center',
                          ncols=min(model.nv, 7))


def _draw_contacts(figure: 'Figure', model: RobotModel, results: Results) -> None:
    """Draw displacement and estimate of the push, way of the hand, force of the post."""
    traces = results.traces
    figure.suptitle(f'{_plain(model.name)}: pushed, guided by hand, into a post')
    (pushed, felt), (led, pressed) = figure.subplots(2, 2)
    _pair(pushed, traces['tool'], 1e3, 'tool', 'F / K while the force acts',
          'Pushed: cartesian_impedance', 'displacement [mm]')
    _pair(felt, traces['felt'], 1.0, 'estimated', 'exerted by the push',
          'Felt: external efforts of the joints', f'norm [{units(model)[1]}]')
    _pair(led, traces['hand'], 1e3, 'tool', 'hand', 'Guided: gravity_compensation', 'way [mm]')
    for name, color in ((WITHOUT, 'tab:gray'), (WITH, 'tab:red')):
        time, force, _ = traces[name]
        near = (time > -BEFORE) & (time < AFTER)
        pressed.plot(1e3 * time[near], force[near], color=color, lw=1.4, label=(
            f'{name}: {late_force(traces[name]):.0f} N after {CONTACT_DURATION:g} s'))
    pressed.axvline(1e3 * results.found, color='black', lw=0.8, ls=':',
                    label=f'found after {1e3 * results.found:.1f} ms')
    pressed.set(title='Collision: joint_impedance into a post', ylabel='force of the post [N]',
                xlabel='time since the contact [ms]')
    pressed.legend(fontsize=8)


def _pair(axes: Any, trace: Trace, scale: float, name: str, reference: str, title: str,
          label: str) -> None:
    axes.plot(trace.time, scale * trace.reference, color='tab:gray', lw=1.0, ls='--',
              label=reference)
    axes.plot(trace.time, scale * trace.value, color='tab:blue', lw=1.4, label=name)
    axes.set(title=title, ylabel=label, xlabel='time [s]')
    axes.legend(fontsize=8)


def _plain(name: str) -> str:
    """Return a name so that it is not drawn as a formula."""
    return name.replace('$', r'\$')
