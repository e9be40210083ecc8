# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Page docs/benchmarks.md, from the results in docs/benchmarks/: `python -m benchmarks.pages`.

`--docs` of a benchmark puts its results there and writes the page anew.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import loop_results, results

ROOT = Path(__file__).resolve().parents[1]
PAGE, FOLDER = ROOT / 'docs' / 'benchmarks.md', ROOT / 'docs' / 'benchmarks'
LEFT_OUT = 'raw',           # of results: what the others are computed from
HEAD = '''# Benchmarks

<!-- Written by `python -m benchmarks.pages` from docs/benchmarks/: change nothing here. -->

What was measured side by side, in turns, since absolute times depend on the machine. Each section
names the command that measures it again.
'''


def live_view(found: dict[str, Any]) -> str:
    """Return the section of :mod:`benchmarks.live_view`."""
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


def _loop(found: dict[str, Any]) -> str:
    return loop_results.markdown({**found, **{
        name: _with_infinity(found[name]) for name in ('peers', 'wake_ups', 'expected')}})


def _with_infinity(value: Any) -> Any:
    """Undo :func:`loop_results.without_infinity`."""
    if isinstance(value, dict):
        return {name: _with_infinity(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_with_infinity(one) for one in value]
    return float('inf') if value is None else value


# Title, command and section of each file of results
SECTIONS: dict[str, tuple[str, str, Callable[[dict[str, Any]], str]]] = {
    'dynamics': ('Dynamics beside other libraries', 'make bench ARGS=dynamics', results.markdown),
    'loop': ('Control loop beside rclpy nodes', 'make bench ARGS=loop', _loop),
    'live_view': ('A page that watches the controller', 'python -m benchmarks.live_view',
                  live_view)}


def page(folder: Path = FOLDER) -> str:
    """Return the page of the results in a folder."""
    parts = [HEAD]
    for name, (title, command, section) in SECTIONS.items():
        if (file := folder / f'{name}.json').exists():
            parts.append(f'## {title}\n\n`{command}`\n\n{section(json.loads(file.read_text()))}')
    return '\n'.join(parts)


def publish(file: Path) -> None:
    """Put a file of results into the documentation, and write the page anew."""
    FOLDER.mkdir(exist_ok=True)
    found = {name: value for name, value in json.loads(file.read_text()).items()
             if name not in LEFT_OUT}
    (FOLDER / file.name).write_text(json.dumps(found, indent=1) + '\n')
    PAGE.write_text(page())


if __name__ == '__main__':
    PAGE.write_text(page())
