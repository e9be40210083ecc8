# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommand `check-machine`: loop rates of this machine, timing of a loop, compilation."""

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
import shutil
import sys
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy import ndarray
from rich import box
from rich.console import Console, Group, RenderableType
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text
import typer

from . import start_up_times
from .options import (
    AsJson, chosen_robot, command, console, DIAGNOSE, Gravity, Locked, print_json, ReportFile,
    robots, Root, Tip)
from ..errors import ArgumentError, RobodynError
from ..realtime import system_checks
from ..realtime.periodic_timer import CYCLICTEST, judge, Lateness, measure, PYTHON, Verdict
from ..realtime.scheduling import Scheduling
from ..realtime.statistics import load, rate, Recording, spread
from ..report.document import Report

MEASURED_RATES = (1000.0, 4000.0)    # [Hz]
ROUND_TRIP_SHARE = 0.15    # of the measuring time
FIFO = Scheduling(priority=system_checks.REALTIME_PRIORITY)
ALL = Scheduling(priority=system_checks.REALTIME_PRIORITY, lock_memory=True, keep_awake=True)
MARKS = {system_checks.FINE: ('✓', 'green'), system_checks.FAIR: ('·', 'yellow'),
         system_checks.BAD: ('✗', 'red')}
MIN_VERDICT_TIME = 60.0    # [s]; shorter runs miss rare latencies
# Of a timing log
COLUMNS = {'wake_up': 'wake-up error', 'cycle': 'cycle time', 'age': 'age of the state',
           'answer': 'state to effort'}
BARS = '▁▂▃▄▅▆▇█'
TABLE_BINS = 12
INSTALL = 'for figures of a compiled loop: sudo apt install rt-tests'


class Level(NamedTuple):
    """Tuning of a loop on this machine: scheduling, and the parameters that give it."""

    name: str
    parameters: str
    scheduling: Scheduling


Found = dict[tuple[Level, float], Lateness]     # by level and rate [Hz]


@command(DIAGNOSE, '--duration 120 --report machine.html')
def check_machine(duration: Annotated[float, typer.Option(
        min=1.0, max=86400.0, help='Duration of the measurement (s); a longer one shows rarer '
        'events.')] = 120.0,
        fix: Annotated[bool, typer.Option(
            '--fix', help='Do not measure: print the commands for missing settings (permissions, '
            'idle states, frequency governor) and, in a terminal, offer to run them.')] = False,
        timing: Annotated[Path | None, typer.Option(
            '--timing', metavar='FILE', help='Do not measure: show the timing of a control loop, '
            'from the file that its parameter timing_file names.')] = None,
        robot: Annotated[str, typer.Option(
            '--compile', metavar='ROBOT', autocompletion=robots, help='Do not measure: compile '
            'the controller of a robot in advance, and show its start-up times.')] = '',
        everything: Annotated[bool, typer.Option(
            '--all', help='With --compile: all quantities, not only those of the controller.')
            ] = False,
        locked: Locked = [], root: Root = '', tip: Tip = '', gravity: Gravity = '',  # noqa: B006
        report: ReportFile = None, as_json: AsJson = False) -> None:
    """Measure the loop rate that this machine sustains; show a loop's timing; compile ahead."""
    tasks = [name for name, given in (('--fix', fix), ('--timing', timing), ('--compile', robot))
             if given]
    if len(tasks) > 1:
        raise ArgumentError(f'{" and ".join(tasks)} are different tasks', name=tasks[1],
                            remedy='choose one')
    if not robot and (everything or locked or root or tip or gravity):
        raise ArgumentError('--all, --locked, --root, --tip and --gravity are those of --compile',
                            name='--compile', remedy='add --compile ROBOT, or leave them out')
    if robot:
        start_up_times.run(chosen_robot(robot, locked, root, tip, gravity).model, everything,
                           console())
    elif timing is not None and as_json:
        print_json(timing_figures(timing))
    elif timing is not None:
        print_timing(timing, console(), page=report)
    elif not fix:
        found = run(duration, console(as_json), page=report)
        if as_json:
            print_json(found)
    elif not offer_fixes(console(), lambda text: sys.stdin.isatty() and typer.confirm(text)):
        raise typer.Exit(1)


def run(seconds: float, out: Console, *, page: Path | None = None) -> dict[str, Any]:
    """
    Measure for about so many seconds, and print machine, latencies and recommendations.

    Return figures for a script: facts, latencies [s], and the rates that are sustained [Hz].

    :param page: file of a report, None for none.
    """
    facts = system_checks.facts()
    out.print(_facts(facts))
    found, trips = _measure(seconds, out)
    parts = _table(found), trips, _verdict(found, facts)
    out.print(*parts, sep='\n')
    if page is not None:
        report = Report('Loop rates of this machine', f'Measured for {seconds:g} s.')
        for part in (_facts(facts), *parts):
            report.rich('', part)
        for (level, rate), one in found.items():
            report.histogram(f'{level.name}, {rate:g} Hz', {'lateness': 1e6 * one.late},
                             'lateness [µs]', small=True)
        report.write(page)
        out.print(f'report: {page}', soft_wrap=True)
    if seconds < MIN_VERDICT_TIME:
        out.print(f'\n{seconds:g} s cannot show rare latencies; run without --duration for a '
                  'verdict.', style='yellow')
    return {'facts': {fact.name: fact.value for fact in facts},
            'wake_ups': [{'level': level.name, 'loop': one.source, 'rate': rate,
                          **spread(one.late).named()} for (level, rate), one in found.items()],
            'sustained': [{'level': level.name, 'parameters': level.parameters,
                           'rate': verdict.rate} for level, verdict in _verdicts(found).items()]}


def offer_fixes(out: Console, ask: Callable[[str], bool]) -> bool:
    """
    Print the commands for what this machine lacks, and run those that are agreed to.

    :param ask: returns whether to run them, given a question.
    :return: False if a command failed.
    """
    fixes, well = system_checks.missing(), True
    if not fixes:
        out.print('Nothing is missing that commands can give: permissions, idle states, governor.')
    for each in fixes:
        out.print(Text(f'\n{each.name}, as root:', 'bold'))
        for line in each.commands:
            out.print(Text(f'    {line}'), soft_wrap=True)
        if ask(f'Run these {len(each.commands)} commands?' if len(each.commands) > 1
               else 'Run this command?'):
            if problem := system_checks.apply(each):
                out.print(Text(f'failed: {problem}', 'red'))
                well = False
            else:
                out.print(f'Done{"; " * bool(each.then)}{each.then}.')
        elif each.then:
            out.print(f'Afterwards: {each.then}.')
    for fact in system_checks.facts():
        if fact.name in ('kernel', 'host', 'isolated CPUs') and fact.grade:
            out.print(Text.assemble((f'\n{fact.name}', 'bold'), f', by you: {fact.advice}'))
    return well


def _levels() -> list[Level]:
    """Return the levels of tuning that this machine grants."""
    granted = {name: value for name, value in vars(ALL).items()
               if value and not system_checks.attempt(Scheduling(**{name: value})).refused}
    words = [f'{name}: {str(value).lower()}' for name, value in granted.items()]
    found = [Level('plain', 'no parameter set', Scheduling())]
    if 'priority' in granted:
        found.append(Level('FIFO', words[0], FIFO))
    if len(granted) > ('priority' in granted):
        found.append(Level('tuned', ', '.join(words), Scheduling(**granted)))
    return found


def _measure(seconds: float, out: Console) -> tuple[Found, RenderableType]:
    cases = [(level, rate) for level in _levels() for rate in MEASURED_RATES]
    ros = find_spec('rclpy') is not None
    share = seconds * (1.0 - ROUND_TRIP_SHARE * ros) / len(cases)
    found: Found = {}
    with Progress(TextColumn('{task.description}'), BarColumn(), TimeRemainingColumn(),
                  console=out, transient=True) as progress:
        task = progress.add_task('wake-ups', total=seconds)
        for level, rate in cases:
            progress.update(task, description=f'{level.name}, {rate:g} Hz')
            found[level, rate] = measure(rate, level.scheduling, share)
            progress.advance(task, share)
        if not ros:
            return found, Text('DDS round trip: skipped, rclpy is not installed here', 'yellow')
        progress.update(task, description='DDS round trips')
        return found, _round_trip(seconds * ROUND_TRIP_SHARE)


def _round_trip(seconds: float) -> RenderableType:
    from ..nodes.clients import latency_probe
    try:
        trips, lost = latency_probe.measure(seconds)
    except RobodynError as error:
        return Text(f'DDS round trip: not measured, {error}', 'red')
    if not len(trips):
        return Text('DDS round trip: no state was answered', 'red')
    p50, p99, most = np.percentile(trips, (50, 99, 100))
    return Text.assemble(
        ('DDS round trip', 'bold'), ', joint state to another process and efforts back, '
        f'1 kHz, Python: p50 {_us(p50)}, p99 {_us(p99)}, max {_us(most)} µs; {lost} of '
        f'{len(trips) + lost} were not answered.\n')


def _us(seconds: float) -> str:
    us = 1e6 * seconds
    return f'{us:.1f}' if us < 9.95 else f'{us:.0f}'


def _facts(facts: list[system_checks.Fact]) -> Table:
    table = Table(title='This machine', title_justify='left', title_style='bold', box=None,
                  show_header=False, padding=(0, 1))
    for fact in facts:
        mark, style = MARKS[fact.grade]
        table.add_row(Text(mark, style), Text(fact.name), Text(fact.value))
    return table


def _table(found: Found) -> RenderableType:
    table = spread_table('Wake-ups: how late [µs]', {
        f'{level.name}, {rate / 1000:g} kHz, {one.source}': 1e6 * one.late
        for (level, rate), one in found.items()})
    legend = Table.grid(padding=(0, 1))
    for level in dict.fromkeys(level for level, _ in found):
        legend.add_row(Text(level.name, 'dim bold'), Text(level.parameters, 'dim'))
    return Group(table, legend)


def _verdicts(found: Found) -> dict[Level, Verdict]:
    runs: dict[Level, list[Any]] = {}
    for (level, _), one in found.items():
        runs.setdefault(level, []).append(one.late)
    return {level: judge(late, max(MEASURED_RATES)) for level, late in runs.items()}


def _verdict(found: Found, facts: list[system_checks.Fact]) -> RenderableType:
    verdicts = _verdicts(found)
    # The least demanding of equally good ones
    best = max(verdicts, key=lambda level: verdicts[level].rate)
    lines: list[RenderableType] = [_sentence(level, verdicts[level]) for level in verdicts]
    todo = [fact.advice for fact in sorted(facts, key=lambda f: -f.grade) if fact.advice]
    if best.scheduling != Scheduling():
        todo.insert(0, f'set the controller parameters {best.parameters}')
    if any(one.source == PYTHON for one in found.values()) and not shutil.which(CYCLICTEST):
        todo.append(INSTALL)
    if todo:
        grid = Table.grid(padding=(0, 1))
        for i, advice in enumerate(todo, 1):
            grid.add_row(f'{i}.', Text(advice))
        lines += ['', Text('What to change', 'bold'), grid]
    return Group(*lines)


def _sentence(level: Level, verdict: Verdict) -> Text:
    if not verdict.rate:
        return Text(f'{level.name}: no control rate can be recommended; 1 in 1000 wake-ups was '
                    f'later than {_us(verdict.late)} µs.', 'red')
    said = Text.assemble((f'{level.name}: {verdict.rate} Hz', 'bold green'), '. 999 of 1000 '
                         f'wake-ups were less than {_us(verdict.late)} µs late and leave '
                         f'{_us(verdict.margin)} µs of the period of {1e6 / verdict.rate:.0f}; '
                         f'the latest was {_us(verdict.worst)}')
    said.append(f', which costs {verdict.lost} period{"s" * (verdict.lost > 1)}.'
                if verdict.lost else '.')
    return said


def print_timing(path: Path, out: Console, *, page: Path | None = None) -> None:
    """Print the statistics of a timing log; ``page``: file of a report with histograms."""
    recording = _loaded(path)
    about = recording.about
    mean, deviation = rate(recording.cycles)
    kept = len(recording.cycles)
    out.print(f'{kept} cycles' + (f', the last of {about.cycles}' if about.cycles > kept else '')
              + f', trigger {about.trigger}, {about.data_path}, {about.scheduling}',
              style='bold')
    nominal = f', nominally {about.rate:g}' if about.trigger == 'timer' else ''
    out.print(f'rate {mean:.2f} ± {deviation:.2f} Hz{nominal}; {about.overruns} overruns, '
              f'{about.missed} points of the grid missed, {about.lost} samples lost')
    out.print(_timing_table(recording))
    if page is not None:
        _timing_report(recording, path.name).write(page)
        out.print(f'report: {page}', soft_wrap=True)


def timing_figures(path: Path) -> dict[str, Any]:
    """Return the statistics of a timing log for a script: times in s, rates in Hz."""
    recording = _loaded(path)
    mean, deviation = rate(recording.cycles)
    about = recording.about
    return {'cycles': len(recording.cycles), 'rate_mean': mean, 'rate_deviation': deviation,
            'overruns': about.overruns, 'missed': about.missed, 'lost': about.lost,
            **{column: spread(recording.cycles[column]).named() for column in COLUMNS}}


def _loaded(path: Path) -> Recording:
    recording = load(path)
    if not len(recording.cycles):
        raise ArgumentError(f'{path} holds no cycle', name='file', value=str(path),
                            remedy='let the controller be active for a while')
    return recording


def _timing_report(recording: Recording, title: str) -> Report:
    about = recording.about
    report = Report(f'Timing of {title}', f'{len(recording.cycles)} cycles, trigger '
                    f'{about.trigger}, {about.data_path}, {about.scheduling}')
    report.rich('Figures', _timing_table(recording))
    cycles = np.arange(float(len(recording.cycles)))
    for column, name in COLUMNS.items():
        x = 1e6 * recording.cycles[column]
        if np.isfinite(x).any():
            report.histogram(f'{name}: histogram', {name: x}, 'µs')
            report.plot(f'{name}: every cycle', cycles, {name: x}, 'cycle', 'µs')
    return report


def _timing_table(recording: Recording) -> Table:
    return spread_table('[µs]', {name: 1e6 * recording.cycles[column]
                                 for column, name in COLUMNS.items()})


def spread_table(heading: str, samples: Mapping[str, ndarray]) -> Table:
    """Return percentiles and a histogram of (N,) samples [µs] by name, NaN: not measured."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in (heading, 'p50', 'p99', 'p99.9', 'max', 'from 0 to p99.9, logarithmic'):
        table.add_column(column, justify='right' if column[0] in 'pm' else 'left')
    for name, x in samples.items():
        found = spread(x)
        if np.isnan(found.max):
            table.add_row(name, *4 * ('-',), 'not measured with this trigger')
            continue
        table.add_row(name, *(f'{v:.1f}' for v in found[2:]), _bars(x, found.p999))
    return table


def _bars(x: ndarray, upper: float) -> str:
    """Return a histogram as a word: heights are logarithmic, empty bins are blank."""
    counts, _ = np.histogram(x[np.isfinite(x)], TABLE_BINS, (0.0, max(upper, 1e-9)))
    heights = np.log1p(counts) / max(np.log1p(counts.max()), 1e-9)
    return ''.join(BARS[int(h * (len(BARS) - 1))] if h else ' ' for h in heights)
