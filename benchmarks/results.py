# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Comparisons of the dynamics benchmark: subjects, expectations and results."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy import ndarray
from rich.console import Console
from rich.table import Table

QUANTITIES = {'inverse_dynamics': 'inverse dynamics', 'gravity': 'gravity',
              'mass_matrix': 'mass matrix', 'forward_dynamics': 'forward dynamics'}
WAYS = {'loop': 'specialised, jitted loop', 'batch': 'batch, one thread',
        'generic_loop': 'generic, jitted loop', 'call': 'kernel from Python',
        'checked_call': 'checked call'}
# The same after the name of a quantity
PHRASES = {'loop': ' in a jitted loop', 'batch': ' of a batch, one thread',
           'generic_loop': ', generic kernel, in a jitted loop',
           'call': ' kernel called from Python', 'checked_call': ', checked call'}
HEADS = {'panda': 'Panda', 'ur5': 'UR5', 'talos': 'Talos'}     # of columns; others are their names
PEERS = {'cpp': 'Pinocchio C++', 'binding': 'Pinocchio from Python', 'mujoco': 'MuJoCo',
         'numpy': 'naive NumPy', 'dynibo': 'Dynibo', 'drake': 'Drake', 'frax': 'Frax'}
FROM_PYTHON = 'binding', 'mujoco', 'numpy', 'dynibo', 'drake', 'frax'
# Whom a way is measured by, and whom it is seen beside
AGAINST = {'loop': ('cpp',), 'generic_loop': ('cpp',), 'batch': ('cpp',),
           'call': FROM_PYTHON, 'checked_call': FROM_PYTHON}
# How many times as fast as the first of them: with 6 or 7 joints, and with about 30
EXPECTED = {('inverse_dynamics', 'loop'): (10.0, 8.0), ('inverse_dynamics', 'call'): (2.5, 5.0),
            ('gravity', 'call'): (2.0, 5.0), ('forward_dynamics', 'call'): (4.0, 5.0),
            ('inverse_dynamics', 'batch'): (25.0, 18.0),
            ('inverse_dynamics', 'generic_loop'): (1.8, 2.5),
            ('mass_matrix', 'loop'): (6.0, 3.0), ('mass_matrix', 'generic_loop'): (0.8, 0.8),
            ('forward_dynamics', 'loop'): (9.0, 5.0),
            ('inverse_dynamics', 'checked_call'): (1.0, 2.0)}


def rows(times: dict[tuple[str, str], ndarray], joints: int) -> list[dict[str, Any]]:
    """Return, for each way to ask for each quantity, the times [ns] and ratios of medians."""
    found = []
    for way, peers in AGAINST.items():
        for quantity in QUANTITIES:
            ours = times.get((quantity, way))
            against = {peer: _ratio(times[quantity, peer], ours) for peer in peers
                       if (quantity, peer) in times} if ours is not None else {}
            if ours is None or not against:
                continue
            found.append({'quantity': quantity, 'way': way, 'nanoseconds': float(np.median(ours)),
                          'against': against, 'expected': _expected(quantity, way, joints)})
    return found


def _ratio(theirs: ndarray, ours: ndarray) -> dict[str, float]:
    """Return how many times as fast ours is: median and quartiles over the rounds."""
    lower, median, upper = np.percentile(theirs / ours, (25, 50, 75))
    return {'nanoseconds': float(np.median(theirs)), 'ratio': float(median),
            'lower': float(lower), 'upper': float(upper)}


def _expected(quantity: str, way: str, joints: int) -> float | None:
    few, many = EXPECTED.get((quantity, way), (None, None))
    return few if joints in (6, 7) else many if 28 <= joints <= 36 else None


def show(console: Console, robot: str, result: dict[str, Any]) -> None:
    """Print the tables of a robot, one for each peer of Pinocchio's."""
    for peer in ('cpp', 'binding'):
        found = [row for row in result['rows'] if peer in row['against']]
        if not found:
            continue
        table = Table(title=f'{robot}, {result["joints"]} joints, beside {PEERS[peer]}',
                      title_justify='left')
        table.add_column('quantity', no_wrap=True)
        table.add_column('ours', no_wrap=True)
        others = [name for name in FROM_PYTHON[1:] if any(name in row['against']
                                                          for row in found)]
        for head in ('ns', 'its ns', 'times as fast', 'quartiles', 'expected',
                     *(PEERS[name] for name in others)):
            table.add_column(head, justify='right')
        for row in found:
            of, expected = row['against'][peer], row['expected']
            table.add_row(
                QUANTITIES[row['quantity']], WAYS[row['way']], f'{row["nanoseconds"]:.0f}',
                f'{of["nanoseconds"]:.0f}', f'{of["ratio"]:.1f}',
                f'{of["lower"]:.1f}-{of["upper"]:.1f}',
                '' if expected is None else f'{expected:g}',
                *(f'{row["against"][name]["ratio"]:.0f}' if name in row['against'] else ''
                  for name in others),
                style='yellow' if expected is not None and of['ratio'] < expected else None)
        console.print(table)


def conditions(found: dict[str, Any]) -> str:
    """Return in one sentence what else the figures depend on."""
    machine = found['machine']
    return (f'Medians of {found["rounds"]} rounds on one core of {machine["cpu"]}, load average '
            f'{machine["load"]:.1f} at the start; Pinocchio {machine["pinocchio"]}, MuJoCo '
            f'{machine["mujoco"]}, Numba {machine["numba"]}, Python {machine["python"]}; C++ by '
            f'{(machine["compiler"] or "nobody").partition(" -")[0]}.')


def table(found: Mapping[str, Any], chosen: Iterable[tuple[str, str]]) -> str:
    """
    Return a table of Markdown: how many times as fast as the first of those beside each row.

    :param chosen: quantity and way of each row; rows that nobody was timed in are left out.
    :raises ValueError: none was timed.
    """
    robots = found['robots']
    lines = []
    for quantity, way in chosen:
        rows = {name: row for name, robot in robots.items() for row in robot['rows']
                if (row['quantity'], row['way']) == (quantity, way)}
        if rows:
            peer = next(iter(next(iter(rows.values()))['against']))
            cells = (f'{rows[name]["against"][peer]["ratio"]:.1f}' if name in rows else ''
                     for name in robots)
            lines.append(f'| {QUANTITIES[quantity]}{PHRASES[way]} | {" | ".join(cells)} |')
    if not lines:
        raise ValueError('none of the rows of the table was timed: run the benchmark with --cpp')
    heads = ' | '.join(f'{HEADS.get(name, name)} ({robot["joints"]})'
                       for name, robot in robots.items())
    return '\n'.join([f'| | {heads} |', '|---|' + '---|' * len(robots), *lines]) + '\n'


def markdown(found: dict[str, Any]) -> str:
    """Return conditions, and the first ratio of every row of EXPECTED."""
    return ('Speed relative to Pinocchio in C++ or, for calls from Python, to its binding; above '
            f'1, robodyn_ros is faster. {conditions(found)}\n\n{table(found, EXPECTED)}')
