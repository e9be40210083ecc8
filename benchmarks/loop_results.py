# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Results of `benchmarks.loop` beside the expectations."""

from collections.abc import Callable, Mapping
import json
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from .loop_peers import ECHO, ECHO_AWAKE, NAIVE, NAIVE_AWAKE, NAIVE_TIMER, PEERS, WAKE_UPS

FIGURES = ('p50', 'p99', 'p99.9', 'max')
RATES = (1000, 4000, 10000)         # Hz; the first one is what round trips and CPU are of
# Of which ways something is expected, and how the same with FIFO is named
LADDER = {'native': ('native', 'native_fifo'), 'awake': ('native_awake',),
          'python': ('python', 'python_fifo')}
# what, of whom, at most so many times that of whom: the naive node, or the echo of the same turns
BESIDE_NAIVE, BESIDE_ECHO = 'beside', 'beside echo'
RATIOS = (('p50', 'native', BESIDE_ECHO, 1.25), ('p50', 'python', BESIDE_NAIVE, 1 / 2.5),
          ('p99', 'native', BESIDE_NAIVE, 1 / 2.5), ('p99', 'python', BESIDE_NAIVE, 1 / 2),
          ('cpu', 'native', BESIDE_NAIVE, 0.2), ('cpu', 'awake', BESIDE_NAIVE, 0.15),
          ('cpu', 'python', BESIDE_NAIVE, 1 / 4))
OF = {BESIDE_NAIVE: 'share of the naive node', BESIDE_ECHO: 'times the echo'}
# of whom, at which rate [Hz], at least this share of the states
ANSWERED = (('native', 1000, 0.9995), ('python', 4000, 0.999))
WAKE_UP = 1 / 20                    # of the p99 of an rclpy timer, both beside a hog
LEFT = ('who', 'what')              # columns
NAMES = {'p50': 'round trip p50', 'p99': 'round trip p99', 'cpu': 'CPU'}

Rounds = list[dict[str, Any]]       # of one peer


def figures(late: np.ndarray) -> dict[str, float]:
    """Return FIGURES of (N,) [s] in µs; NaN, a state without an answer, took for ever."""
    x = np.where(np.isnan(late), np.inf, late) * 1e6
    # Values that occurred, since one between a time and infinity has no meaning
    return dict(zip(FIGURES, map(float, np.percentile(x, (50, 99, 99.9, 100), method='higher'))))


def median(rounds: Rounds, read: Callable[[dict[str, Any]], float]) -> float:
    """Return the median over rounds of one figure."""
    return float(np.median([read(one) for one in rounds]))


def ratio(rounds: Rounds, naive: Rounds, read: Callable[[dict[str, Any]], float]
          ) -> dict[str, float]:
    """Return median and quartiles over rounds of one figure as a multiple of another peer's."""
    shares = [read(one) / read(other) if np.isfinite(read(one)) else np.inf
              for one, other in zip(rounds, naive)]
    return dict(zip(('lower', 'ratio', 'upper'), map(float, np.percentile(
        shares, (25, 50, 75), method='higher'))))


def at(rate: int, figure: str) -> Callable[[dict[str, Any]], float]:
    """Return what reads a figure at a rate out of a round."""
    return lambda one: one[str(rate)][figure]


def summary(found: Mapping[str, Rounds]) -> dict[str, dict[str, Any]]:
    """Return, for each peer, medians over rounds, and multiples of the naive node and the echo."""
    out: dict[str, dict[str, Any]] = {}
    for key, rounds in found.items():
        out[key] = row = {
            'name': PEERS[key].name,
            **{figure: median(rounds, at(RATES[0], figure)) for figure in FIGURES[:-1]},
            'max': max(one[str(RATES[0])]['max'] for one in rounds),
            'cpu': median(rounds, at(RATES[0], 'cpu')),
            'answered': {str(rate): median(rounds, at(rate, 'answered')) for rate in RATES},
            'unanswered': {str(rate): sum(round(one[str(rate)]['states']
                                                * (1.0 - one[str(rate)]['answered']))
                                          for one in rounds) for rate in RATES}}
        awake = PEERS[key].awake
        for beside, other in ((BESIDE_NAIVE, NAIVE_AWAKE if awake else NAIVE),
                              (BESIDE_ECHO, ECHO_AWAKE if awake else ECHO)):
            row[beside] = {figure: ratio(rounds, found[other], at(RATES[0], figure))
                           for figure in NAMES} if other in found else {}
    return out


def wake_up_summary(found: Mapping[str, Rounds]) -> dict[str, dict[str, Any]]:
    """Return the same of the wake-ups."""
    return {key: {'name': WAKE_UPS[key].name,
                  **{figure: median(rounds, lambda one, f=figure: one[f])
                     for figure in FIGURES[:-1]},
                  'max': max(one['max'] for one in rounds),
                  'beside': ratio(rounds, found[NAIVE_TIMER], lambda one: one['p99'])
                  if NAIVE_TIMER in found else {}}
            for key, rounds in found.items()}


def expectations(peers: Mapping[str, dict[str, Any]], wake_ups: Mapping[str, dict[str, Any]]
                 ) -> list[dict[str, Any]]:
    """Return what was expected of whom, and what was measured."""
    out: list[dict[str, Any]] = []

    def add(what: str, who: str, expected: float, measured: float, sign: str) -> None:
        met = measured <= expected if sign == '≤' else measured >= expected
        out.append({'what': what, 'who': who, 'sign': sign, 'expected': expected,
                    'measured': measured, 'met': bool(met)})
    for figure, rung, beside, expected in RATIOS:
        for key in LADDER[rung]:
            if key in peers and peers[key][beside]:
                add(f'{NAMES[figure]}, {OF[beside]}', peers[key]['name'], expected,
                    peers[key][beside][figure]['ratio'], '≤')
    for rung, rate, expected in ANSWERED:
        for key in LADDER[rung]:
            if key in peers:
                add(f'states answered at {rate // 1000} kHz', peers[key]['name'], expected,
                    peers[key]['answered'][str(rate)], '≥')
    for key in ('native_hog', 'native_hog_fifo'):
        if key in wake_ups and wake_ups[key]['beside']:
            add('wake-up error p99, share of the rclpy timer', wake_ups[key]['name'], WAKE_UP,
                wake_ups[key]['beside']['ratio'], '≤')
    return out


def _table(title: str, *heads: str) -> Table:
    table = Table(title=title, title_justify='left')
    for k, head in enumerate(heads):
        table.add_column(head, justify='left' if head in LEFT else 'right',
                         no_wrap=not k)
    return table


def with_infinity(found: Any) -> Any:
    """Return the same with infinity for None, as `robodyn_ros.cli.options.plain` leaves it."""
    if isinstance(found, Mapping):
        return {key: with_infinity(value) for key, value in found.items()}
    if isinstance(found, list):
        return [with_infinity(value) for value in found]
    return float('inf') if found is None else found


def read(text: str) -> dict[str, Any]:
    """Return the results in the text of a file, with infinity where a state had no answer."""
    found = json.loads(text)
    return {**found, **{name: with_infinity(found[name])
                        for name in ('peers', 'wake_ups', 'expected')}}


def conditions(machine: Mapping[str, Any]) -> str:
    """Return in one sentence what else the figures depend on."""
    costs = '; '.join(', '.join(f'{where} {cost:.0f}' for where, cost in each.items() if cost)
                      for each in machine['wake-up [µs], before and after'])
    return (f'{machine["cpu"]}, {machine["cpus"]} CPUs, load {machine["load"]:.1f} at the start, '
            f'{100 * machine["steal"]:.1f} % of the time stolen by the host; idle states: '
            f'{machine["idle states"]}; futex wake-up before and after [µs]: {costs}; echo in '
            f'{machine["echo"]}.')


def show(console: Console, found: Mapping[str, Any]) -> None:
    """Print the tables."""
    if found['peers']:
        table = _table('round trip at 1 kHz [µs], 7 joints', 'who', *FIGURES, 'CPU %',
                       *(f'answered {rate // 1000}k %' for rate in RATES), 'p50 of echo',
                       'p50 of naive', 'p99', 'CPU')
        for row in found['peers'].values():
            table.add_row(
                row['name'], *(f'{row[f]:.0f}' for f in FIGURES), f'{100 * row["cpu"]:.1f}',
                *(f'{100 * row["answered"][str(rate)]:.2f}' for rate in RATES),
                f'{row[BESIDE_ECHO]["p50"]["ratio"]:.2f}' if row[BESIDE_ECHO] else '',
                *(f'{row["beside"][f]["ratio"]:.3f}' if row['beside'] else ''
                  for f in ('p50', 'p99', 'cpu')))
        console.print(table)
        console.print(conditions(found['machine']), soft_wrap=True)
        for key, faults in found['faults'].items():
            console.print(f'{PEERS[key].name}: {faults} turns ended in a fault and were taken '
                          'again', style='yellow', soft_wrap=True)
    if found['wake_ups']:
        table = _table('wake-up error at 1 kHz [µs]', 'who', *FIGURES, 'p99 of rclpy + hog')
        for row in found['wake_ups'].values():
            table.add_row(row['name'], *(f'{row[f]:.1f}' for f in FIGURES),
                          f'{row["beside"]["ratio"]:.4f}' if row['beside'] else '')
        console.print(table)
    if found['expected']:
        table = _table('expected and measured', 'what', 'who', 'expected', 'measured', '')
        for row in found['expected']:
            table.add_row(row['what'], row['who'], f'{row["sign"]} {row["expected"]:.4g}',
                          f'{row["measured"]:.4f}', 'yes' if row['met'] else 'no',
                          style=None if row['met'] else 'yellow')
        console.print(table)


def markdown(found: Mapping[str, Any]) -> str:
    """Return the tables for a page, without the peers whose CPUs are kept awake."""
    machine, peers = found['machine'], found['peers']
    beyond = '' if not {'native', ECHO} <= {*peers} else (
        f': the native loop takes {peers["native"]["p50"] - peers[ECHO]["p50"]:.0f} µs longer, '
        'on other hosts 25 to 82 µs: it wakes another CPU, which `cpus: [1]` and `keep_awake` '
        'avoid')
    lines = [f'{machine["cpu"]}, {machine["cpus"]} CPUs, load {machine["load"]:.1f} at the start, '
             f'{100 * machine["steal"]:.1f} % of the time stolen by the host.', '',
             'Each controller receives the states of one arm of 7 joints. Round trips [µs] and '
             'CPU are those at 1 kHz. A state without an answer counts as an infinite round trip. '
             f'The echo of Fast DDS is a practical lower bound{beyond}.', '',
             '| | p50 | p99 | p99.9 | max | CPU | p50 / echo | answered at 1, 4, 10 kHz [%] |',
             '|---|---|---|---|---|---|---|---|']
    for key, row in found['peers'].items():
        if PEERS[key].awake:
            continue
        answered = ', '.join(f'{100 * share:.2f}' for share in row['answered'].values())
        times = f'{row[BESIDE_ECHO]["p50"]["ratio"]:.2f}' if row[BESIDE_ECHO] else ''
        lines.append(f'| {PEERS[key].name} | ' + ' | '.join(f'{row[f]:.0f}' for f in FIGURES)
                     + f' | {row["cpu"]:.1%} | {times} | {answered} |')
    lines += ['', 'Wake-up errors of a 1 kHz timer, also while another thread keeps the Python '
              'interpreter busy:', '',
              '| wake-up error [µs] | p50 | p99 | p99.9 | max |', '|---|---|---|---|---|']
    for key, row in found['wake_ups'].items():
        lines.append(f'| {WAKE_UPS[key].name} | '
                     + ' | '.join(f'{row[f]:.1f}' for f in FIGURES) + ' |')
    return '\n'.join(lines) + '\n'
