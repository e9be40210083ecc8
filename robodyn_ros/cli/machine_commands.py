# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommands `check-machine` and `loop-report`: their back ends take a second to import."""

from pathlib import Path
import sys
from typing import Annotated

import typer

from .options import AsJson, command, console, DIAGNOSE, print_json, ReportFile


@command(DIAGNOSE, '--duration 120 --report machine.html')
def check_machine(duration: Annotated[float, typer.Option(
        min=1.0, max=86400.0, help='Duration of the measurement (s); a longer one shows rarer '
        'events.')] = 120.0,
        fix: Annotated[bool, typer.Option(
            '--fix', help='Do not measure: print the commands for missing settings (permissions, '
            'idle states, frequency governor) and, in a terminal, offer to run them.')] = False,
        report: ReportFile = None, as_json: AsJson = False) -> None:
    """Measure the loop rate that this machine sustains, and recommend improvements."""
    from .check_machine import fix as offer
    from .check_machine import run

    if not fix:
        found = run(duration, console(as_json), page=report)
        if as_json:
            print_json(found)
    elif not offer(console(), lambda text: sys.stdin.isatty() and typer.confirm(text)):
        raise typer.Exit(1)


@command(DIAGNOSE, '/tmp/timing.npz --report timing.html')
def loop_report(file: Annotated[Path, typer.Argument(
                    metavar='FILE', help='File written by a controller with the parameter '
                                         'timing_file.')],
                picture: Annotated[Path | None, typer.Option(
                    '--picture', metavar='PNG', help='File of the histograms; default: beside '
                    'FILE.')] = None,
                report: ReportFile = None, as_json: AsJson = False) -> None:
    """Show the timing of a control loop: statistics, and a picture of histograms."""
    from .loop_report import figures, run

    if as_json:
        print_json(figures(file))
        return
    run(file, picture or file.with_suffix('.png'), console(), page=report)
