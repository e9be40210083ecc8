# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Second stage: more worlds where outcomes change, between a world that breaks and one that holds.

Each world of the sweep that broke a criterion, without an injected fault, is compared with the
nearest one that broke none, of the same mode and motion. It is played again with one quantity at a
time as in that one, its random numbers unchanged; where this alone is enough, the value at which
the outcome turns is found by halving. These worlds are chosen for their outcomes: they enter no
share of broken worlds, which come from the sweep alone.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy import ndarray

from .draw import Draw, draw
from .trial import Case, Outcome, Player
from .worlds import BY_NAME, QUANTITIES, Worlds
from ..parallel import in_processes

HALVINGS = 4            # of the distance between a value that holds and one that breaks


class TurningPoint(NamedTuple):
    """
    A broken world that holds if one quantity alone is another one.

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
    """Return a pair and its turning points, which follow from the seed of the case alone."""
    case = player.case
    broken, held = (draw(case.worlds, case.model.nv, case.seed, index) for index in pair)
    found = []
    for name in BY_NAME:
        bad, good = broken.values[name], held.values[name]
        if bad == good or _breaks(player, broken, name, good):
            continue
        for _ in range(HALVINGS):
            middle = 0.5 * (bad + good)
            if _breaks(player, broken, name, middle):
                bad = middle
            else:
                good = middle
        found.append(TurningPoint(pair.broken, name, good, bad))
    return pair, found


def _breaks(player: Player, drawn: Draw, name: str, value: float) -> bool:
    return player.play_drawn(replace(drawn, values={**drawn.values, name: value})).bad
