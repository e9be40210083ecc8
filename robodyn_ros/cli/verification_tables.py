# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Tables and report of the subcommand `verify`."""

from collections.abc import Sequence

import numpy as np
from rich import box
from rich.table import Table

from ..report.document import Report, versions
from ..verification import criteria
from ..verification import worlds as worlds_files
from ..verification.criteria import Estimate
from ..verification.judge_step import COMPENSATION_TOLERANCE, MAX_VELOCITY_SHARE
from ..verification.results import package_digest
from ..verification.sensitivity import TurningPoint
from ..verification.trial import Case, Outcome
from ..verification.worlds import BY_NAME

REPORTED = 10           # influences
WIDTH = 80
LIMITS = {'velocity': MAX_VELOCITY_SHARE, 'effort': 1.0, 'resting': 1.0, 'tracking': 1.0,
          'compensated friction': 2.0 + COMPENSATION_TOLERANCE}      # drawn in the histograms


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
    without, within = map(criteria.distributions, _separated(outcomes))
    none = np.full(len(criteria.SHARES), np.nan)
    for name, (label, unit) in criteria.FIGURES.items():
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


def influence_table(influences: Sequence[criteria.Influence]) -> Table:
    """Return which quantities drive which figure."""
    table = plain_table('Influences: rank correlation in worlds without an injected fault',
                        'quantity', 'correlation', first='figure')
    for one in influences[:REPORTED]:
        table.add_row(criteria.FIGURES.get(one.figure, ('broken',))[0],
                      one.quantity + ', either way' * one.either_way, f'{one.correlation:+.2f}')
    return table


def turning_table(turns: Sequence[TurningPoint]) -> Table:
    """Return what broken worlds turn on."""
    table = plain_table('Broken worlds that hold if one quantity alone is changed', 'quantity',
                        'holds at', 'breaks at', 'unit', first='world')
    for one in turns:
        table.add_row(str(one.world), one.quantity, f'{one.held:.3g}', f'{one.broken:.3g}',
                      BY_NAME[one.quantity].unit)
    return table


def report_of(case: Case, verdict: str, outcomes: Sequence[Outcome], tables: Sequence[Table],
              worst: Sequence[Outcome], influences: Sequence[criteria.Influence],
              again: str) -> Report:
    """Return the report, which begins with the verdict."""
    report = Report(f'Verification of {case.name}: {verdict}')
    made = versions()
    report.table('', ('', ''), [('command', made['command']),
                                ('robodyn_ros', f'{made["robodyn_ros"]} (sources '
                                 f'{package_digest()})'), *case.files])
    report.warning('This is no safety assessment: it finds mistakes in the model, the parameter '
                   'file and the law only within the worlds that the worlds file describes.')
    for table in tables:
        report.rich('', table)
    if worst:
        report.table('Worst worlds', ('world', 'conditions', 'problem', 'command'), [
            (str(one.index), described(one), criteria.problem(one), f'{again} --world {one.index}')
            for one in worst])
    calm, faulty = _separated(outcomes)
    for name, (label, unit) in criteria.FIGURES.items():
        for title, shown in ((label, calm), (f'{label}, with an injected fault', faulty)):
            values = np.array([criteria.figure(one, name) for one in shown])
            if np.isfinite(values).sum() > 1 and np.nanmax(values) > np.nanmin(values):
                report.histogram(title.capitalize(), values, f'[{unit}]', 60, logarithmic=False,
                                 limit={**LIMITS, 'settling':
                                         case.worlds.settled_velocity}.get(name))
    for figure, quantity in dict.fromkeys((i.figure, i.quantity) for i in influences[:6]):
        measure = [float(one.bad) if figure == 'broken' else criteria.figure(one, figure)
                   for one in calm]
        at = np.array([one.world['values'][quantity] for one in calm])
        centers, levels = criteria.binned(at, np.array(measure))
        unit = BY_NAME[quantity].unit
        label, measured = criteria.FIGURES.get(figure, ('broken worlds', 'share of the worlds'))
        if figure == 'broken':
            del levels['maximum']
        report.plot(f'{label.capitalize()} against {quantity}', centers, levels,
                    f'{quantity} [{unit}]' if unit else quantity, f'[{measured}]')
    report.parameters('Settings', vars(case.settings))
    report.parameters('Worlds', dict(worlds_files.plain(case.worlds)))
    return report
