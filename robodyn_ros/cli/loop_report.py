# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Timing of a control loop from its log, for `robodyn check-machine --timing`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy import ndarray
from rich import box
from rich.console import Console
from rich.table import Table

from ..errors import ArgumentError
from ..realtime.statistics import load, rate, Recording, spread
from ..report.document import Report

COLUMNS = {'wake_up': 'wake-up error', 'cycle': 'cycle time', 'age': 'age of the state',
           'answer': 'state to effort'}
BARS = '▁▂▃▄▅▆▇█'
TABLE_BINS = 12


def run(path: Path, out: Console, *, page: Path | None = None) -> None:
    """Print the statistics of a timing log; ``page``: file of a report with histograms."""
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
