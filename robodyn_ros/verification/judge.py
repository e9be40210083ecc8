# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Criteria of a run: figures for the table, and invariants that nothing may violate."""

from dataclasses import dataclass, field

import numpy as np
from numpy import ndarray

from . import features
from .judge_kernels import Compared, compiled_comparison, compiled_distance
from .plant import WRECKED
from .world import HEARING, World

MOST_VELOCITY = 1.1         # of the velocity limit
LIED_VELOCITY = 1.25        # where states are not those of the arm, until it shows
GROWTH = 1.02               # of a velocity that the injection itself gave
DISOBEDIENCE = 0.05         # s in which joints that do not obey have to be slow again, or let go
UNUSED = 0.003              # s without a used sample where two in a row are rejected
ROUNDING, EPSILON = 1e-6, 1e-9      # N·m | N, s


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
    reason: str = ''
    phase: int = 0


@dataclass
class Judge:
    """Judge of every tick of a run from arming on; its figures begin with ``since`` [s]."""

    world: World
    since: float
    figures: Figures = field(default_factory=Figures)
    violations: dict[str, str] = field(default_factory=dict)

    def __post_init__(self):
        w = self.world
        self._period = 1.0 / w.settings.rate
        self._last: ndarray | None = None
        self._published_at, self._ended, self._excused = -np.inf, False, 0.0
        self._faulted, self._start, self._too_fast_since = False, None, np.inf
        self._compare, self._distance = compiled_comparison(), compiled_distance()
        self._none = np.zeros(w.arm.model.nv)
        self._suspect: tuple[float, str] | None = None      # a step to zero: of a fault?

    def tick(self, published: list[ndarray]) -> None:
        """Judge the tick that has just passed."""
        w, phase = self.world, self.world.subject.phase
        time = w.time - 1e-3
        for tau in published:
            self._effort(time, tau, phase)
        for tau in w.intruded:          # efforts of another publisher act on the arm too
            if self._last is not None and phase == features.RUNNING:
                shares = abs(tau - self._last) / w.arm.model.effort_limit
                self._peak(float(shares.max()), int(shares.argmax()))
        if w.unheard:                   # a later listener has no previous effort
            self._last = None
        self._latch(time, phase)
        self._motion(time)
        self.figures.phase = phase

    def _violated(self, kind: str, time: float, what: str) -> None:
        if kind not in self.violations:
            self.violations[kind] = f'{what} at {1e3 * (time - self.since):.0f} ms'

    def _effort(self, time: float, tau: ndarray, phase: int) -> None:
        w, f, limit = self.world, self.figures, self.world.arm.model.effort_limit
        elapsed, last = time - self._published_at, self._last
        stopped = phase in (features.FAULT, features.INACTIVE)
        periods = 0.0 if last is None else min(2.0, max(1.0, round(elapsed / self._period)))
        factor = features.BRAKING_RATE if w.subject.braking() else 1.0
        gap = max(w.gap, UNUSED * w.lied_to)            # gravity waits for a sample to be used
        c = Compared(*self._compare(
            tau, self._none if last is None else last, limit, w.effort_rate, w.arm.gravity_rate,
            self._period * periods * factor, 0.0 if last is None else 2.0 * max(
                elapsed, gap, 1e-3),
            # The fault efforts may ramp down
            elapsed / w.settings.fault_ramp_time if stopped and last is not None else 0.0,
            ROUNDING))
        if c.excess != c.excess:
            self._violated('not finite', time, f'effort {tau.tolist()}')
            return
        f.effort = max(f.effort, c.share)
        if c.excess > ROUNDING:
            self._violated('effort', time, f'{c.share:.3f} of the limit')
        if self._ended:
            self._violated('after zero', time, 'a message')
        elif elapsed > w.plant.silence and last is not None:
            self._violated('brakes released', time, f'a message after {elapsed:.2f} s')
        # Gravity that acts twice, or not at all, is corrected at once: see steps/gravity_check.py
        corrected = (not self._faulted and w.subject.reason_code == 'GRAVITY_CONTRADICTED'
                     and w.plant.drives.compensate_gravity != w.settings.robot_compensates_gravity)
        acting = c.share > 0.0
        if last is not None and not corrected and (
                phase == features.FAULT and acting or not stopped):
            if c.worst > 1.0:
                i = int(c.worst_joint)
                what = (f'{abs(tau[i] - last[i]):.2f} N·m, {c.worst:.1f} times what is allowed'
                        f'{", braking" * w.subject.braking()}')
                if acting:
                    self._violated('step', time, what)
                else:
                    self._suspect = time, what
            if time >= self.since - EPSILON and acting and not stopped:
                self._peak(c.step, int(c.step_joint))
        self._last, self._published_at = tau, time
        if not acting and not self._rests_without_effort and (
                stopped or w.settings.mode != 'pd'):                    # whose errors may be zero
            self._ended = True
            if time >= self.since - EPSILON and np.isnan(f.zero):
                f.zero = 1e3 * (time - self.since)

    @property
    def _rests_without_effort(self) -> bool:
        """Whether zero is an effort like others, and ends no fault."""
        w = self.world
        return bool(w.settings.robot_compensates_gravity
                    or not w.arm.dynamics.gravity(w.plant.q).any())

    def _peak(self, share: float, joint: int) -> None:
        """Note an effort change, as a share of the limit of its joint, if it is the largest."""
        if share > self.figures.step:
            self.figures.step = share
            self.figures.step_effort = share * float(self.world.arm.model.effort_limit[joint])

    def settle(self) -> None:
        """Judge the end of the run; nodes report their faults with a delay."""
        self.world.subject.settle()
        if not self.world.subject.alive:
            self.figures.reason = 'ENDED'
            self._violated('ended', self.world.time, 'the process has ended')
            return
        phase = self.figures.phase = self.world.subject.phase
        self._latch(self.world.time, phase)
        if self._suspect and phase not in (features.FAULT, features.INACTIVE):
            self._violated('step', *self._suspect)
        if self._ended and phase not in (features.FAULT, features.INACTIVE):
            self._violated('not latched', self.world.time, f'phase {phase} after zero effort')

    def _latch(self, time: float, phase: int) -> None:
        f, reason = self.figures, self.world.subject.reason_code
        if phase == features.FAULT:
            if not self._faulted:
                self._faulted, f.reason = True, reason
                f.fault = 1e3 * (time - self.since)
            if reason == 'NO_REASON':
                self._violated('unnamed', time, 'a fault without a reason')
        elif self._faulted and not self.asked_to_stop:
            self._violated('not latched', time, f'phase {phase} after a fault')

    @property
    def asked_to_stop(self) -> bool:
        """Whether stopping was asked for, which a fault with fresh state allows."""
        return any(a.what.name == 'stop in motion' for a in self.world.active)

    def _motion(self, time: float) -> None:
        w, f = self.world, self.figures
        ratio = min(w.plant.speed, WRECKED)
        falling = 1e3 * (time - self.since) > f.fault + 1e3 * w.settings.fault_hold_time
        if (w.throwing or w.deaf or w.unheard or falling
                or time - self._published_at > HEARING):
            self._excused = max(self._excused, ratio)
        if time < self.since - EPSILON:
            self._start = w.plant.q.copy()
            return
        if self._start is None:
            self._start = w.plant.q.copy()
        f.travel = max(f.travel, self._distance(w.plant.q, self._start))
        if self._ended:                 # only its brakes hold it
            return
        f.velocity = max(f.velocity, ratio)
        most = LIED_VELOCITY if w.lied_to else MOST_VELOCITY
        if ratio <= max(most, GROWTH * self._excused):
            self._too_fast_since = np.inf
            return
        self._too_fast_since = min(self._too_fast_since, time)
        patience = DISOBEDIENCE if w.disobeying else 0.0
        if w.lied_to and w.subject.phase == features.FAULT:     # that holds what it knew last
            patience += w.settings.fault_hold_time + w.settings.fault_ramp_time
        if time - self._too_fast_since >= patience:
            self._violated('velocity', time, f'{ratio:.2f} of the limit')
