# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Results of `benchmarks.live_view` as a section of docs/benchmarks.md."""

from typing import Any


def markdown(found: dict[str, Any]) -> str:
    """Return conditions, one row for each turn, and the missed periods in all."""
    rows, machine = found['rows'], found['machine']
    lines = [f'{machine["cpu"]}, {machine["cpus"]} CPUs, load {machine["load"]:.1f}; the '
             f'control thread has {found["scheduling"]}. A simulated Panda moves at '
             f'{found["rate"]:g} Hz, in turns of {found["seconds"]:g} s. A loop that only sleeps '
             'has the same priority on the same CPU: what it misses, too, is not due to the '
             'controller. What is *beside as much work* has a process beside it that computes as '
             'long as the page and its client did, and has nothing to do with the controller.', '',
             '| turn | missed periods | which the sleeping loop did not miss | '
             'wake-up error p99 [µs] | pictures a second | CPU of what is beside |',
             '|---|---|---|---|---|---|']
    lines += [f'| {row["kind"]} | {row["missed"]} of {row["periods"]} | {row["own"]} | '
              f'{row["p99"]:.0f} | {row["pictures"]:.1f} | {row["cpu"]:.0%} |' for row in rows]
    kinds = dict.fromkeys(row['kind'] for row in rows)
    for what, key in (('Missed in all', 'missed'), ('Not by the sleeping loop', 'own')):
        total = {kind: sum(row[key] for row in rows if row['kind'] == kind) for kind in kinds}
        lines += ['', f'{what}: ' + ', '.join(f'{count} {kind}' for kind, count
                                              in total.items()) + '.']
    return '\n'.join(lines) + '\n'
