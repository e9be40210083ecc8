# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`make fuzz`: whether any of many mutated URDFs is more than this package can take."""

import os
import sys
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

ROOT = Path(__file__).resolve().parents[2]
OUTPUT = ROOT / 'build' / 'fuzz'
sys.path.insert(0, str(ROOT / 'test'))

from fuzz.campaign import campaign  # noqa: E402
from fuzz.judge import FAILED, VALID  # noqa: E402
from fuzz.mutants import Mutant, mutant  # noqa: E402


def fuzz(count: Annotated[int, typer.Argument(min=1, help='How many mutants.')] = 10_000,
         seed: Annotated[int, typer.Option(help='Another seed, other mutants.')] = 0,
         only: Annotated[int | None, typer.Option(
             min=0, metavar='I', help='Judge mutant I alone, as a failure tells to.')] = None,
         jobs: Annotated[int, typer.Option(min=1, help='Processes.')] = os.cpu_count() or 1,
         ) -> None:
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
                          f'--seed {seed} --only {index}', soft_wrap=True)
    table = Table('outcome', 'mutants', title=f'seed {seed}', title_justify='left')
    for outcome, number in sorted(outcomes.items(), key=lambda o: (o[0] != VALID, -o[1])):
        table.add_row(outcome, str(number), style='bold red' if outcome == FAILED else None)
    console.print(table)
    raise typer.Exit(1 if outcomes[FAILED] else 0)


def _stored(seed: int, index: int, made: Mutant) -> Path:
    """Write a mutant to where a person can look at it; return where."""
    OUTPUT.mkdir(parents=True, exist_ok=True)
    path = OUTPUT / f'{seed}-{index}.urdf'
    path.write_bytes(made.source if isinstance(made.source, bytes)
                     else made.source.encode('utf-8', 'surrogatepass'))
    return path.relative_to(ROOT)


if __name__ == '__main__':
    typer.run(fuzz)
