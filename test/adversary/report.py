# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Progress and summary of random compositions."""

from collections import Counter
from collections.abc import Iterable, Iterator
import json
from pathlib import Path
import time

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from .campaign import Result
from .composition import composition, PATHS

MOST_SHOWN = 30         # violations told of at once; all are in the JSON


def followed(results: Iterable[Result], console: Console, minutes: float | None,
             count: int | None) -> Iterator[Result]:
    """Pass results on; show a bar, and each violation with what plays it again."""
    shown = violating = number = 0
    begin = time.monotonic()
    with Progress(TextColumn('{task.description}'), BarColumn(), TimeElapsedColumn(),
                  console=console, transient=True) as progress:
        task = progress.add_task('', total=60.0 * minutes if minutes else count)
        for result in results:
            number += 1
            violating += bool(result.violations)
            progress.update(task, completed=time.monotonic() - begin if minutes else number,
                            description=f'{number} compositions, {violating} violations')
            if result.violations and shown < MOST_SHOWN:
                shown += 1
                console.print(f'{composition(result.seed)}', soft_wrap=True)
                for kind, what in result.violations.items():
                    console.print(f'  {kind}: {what}', soft_wrap=True)
                console.print(f'  again: make adversary ARGS="--seed {result.seed} '
                              f'--compositions 1"', soft_wrap=True)
            yield result
    console.print(f'{number} compositions in {time.monotonic() - begin:.0f} s')


def summary(results: list[Result]) -> Iterator[Table]:
    """Tables of what came of them."""
    paths = Table('path', 'compositions', 'not armed', 'faults', 'with violations', box=None,
                  pad_edge=False)
    for path in PATHS:
        there = [r for r in results if r.path == path]
        paths.add_row(path, *(str(n) for n in (
            len(there), sum(not r.armed for r in there), sum(bool(r.reason) for r in there),
            sum(bool(r.violations) for r in there))))
    yield paths
    reasons = Counter(r.reason for r in results if r.reason)
    yield _counts('fault', reasons)
    if kinds := Counter(kind for r in results for kind in r.violations):
        yield _counts('violated', kinds)
        injections = Counter(name for r in results if r.violations for name in r.injections)
        played = Counter(name for r in results for name in r.injections)
        table = _counts('injection in violations', injections)
        table.add_column('of')
        table.columns[-1]._cells.extend(str(played[name]) for name, _ in injections.most_common())
        yield table


def _counts(what: str, counter: Counter[str]) -> Table:
    table = Table(what, 'compositions', box=None, pad_edge=False)
    for name, number in counter.most_common():
        table.add_row(name, str(number))
    return table


def write(results: list[Result], path: Path) -> None:
    """Write results as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([r._asdict() for r in results], indent=1, ensure_ascii=False))
