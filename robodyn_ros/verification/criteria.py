# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Criteria that each world has to meet, how often they are broken, and the worst worlds."""

from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy import ndarray
from scipy.stats import binned_statistic, binomtest, spearmanr

from .draw import STOPPED
from .trial import Outcome
from .worlds import QUANTITIES
from ..control.laws import registry

CONFIDENCE = 0.95
SHARES = 0.5, 0.95, 1.0         # quantiles of the distributions
SIGNIFICANT = 1e-3              # p-value, before it is divided by the number of quantities
FEWEST = 30                     # worlds for a rank correlation


class Criterion(NamedTuple):
    """
    A criterion, and its sentence.

    :param broken: kinds of violations that break it.
    :param source: page of the documentation that the sentence is from.
    """

    name: str
    sentence: str
    source: str
    broken: tuple[str, ...] = ()


ARMING, CALM = 'arming', 'no fault'
CRITERIA = (
    Criterion(ARMING, 'Arming succeeds if the arm agrees with the URDF.', 'safety.md'),
    Criterion(CALM, 'No fault latches unless one is injected.', 'verify.md'),
    Criterion('effort', 'Every published effort is finite and within effort_limit.', 'safety.md',
              ('not finite', 'effort')),
    Criterion('step', 'Steps of the efforts are within effort_rate_limit.', 'safety.md',
              ('step',)),
    Criterion('latch', 'Every fault is latched and named.', 'safety.md',
              ('not latched', 'unnamed')),
    Criterion('zero', 'No effort follows the zero that ends a fault.', 'safety.md',
              ('after zero', 'brakes released')),
    Criterion('velocity', 'No joint exceeds 1.1 times its velocity limit.', 'safety.md',
              ('velocity',)),
    Criterion('reaction', 'States that stop are a fault within reaction_time.', 'verify.md',
              ('reaction',)),
    Criterion('tracking', 'An exact law stays within tracking_error of its reference.',
              'verify.md', ('tracking', 'refused')),
    Criterion('settling', 'The arm is slower than settled_velocity after a motion.', 'verify.md',
              ('settling',)),
    Criterion('stops', 'No joint reaches its stop.', 'verify.md', ('stops',)),
    Criterion('passive', 'A law without reference supplies no energy to the arm.', 'verify.md',
              ('passive',)),
    Criterion('friction', 'Friction compensation is closer to the friction than none.',
              'verify.md', ('friction',)),
    Criterion('exception', 'The controller raises no exception.', 'verify.md', ('exception',)))


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
        explained = bool(one.injection) and not one.unexplained_fault
        return None if one.refusal or explained else one.unexplained_fault
    if criterion.name in JUDGED_BY and one.figures.get(JUDGED_BY[criterion.name]) is None:
        return None
    if one.refusal and not one.violations:
        return None
    if criterion.name == 'tracking' and not registry.find(one.world['mode']).exact:
        return None
    if criterion.name == 'stops' and (one.injection or one.fault):
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
           'tracking': ('tracking error', 'rad or m'),
           'settling': ('final velocity', 'velocity limits'),
           'supplied energy': ('supplied energy', 'J'),
           'compensated friction': ('compensated friction', 'friction'),
           'fault time': ('time to fault', 's'), 'rest time': ('time to rest', 's')}
#: Figure without which a criterion does not apply.
JUDGED_BY = {'tracking': 'tracking', 'settling': 'settling', 'passive': 'supplied energy',
             'friction': 'compensated friction'}


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


def problem(one: Outcome) -> str:
    """Return what is wrong with an outcome as a sentence, '' if nothing is."""
    parts = [f'not armed: {one.refusal}'] * bool(one.refusal)
    if one.unexplained_fault:
        when = ' while arming' if one.fault_time is None else (
            f' {-one.fault_time:.3f} s before the injection' if one.fault_time < 0.0
            else f' after {one.fault_time:.3f} s')
        parts.append(f'fault {one.fault}{when}')
    return '; '.join([*parts, *(f'{kind}: {what.splitlines()[-1]}'
                                for kind, what in one.violations.items())])
