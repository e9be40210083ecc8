# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`make adversary`: random compositions of faults; the table of all of them; false alarms."""

import json
import signal
import sys
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import track

ROOT = Path(__file__).resolve().parents[2]
OUTPUT = ROOT / 'build' / 'adversary'
sys.path.insert(0, str(ROOT / 'test'))

from adversary import table as tables  # noqa: E402

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def table(words: Annotated[list[str] | None, typer.Argument(
              help='Only injections with one of these words in their names.')] = None,
          path: Annotated[list[str], typer.Option(
              help='library, native or python; several may be given.')] = ['library'],  # noqa: B006
          compare: Annotated[Path | None, typer.Option(
              exists=True, dir_okay=False, help='JSON of another run, shown beside.')] = None,
          output: Annotated[Path, typer.Option(help='Where the JSON goes.')]
          = OUTPUT / 'table.json') -> None:
    """Inject every fault of the catalogue alone and show what came of it."""
    console = Console(highlight=False, width=100)
    wanted = tables.scenes(words or [], tuple(path))
    begin = time.monotonic()
    subjects = tables.Libraries()
    rows = list(track(tables.rows(wanted, subjects), f'{len(wanted)} rows', len(wanted),
                      console=console, transient=True))
    before = json.loads(compare.read_text()) if compare else None
    console.print(tables.shown(rows, before))
    tables.write(rows, output)
    bad = sum(bool(r['violations']) for r in rows)
    console.print(f'{len(rows)} rows in {time.monotonic() - begin:.0f} s, {bad} with violations; '
                  f'written to {output}', soft_wrap=True)


if __name__ == '__main__':
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # none stays behind
    app()
