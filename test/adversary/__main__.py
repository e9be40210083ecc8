# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`make adversary`: random compositions of faults; the table of all of them; false alarms."""

import os
from pathlib import Path
import signal
import sys
import time
from typing import Annotated

from rich.console import Console
from rich.progress import track
import typer

ROOT = Path(__file__).resolve().parents[2]
OUTPUT = ROOT / 'build' / 'adversary'
sys.path.insert(0, str(ROOT / 'test'))

from adversary import (  # noqa: E402, I100
    composition as campaigns, quiet as quiets, table as tables)

JOBS = os.cpu_count() or 2
app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.callback(invoke_without_command=True)
def compositions(
        context: typer.Context,
        minutes: Annotated[float | None, typer.Option(
            min=0.01, help='For so long; 10 if no number is given either.')] = None,
        seed: Annotated[int, typer.Option(min=0, help='Seed of the first composition.')] = 0,
        compositions: Annotated[int | None, typer.Option(
            min=1, help='So many, with consecutive seeds.')] = None,
        jobs: Annotated[int, typer.Option(min=1, help='Processes.')] = JOBS) -> None:
    """Play random compositions of faults; the exit code is 1 where an invariant is violated."""
    if context.invoked_subcommand is not None:
        return
    if minutes is None and compositions is None:
        minutes = 10.0
    console = Console(highlight=False, markup=False, emoji=False)
    results = list(campaigns.followed(
        campaigns.campaign(seed, compositions, minutes, jobs), console))
    for table_ in campaigns.summary(results):
        console.print(table_)
    tables.write([r._asdict() for r in results], OUTPUT / 'compositions.json')
    raise typer.Exit(any(r.violations for r in results))


@app.command()
def table(words: Annotated[list[str] | None, typer.Argument(
              help='Only injections with one of these words in their names.')] = None,
          path: Annotated[list[str], typer.Option(
              help='library, native or python; several may be given.'
          )] = ['library'],  # noqa: B006
          output: Annotated[Path, typer.Option(help='Where the JSON goes.')]
          = OUTPUT / 'table.json') -> None:
    """Inject every fault of the catalogue alone and show what came of it."""
    console = Console(highlight=False, width=100)
    wanted = tables.scenes(words or [], tuple(path))
    begin = time.monotonic()
    subjects = tables.Subjects()
    try:
        rows = list(track(tables.rows(wanted, subjects), f'{len(wanted)} rows', len(wanted),
                          console=console, transient=True))
    finally:
        subjects.close()
    console.print(tables.shown(rows))
    tables.write(rows, output)
    bad = sum(bool(r['violations']) for r in rows)
    console.print(f'{len(rows)} rows in {time.monotonic() - begin:.0f} s, {bad} with violations; '
                  f'written to {output}', soft_wrap=True)


@app.command()
def quiet(minutes: Annotated[float, typer.Option(
              min=0.1, help='Simulated time of all robots together.')] = 60.0,
          seed: Annotated[int, typer.Option(min=0, help='Another seed, other motions.')] = 0,
          jobs: Annotated[int, typer.Option(min=1, help='Processes.')] = JOBS) -> None:
    """Let healthy arms move for long; the exit code is 1 where a fault latches."""
    console = Console(highlight=False, markup=False, emoji=False)
    stretches = []
    for stretch in track(quiets.hours(minutes, seed, jobs), f'{minutes:g} minutes',
                         quiets.number(minutes), console=console, transient=True):
        stretches.append(stretch)
        if stretch.reason:
            console.print(f'seed {stretch.seed}: {stretch.robot}, {stretch.kind}: '
                          f'{stretch.reason} after {stretch.seconds:.3f} s', soft_wrap=True)
    console.print(quiets.shown(stretches))
    raise typer.Exit(any(s.reason for s in stretches))


if __name__ == '__main__':
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # none stays behind
    app()
