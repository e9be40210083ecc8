# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Results of `benchmarks.live_view` as a section of docs/benchmarks.md."""

from typing import Any

import numpy as np


def markdown(found: dict[str, Any]) -> str:
    """Return conditions, and sums and medians over the turns of each kind."""
    rows, machine = found['rows'], found['machine']
    lines = [f'{machine["cpu"]}, {machine["cpus"]} CPUs, load {machine["load"]:.1f}; control '
             f'thread with {found["scheduling"]}. A simulated Panda moves at {found["rate"]:g} '
             f'Hz, in turns of {found["seconds"]:g} s: alone, with the page, and beside a process '
             'with the same load. Periods that a sleeping loop also misses are due to the '
             'machine.', '',
             '| turns | missed periods | not missed by the sleeping loop | '
             'wake-up error p99 [µs] | CPU of page or process |',
             '|---|---|---|---|---|']
    for kind in dict.fromkeys(row['kind'] for row in rows):
        turns = [row for row in rows if row['kind'] == kind]
        total = {key: sum(row[key] for row in turns) for key in ('missed', 'periods', 'own')}
        middle = {key: np.median([row[key] for row in turns]) for key in ('p99', 'cpu')}
        lines.append(f'| {len(turns)} {kind} | {total["missed"]} of {total["periods"]} | '
                     f'{total["own"]} | {middle["p99"]:.0f} | {middle["cpu"]:.0%} |')
    return '\n'.join(lines) + '\n'
