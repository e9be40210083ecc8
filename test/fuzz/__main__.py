# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`make fuzz`: whether any of many URDFs, files or messages is more than this package can take."""

from collections import Counter
from functools import partial
import importlib.util
import os
from pathlib import Path
import shutil
import signal
import sys
import time
from typing import Annotated

from rich.console import Console
from rich.progress import track
from rich.table import Table
import typer

ROOT = Path(__file__).resolve().parents[2]
OUTPUT = ROOT / 'build' / 'fuzz'
sys.path.insert(0, str(ROOT / 'test'))

from fuzz.campaign import campaign  # noqa: E402, I100
from fuzz.judge import FAILED, VALID  # noqa: E402
from fuzz.mutants import Mutant, mutant  # noqa: E402

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
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


@app.command()
def urdf(count: Annotated[int, typer.Argument(min=1, help='How many mutants.')] = 10_000,
         seed: Annotated[int, typer.Option(help='Another seed, other mutants.')] = 0,
         only: Annotated[int | None, typer.Option(
             min=0, metavar='I', help='Judge mutant I alone, as a failure tells to.')] = None,
         jobs: Jobs = JOBS) -> None:
    """Load mutated URDFs: each is a sound robot or refused with a RobodynError."""
    console = Console(highlight=False, markup=False, emoji=False)
    indices = range(count) if only is None else [only]
    outcomes: Counter[str] = Counter()
    for index, verdict in track(campaign(seed, indices, jobs), f'{len(indices)} mutants',
                                len(indices), console=console, transient=True):
        outcomes[verdict.outcome] += 1
        if verdict.outcome == FAILED or only is not None:
            made = mutant(seed, index)
            console.print(f'mutant {index} ({", ".join(made.history)}; {made.options}): '
                          f'{verdict.outcome} {verdict.complaint}', soft_wrap=True)
            console.print(f'  in {_stored(seed, index, made)}; again: python3 make.py fuzz '
                          f'urdf --seed {seed} --only {index}', soft_wrap=True)
    table = Table('outcome', 'mutants', title=f'seed {seed}', title_justify='left')
    for outcome, number in sorted(outcomes.items(), key=lambda o: (o[0] != VALID, -o[1])):
        table.add_row(outcome, str(number), style='bold red' if outcome == FAILED else None)
    console.print(table)
    raise typer.Exit(1 if outcomes[FAILED] else 0)


@app.command()
def files(count: Annotated[int, typer.Argument(min=1, help='How many of each kind.')] = 2_000,
          seed: Annotated[int, typer.Option(help='Another seed, other files.')] = 0,
          jobs: Jobs = JOBS) -> None:
    """Read damaged recordings, parameters, worlds, ...: each is read or refused by its name."""
    from fuzz import files

    console = Console(highlight=False, markup=False, emoji=False)
    table, failed = Table('kind', 'files', 'read', 'refused', FAILED), 0
    for kind in track(files.KINDS, 'kinds', console=console, transient=True):
        outcomes: Counter[str] = Counter()
        for index, verdict in campaign(seed, range(count), jobs,
                                       judge=partial(files.judge, kind.name)):
            outcomes[verdict.outcome] += 1
            if verdict.outcome == FAILED:
                console.print(f'{kind.name} {index}: {verdict.complaint}', soft_wrap=True)
        failed += outcomes[FAILED]
        table.add_row(kind.name, *map(str, (
            count, outcomes[VALID], count - outcomes[VALID] - outcomes[FAILED],
            outcomes[FAILED])))
    console.print(table)
    raise typer.Exit(1 if failed else 0)


def _stored(seed: int, index: int, made: Mutant) -> Path:
    """Write a mutant to where a person can look at it; return where."""
    OUTPUT.mkdir(parents=True, exist_ok=True)
    path = OUTPUT / f'{seed}-{index}.urdf'
    path.write_bytes(made.source if isinstance(made.source, bytes)
                     else made.source.encode('utf-8', 'surrogatepass'))
    return path.relative_to(ROOT)


@app.command()
def wire(minutes: Annotated[float, typer.Option(min=0.1, help='The hunt ends after these.')] = 10.,
         seed: Annotated[int, typer.Option(help='Another seed, other streams.')] = 0,
         fresh: Annotated[bool, typer.Option(
             '--fresh', help='Forget what earlier hunts have found.')] = False,
         only: Annotated[Path | None, typer.Option(
             exists=True, dir_okay=False, help='Judge the stream in this file alone.')] = None,
         jobs: Jobs = JOBS) -> None:
    """
    Hunt for messages that a decoder cannot take, until coverage stops growing; replay them all.

    Each has to get the answer that rclpy's own deserialisation gives, and no byte behind its last
    may be read. What is found stays in build/fuzz/wire.
    """
    if only is None and importlib.util.find_spec('atheris') is None:
        sys.exit('This needs atheris, which there are packages of for CPython 3.10-3.13 on '
                 'Linux x86_64: `pip install atheris`.')
    # Not at the top: this needs rclpy.
    from fuzz.wire import hunt

    console = Console(highlight=False, markup=False, emoji=False)
    folder, files = OUTPUT / 'wire', [only] if only else []
    if only is None:
        if fresh:
            shutil.rmtree(folder, ignore_errors=True)
        hunt.prepare(folder, seed)
        begin, executions = time.monotonic(), 0
        console.print('  seconds  executions  branches  features  corpus')
        try:
            for rounds in hunt.hunt(folder, seed, jobs, begin + 60 * minutes):
                executions += sum(r.executions for r in rounds)
                console.print(f'{time.monotonic() - begin:9.0f}{executions:12}' + ''.join(
                    f'{max(column):{width}}' for column, width in zip(
                        list(zip(*rounds))[1:], (10, 10, 8))))
        except hunt.Failure as failure:
            console.print(f'{failure}\nagain: python3 make.py fuzz wire --only {failure.file}',
                          soft_wrap=True)
            raise typer.Exit(1) from None
        files = sorted(p for name in ('seeds', 'corpus') for p in (folder / name).iterdir())
    failed = 0
    for index, verdict in campaign(0, range(len(files)), min(jobs, len(files)),
                                   judge=partial(hunt.replayed, files)):
        if verdict.outcome == FAILED:
            failed += 1
            console.print(f'{files[index]}: {verdict.complaint}', soft_wrap=True)
    console.print(f'{len(files)} streams replayed before protected pages, {failed} failed')
    raise typer.Exit(1 if failed else 0)


if __name__ == '__main__':
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # none stays behind
    app()
