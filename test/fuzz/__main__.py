# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`make fuzz`: whether any of many URDFs, files or messages is more than this package can take."""

from collections import Counter
from collections.abc import Callable
from functools import partial
import os
from pathlib import Path
import signal
import sys
from typing import Annotated

from rich.console import Console
from rich.progress import track
from rich.table import Table
import typer

ROOT = Path(__file__).resolve().parents[2]
OUTPUT = ROOT / 'build' / 'fuzz'
sys.path.insert(0, str(ROOT / 'test'))

from fuzz.campaign import campaign, Judge, judged as of_urdf  # noqa: E402, I100
from fuzz.judge import FAILED, VALID  # noqa: E402
from fuzz.mutants import mutant  # noqa: E402

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
Count = Annotated[int, typer.Argument(min=1, help='How many of each kind.')]
Seed = Annotated[int, typer.Option(help='Another seed, other inputs.')]
Only = Annotated[int | None, typer.Option(
    min=0, metavar='I', help='Judge number I alone, as a failure tells to.')]
Jobs = Annotated[int, typer.Option(min=1, help='Processes.')]
JOBS = os.cpu_count() or 1


@app.callback(invoke_without_command=True)
def both(context: typer.Context) -> None:
    """Fuzz the URDF reader, the readers of other files and the decoders, each by its defaults."""
    if context.invoked_subcommand is None:
        codes = []
        for target in (urdf, files, wire):
            try:
                target()
            except typer.Exit as end:
                codes.append(end.exit_code)
        raise typer.Exit(max(codes))


def judged(console: Console, what: str, judge: Judge, count: int, seed: int, only: int | None,
           jobs: int, made: Callable[[int], str] = str) -> Counter[str]:
    """Judge ``count`` of a kind, or one alone; tell of those that failed, and count outcomes."""
    indices, outcomes = range(count) if only is None else [only], Counter[str]()
    for index, verdict in track(campaign(seed, indices, jobs, judge=judge), what, len(indices),
                                console=console, transient=True):
        outcomes[verdict.outcome] += 1
        if verdict.outcome == FAILED or only is not None:
            console.print(f'{what} {made(index)}: {verdict.outcome} {verdict.complaint}\n  again: '
                          f'python3 make.py fuzz {what} --seed {seed} --only {index}',
                          soft_wrap=True)
    return outcomes


def shown(console: Console, outcomes: dict[str, Counter[str]]) -> None:
    """Print a table of the outcomes of each kind, and end with 1 where one has failed."""
    table = Table('kind', VALID, 'refused', FAILED)
    for kind, of_kind in outcomes.items():
        valid, failed = of_kind[VALID], of_kind[FAILED]
        table.add_row(kind, *map(str, (valid, of_kind.total() - valid - failed, failed)))
    console.print(table)
    raise typer.Exit(any(of_kind[FAILED] for of_kind in outcomes.values()))


@app.command()
def urdf(count: Count = 10_000, seed: Seed = 0, only: Only = None, jobs: Jobs = JOBS) -> None:
    """Load mutated URDFs: each is a sound robot or refused with a RobodynError."""
    def stored(index: int) -> str:
        """Write a mutant to where a person can look at it; return how it was made, and where."""
        made = mutant(seed, index)
        OUTPUT.mkdir(parents=True, exist_ok=True)
        path = OUTPUT / f'{seed}-{index}.urdf'
        path.write_bytes(made.source if isinstance(made.source, bytes)
                         else made.source.encode('utf-8', 'surrogatepass'))
        return f'{index} ({", ".join(made.history)}; {made.options}) in {path.relative_to(ROOT)}'
    console = Console(highlight=False, markup=False, emoji=False)
    shown(console, {'urdf': judged(console, 'urdf', of_urdf, count, seed, only, jobs, stored)})


@app.command()
def files(count: Count = 2_000, seed: Seed = 0, only: Only = None, jobs: Jobs = JOBS) -> None:
    """Read damaged recordings, parameters, worlds, ...: each is read or refused by its name."""
    from fuzz import files

    console = Console(highlight=False, markup=False, emoji=False)
    shown(console, {kind.name: judged(console, 'files', partial(files.judge, kind.name), count,
                                      seed, only, jobs, lambda index, kind=kind: (
                                          f'{kind.name} {index}')) for kind in files.KINDS})


@app.command()
def wire(count: Count = 20_000, seed: Seed = 0, only: Only = None, jobs: Jobs = JOBS) -> None:
    """
    Decode damaged messages: each gets the answer of rclpy, and no byte behind its last is read.

    1,000 streams reach every branch of the decoders.
    """
    from fuzz.wire.judge import judged as of_stream  # which needs rclpy

    console = Console(highlight=False, markup=False, emoji=False)
    shown(console, {'wire': judged(console, 'wire', of_stream, count, seed, only, jobs)})


if __name__ == '__main__':
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # none stays behind
    app()
