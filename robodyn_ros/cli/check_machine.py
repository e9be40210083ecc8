# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommand `check-machine`: loop rates that this machine sustains."""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray
from rich import box
from rich.console import Console, Group, RenderableType
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from ..errors import RobodynError
from ..realtime import system_checks, system_fixes
from ..realtime.native.lateness import compiled_lateness
from ..realtime.rate_recommendation import judge, Verdict
from ..realtime.scheduling import Scheduling
from ..realtime.wakeup_latency import Case, Lateness, measure
from ..report.document import Report

MEASURED_RATES = (1000.0, 4000.0)    # [Hz]
SPIN_TIME = 50e-6    # [s]
ROUND_TRIP_SHARE = 0.15    # of the measuring time
FIFO = Scheduling(priority=system_checks.REALTIME_PRIORITY)
ALL = Scheduling(priority=system_checks.REALTIME_PRIORITY, lock_memory=True, keep_awake=True)
MARKS = {system_checks.FINE: ('✓', 'green'), system_checks.FAIR: ('·', 'yellow'),
         system_checks.BAD: ('✗', 'red')}
LOOPS = {(False, False): 'Python', (False, True): 'Python busy', (True, False): 'native',
         (True, True): 'native busy'}
MIN_VERDICT_TIME = 60.0    # [s]; shorter runs miss rare latencies

Found = dict[tuple['Level', bool, bool], list[Lateness]]


class Level(NamedTuple):
    """Tuning of a loop on this machine: parameters and scheduling."""

    name: str
    parameters: str         # that give it
    scheduling: Scheduling
    spin: float             # s


def run(seconds: float, out: Console, *, page: Path | None = None) -> dict[str, Any]:
    """
    Measure for about so many seconds, and print machine, latencies and recommendations.

    Return figures for a script: facts, latencies [s], and the rates that are sustained [Hz].

    :param page: file of a report, None for none.
    """
    facts = system_checks.facts()
    out.print(_facts(facts))
    levels = _levels()
    with out.status('compiling the loop without the interpreter ...'):
        compiled_lateness()
    found, trips = _measure(levels, seconds, out)
    out.print(_table(found))
    out.print(trips)
    out.print(_verdict(found, facts, levels))
    if page is not None:
        _report(facts, found, trips, levels, seconds).write(page)
        out.print(f'report: {page}', soft_wrap=True)
    if seconds < MIN_VERDICT_TIME:
        out.print(f'\n{seconds:g} s cannot show rare latencies; run without --duration for a '
                  'verdict.', style='yellow')
    return _figures(facts, found)


def _figures(facts: list[system_checks.Fact], found: Found) -> dict[str, Any]:
    late = [{'level': level.name, 'loop': LOOPS[native, busy], 'rate': rate,
             **dict(zip(('p50', 'p99', 'p99.9', 'max'), _four(one)))}
            for (level, native, busy), runs in found.items()
            for rate, one in zip(MEASURED_RATES, runs)]
    return {'facts': {fact.name: fact.value for fact in facts}, 'wake_ups': late,
            'sustained': [{'level': level.name, 'parameters': level.parameters,
                           'loop': LOOPS[native, busy], 'rate': verdict.rate}
                          for (level, native, busy), verdict in _verdicts(found).items()]}


def fix(out: Console, ask: Callable[[str], bool]) -> bool:
    """
    Print the commands for what this machine lacks, and run those that are agreed to.

    :param ask: returns whether to run them, given a question.
    :return: False if a command failed.
    """
    fixes, well = system_fixes.missing(), True
    if not fixes:
        out.print('Nothing is missing that commands can give: permissions, idle states, governor.')
    for each in fixes:
        out.print(Text(f'\n{each.name}, as root:', 'bold'))
        for command in each.commands:
            out.print(Text(f'    {command}'), soft_wrap=True)
        if ask(f'Run these {len(each.commands)} commands?' if len(each.commands) > 1
               else 'Run this command?'):
            if problem := system_fixes.apply(each):
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


def _report(facts: list[system_checks.Fact], found: Found, trips: RenderableType,
            levels: list[Level], seconds: float) -> Report:
    report = Report('Loop rates of this machine', f'Measured for {seconds:g} s.')
    report.rich('Machine', _facts(facts))
    report.rich('', _table(found))
    report.rich('DDS', trips)
    report.rich('', _verdict(found, facts, levels))
    for (level, native, busy), runs in found.items():
        if native and not busy:
            for rate, one in zip(MEASURED_RATES, runs):
                report.histogram(f'{level.name}, native, {rate:g} Hz: how late', 1e6 * one.late,
                                 'µs')
    return report


def _levels() -> list[Level]:
    """Return the levels of tuning that this machine grants."""
    plain = Level('plain', 'no parameter set', Scheduling(), 0.0)
    granted = {name: value for name, value in vars(ALL).items()
               if value and not system_checks.attempt(Scheduling(**{name: value})).refused}
    words = [f'{name}: {str(value).lower()}' for name, value in granted.items()]
    tuned = Level('tuned', ', '.join([*words, f'spin: {SPIN_TIME:.5f}']), Scheduling(**granted),
                  SPIN_TIME)
    fifo = Level('FIFO', words[0], FIFO, 0.0) if 'priority' in granted else None
    return [plain, *([fifo] if fifo else []), tuned]


def _measure(levels: list[Level], seconds: float, out: Console) -> tuple[Found, RenderableType]:
    cases = [(level, Case(rate, native, busy, level.scheduling, level.spin))
             for level in levels for native, busy in LOOPS for rate in MEASURED_RATES]
    found: Found = {}
    ros = find_spec('rclpy') is not None
    share = seconds * (1.0 - ROUND_TRIP_SHARE * ros) / len(cases)
    with Progress(TextColumn('{task.description}'), BarColumn(), TimeRemainingColumn(),
                  console=out, transient=True) as progress:
        task = progress.add_task('wake-ups', total=seconds)
        for level, case in cases:
            progress.update(task, description=f'{LOOPS[case.native, case.busy]}, '
                                              f'{case.rate:g} Hz')
            found.setdefault((level, case.native, case.busy), []).append(
                measure(case, share))
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
    table = Table(box=box.SIMPLE_HEAD, title='\nWake-ups: how late [µs]', title_justify='left',
                  title_style='bold', pad_edge=False, padding=(0, 1, 0, 0))
    for _ in range(2):
        table.add_column()
    for rate in MEASURED_RATES:
        for figure in ('p50', 'p99', 'p99.9', 'max'):
            heading = f'{rate / 1000:g} kHz' if figure == 'p50' else ''
            table.add_column(f'{heading}\n{figure}', justify='right')
    levels = list(dict.fromkeys(level for level, *_ in found))
    for level in levels:
        table.add_section()
        for (of, native, busy), runs in found.items():
            if of == level:
                table.add_row('' if native or busy else Text(level.name, 'bold'),
                              LOOPS[native, busy], *(_us(x) for run in runs for x in _four(run)))
    legend = Table.grid(padding=(0, 1))
    for name, meaning in (*((level.name, level.parameters) for level in levels),
                          ('busy', 'another thread of the process keeps the interpreter'),
                          ('native', 'a loop that needs no interpreter')):
        legend.add_row(Text(name, 'dim bold'), Text(meaning, 'dim'))
    return Group(table, legend, '')


def _four(run: Lateness) -> ndarray:
    return np.percentile(run.late, (50, 99, 99.9, 100))


def _verdicts(found: Found) -> dict[tuple[Level, bool, bool], Verdict]:
    return {key: judge([run.late for run in runs], max(MEASURED_RATES)) for key,
            runs in found.items()}


def _verdict(found: Found, facts: list[system_checks.Fact], levels: list[Level]) -> RenderableType:
    verdicts = _verdicts(found)
    table = Table(box=box.SIMPLE_HEAD, title='Rate that is sustained [Hz]', title_justify='left',
                  title_style='bold', pad_edge=False)
    table.add_column()
    for name in LOOPS.values():
        table.add_column(name, justify='right')
    for level in levels:
        table.add_row(Text(level.name), *(str(verdicts[(level, *loop)].rate or 'none')
                                          for loop in LOOPS))
    lines: list[RenderableType] = [table]
    best = levels[0]
    for name, native in (('Native', True), ('Python', False)):
        # The least demanding of equally good ones
        best = max(levels, key=lambda level: verdicts[level, native, False].rate)  # noqa: B023
        lines.append(_sentence(name, best, verdicts[best, native, False]))
    todo = [fact.advice for fact in sorted(facts, key=lambda f: -f.grade) if fact.advice]
    if best != levels[0]:
        todo.insert(0, f'give the controller the parameters {best.parameters}')
    if todo:
        grid = Table.grid(padding=(0, 1))
        for i, advice in enumerate(todo, 1):
            grid.add_row(f'{i}.', Text(advice))
        lines += ['', Text('What to change', 'bold'), grid]
    return Group(*lines)


def _sentence(loop: str, level: Level, verdict: Verdict) -> Text:
    if not verdict.rate:
        return Text(f'{loop}: no control rate can be recommended; 1 in 1000 wake-ups was later '
                    f'than {_us(verdict.late)} µs.', 'red')
    said = Text.assemble((f'{loop}: {verdict.rate} Hz', 'bold green'), f' ({level.name}). ',
                         f'999 of 1000 wake-ups were less than {_us(verdict.late)} µs late and '
                         f'leave {_us(verdict.margin)} µs of the period of '
                         f'{1e6 / verdict.rate:.0f}; the latest was {_us(verdict.worst)}')
    said.append(f', which costs {verdict.lost} period{"s" * (verdict.lost > 1)}.'
                if verdict.lost else '.')
    return said
