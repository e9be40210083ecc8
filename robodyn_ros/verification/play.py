# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""One run of a controller in a world: arming, rising, motion, faults, judgement."""

from typing import NamedTuple, Protocol

from .arm import Arm
from .features import FAULT, RUNNING
from .injection import Active, Injection
from .judge import Figures, Judge
from .sensing import Conditions
from .world import Subject, World

RISING = 1500           # ticks, at most
TESTING = 6000          # ticks for each motor that is tested, at most
BEFORE = 0.4            # s of healthy motion before the first injection


class Playable(Subject, Protocol):
    """A subject that can be started in a world."""

    def begin(self, world: World) -> None:
        """Start anew in another world."""

    def arm(self) -> None:
        """Ask to rise."""


class Planned(NamedTuple):
    """A planned injection: start after the healthy motion, and duration [s]."""

    what: Injection
    start: float
    duration: float
    joint: int


class Run(NamedTuple):
    """Result of a run."""

    armed: bool
    figures: Figures
    violations: dict[str, str]


def play(subject: Playable, world: World, planned: list[Planned], seconds: float) -> Run:
    """
    Play a run to its end, ``seconds`` after the first injection, or until the arm is wrecked.

    Without an injection it ends ``seconds`` after the arm has risen, and the figures cover it
    from arming on.
    """
    world.subject = subject
    world.active = [Active(p.what, world, float('inf'), float('inf'), p.joint) for p in planned]
    subject.begin(world)
    subject.arm()
    judge = Judge(world, world.time if not planned else float('inf'))
    if not rise(world):
        judge.settle()
        return Run(False, judge.figures, judge.violations)
    begin = world.time + BEFORE * bool(planned)
    for active, p in zip(world.active, planned):
        active.start, active.end = begin + p.start, begin + p.start + p.duration
    first = min((a.start for a in world.active), default=begin)
    world.moving = True
    if planned:
        judge.since = first
    world.run(round(1e3 * (first - world.time + seconds)))
    judge.settle()
    return Run(True, judge.figures, judge.violations)


def rise(world: World) -> bool:
    """Let the arm rise, with the test of the motors if it is set; return whether it has risen."""
    tested = world.settings.motor_test_effort > 0.0
    world.run(RISING + TESTING * tested * world.arm.model.nv, halt=(RUNNING, FAULT))
    return world.subject.phase == RUNNING


__all__ = ['Arm', 'Conditions', 'Planned', 'Run', 'play']
