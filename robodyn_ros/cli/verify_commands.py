# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommand `verify`: its options."""

import os
from pathlib import Path
from typing import Annotated

import typer

from .options import (
    AsJson, command, console, Locked, locked_joints, MODEL, print_json, ReportFile, Robot)
from ..errors import ArgumentError


@command(MODEL, 'my_arm.urdf --config my_arm.yaml --runs 2000 --report risks.html')
def verify(robot: Robot, locked: Locked = [],  # noqa: B006
           config: Annotated[Path | None, typer.Option(
               metavar='FILE', help='Parameter file of the controller; default: '
               'config/ROBOT.yaml.')] = None,
           motion: Annotated[Path | None, typer.Option(
               metavar='FILE', help='Trajectory to follow: a YAML file of `robodyn teach` or '
               '`excite`, or a recording (CSV, NPZ, bag). Default: random motions within the '
               'limits.')] = None,
           worlds: Annotated[Path | None, typer.Option(
               metavar='FILE', help='Worlds file: the true robot and the distributions of what '
               'is uncertain.')] = None,
           write_worlds: Annotated[Path | None, typer.Option(
               '--write-worlds', metavar='FILE', help='Write the worlds file with its defaults '
               'for editing, then exit.')] = None,
           runs: Annotated[int | None, typer.Option(
               min=1, max=10_000_000, help='Number of worlds; default: 500, or 40 with '
               '--brief.')] = None,
           seed: Annotated[int, typer.Option(min=0, help='Seed of the worlds.')] = 0,
           brief: Annotated[bool, typer.Option(
               '--brief', help='Simulate 40 worlds of 2 s, for continuous integration.')
               ] = False,
           jobs: Annotated[int, typer.Option(
               min=1, help='Number of processes.')] = os.cpu_count() or 1,
           scheduler: Annotated[str, typer.Option(
               '--scheduler', metavar='ADDRESS', help='Dask scheduler whose workers simulate the '
               'worlds, such as tcp://host:8786; default: processes of this machine.')] = '',
           output: Annotated[Path | None, typer.Option(
               '--output', '-o', metavar='FILE', help='SQLite file of the results, from which an '
               'interrupted run resumes; default: in build/verify.')] = None,
           boundary: Annotated[list[str], typer.Option(
               '--boundary', metavar='QUANTITY', help='Increase this quantity of the worlds file '
               'until a criterion breaks; --runs is then the number of worlds at each value, 30 '
               'by default. Repeatable.')] = [],  # noqa: B006
           world: Annotated[int | None, typer.Option(
               '--world', min=0, max=9_999_999, metavar='INDEX', help='Simulate this world only, '
               'and write a flight recording for `robodyn replay`.')] = None,
           suggest: Annotated[bool, typer.Option(
               '--suggest', help='If a criterion is broken, search for gains, limits and '
               'timeouts that break fewer worlds, also new ones.')] = False,
           list_faults: Annotated[bool, typer.Option(
               '--faults', help='List the faults that can be injected, then exit.')
               ] = False,
           report: ReportFile = None, as_json: AsJson = False) -> None:
    """Verify a robot, its parameter file and its control law in random simulated worlds."""
    from .verify import (
        edges, faults, one_world, run, suggest as suggest_settings, template, verification_case)

    for name, given in (('--report', report), ('--suggest', suggest), ('--scheduler', scheduler)):
        if given and (boundary or world is not None):
            raise ArgumentError(f'{name} has no effect with --boundary and --world', name=name,
                                value=given, remedy=f'leave out {name}')
    out = console(as_json)
    if list_faults:
        faults(out)
        return
    case, again = verification_case(robot, locked_joints(locked), config, motion, worlds, seed,
                                    out, brief=brief)
    if write_worlds is not None:
        template(case, write_worlds, out)
        return
    if boundary:
        levels = edges(case, boundary, runs or 30, jobs, out)
        if as_json:
            print_json(levels)
        return
    if world is not None:
        one = one_world(case, world, output, out)
        if as_json:
            print_json(one.plain())
        raise typer.Exit(int(one.bad))
    found, outcomes = run(case, runs or (40 if brief else 500), jobs, output, out, again=again,
                          page=report, scheduler=scheduler)
    if suggest:
        found['suggestion'] = suggest_settings(case, outcomes, jobs, out)
    if as_json:
        print_json(found)
    raise typer.Exit(int(found['bad'] > 0))
