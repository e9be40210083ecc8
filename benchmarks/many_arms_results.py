# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Results of `benchmarks.many_arms`: tables, a verdict, and a picture."""

from collections.abc import Mapping
import json
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .loop_results import with_infinity

ENOUGH = 0.999              # share of the states that are answered
# Series with a table in docs/benchmarks.md (the picture shows all), and their headings
SERIES = 'arms', 'together'
HEADS = {'arms': 'Arms of 7 joints at 1 kHz',
         'together': 'The same, with all controllers in one process'}
SPARE = 0.05                 # share of the CPUs, below which nothing is left to give


def read(text: str) -> dict[str, Any]:
    """Return the results in the text of a file, with infinity where a state had no answer."""
    found = json.loads(text)
    return {**found, 'series': with_infinity(found['series'])}


def brief(row: Mapping[str, Any]) -> str:
    """Return figures of a measurement in one line."""
    return (f'{row["robot"]}, {row["joints"]} joints, {_arms(row)} at {row["rate"]:g} Hz: '
            f'{row["answered"]:.3%} answered, {row["in time"]:.3%} before the next, '
            f'p50 {row["p50"]:.0f} p99 {row["p99"]:.0f} µs, '
            f'CPUs: controllers {row["controllers"]:.2f}, plants {row["plants"]:.2f}')


def left(row: Mapping[str, Any], cpus: int) -> float:
    """Return the share of the CPUs that neither the arms nor the host used."""
    return 1.0 - (row['controllers'] + row['plants']) / cpus - row['steal']


def verdict(found: Mapping[str, Any]) -> str:
    """Return how many arms are answered, and what gives out with more."""
    rows, cpus = found['series']['arms'], found['machine']['cpus']
    failed = [row for row in rows if row['answered'] < ENOUGH]
    held = [row for row in rows if not failed or row['arms'] < failed[0]['arms']]
    text = (f'With {_arms(held[-1])} at 1 kHz, {held[-1]["answered"]:.3%} of the states are '
            'answered.' if held else
            f'Of the states of one arm, less than {ENOUGH:.1%} are answered.')
    if not failed:
        return (f'{text} More were not tried; {left(held[-1], cpus):.0%} of {cpus} CPUs were '
                'left then.')
    first = failed[0]
    spare = left(first, cpus)
    what = ('processor time gives out first' if spare < SPARE else
            f'the CPUs still have {spare:.0%} of their time, so that latency gives out first')
    return (f'{text} With {first["arms"]}, {first["answered"]:.3%} are, and {what}: controllers '
            f'take {first["controllers"]:.2f} and plants {first["plants"]:.2f} of {cpus} CPUs.')


def _arms(row: Mapping[str, Any]) -> str:
    return f'{row["arms"]} arm{"s" * (row["arms"] > 1)}'


def markdown(found: Mapping[str, Any]) -> str:
    """Return conditions, verdict, and a table of each series."""
    machine = found['machine']
    cpus = machine['cpus']
    faults = sum(row['faults'] for rows in found['series'].values() for row in rows)
    lines = [f'{machine["cpu"]}, {cpus} CPUs, load {machine["load"]:.1f} at the start; '
             f'controllers {"with" if found["fifo"] else "without"} SCHED_FIFO; '
             f'{found["seconds"]:g} s each; times of the worst arm, CPU of one controller, memory '
             f'of all; {faults} faults.', '', verdict(found)]
    for series in SERIES:
        rows = found['series'].get(series, [])
        if not rows:
            continue
        lines += ['', f'{HEADS[series]}:', '',
                  '| arms | answered before the next | p50 [µs] | p99 [µs] | CPU | MiB |',
                  '|' + '---|' * 6]
        lines += [f'| {row["arms"]:g} | {row["in time"]:.3%} | '
                  f'{row["p50"]:.0f} | {row["p99"]:.0f} | '
                  f'{row["controllers"] / row["arms"]:.1%} | '
                  f'{row["memory"]:.0f} |' for row in rows]
    return '\n'.join(lines) + '\n'


def draw(found: Mapping[str, Any], path: Path) -> None:
    """Write a PNG: states without an answer, times and CPUs by arms; cost by rate and joints."""
    figure = Figure(figsize=(13, 7.5), layout='constrained', dpi=110)
    machine, series = found['machine'], found['series']
    figure.suptitle(f'A controller for each arm, on {machine["cpu"]}, {machine["cpus"]} CPUs')
    unanswered, late, cpu, cost = figure.subplots(2, 2).flat
    rows = series['arms']
    arms = [row['arms'] for row in rows]
    unanswered.plot(arms, [100 * (1.0 - row['answered']) for row in rows], 'o-',
                    label='a process each')
    unanswered.axhline(100 * (1.0 - ENOUGH), color='black', lw=1, ls='--')
    unanswered.set(title='states without an answer', xlabel='arms', ylabel='%')
    unanswered.set_yscale('symlog', linthresh=0.01)
    unanswered.set_ylim(bottom=0.0)
    for key in 'p50', 'p99':
        late.plot(arms, [row[key] for row in rows], 'o-', label=key)
    for key, label in (('together', 'in one process'), ('echo', 'echo of Fast DDS')):
        if others := series.get(key):
            number = [row['arms'] for row in others]
            unanswered.plot(number, [100 * (1.0 - row['answered']) for row in others], 's:',
                            label=label)
            late.plot(number, [row['p50'] for row in others], 's:', label=f'p50, {label}')
    late.set(title='state published to efforts received, worst arm', xlabel='arms', ylabel='µs',
             yscale='log')
    cpu.stackplot(arms, [row['controllers'] for row in rows], [row['plants'] for row in rows],
                  labels=('controllers', 'plants'))
    cpu.axhline(machine['cpus'], color='black', lw=1, ls='--')
    cpu.set(title='CPUs in use', xlabel='arms')
    _cost(cost, series)
    for panel in (unanswered, late, cpu):
        panel.set_xticks(arms)
    for panel in (unanswered, late, cpu, cost):
        panel.grid(alpha=0.3)
    for panel in (unanswered, late, cpu, cost):
        panel.legend(fontsize=8)
    figure.savefig(path)


def _cost(panel: Axes, series: Mapping[str, Any]) -> None:
    """Draw the processor time of a controller by rate, and mark that of fewer joints."""
    rates = series['rates']
    panel.plot([row['rate'] for row in rates], [100 * row['controllers'] for row in rates], 'o-',
               label='7 joints')
    for row in series['joints']:
        if row['joints'] != rates[0]['joints']:
            panel.plot([row['rate']], [100 * row['controllers']], 's',
                       label=f'{row["joints"]} joints')
    panel.set(title='processor time of one controller', xlabel='rate [Hz]', ylabel='% of a CPU')
