# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
What outcomes depend on: boundaries and turning points of quantities, and better settings.

These worlds are chosen for their outcomes: they enter no share of broken worlds, which come from
the sweep of `robodyn verify` alone.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray
from scipy.stats import binomtest

from .trial import Case, Outcome, play_all, Player, problem
from .worlds import BY_NAME, Draw, draw, QUANTITIES, Worlds
from ..control.settings.settings import Settings
from ..errors import ParameterError
from ..model.robot import RobotModel
from ..parallel import in_processes

FIRST = 1e-3            # of the largest value of a quantity: first level where its range is zero
GROWTH = 2.0            # from one level to the next
HALVINGS = 4            # between a value at which worlds hold and one at which they break
FACTORS = 0.7, 0.5, 0.35, 0.25, 0.1
FACTOR_HALVINGS = 3     # of the logarithm between a factor that suffices and one that does not
MAX_WORLDS = 24         # broken worlds, at most, on which changes are tried, and as many others
NEW_WORLDS = 100, 1000  # on which a suggestion is judged: at least, and at most
MISJUDGED = 0.05        # probability, at most, that settings that are no better look so
MAX_CHANGES = 3         # at most


def bisected(held: float, broken: float, breaks: Callable[[float], object], halvings: int, *,
             logarithmic: bool) -> tuple[float, float]:
    """Return nearer values that hold and break, by halving the distance or its logarithm."""
    for _ in range(halvings):
        middle = (held * broken)**0.5 if logarithmic else 0.5 * (held + broken)
        if breaks(middle):
            broken = middle
        else:
            held = middle
    return held, broken


class Boundary(NamedTuple):
    """
    Levels of a quantity between which the first criterion breaks.

    :param held: largest level at which no world broke a criterion, NaN if there was none.
    :param broken: smallest level at which one did, NaN if there was none; ``how``: a sentence.
    """

    quantity: str
    held: float
    broken: float
    how: str


def boundary(player: Player, name: str, worlds: int) -> Boundary:
    """
    Return the boundary of a quantity; the others are drawn as usual, and no fault is injected.

    Each level is judged by the same worlds, so that only the quantity changes.
    """
    quantity, (_, end) = BY_NAME[name], player.case.worlds.ranges[name]
    level = max(end, FIRST * quantity.most)
    held, broken, how = float('nan'), float('nan'), ''
    while not how and held != quantity.most:        # outwards
        if how := _broken_at(player, name, level, worlds):
            broken = level
        else:
            held, level = level, min(GROWTH * level, quantity.most)
    if held == held and how:
        sentences = {broken: how}

        def breaks(level: float) -> str:
            sentences[level] = _broken_at(player, name, level, worlds)
            return sentences[level]
        held, broken = bisected(held, broken, breaks, HALVINGS, logarithmic=True)
        how = sentences[broken]
    return Boundary(name, held, broken, how)


def boundaries(case: Case, names: Sequence[str], worlds: int, jobs: int) -> Iterator[Boundary]:
    """
    Yield the boundaries of quantities as they come in.

    :param worlds: at each level.
    :raises RobodynError: the controller refuses the model or the settings.
    """
    return in_processes(partial(Player, case), partial(boundary, worlds=worlds), names, jobs)


def _broken_at(player: Player, name: str, level: float, worlds: int) -> str:
    """Return what breaks first at a level, '' if nothing does."""
    case = player.case
    fixed = replace(case.worlds, fault_share=0.0,
                    ranges=case.worlds.ranges | {name: (level, level)})
    for index in range(worlds):
        one: Outcome = player.play_drawn(draw(fixed, case.model.nv, case.seed, index))
        if one.bad:
            return f'world {index}: {problem(one)}'
    return ''


class TurningPoint(NamedTuple):
    """
    A broken world, without an injected fault, that holds if one quantity alone is another one.

    :param held, broken: values between which the outcome turns.
    """

    world: int
    quantity: str
    held: float
    broken: float


class Pair(NamedTuple):
    """Indices of a world that broke a criterion and of the nearest one that held."""

    broken: int
    held: int


def pairs(outcomes: Iterable[Outcome], worlds: Worlds) -> Iterator[Pair]:
    """Yield a pair for each broken world without an injected fault, in their order."""
    calm = [one for one in outcomes if not one.injection]
    for one in calm:
        others = [k for k in calm if not k.bad and _kind(k) == _kind(one)] if one.bad else []
        if others:
            places = np.array([_place(k, worlds) for k in others]) - _place(one, worlds)
            yield Pair(one.index, others[int((places**2).sum(1).argmin())].index)


def _kind(one: Outcome) -> tuple[str, str]:
    return one.world['mode'], one.world['motion']


def _place(one: Outcome, worlds: Worlds) -> ndarray:
    """Return the quantities of a world as shares of their ranges."""
    values = one.world['values']
    ends = np.array([worlds.ranges[q.name] for q in QUANTITIES])
    width = np.ptp(ends, axis=1)
    return (np.array([values[q.name] for q in QUANTITIES]) - ends[:, 0]) / np.where(
        width > 0.0, width, 1.0)


def turning_points(case: Case, found: Sequence[Pair], jobs: int
                   ) -> Iterator[tuple[Pair, list[TurningPoint]]]:
    """Yield the turning points of each pair as they come in."""
    return in_processes(partial(Player, case), of_pair, found, jobs)


def of_pair(player: Player, pair: Pair) -> tuple[Pair, list[TurningPoint]]:
    """
    Return a pair and its turning points, which follow from the seed of the case alone.

    The broken world is played again with one quantity at a time as in the one that held, its
    random numbers unchanged.
    """
    case = player.case
    broken, held = (draw(case.worlds, case.model.nv, case.seed, index) for index in pair)
    found = []
    for name in BY_NAME:
        bad, good = broken.values[name], held.values[name]
        if bad == good or _breaks(player, broken, name, good):
            continue
        found.append(TurningPoint(pair.broken, name, *bisected(
            good, bad, partial(_breaks, player, broken, name), HALVINGS, logarithmic=False)))
    return pair, found


def _breaks(player: Player, drawn: Draw, name: str, value: float) -> bool:
    return player.play_drawn(replace(drawn, values={**drawn.values, name: value})).bad


def _lower(name: str, s: Settings, model: RobotModel, factor: float) -> dict[str, Any]:
    return {name: _times(getattr(s, name), factor)}


def _softer(stiffness: str, damping: str, s: Settings, model: RobotModel, factor: float
            ) -> dict[str, Any]:
    """Lower gains at the same damping ratio."""
    return {stiffness: _times(getattr(s, stiffness), factor),
            damping: _times(getattr(s, damping), factor**0.5)}


def _weaker(s: Settings, model: RobotModel, factor: float) -> dict[str, Any]:
    return {'effort_limit': _times(s.joint_records(model)['effort_limit'], factor)}


def _later(s: Settings, model: RobotModel, factor: float) -> dict[str, Any]:
    return {'loop_delay': _times(s.loop_delay, 1.0 / factor)}


def _times(value: Any, factor: float) -> Any:
    """Return a number or a list of numbers times a factor, to three digits."""
    if isinstance(value, float):
        return float(f'{factor * value:.3g}')
    return [float(f'{factor * x:.3g}') for x in value]


CANDIDATES: dict[str, Callable[[Settings, RobotModel, float], dict[str, Any]]] = {
    'joint gains': partial(_softer, 'stiffness', 'damping'),
    'acceleration gains': partial(_softer, 'acceleration_kp', 'acceleration_kd'),
    'friction compensation': partial(_lower, 'friction_compensation'),
    'velocity': partial(_lower, 'velocity_scale'),
    'effort limit': _weaker,
    'watchdog': partial(_lower, 'state_timeout'),
    'declared delay': _later}


class Suggestion(NamedTuple):
    """
    A case with other settings, and how many of the tried worlds break a criterion in it.

    :param changes: values by the name of a parameter; empty if none helps.
    """

    case: Case
    changes: dict[str, Any]
    tried: int
    broken: int


def suggestion(case: Case, indices: Sequence[int], held: Sequence[int] = ()) -> Suggestion:
    """
    Return the settings that break fewest of some worlds.

    Only changes that make an arm slower, softer or more careful are tried: no check is relaxed.
    Each candidate passes the checks of the controller before a world is played, so that its gains
    are stable. One change after the other is kept, the one that leaves fewest broken worlds first;
    then each is undone as far as that breaks none of them again.

    :param indices: of worlds that break a criterion as it is, but in which the arm is armed: one
        that is refused contradicts the parameter file, which no gain mends.
    :param held: indices of worlds that break none, and shall not.
    """
    tried, factors = sorted(indices)[:MAX_WORLDS], dict[str, float]()
    broken = len(tried)
    tried += sorted(held)[:MAX_WORLDS]
    while broken and len(factors) < MAX_CHANGES:
        best: tuple[str, float] | None = None
        for name in [name for name in CANDIDATES if name not in factors]:
            for factor in FACTORS:
                count = _broken(case, factors | {name: factor}, tried, broken)
                if count < broken:
                    broken, best = count, (name, factor)
        if best is None:
            break
        factors[best[0]] = best[1]
    for name in factors:
        factors[name], _ = bisected(
            factors[name], 1.0, lambda factor, name=name: broken < _broken(  # type: ignore[misc]
                case, factors | {name: factor}, tried, broken + 1),
            FACTOR_HALVINGS, logarithmic=True)
    settings = _changed(case, factors)
    changes = {name: value for name, value in vars(settings).items()
               if value != getattr(case.settings, name)}
    return Suggestion(replace(case, settings=settings), changes, len(tried), broken)


class Comparison(NamedTuple):
    """Outcomes of the same worlds under two settings; whether the second ones are better."""

    before: list[Outcome]
    after: list[Outcome]
    better: bool


def comparison(case: Case, changed: Case, first: int, jobs: int) -> Comparison:
    """
    Compare settings on worlds on which they have not been chosen.

    They are better if chance alone, by the sign test of the worlds that differ, would seldom break
    as few.

    :param first: index of the first of these worlds: the number of worlds known so far.
    """
    least, most = NEW_WORLDS
    fresh = range(first, first + min(max(first, least), most))
    before, after = (sorted(play_all(one, fresh, min(jobs, len(fresh))),
                            key=lambda outcome: outcome.index) for one in (case, changed))
    worse = sum(b.bad > a.bad for a, b in zip(before, after))
    differ = sum(b.bad != a.bad for a, b in zip(before, after))
    return Comparison(before, after, bool(
        differ and binomtest(worse, differ, alternative='less').pvalue < MISJUDGED))


def _changed(case: Case, factors: dict[str, float]) -> Settings:
    settings = case.settings
    for name, factor in factors.items():
        settings = replace(settings, **CANDIDATES[name](settings, case.model, factor))
    return settings


def _broken(case: Case, factors: dict[str, float], tried: Sequence[int], limit: int) -> int:
    """Return how many worlds break a criterion; ``limit`` if so many do or it is refused."""
    count = 0
    try:
        settings = _changed(case, factors)
        player = Player(replace(case, settings=settings), specialize=False)
        player.modes        # noqa: B018  (each is checked)
    except ParameterError:
        return limit
    if settings == case.settings:
        return limit
    for index in tried:
        count += player.play(index).bad
        if count == limit:
            break
    return count
