# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Settings under which worlds no longer break a criterion.

Only changes that make an arm slower, softer or more careful are tried: no check is relaxed. Each
candidate passes the checks of the controller before a world is played, so that its gains are
stable. One change after the other is kept, the one that leaves fewest broken worlds first; then
each is undone as far as that breaks none of them again.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from .trial import Case, Player
from ..control.settings.settings import Settings
from ..errors import ParameterError
from ..model.robot import RobotModel

FACTORS = 0.7, 0.5, 0.35, 0.25, 0.1
HALVINGS = 3    # of the logarithm between a factor that suffices and one that does not
MAX_WORLDS = 24    # broken worlds, at most, on which changes are tried
MAX_CHANGES = 3    # at most


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


def suggestion(case: Case, indices: Sequence[int]) -> Suggestion:
    """
    Return the settings that break fewest of some worlds.

    :param indices: of worlds that break a criterion as it is, but in which the arm is armed: one
        that is refused contradicts the parameter file, which no gain mends.
    """
    tried, factors = sorted(indices)[:MAX_WORLDS], dict[str, float]()
    broken = len(tried)
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
        high = 1.0
        for _ in range(HALVINGS):
            middle = (factors[name] * high)**0.5
            if _broken(case, factors | {name: middle}, tried, broken + 1) <= broken:
                factors[name] = middle
            else:
                high = middle
    settings = _changed(case, factors)
    changes = {name: value for name, value in vars(settings).items()
               if value != getattr(case.settings, name)}
    return Suggestion(replace(case, settings=settings), changes, len(tried), broken)


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
