# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommand `loop-report`: timing of a control loop from its log."""

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy import ndarray
from rich import box
from rich.console import Console
from rich.table import Table
import typer

from .options import AsJson, command, console, DIAGNOSE, print_json, ReportFile, save_picture
from ..errors import ArgumentError
from ..extras import pip_install
from ..realtime.statistics import load, rate, Recording, spread
from ..report.document import Report

COLUMNS = {'wake_up': 'wake-up error', 'cycle': 'cycle time', 'age': 'age of the state',
           'answer': 'state to effort'}
BARS = '▁▂▃▄▅▆▇█'
TABLE_BINS = 12
PICTURE_BINS = 80


@command(DIAGNOSE, '/tmp/timing.npz --report timing.html')
def loop_report(file: Annotated[Path, typer.Argument(
                    metavar='FILE', help='File written by a controller with the parameter '
                                         'timing_file.')],
                picture: Annotated[Path | None, typer.Option(
                    '--picture', metavar='PNG', help='File of the histograms; default: beside '
                    'FILE.')] = None,
                report: ReportFile = None, as_json: AsJson = False) -> None:
    """Show the timing of a control loop: statistics, and a picture of histograms."""
    if as_json:
        print_json(figures(file))
        return
    run(file, picture or file.with_suffix('.png'), console(), page=report)


def run(path: Path, picture: Path, out: Console, *, page: Path | None = None) -> None:
    """Print the statistics of a timing log and draw its histograms; ``page``: a report."""
    recording = _loaded(path)
    about = recording.about
    mean, deviation = rate(recording.cycles)
    kept = len(recording.cycles)
    out.print(f'{kept} cycles' + (f', the last of {about.cycles}' if about.cycles > kept else '')
              + f', trigger {about.trigger}, {about.data_path}, {about.scheduling}',
              style='bold')
    nominal = f', nominally {about.rate:g}' if about.trigger == 'timer' else ''
    out.print(f'rate {mean:.2f} ± {deviation:.2f} Hz{nominal}; {about.overruns} overruns, '
              f'{about.missed} points of the grid missed, {about.lost} samples lost')
    out.print(_table(recording))
    if page is not None:
        _report(recording, path.name).write(page)
        out.print(f'report: {page}', soft_wrap=True)
    if find_spec('matplotlib') is None:
        out.print(f'no picture: matplotlib is not installed ({pip_install("matplotlib")})',
                  style='yellow')
        return
    with out.status('drawing ...'):         # in a terminal only
        _draw(recording, path.name, picture)
    out.print(f'histograms: {picture}')


def figures(path: Path) -> dict[str, Any]:
    """Return the statistics of a timing log for a script: times in s, rates in Hz."""
    recording = _loaded(path)
    mean, deviation = rate(recording.cycles)
    about = recording.about
    return {'cycles': len(recording.cycles), 'rate_mean': mean, 'rate_deviation': deviation,
            'overruns': about.overruns, 'missed': about.missed, 'lost': about.lost,
            **{column: spread(recording.cycles[column]).named() for column in COLUMNS}}


def _loaded(path: Path) -> Recording:
    recording = load(path)
    if not len(recording.cycles):
        raise ArgumentError(f'{path} holds no cycle', name='file', value=str(path),
                            remedy='let the controller be active for a while')
    return recording


def _report(recording: Recording, title: str) -> Report:
    about = recording.about
    report = Report(f'Timing of {title}', f'{len(recording.cycles)} cycles, trigger '
                    f'{about.trigger}, {about.data_path}, {about.scheduling}')
    report.rich('Figures', _table(recording))
    cycles = np.arange(float(len(recording.cycles)))
    for column, name in COLUMNS.items():
        x = 1e6 * recording.cycles[column]
        if np.isfinite(x).any():
            report.histogram(f'{name}: histogram', {name: x}, 'µs')
            report.plot(f'{name}: every cycle', cycles, {name: x}, 'cycle', 'µs')
    return report


def _table(recording: Recording) -> Table:
    return spread_table('[µs]', {name: 1e6 * recording.cycles[column]
                                 for column, name in COLUMNS.items()})


def spread_table(heading: str, samples: Mapping[str, ndarray]) -> Table:
    """Return percentiles and a histogram of (N,) samples [µs] by name, NaN: not measured."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in (heading, 'p50', 'p99', 'p99.9', 'max', 'from 0 to p99.9, logarithmic'):
        table.add_column(column, justify='right' if column[0] in 'pm' else 'left')
    for name, x in samples.items():
        figures = spread(x)
        if np.isnan(figures.max):
            table.add_row(name, *4 * ('-',), 'not measured with this trigger')
            continue
        table.add_row(name, *(f'{v:.1f}' for v in figures[2:]), _bars(x, figures.p999))
    return table


def _bars(x: ndarray, upper: float) -> str:
    """Return a histogram as a word: heights are logarithmic, empty bins are blank."""
    counts, _ = np.histogram(x[np.isfinite(x)], TABLE_BINS, (0.0, max(upper, 1e-9)))
    heights = np.log1p(counts) / max(np.log1p(counts.max()), 1e-9)
    return ''.join(BARS[int(h * (len(BARS) - 1))] if h else ' ' for h in heights)


def _draw(recording: Recording, title: str, picture: Path) -> None:
    """
    Write the histograms.

    :raises ArgumentError: the picture cannot be written.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({'font.size': 9}):
        figure = Figure(figsize=(7.0, 7.5), layout='constrained')
        axes = figure.subplots(len(COLUMNS), 1)
        for ax, (column, name) in zip(axes, COLUMNS.items()):
            x = 1e6 * recording.cycles[column]
            figures = spread(x)
            ax.set_title(name, loc='left')
            ax.set_xlabel('µs')
            ax.set_ylabel('cycles')
            if np.isnan(figures.max):
                ax.text(0.5, 0.5, 'not measured', ha='center', transform=ax.transAxes)
                continue
            ax.hist(x[np.isfinite(x)], PICTURE_BINS, log=True, color='#4878a8')
            for name, style in (('p50', '-'), ('p99', '--'), ('p99.9', ':')):
                ax.axvline(figures.named()[name], color='#303030', lw=1, ls=style,
                           label=f'{name} {figures.named()[name]:.1f}')
            ax.plot([], [], ' ', label=f'max {figures.max:.1f}')
            ax.legend(fontsize=8)
        figure.suptitle(f'{title}: {recording.about.scheduling}', x=0.02, ha='left')
        save_picture(figure, picture)
