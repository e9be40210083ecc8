# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""One run of a controller in a world: arming, rising, motion, faults, and its judge."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .injection import Active, Injection
from .judge_step import (
    AFTER_ZERO,
    BRAKES_RELEASED,
    EFFORT,
    KINDS,
    NOT_FINITE,
    NOT_LATCHED,
    STEP,
    SUSPECT,
    VELOCITY,
)
from .plant_step import TICK
from .tick import END, LATCH
from .world import World
from .world_data import number
from ..control.steps.guard import CODES, FAULT, INACTIVE, RUNNING

RISING = 1500           # ticks, at most
TESTING = 6000          # ticks for each motor that is tested, at most
BEFORE = 0.4            # s of healthy motion before the first injection


class Planned(NamedTuple):
    """A planned injection: start after the healthy motion, and duration [s]."""

    what: Injection
    start: float
    duration: float
    joint: int


@dataclass
class Figures:
    """Peaks and times after the injection; times in ms, NaN where it did not happen."""

    step: float = 0.0               # largest effort change without a fault, of the effort limit
    step_effort: float = 0.0        # the same [N·m | N]
    effort: float = 0.0             # largest, of the effort limit
    velocity: float = 0.0           # largest, of the velocity limit
    travel: float = 0.0             # farthest from where it was [rad | m]
    fault: float = np.nan           # time to fault [ms]
    zero: float = np.nan            # time to zero effort [ms]
    rest: float = np.nan            # time from the fault until all joints rest [ms]
    reason: str = ''
    phase: int = 0


class Judge:
    """
    Judge of every tick of a world from now on; its figures begin with ``since`` [s].

    The ticks themselves are judged by :mod:`.judge_step`.
    """

    since = number('since')

    def __init__(self, world: World, since: float):
        self._world, self.data, s = world, world.plant.data, world.settings
        m, self.since = self.data.numbers, since
        self.data.judge.effort_rate[:] = s.joint_records(world.arm.model)['effort_rate_limit']
        self.data.judge.gravity_rate[:] = world.arm.gravity_rate
        m['period'], m['judged'] = TICK * max(1, round(1.0 / s.rate / TICK)), 1
        m['fault_ramp_time'], m['fault_hold_time'] = s.fault_ramp_time, s.fault_hold_time
        m['zero_is_end'] = s.mode != 'pd'       # whose errors may be zero
        m['rests_without_effort'] = (s.robot_compensates_gravity or not
                                     world.arm.dynamics.gravity(world.plant.q).any())
        m['corrects_gravity'] = (world.plant.drives.compensate_gravity
                                 != s.robot_compensates_gravity)
        m['published_at'], m['too_fast_since'] = -np.inf, np.inf
        m['fault'] = m['zero'] = np.nan
        self._ended: dict[str, str] = {}

    def settle(self) -> None:
        """Judge the end of the run; nodes report their faults with a delay."""
        world, data = self._world, self.data
        world.subject.settle()
        if not world.subject.alive:
            self._ended['ended'] = self._at(world.time, 'the process has ended')
            return
        m, phase = data.numbers, world.subject.phase
        m['phase'] = phase
        over = phase in (FAULT, INACTIVE)
        m['reason'] = CODES.index(world.subject.reason_code)
        world.plant.run(0, 1, LATCH, END)
        suspect = data.violations[SUSPECT]
        if not over and not np.isnan(suspect['time']):
            self._ended['step'] = self._sentence(STEP, suspect)
        if not over and m['ended'][0]:
            self._ended['not latched'] = self._at(world.time, f'phase {phase} after zero effort')

    @property
    def figures(self) -> Figures:
        """Figures so far."""
        m = self.data.numbers[0]
        reason = CODES[m['fault_reason']] if m['faulted'] else ''
        peaks = {name: float(m[f'top_{name}']) for name in (
            'step', 'step_effort', 'effort', 'velocity', 'travel')}
        fault = float(m['fault'])
        return Figures(**peaks, fault=fault, zero=float(m['zero']),
                       rest=max(1e3 * (float(m['moved']) - self.since) - fault, 0.0),
                       reason='ENDED' if 'ended' in self._ended else reason,
                       phase=int(m['phase']))

    @property
    def violations(self) -> dict[str, str]:
        """Sentence by the kind of each violation so far."""
        found = self.data.violations
        return {**self._ended, **{kind: self._sentence(k, found[k]) for k, kind in enumerate(KINDS)
                                  if not np.isnan(found[k]['time'])}}

    def _at(self, time: float, what: str) -> str:
        return f'{what} at {1e3 * (time - self.since):.0f} ms'

    def _sentence(self, kind: int, first: np.void) -> str:
        value, braking = float(first['value']), ', braking' * bool(first['braking'])
        what = {
            NOT_FINITE: f'effort {self.data.judge.not_finite.tolist()}',
            EFFORT: f'{value:.3f} of the limit', AFTER_ZERO: 'a message',
            BRAKES_RELEASED: f'a message after {value:.2f} s',
            STEP: f'{value:.2f} N·m, {first["factor"]:.1f} times what is allowed{braking}',
            NOT_LATCHED: f'phase {value:.0f} after a fault',
            VELOCITY: f'{value:.2f} of the limit'}.get(kind, 'a fault without a reason')
        return self._at(float(first['time']), what)


class Run(NamedTuple):
    """Result of a run."""

    armed: bool
    figures: Figures
    violations: dict[str, str]


def play(subject: Any, world: World, planned: list[Planned], seconds: float) -> Run:
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
