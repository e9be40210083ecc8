# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""One run: arm, rise, move, inject, and judge."""

from typing import NamedTuple, Protocol

from .arm import Arm
from .injection import Active, Injection
from .judge import Figures, Judge
from .sensing import Conditions
from .world import Subject, World

RISING = 1500           # ticks, at most
BEFORE = 0.4            # s of healthy motion before the first injection


class Playable(Subject, Protocol):
    """A subject that can be begun."""

    def begin(self, world: World) -> None:
        """Start anew in another world."""

    def arm(self) -> None:
        """Ask to rise."""


class Planned(NamedTuple):
    """An injection that is to come: start after the healthy motion and duration [s]."""

    what: Injection
    start: float
    duration: float
    joint: int


class Run(NamedTuple):
    """What came of a run."""

    armed: bool
    figures: Figures
    violations: dict[str, str]


def play(subject: Playable, world: World, planned: list[Planned], seconds: float) -> Run:
    """Play a run to its end, ``seconds`` after the first injection, or until it has long ended."""
    world.subject = subject
    world.active = [Active(p.what, world, float('inf'), float('inf'), p.joint) for p in planned]
    subject.begin(world)
    subject.arm()
    if not rise(world):
        return Run(False, Figures(reason='not armed'), {})
    begin = world.time + BEFORE
    for active, p in zip(world.active, planned):
        active.start, active.end = begin + p.start, begin + p.start + p.duration
    first = min((a.start for a in world.active), default=begin)
    judge, world.moving = Judge(world, first), True
    ticks = round(1e3 * (first - world.time + seconds))
    for _ in range(ticks):
        judge.tick(world.tick())
        if world.plant.wrecked:
            break
    judge.settle()
    return Run(True, judge.figures, judge.violations)


def rise(world: World) -> bool:
    """Let the arm rise; whether it has."""
    from .features import RUNNING

    for _ in range(RISING):
        world.tick()
        if world.subject.phase == RUNNING:
            return True
    return False


__all__ = ['Arm', 'Conditions', 'Planned', 'Run', 'play']
