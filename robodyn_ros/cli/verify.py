# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommand `verify`: from the files of a robot to the table of its risks."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
import yaml

from .verification_tables import (
    criteria_table,
    described,
    faults_table,
    figures_table,
    influence_table,
    plain_table,
    report_of,
    turning_table,
    WIDTH,
)
from ..errors import check_new, UnknownNameError, writing
from ..verification import criteria
from ..verification import worlds as worlds_files
from ..verification.catalogue import drawable
from ..verification.results import digest, fingerprint, Results
from ..verification.sensitivity import (
    boundaries,
    pairs,
    suggestion,
    turning_points,
    TurningPoint,
)
from ..verification.trial import Case, check, Outcome, play_all, record
from ..verification.worlds import BY_NAME

FOLDER = Path('build/verify')
INTERVAL = 10.0         # s between two lines of progress where there is no terminal
SHOWN, REPORTED = 5, 10             # worst worlds


def template(case: Case, path: Path, out: Console) -> None:
    """Write a worlds file; it replaces none."""
    check_new([path], '--write-worlds', 'give another name, or delete it')
    heading = (f'Worlds of `robodyn verify` for {case.name}. `truth` describes the real robot: '
               'replace the values, which are those of the parameter file, by measured ones.')
    with writing(path, '--write-worlds'):
        path.write_text(worlds_files.text(case.worlds, heading), encoding='utf-8')
    out.print(f'wrote {path}; edit it, then give --worlds {path}', soft_wrap=True)


def faults(out: Console) -> None:
    """Print the names of the faults."""
    for name in drawable():
        out.print(name)


def one_world(case: Case, index: int, output: Path | None, out: Console) -> Outcome:
    """Play and print one world."""
    from ..flight_recorder.file import available

    path = (output or FOLDER / f'{_stem(case)}_world{index}.mcap') if available() else None
    one = record(case, index, path)
    drawn = one.world
    out.print(f'world {index}: {described(one)}', soft_wrap=True)
    for name, value in drawn['values'].items():
        unit = BY_NAME[name].unit
        out.print(f'  {name} = {value:.6g}{" " * bool(unit)}{unit}')
    for name, value in one.figures.items():
        if value is not None:
            label, unit = criteria.FIGURES[name]
            out.print(f'  {label}: {value:.6g} {unit}')
    if one.fault:
        when = '' if one.fault_time is None else f' at {one.fault_time:.3f} s'
        out.print(f'  fault: {one.fault}{when}')
    out.print(criteria.problem(one) or 'no criterion is broken',
              style='red' if one.bad else None, soft_wrap=True)
    if path is not None:
        law = f' --law {drawn["mode"]}' if ':' in drawn['mode'] else ''
        out.print(f'flight recording: robodyn replay {path}{law}', soft_wrap=True)
    return one


def edges(case: Case, names: Sequence[str], worlds: int, jobs: int, out: Console
          ) -> list[dict[str, Any]]:
    """Print how far quantities may grow; return the same for JSON."""
    for name in names:
        if name not in BY_NAME:
            raise UnknownNameError('quantity', name, tuple(BY_NAME))
    check(case)
    found = []
    with _progress(out, 'quantities', len(names)) as advance:
        for one in boundaries(case, names, worlds, min(jobs, len(names))):
            found.append(one)
            advance()
    found.sort(key=lambda one: names.index(one.quantity))
    high = criteria.binomial(0, worlds)[1]
    table = plain_table(f'{case.name}: {worlds} worlds at each value of a quantity', 'how',
                        'holds at', 'breaks at', 'unit', first='quantity')
    for one in found:
        table.add_row(one.quantity, one.how, *('-' if x != x else f'{x:.3g}' for x in one[1:3]),
                      BY_NAME[one.quantity].unit)
    out.print(table)
    out.print(f'A value holds if none of {worlds} worlds breaks a criterion: with 95 % '
              f'confidence, less than {high:.0%} of such worlds do.')
    return [one._asdict() for one in found]


@contextmanager
def _progress(out: Console, what: str, total: int, done: int = 0
              ) -> Iterator[Callable[..., None]]:
    """Yield what counts one more: a bar in a terminal, elsewhere a line now and then."""
    with Progress(TextColumn('{task.description}'), BarColumn(), MofNCompleteColumn(),
                  TimeRemainingColumn(), console=out, transient=True,
                  disable=not out.is_terminal or not total) as bars:
        bar, printed = bars.add_task(what, total=total, completed=done), monotonic()

        def advance(note: str = '') -> None:
            nonlocal done, printed
            done += 1
            bars.update(bar, advance=1, description=what + note)
            if bars.disable and monotonic() - printed > INTERVAL:
                out.print(f'{done} of {total} {what}{note}')
                printed = monotonic()
        yield advance


def run(case: Case, count: int, jobs: int, output: Path | None, out: Console, *, again: str,
        page: Path | None, scheduler: str = '') -> tuple[dict[str, Any], int]:
    """Play the worlds that are missing; print the tables, and return figures and exit code."""
    check(case)
    path = output or FOLDER / f'{_stem(case)}.sqlite'
    results = Results(path, case)
    try:
        left = sorted(set(range(count)) - results.known())
        if len(left) < count:
            out.print(f'{path} has {count - len(left)} of {count} worlds already', soft_wrap=True)
        with _progress(out, 'worlds', count, count - len(left)) as advance:
            bad = 0
            try:
                for one in _played(case, left, jobs, scheduler):
                    results.add(one)
                    bad += one.bad
                    advance(f', {bad} bad')
            except KeyboardInterrupt:
                out.print(f'interrupted: {path} has the results so far; the same command resumes',
                          style='yellow', soft_wrap=True)
                raise
        outcomes = list(results.outcomes(count))
        turns = _turning_points(case, outcomes, results, jobs, out)
    finally:
        results.close()
    return _shown(case, outcomes, turns, path, out, again, page)


def _played(case: Case, left: Sequence[int], jobs: int, scheduler: str) -> Iterable[Outcome]:
    if not left:
        return ()
    if scheduler:
        from ..verification.results import play_on_cluster

        return play_on_cluster(case, left, scheduler)
    return play_all(case, left, min(jobs, len(left)))


def _turning_points(case: Case, outcomes: Sequence[Outcome], results: Results, jobs: int,
                    out: Console) -> list[TurningPoint]:
    """Return what the worst worlds without an injected fault turn on."""
    found = {pair.broken: pair for pair in pairs(outcomes, case.worlds)}
    worst = [found[one.index] for one in criteria.worst(
        [one for one in outcomes if one.index in found], REPORTED)]
    left = [pair for pair in worst if results.turning_points(pair) is None]
    with _progress(out, 'broken worlds compared', len(left)) as advance:
        for pair, points in turning_points(case, left, min(jobs, len(left))) if left else ():
            results.add_turning_points(pair, points)
            advance()
    return [point for pair in worst for point in results.turning_points(pair) or ()]


def _shown(case: Case, outcomes: Sequence[Outcome], turns: Sequence[TurningPoint], path: Path,
           out: Console, again: str, page: Path | None) -> tuple[dict[str, Any], int]:
    estimates = criteria.estimates(outcomes)
    influences = criteria.influences(outcomes)
    bad, verdict = sum(one.bad for one in outcomes), criteria.verdict(outcomes)
    worst = [one for one in criteria.worst(outcomes, REPORTED) if one.bad]
    tables = [criteria_table(case, estimates, len(outcomes)), figures_table(outcomes)]
    if reasons := faults_table(outcomes):
        tables.append(reasons)
    if influences:
        tables.append(influence_table(influences))
    if turns:
        tables.append(turning_table(turns))
    out.print(f'{case.name}: {verdict}', style='bold red' if bad else 'bold',
              width=WIDTH)
    out.print(*tables, sep='\n')
    for one in worst[:SHOWN]:
        out.print(f'world {one.index}: {described(one)}: {criteria.problem(one)}', style='red',
                  soft_wrap=True)
        out.print(f'  {again} --world {one.index}', soft_wrap=True)
    out.print(f'{bad} of {len(outcomes)} worlds break a criterion; results: {path}',
              soft_wrap=True)
    if page is not None:
        report_of(case, verdict, outcomes, tables, worst, influences, again).write(page)
        out.print(f'report: {page}', soft_wrap=True)
    found = {'robot': case.name, 'verdict': verdict, 'files': dict(case.files),
             'worlds': len(outcomes), 'bad': bad, 'results': str(path),
             'broken_armed': [one.index for one in outcomes if one.bad and not one.refusal],
             'criteria': {e.criterion.name: {'worlds': e.worlds, 'broken': e.broken,
                                             'interval': [e.low, e.high]} for e in estimates},
             'figures': criteria.distributions([one for one in outcomes if not one.injection]),
             'figures_with_fault': criteria.distributions([one for one in outcomes
                                                           if one.injection]),
             'influences': [one._asdict() for one in influences],
             'turning_points': [one._asdict() for one in turns],
             'worst': [one.plain() for one in worst]}
    return found, int(bad > 0)


def suggest(case: Case, found: Mapping[str, Any], jobs: int, out: Console) -> dict[str, Any]:
    """
    Print what to change after a run, with the same worlds under the settings that are suggested.

    :param found: figures of the run.
    :return: the suggestion and the figures of its run, for JSON.
    """
    broken = found['broken_armed']
    if not found['bad']:
        out.print('no criterion is broken: nothing to suggest')
        return {}
    if broken:
        out.print(f'searching for settings that break fewer worlds (now {len(broken)}) ...')
    best = suggestion(case, broken)
    if not best.changes:
        out.print('No change of gains, friction_compensation, velocity_scale, effort_limit, '
                  'state_timeout or loop_delay helps. Compare payload, gravity, friction and '
                  'motor signs of the parameter file with the robot.', style='yellow',
                  soft_wrap=True)
        return {}
    second, _ = run(best.case, found['worlds'], jobs, None, out, again='', page=None)
    out.print(_compared(found, second))
    out.print('suggested parameters, accepted by the controller:')
    for name, value in best.changes.items():
        out.print(f'  {name}: {yaml.safe_dump(value, default_flow_style=True).splitlines()[0]}',
                  soft_wrap=True)
    return {'changes': best.changes, 'tried': best.tried, 'broken': best.broken, 'run': second}


def _compared(before: Mapping[str, Any], after: Mapping[str, Any]) -> Any:
    table = plain_table(f'Broken criteria in {before["worlds"]} worlds', 'criterion', 'before',
                        'after')
    for one in criteria.CRITERIA:
        counts = [found['criteria'][one.name]['broken'] for found in (before, after)]
        if any(counts):
            table.add_row(one.sentence, *map(str, counts))
    table.add_row('any', str(before['bad']), str(after['bad']))
    return table


def _stem(case: Case) -> str:
    """Return a file name of which each case has its own."""
    return f'{case.name}_{digest(fingerprint(case))}'
