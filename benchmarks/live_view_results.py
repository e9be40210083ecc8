# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Results of `benchmarks.live_view` as a section of docs/benchmarks.md."""

from typing import Any


def markdown(found: dict[str, Any]) -> str:
    """Return conditions, one row for each turn, and the missed periods in all."""
    rows, machine = found['rows'], found['machine']
    lines = [f'{machine["cpu"]}, {machine["cpus"]} CPUs, load {machine["load"]:.1f}; the '
             f'control thread has {found["scheduling"]}. A simulated Panda moves at '
             f'{found["rate"]:g} Hz, in turns of {found["seconds"]:g} s.', '',
             '| turn | missed periods | wake-up error p99 [µs] | pictures a second |',
             '|---|---|---|---|']
    lines += [f'| {row["watched"]} | {row["missed"]} of {row["periods"]} | {row["p99"]:.0f} | '
              f'{row["pictures"]:.1f} |' for row in rows]
    total = {kind: sum(row['missed'] for row in rows if row['watched'] == kind)
             for kind in dict.fromkeys(row['watched'] for row in rows)}
    lines += ['', 'Missed in all: ' + ', '.join(f'{count} {kind}' for kind, count
                                                in total.items()) + '.']
    return '\n'.join(lines) + '\n'
