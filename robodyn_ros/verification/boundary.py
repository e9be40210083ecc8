# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""How far one uncertain quantity may grow until a world breaks a criterion."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from .criteria import problem
from .draw import draw
from .trial import Case, Outcome, Player
from .worlds import BY_NAME
from ..parallel import in_processes

FIRST = 1e-3            # of the largest value of a quantity: first level where its range is zero
HALVINGS = 4            # of the factor between a level that holds and one that does not
GROWTH = 2.0            # from one level to the next


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
        if how := _broken(player, name, level, worlds):
            broken = level
        else:
            held, level = level, min(GROWTH * level, quantity.most)
    for _ in range(HALVINGS if held == held and how else 0):
        level = (held * broken)**0.5
        if found := _broken(player, name, level, worlds):
            broken, how = level, found
        else:
            held = level
    return Boundary(name, held, broken, how)


def boundaries(case: Case, names: Sequence[str], worlds: int, jobs: int) -> Iterator[Boundary]:
    """
    Yield the boundaries of quantities as they come in.

    :param worlds: at each level.
    :raises RobodynError: the controller refuses the model or the settings.
    """
    return in_processes(partial(Player, case), partial(boundary, worlds=worlds), names, jobs)


def _broken(player: Player, name: str, level: float, worlds: int) -> str:
    """Return what breaks first at a level, '' if nothing does."""
    case = player.case
    fixed = replace(case.worlds, fault_share=0.0,
                    ranges=case.worlds.ranges | {name: (level, level)})
    for index in range(worlds):
        one: Outcome = player.play_drawn(draw(fixed, case.model.nv, case.seed, index))
        if one.bad:
            return f'world {index}: {problem(one)}'
    return ''
