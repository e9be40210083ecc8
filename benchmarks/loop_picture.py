# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Round trips, processor time and wake-ups as bars."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
import numpy as np

from .loop_results import FIGURES, RATES

COLOURS = ('#274b73', '#4878a8', '#8fb4d6', '#cfe0ef')


def draw(found: Mapping[str, Any], path: Path) -> None:
    """Write a PNG: a panel each for round trips, CPU, states answered and wake-up errors."""
    figure = Figure(figsize=(13, 9), layout='constrained', dpi=110)
    figure.suptitle(f'7 joints at 1 kHz through DDS: medians of {found["rounds"]} rounds on '
                    f'{found["machine"]["cpu"]}, {found["machine"]["cpus"]} CPUs')
    trips, cpu, answered, late = figure.subplots(2, 2).flat
    peers, wake_ups = list(found['peers'].values()), list(found['wake_ups'].values())
    if peers:
        _bars(trips, peers, FIGURES, lambda row, f: row[f], '{:.0f}')
        trips.set(title='round trip: state published to efforts received', xlabel='µs',
                  xscale='log')
        _bars(cpu, peers, ('cpu',), lambda row, f: 100 * row[f], '{:.1f}')
        cpu.set(title='processor time of the controller', xlabel='% of a CPU')
        cpu.get_legend().remove()
        _bars(answered, peers, [str(rate) for rate in RATES],
              lambda row, rate: 100 * row['answered'][rate], '{:.1f}')
        answered.set(title='states answered, by rate [Hz]', xlabel='%')
    if wake_ups:
        _bars(late, wake_ups, FIGURES, lambda row, f: row[f], '{:.0f}')
        late.set(title='wake-up error; a hog keeps the interpreter', xlabel='µs',
                 xscale='log')
    for panel in (trips, cpu, answered, late):
        panel.margins(x=0.12)
        panel.grid(axis='x', alpha=0.3)
    figure.savefig(path)


def _bars(panel: Axes, rows: list[dict[str, Any]], figures: Any, read: Any, style: str) -> None:
    height = 0.8 / len(figures)
    known = [read(row, figure) for row in rows for figure in figures]
    longest = 2.0 * max((value for value in known if np.isfinite(value)), default=1.0)
    for k, (figure, colour) in enumerate(zip(figures, COLOURS)):
        places = [i + (k + 0.5) * height - 0.4 for i in range(len(rows))]
        values = [read(row, figure) for row in rows]
        # Where states had no answer, the figure is infinite: a bar across the panel
        bars = panel.barh(places, [min(value, longest) for value in values], height,
                          color=colour, label=figure)
        panel.bar_label(bars, [style.format(value) for value in values], padding=3, fontsize=7)
    panel.set_yticks(range(len(rows)), [row['name'] for row in rows], fontsize=8)
    panel.invert_yaxis()
    panel.legend(fontsize=8, loc='upper left', bbox_to_anchor=(1.0, 1.0))
