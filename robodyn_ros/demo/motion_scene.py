# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Motion scene of the demo: free fall, gravity compensation, a push, and trajectories."""

from typing import NamedTuple

import numpy as np

from . import scene
from .results import Tracking
from .scene import Scene, START_DELAY, Step
from ..catalog.robots import CatalogRobot
from ..control.references import sine_motion
from ..dynamics import Dynamics
from ..testing import SimulatedArm

MAX_DRIFT = 1e-3    # [rad | m] of any joint under gravity compensation
MIN_PUSH_MOTION = 0.03    # [rad | m] of some joint
AT_REST = 1e-3              # rad/s | m/s
MAX_HELD_GRAVITY = 0.2    # share of gravity that may seem compensated in the fall
MIN_FALL = 0.01    # [rad | m]
BETTER_THAN_PD, BETTER_THAN_IMPEDANCE = 20.0, 5.0       # computed torque, RMS
# Where friction, which no law knows, leaves less to gain: this share of what is possible
OF_POSSIBLE = 0.5
PUSH_DURATION = 0.5         # s, the simulator's default
REST_DURATION, MAX_COASTING = 1.0, 10.0     # [s] at rest after the push, and until then
COASTING_STEP = 0.25    # [s]
TRACKED_MODES = 'pd', 'joint_impedance', 'computed_torque'


class Times(NamedTuple):
    """Durations [s]."""

    fall: float
    floating: float
    motion: float


FULL, BRIEF = Times(1.0, 5.0, 4.0), Times(0.5, 1.5, 2.5)


class MotionScene(Scene):
    """Motion scene with one robot."""

    def __init__(self, robot: CatalogRobot, dynamics: Dynamics, arm: SimulatedArm, step: Step,
                 brief: bool):
        super().__init__(robot, dynamics, arm, step)
        self.times = BRIEF if brief else FULL
        self.asked = sine_motion.plan(dynamics, self.pose, self.times.motion)
        self.duration = (self.times.fall + self.times.floating + PUSH_DURATION + 2 * REST_DURATION
                         + len(TRACKED_MODES) * (START_DELAY + self.asked.times[-1]))

    def run(self) -> None:
        """Run all steps."""
        with self.step('no torque: the arm falls'):
            self.fall()
        self.configure()
        with self.step('gravity compensation: it floats'):
            self.drift()
        with self.step('it is pushed and stays where the push took it'):
            self.push()
        for mode in TRACKED_MODES:
            with self.step(f'{mode}: it follows a trajectory'):
                self.track(mode)
        self.compare()
        self.check_faults()

    def fall(self) -> None:
        """Let the arm fall from the initial pose without efforts, and check free fall."""
        self.arm.set_parameters('simulator', brakes=False)
        self.arm.pause()
        self.arm.trigger('simulator/reset')
        states = self.arm.run(self.times.fall)
        self.arm.set_parameters('simulator', brakes=True, pause_at=0.0)
        fallen = np.abs(states.position - self.pose).max()
        if not scene.moved_by_gravity(self.dynamics, self.pose):
            self.check('without torque the arm falls', f'{fallen:.3g} {self.unit}',
                       'nothing: no gravity torque at this pose', True)
            return
        held = scene.held_share(self.dynamics, states)
        self.check('without torque the arm falls', f'{fallen:.3g} {self.unit}',
                   f'> {MIN_FALL:g}', fallen > MIN_FALL)
        self.check('it falls freely: share of gravity still held', f'{held:.1%}',
                   f'< {MAX_HELD_GRAVITY:.0%}', held < MAX_HELD_GRAVITY)

    def drift(self) -> None:
        """Check that the arm floats under gravity compensation."""
        self.begin('gravity_compensation')
        self.results.drift = self.furthest(self.times.floating)
        self.below(f'floating for {self.times.floating:g} s, drift', self.results.drift,
                   MAX_DRIFT, self.small_unit)

    def push(self) -> None:
        """Push the arm, damped since most URDFs have no damping, and check its motion."""
        arm, c = self.arm, scene.damping(self.dynamics, self.pose)
        push = scene.push(self.dynamics, self.pose, c, PUSH_DURATION)
        begin = arm.position()
        arm.set_parameters('simulator', joint_damping=c)
        arm.push(push.link, push.force)
        states, coasting = arm.run(PUSH_DURATION), 0.0
        while (speed := np.abs(states.velocity[-1]).max()) >= AT_REST and coasting < MAX_COASTING:
            states, coasting = arm.run(COASTING_STEP), coasting + COASTING_STEP
        moved = np.abs(states.position[-1] - begin).max()
        expected = np.abs(push.displacement).max()
        self.check(f'a push of {np.linalg.norm(push.force):.3g} N on {push.link} moves it',
                   f'{moved:.3g} {self.unit}', f'> {MIN_PUSH_MOTION:g} (expected {expected:.2g})',
                   moved > MIN_PUSH_MOTION)
        self.below('it comes to rest', speed, AT_REST,
                   self.small_unit.replace(' |', '/s |') + '/s')
        self.below('it stays where it was pushed: drift in 1 s', self.furthest(REST_DURATION),
                   MAX_DRIFT, self.small_unit)
        arm.set_parameters('simulator', joint_damping=0.0)

    def track(self, mode: str) -> None:
        """Follow the trajectory from the initial pose under one control law."""
        self.begin(mode)
        states = self.follow(self.asked, self.asked.times[-1])
        reference = sine_motion.reference(self.model, self.asked)(states.time)
        self.results.trackings.append(Tracking(mode, states.time, states.position - reference,
                                               states.effort, states.position))

    def compare(self) -> None:
        """Compare computed torque with simpler laws, as far as friction allows a difference."""
        pd, impedance, computed = (tracking.rms for tracking in self.results.trackings)
        states = sine_motion.states(self.asked)
        gravity = np.array([self.dynamics.gravity(q) for q, _, _ in states])
        for other, rms, wanted, known in (
                ('pd', pd, BETTER_THAN_PD, 0 * gravity),
                ('joint_impedance', impedance, BETTER_THAN_IMPEDANCE, gravity)):
            possible = OF_POSSIBLE * scene.best_ratio(self.dynamics, states, known)
            required = f'> {min(wanted, possible):.3g}x'
            if possible < wanted:
                required += ' (limited by friction)'
            if possible < 1.0:
                required = 'nothing: the friction, which no law compensates, dominates'
            self.check(f'computed_torque tracks better than {other}', f'{rms / computed:.3g}x',
                       required, possible < 1.0 or rms / computed > min(wanted, possible))

    def furthest(self, seconds: float) -> float:
        """Return how far any joint goes from its present position in some time [rad | m]."""
        begin = self.arm.position()
        return float(np.abs(self.arm.run(seconds).position - begin).max())
