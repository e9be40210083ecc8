# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Criteria of each world, how often they are broken, the worst worlds, tables and report."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from numpy import ndarray
from rich import box
from rich.table import Table
from scipy.stats import binned_statistic, binomtest, spearmanr

from . import worlds as worlds_files
from .judge_step import COMPENSATION_TOLERANCE, MAX_VELOCITY_SHARE
from .results import package_digest
from .trial import Case, Outcome, problem
from .worlds import BY_NAME, QUANTITIES, STOPPED
from ..control.settings.motion_limits import velocity_warning
from ..report.document import Report
from ..report.run_figure import COLORS, FAULT_COLOR

if TYPE_CHECKING:
    from .sensitivity import TurningPoint

CONFIDENCE = 0.95
SHARES = 0.5, 0.95, 1.0         # quantiles of the distributions
SIGNIFICANT = 1e-3              # p-value, before it is divided by the number of quantities
FEWEST = 30                     # worlds for a rank correlation
REPORTED = 10                   # influences
WIDTH = 80
LIMITS = {'velocity': MAX_VELOCITY_SHARE, 'effort': 1.0, 'resting': 1.0, 'tracking': 1.0,
          'compensated friction': 2.0 + COMPENSATION_TOLERANCE}      # drawn in the histograms


class Criterion(NamedTuple):
    """
    A criterion, and its sentence.

    :param source: page of the documentation that the sentence is from.
    :param broken: kinds of violations that break it, each with what :func:`verdict` says of the
        arm; '' for the name of the kind.
    :param figure: without which it does not apply, '' for none.
    :param healthy: it applies to worlds without a fault only.
    """

    name: str
    sentence: str
    source: str
    broken: Mapping[str, str] = {}
    figure: str = ''
    healthy: bool = False


ARMING, CALM, HOLDING = 'arming', 'no fault', 'holding'
CRITERIA = (
    Criterion(HOLDING, 'The effort limits hold the arm at rest.', 'verify.md', {
        HOLDING: 'effort limits do not hold the arm'}),
    Criterion(ARMING, 'Arming succeeds if the arm agrees with the URDF.', 'safety.md'),
    Criterion(CALM, 'No fault latches, except for those of an injection.', 'verify.md'),
    Criterion('effort', 'Every published effort is finite and within effort_limit.', 'safety.md',
              {'not finite': '', 'effort': ''}),
    Criterion('step', 'Steps of the efforts are within effort_rate_limit.', 'safety.md',
              {'step': ''}),
    Criterion('latch', 'Every fault is latched and named.', 'safety.md',
              {'not latched': '', 'unnamed': ''}),
    Criterion('zero', 'No effort follows the zero that ends a fault.', 'safety.md',
              {'after zero': '', 'brakes released': ''}),
    Criterion('velocity', 'No joint exceeds 1.1 times its velocity limit.', 'safety.md', {
        'velocity': 'a joint exceeds its velocity limit'}),
    Criterion('reaction', 'States that stop are a fault within reaction_time.', 'verify.md', {
        'reaction': 'no fault latches in time when states stop'}),
    Criterion('resting', 'Each joint rests within resting_error of its target.', 'verify.md', {
        'resting': 'does not reach its target'}, 'resting', healthy=True),
    Criterion('tracking', 'Each joint stays within tracking_share of its motion.', 'verify.md', {
        'tracking': 'does not follow its reference',
        'refused': 'the controller refuses the motion'}, 'tracking', healthy=True),
    Criterion('settling', 'The arm is slower than settled_velocity after a motion.', 'verify.md', {
        'settling': 'the arm does not settle'}, 'settling', healthy=True),
    Criterion('stops', 'No joint reaches its stop.', 'verify.md', {
        'stops': 'a joint reaches its stop'}, healthy=True),
    Criterion('passive', 'A law without reference supplies no energy to the arm.', 'verify.md', {
        'passive': 'the law supplies energy to the arm'}, 'supplied energy'),
    Criterion('friction', 'Friction compensation is closer to the friction than none.',
              'verify.md', {'friction': 'friction is compensated more than twice'},
              'compensated friction'),
    Criterion('exception', 'The controller raises no exception.', 'verify.md', {
        'exception': 'the controller raises an exception'}))
FAILURES = {kind: failure for one in CRITERIA for kind, failure in one.broken.items()}


class Estimate(NamedTuple):
    """How often a criterion was broken, and the Clopper-Pearson interval of the probability."""

    criterion: Criterion
    worlds: int
    broken: int
    low: float
    high: float


def breaks(criterion: Criterion, one: Outcome) -> bool | None:
    """Return whether an outcome breaks a criterion; None if it does not apply."""
    if criterion.name == ARMING:
        return bool(one.refusal)
    if criterion.name == CALM:
        return None if one.refusal else one.unexplained_fault
    if criterion.figure and one.figures.get(criterion.figure) is None:
        return None
    if one.refusal and not one.violations:
        return None
    if criterion.healthy and (one.injection or one.fault):
        return None
    if criterion.name == 'reaction' and one.injection != STOPPED:
        return None
    return any(kind in one.violations for kind in criterion.broken)


def estimates(outcomes: Sequence[Outcome]) -> list[Estimate]:
    """Return the estimate of each criterion."""
    found = []
    for criterion in CRITERIA:
        judged = [b for one in outcomes if (b := breaks(criterion, one)) is not None]
        found.append(Estimate(criterion, len(judged), sum(judged),
                              *binomial(sum(judged), len(judged))))
    return found


def binomial(broken: int, count: int) -> tuple[float, float]:
    """Return the Clopper-Pearson interval of a probability."""
    if not count:
        return 0.0, 1.0
    interval = binomtest(broken, count).proportion_ci(CONFIDENCE, 'exact')
    return float(interval.low), float(interval.high)


#: Name and unit of each figure of an outcome.
FIGURES = {'velocity': ('peak velocity', 'velocity limits'),
           'effort': ('peak effort', 'effort limits'), 'step': ('effort step', 'effort limits'),
           'resting': ('error at rest', 'of what is accepted'),
           'tracking': ('tracking error', 'of what is accepted'),
           'settling': ('final velocity', 'velocity limits'),
           'supplied energy': ('supplied energy', 'J'),
           'compensated friction': ('compensated friction', 'friction'),
           'fault time': ('time to fault', 's'), 'rest time': ('time to rest', 's')}


def figure(one: Outcome, name: str) -> float:
    """Return a figure of an outcome, NaN where there is none."""
    value = one.fault_time if name == 'fault time' else one.figures.get(name)
    return np.nan if value is None else float(value)


def distributions(outcomes: Sequence[Outcome]) -> dict[str, ndarray]:
    """Return the quantiles SHARES of each figure, by name; those without values are left out."""
    found = {}
    for name in FIGURES:
        values = np.array([figure(one, name) for one in outcomes])
        if (values := values[np.isfinite(values)]).size:
            found[name] = np.quantile(values, SHARES)
    return found


class Influence(NamedTuple):
    """
    Spearman's rank correlation of a quantity with a figure, over worlds without a fault.

    :param either_way: it is that of the distance from the middle of the range.
    """

    figure: str
    quantity: str
    correlation: float
    p_value: float
    either_way: bool


def influences(outcomes: Iterable[Outcome]) -> list[Influence]:
    """Return the significant influences on figures and on broken criteria, strongest first."""
    calm = [one for one in outcomes if not one.injection]
    if len(calm) < FEWEST:
        return []
    measures: dict[str, Callable[[Outcome], float]] = {
        name: lambda one, name=name: figure(one, name)      # type: ignore[misc]
        for name in ('velocity', 'tracking', 'settling')}
    measures['broken'] = lambda one: float(one.bad)
    found = []
    for name, measure in measures.items():
        values = np.array([measure(one) for one in calm])
        there = np.isfinite(values)
        if there.sum() < FEWEST or not np.ptp(values[there]):
            continue
        for quantity in QUANTITIES:
            drawn = np.array([one.world['values'][quantity.name] for one in calm])[there]
            if not np.ptp(drawn):
                continue
            low, high = drawn.min(), drawn.max()
            r, p, either_way = min((
                (*spearmanr(at, values[there]), bool(k)) for k, at in enumerate(
                    (drawn, abs(drawn - 0.5 * (low + high))))), key=itemgetter(1))
            if p < SIGNIFICANT / (2 * len(QUANTITIES)):
                found.append(Influence(name, quantity.name, float(r), float(p), either_way))
    return sorted(found, key=lambda one: -abs(one.correlation))


def binned(at: ndarray, values: ndarray, bins: int = 12) -> tuple[ndarray, dict[str, ndarray]]:
    """Return the centers of bins of equal width, and mean and maximum of the values in each."""
    edges, known = np.linspace(at.min(), at.max(), bins + 1), np.isfinite(values)
    mean, most = (binned_statistic(at[known], values[known], name, edges).statistic
                  for name in ('mean', 'max'))
    return (edges[1:] + edges[:-1]) / 2, {'mean': mean, 'maximum': most}


def worst(outcomes: Sequence[Outcome], count: int = 10) -> list[Outcome]:
    """Return the worst worlds: broken promises of safety.md, then faults, then other criteria."""
    def badness(one: Outcome) -> tuple:
        velocity = figure(one, 'velocity')
        promises = sum(bool(breaks(c, one)) for c in CRITERIA if c.source == 'safety.md')
        return (one.bad, promises, one.unexplained_fault, 0.0 if np.isnan(velocity) else velocity)
    return sorted(outcomes, key=badness, reverse=True)[:count]


def verdict(outcomes: Sequence[Outcome]) -> str:
    """Return the sentence that a report begins with: what is wrong most often, and why."""
    failures: dict[str, list[tuple[float, str]]] = {}
    for one in outcomes:
        where = f' (world {one.index}{f", injected: {one.injection}" if one.injection else ""})'
        if one.refusal:
            failures.setdefault('the arm is not armed', []).append((0.0, one.refusal + where))
        if one.unexplained_fault:
            failures.setdefault(f'fault {one.fault} latches', []).append(
                (-float(bool(one.injection)), one.reason + where))
        for kind, what in one.violations.items():
            name = FAILURES.get(kind) or f'the criterion "{kind}" is broken'
            if kind in ('resting', 'tracking'):
                name = f'{what.split(" is ")[0]} {name}'
                what = what.split('): ', 1)[1]
            failures.setdefault(name, []).append((figure(one, kind),
                                                  what.splitlines()[-1] + where))
    if not failures:
        return (f'no criterion is broken in {len(outcomes)} worlds: with 95 % confidence, less '
                f'than {binomial(0, len(outcomes))[1]:.2%} of such worlds break one')
    name, found = max(failures.items(), key=lambda item: (FAILURES[HOLDING] in item[0],
                                                          len(item[1])))
    bad = sum(one.bad for one in outcomes)
    others = f'; {bad} worlds break a criterion' if bad > len(found) else ''
    return (f'not safe to power: {name} in {len(found)} of {len(outcomes)} worlds: '
            f'{max(found)[1]}{others}')


def described(one: Outcome) -> str:
    """Return mode, motion and injected fault of a world."""
    fault = f', {one.injection}' if one.injection else ''
    return f'{one.world["mode"]}, {one.world["motion"]}{fault}'


def plain_table(title: str, wide: str, *others: str, first: str = '') -> Table:
    """
    Return an empty table of 80 columns.

    :param wide: heading of the column of text; ``others``: of narrow ones behind it, of which
        `unit` is text too; ``first``: of one before it.
    """
    table = Table(title=title, title_justify='left', title_style='bold', box=box.SIMPLE_HEAD,
                  pad_edge=False, width=WIDTH)
    if first:
        table.add_column(first, no_wrap=True)
    table.add_column(wide, ratio=1)
    for heading in others:
        table.add_column(heading, justify='left' if heading == 'unit' else 'right', no_wrap=True)
    return table


def criteria_table(case: Case, estimates: Sequence[Estimate], count: int) -> Table:
    """Return how often each criterion was broken."""
    table = plain_table(f'{case.name}: {count} worlds, seed {case.seed}', 'criterion', 'worlds',
                        'broken', '95 % interval')
    for e in estimates:
        table.add_row(e.criterion.sentence, str(e.worlds), str(e.broken),
                      f'{100 * e.low:.2f} to {100 * e.high:.2f} %' if e.worlds else '-',
                      style='red' if e.broken else None)
    return table


def figures_table(outcomes: Sequence[Outcome]) -> Table:
    """Return quantiles of the figures, those of worlds with an injected fault apart."""
    table = plain_table('Largest values in a world without and with an injected fault', 'figure',
                        'unit', 'median', '95 %', 'maximum', 'with fault')
    without, within = map(distributions, _separated(outcomes))
    none = np.full(len(SHARES), np.nan)
    for name, (label, unit) in FIGURES.items():
        if name in without or name in within:
            values = (*without.get(name, none), within.get(name, none)[-1])
            table.add_row(label, unit, *('' if x != x else f'{x:.3g}' for x in values))
    return table


def _separated(outcomes: Sequence[Outcome]) -> tuple[list[Outcome], list[Outcome]]:
    """Return the outcomes without and with an injected fault."""
    return ([one for one in outcomes if not one.injection],
            [one for one in outcomes if one.injection])


def faults_table(outcomes: Sequence[Outcome]) -> Table | None:
    """Return how often each fault latched, with and without an injected one."""
    codes = sorted({one.fault for one in outcomes if one.fault})
    if not codes:
        return None
    table = plain_table('Faults that latched', 'fault', 'injected', 'not injected')
    for code in codes:
        there = [bool(one.injection) for one in outcomes if one.fault == code]
        table.add_row(code, str(sum(there)), str(len(there) - sum(there)))
    return table


def influence_table(influences: Sequence[Influence]) -> Table:
    """Return which quantities drive which figure."""
    table = plain_table('Influences: rank correlation in worlds without an injected fault',
                        'quantity', 'correlation', first='figure')
    for one in influences[:REPORTED]:
        table.add_row(FIGURES.get(one.figure, ('broken',))[0],
                      one.quantity + ', either way' * one.either_way, f'{one.correlation:+.2f}')
    return table


def turning_table(turns: Sequence['TurningPoint']) -> Table:
    """Return what broken worlds turn on."""
    table = plain_table('Broken worlds that hold if one quantity alone is changed', 'quantity',
                        'holds at', 'breaks at', 'unit', first='world')
    for one in turns:
        table.add_row(str(one.world), one.quantity, f'{one.held:.3g}', f'{one.broken:.3g}',
                      BY_NAME[one.quantity].unit)
    return table


def comparison_table(before: Sequence[Outcome], after: Sequence[Outcome]) -> Table:
    """Return how often each criterion was broken under two settings."""
    table = plain_table(f'Broken criteria in {len(before)} new worlds', 'criterion', 'before',
                        'after')
    for one, other in zip(estimates(before), estimates(after)):
        if one.broken or other.broken:
            table.add_row(one.criterion.sentence, str(one.broken), str(other.broken))
    table.add_row('any', *(str(sum(one.bad for one in played)) for played in (before, after)))
    return table


def tables(case: Case, outcomes: Sequence[Outcome], influences: Sequence[Influence],
           turns: Sequence['TurningPoint']) -> list[Table]:
    """Return the tables of a run."""
    faults = faults_table(outcomes)
    return [criteria_table(case, estimates(outcomes), len(outcomes)), figures_table(outcomes),
            *([faults] if faults else []), *([influence_table(influences)] if influences else []),
            *([turning_table(turns)] if turns else [])]


def report_of(case: Case, verdict: str, outcomes: Sequence[Outcome], tables: Sequence[Table],
              worst: Sequence[Outcome], influences: Sequence[Influence],
              again: str) -> Report:
    """Return the report, which begins with the verdict."""
    report = Report(
        f'Verification of {case.name}', 'This is not a safety assessment: it finds mistakes in '
        'the model, the parameter file and the law only within the worlds of the worlds file.',
        verdict=f'{verdict[0].upper()}{verdict[1:]}.',
        bad=any(one.bad for one in outcomes), files=[('sources', package_digest()), *case.files])
    for warning in case.model.warnings:
        report.warning(f'URDF: {warning}')
    if unreal := velocity_warning(case.model, case.settings):
        report.warning(unreal)
    table, _, *others = tables
    report.rich('', table)
    if worst:
        report.heading('Worst worlds')
    for one in worst:
        report.parameters(f'World {one.index}: {described(one)}: {problem(one)}', {
            'command': f'{again} --world {one.index}',
            **{name: f'{value:.6g} {BY_NAME[name].unit}'
               for name, value in one.world['values'].items()}})
    calm, faulty = _separated(outcomes)
    kinds = {'without': calm, 'with an injected fault': faulty}
    report.heading('Largest values in a world')
    report.legend({**dict(zip(kinds, COLORS)), 'limit': FAULT_COLOR})
    for name, (label, unit) in FIGURES.items():
        shown = {kind: np.array([figure(one, name) for one in played])
                 for kind, played in kinds.items()}
        known = {kind: values[np.isfinite(values)] for kind, values in shown.items()}
        if np.ptp(np.concatenate([[], *known.values()]) if sum(map(len, known.values())) else [0]):
            report.histogram(
                f'{label.capitalize()}: up to ' + ', '.join(
                    f'{values.max():.3g} {kind}' for kind, values in known.items() if values.size),
                known, unit, 24, logarithmic=False, small=True,
                limit={**LIMITS, 'settling': case.worlds.settled_velocity}.get(name))
    for table in others:
        report.rich('', table)
    for name, quantity in dict.fromkeys((i.figure, i.quantity) for i in influences[:6]):
        measure = [float(one.bad) if name == 'broken' else figure(one, name)
                   for one in calm]
        at = np.array([one.world['values'][quantity] for one in calm])
        centers, levels = binned(at, np.array(measure))
        unit = BY_NAME[quantity].unit
        label, measured = FIGURES.get(name, ('broken worlds', 'share of the worlds'))
        if name == 'broken':
            del levels['maximum']
        report.plot(f'{label.capitalize()} against {quantity}: {", ".join(levels)}', centers,
                    levels, f'{quantity} [{unit}]' if unit else quantity, measured, small=True,
                    limits=[LIMITS[name]] if name in LIMITS else ())
    report.parameters('Settings', vars(case.settings))
    report.parameters('Worlds', dict(worlds_files.plain(case.worlds)))
    return report
