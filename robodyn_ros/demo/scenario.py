# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Scenario of the demo: free fall, gravity compensation, push and trajectories."""

import time
from typing import NamedTuple

import numpy as np

from . import motion, physics
from .conductor import Conductor, Diagnosis
from .results import Floating, Loop, Results, thousandths, Tracking
from .scene import Scene, Step
from ..catalog.robots import CatalogRobot
from ..dynamics import Dynamics

MAX_DRIFT = 1e-3    # [rad | m] of any joint under gravity compensation
MIN_PUSH_MOTION = 0.03    # [rad | m] of some joint
AT_REST = 1e-3              # rad/s | m/s
MAX_HELD_GRAVITY = 0.2    # share of gravity that may seem compensated in the fall
MIN_FALL = 0.01    # [rad | m]
BETTER_THAN_PD, BETTER_THAN_IMPEDANCE = 20.0, 5.0       # computed torque, RMS
# Where friction, which no law knows, leaves less to gain: this share of what is possible
OF_POSSIBLE = 0.5
START_DELAY = 1.0    # [s] from sending a trajectory to its start
PUSH_DURATION = 0.5         # s, the simulator's default
TRACKED_MODES = 'pd', 'joint_impedance', 'computed_torque'
# With more of its periods missed than this, a motion is repeated, once: the machine was busy with
# other things. The calmer one counts.
BUSY = 0.05


class Times(NamedTuple):
    """Durations [s]."""

    fall: float
    floating: float
    motion: float


FULL, BRIEF = Times(1.0, 5.0, 4.0), Times(0.5, 1.5, 2.5)


class Scenario(Scene):
    """
    Scenario with one robot.

    :param step: ``step(text, seconds)`` is entered for each step, for a progress bar.
    """

    def __init__(self, robot: CatalogRobot, dynamics: Dynamics, conductor: Conductor, brief: bool,
                 step: Step):
        super().__init__(robot, dynamics, conductor, step)
        self.times = BRIEF if brief else FULL
        self.asked = motion.plan(dynamics, self.pose, self.times.motion)
        self.results = Results()

    @property
    def duration(self) -> float:
        """About how long :meth:`run` takes [s]."""
        return (4 + self.times.fall + self.times.floating + 8
                + len(TRACKED_MODES) * (START_DELAY + self.asked.times[-1] + 3))

    def run(self) -> Results:
        """Run all steps and return the results."""
        with self.step('the nodes start', 4):
            self.conductor.set_parameters('simulator', {'brakes': False})
        with self.step('no torque: the arm falls', self.times.fall):
            self.fall()
        with self.step('gravity compensation: it floats', self.times.floating + 3):
            self.conductor.set_parameters('simulator', {'brakes': True})
            self.conductor.trigger('simulator/reset')
            self.conductor.change_state('configure')
            first = self.activate('gravity_compensation')
            self.drift(first)
        with self.step('it is pushed and stays where the push took it', 5):
            self.push()
        for mode in TRACKED_MODES:
            with self.step(f'{mode}: it follows a trajectory',
                           START_DELAY + self.asked.times[-1] + 3):
                known = len(self._faults)
                tracking = self.follow(mode)
            if tracking.loop.busy > BUSY:
                with self.step(f'{mode}: once more, the machine was busy', 0):
                    tracking = self.again(mode, tracking, known)
            self.results.trackings.append(tracking)
        self.compare()
        self.check_faults()
        return self.results

    # The steps

    def fall(self) -> None:
        """Let the arm fall from the initial pose without efforts, and check free fall."""
        self.conductor.recorder.clear()
        self.conductor.trigger('simulator/reset')
        self.conductor.watch(self.times.fall)
        states = self.conductor.recorder.recording()
        distance = np.abs(states.position - self.pose).max(1)
        begin = int(np.argmin(distance))        # it has already been falling before the reset
        fallen, held = distance[begin:].max(), 0.0
        if not physics.moved_by_gravity(self.dynamics, self.pose):
            self.check('without torque the arm falls', f'{fallen:.3g} {self.unit}',
                       'nothing: no gravity torque at this pose', True)
            return
        held = physics.held_share(self.dynamics, states.between(states.time[begin], np.inf))
        self.check('without torque the arm falls', f'{fallen:.3g} {self.unit}',
                   f'> {MIN_FALL:g}', fallen > MIN_FALL)
        self.check('it falls freely: share of gravity still held', f'{held:.1%}',
                   f'< {MAX_HELD_GRAVITY:.0%}', held < MAX_HELD_GRAVITY)

    def drift(self, first: Diagnosis) -> None:
        """Check that the arm floats under gravity compensation."""
        begin = self.conductor.recorder.latest().position[-1]
        self.conductor.recorder.clear()
        self.conductor.watch(self.times.floating)
        drift = self.furthest(begin)
        self.results.floating = Floating(drift, Loop.between(first, self.report()))
        self.check(f'floating for {self.times.floating:g} s, drift',
                   f'{thousandths(drift)} {self.small_unit}', f'< {1e3 * MAX_DRIFT:g}',
                   drift < MAX_DRIFT)

    def push(self) -> None:
        """Push the arm, damped since most URDFs have no damping, and check its motion."""
        conductor, c = self.conductor, physics.damping(self.dynamics, self.pose)
        conductor.set_parameters('simulator', {'joint_damping': c})
        push = physics.push(self.dynamics, self.pose, c, PUSH_DURATION)
        begin = conductor.recorder.latest().position[-1]
        conductor.push(push.link, push.force)
        conductor.watch(PUSH_DURATION)
        conductor.happens(lambda: bool((np.abs(conductor.recorder.latest().velocity)
                                        < AT_REST).all()), within=10.0)
        state = conductor.recorder.latest()
        speed, there = np.abs(state.velocity).max(), state.position[-1]
        moved, expected = np.abs(there - begin).max(), np.abs(push.displacement).max()
        self.check(f'a push of {np.linalg.norm(push.force):.3g} N on {push.link} moves it',
                   f'{moved:.3g} {self.unit}', f'> {MIN_PUSH_MOTION:g} (expected {expected:.2g})',
                   moved > MIN_PUSH_MOTION)
        self.check('it comes to rest', f'{thousandths(speed)} {self.speed_unit}',
                   f'< {1e3 * AT_REST:g}', speed < AT_REST)
        conductor.recorder.clear()
        conductor.watch(1.0)
        drift = self.furthest(there)
        self.check('it stays where it was pushed: drift in 1 s',
                   f'{thousandths(drift)} {self.small_unit}', f'< {1e3 * MAX_DRIFT:g}',
                   drift < MAX_DRIFT)
        self.report()
        conductor.set_parameters('simulator', {'joint_damping': 0.0})

    def follow(self, mode: str) -> Tracking:
        """Follow the trajectory from the initial pose under one control law."""
        conductor = self.conductor
        conductor.change_state('deactivate')
        conductor.trigger('simulator/reset')
        first = self.activate(mode)
        conductor.recorder.clear()
        start = time.time() + START_DELAY
        conductor.send(self.asked, start)
        end = start + self.asked.times[-1]
        conductor.watch(end - time.time() + 0.1)
        states = conductor.recorder.recording().between(start, end)
        loop = Loop.between(first, self.report())
        reference = motion.reference(self.model, self.asked)(states.time - start)
        return Tracking(mode, states.time - start, states.position - reference, states.effort,
                        loop, states.position)

    def again(self, mode: str, busy: Tracking, known: int) -> Tracking:
        """
        Repeat a motion for which the machine was too busy; keep the better one, with its faults.

        :param known: number of faults before the first motion.
        """
        first = self._faults[known:]
        del self._faults[known:]
        calmer = min(busy, self.follow(mode), key=lambda tracking: tracking.loop.busy)
        if calmer is busy:
            self._faults[known:] = first
        return calmer

    def compare(self) -> None:
        """Compare computed torque with simpler laws, as far as friction allows a difference."""
        pd, impedance, computed = (tracking.rms for tracking in self.results.trackings)
        states = motion.states(self.asked)
        gravity = np.array([self.dynamics.gravity(q) for q, _, _ in states])
        for other, rms, wanted, known in (
                ('pd', pd, BETTER_THAN_PD, 0 * gravity),
                ('joint_impedance', impedance, BETTER_THAN_IMPEDANCE, gravity)):
            possible = OF_POSSIBLE * physics.best_ratio(self.dynamics, states, known)
            required = f'> {min(wanted, possible):.3g}x'
            if possible < wanted:
                required += ' (limited by friction)'
            if possible < 1.0:
                required = 'nothing: the friction, which no law compensates, dominates'
            self.check(f'computed_torque tracks better than {other}', f'{rms / computed:.3g}x',
                       required, possible < 1.0 or rms / computed > min(wanted, possible))
