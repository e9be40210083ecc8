# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Contact scene of the demo: a push, guiding by hand, and a collision with a post."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy import ndarray
from sensor_msgs.msg import JointState

from . import contact_plan, scene
from .results import CONTACT_DURATION, late_force, Trace, WITH, WITHOUT
from .scene import Scene, START_DELAY, Step
from ..catalog.robots import CatalogRobot
from ..control.learning import thresholds
from ..dynamics import Dynamics
from ..errors import DemoError
from ..flight_recorder.file import read
from ..flight_recorder.replay import latched
from ..nodes.middleware.qos import ALL_STATES
from ..testing import SimulatedArm, States

DISPLACEMENT_TOLERANCE = 0.05    # share of the expected displacement
RETURN_TOLERANCE = 1e-3    # [m] after the push
ESTIMATE_TOLERANCE = 0.1    # share of the efforts of the push
GUIDING_TOLERANCE = 0.01    # [m] from where the hand leads the tool
RELEASE_TOLERANCE = 1e-3    # [m] that the tool moves after the hand lets go

MAX_DETECTION_TIME = 0.03    # [s] from the first contact
RECORDED_AFTER_CONTACT = 1.0    # [s]
THRESHOLD_MARGIN = 2.0    # over the external efforts without contact
MIN_THRESHOLD = 0.05    # in effort limits
POST_STIFFNESS = 75e3    # [N/m] of a human hand in ISO/TS 15066
STEP_TIME = 0.05    # [s] between two positions of the hand, and between two external efforts
# [s] of the arm without the hand, which pushes and does not pull: it must not run ahead
COASTING_TIME_CONSTANT = 0.05
RELEASE_TIME = 1.0    # [s] after the hand has let go
HOLD_TIME = 1.5    # [s] at the end of the path, until the hand lets go
# Faults of the guard that a post may cause in a healthy arm: it is thrown back, or stuck
POST_FAULTS = 'JOINT_BLOCKED', 'VELOCITY_ABOVE_LIMIT', 'WRONG_DIRECTION'


class Times(NamedTuple):
    """Durations [s] of the push, of the rest after it, and of leading the tool."""

    push: float
    rest: float
    lead: float


FULL, BRIEF = Times(1.5, 1.5, 2.5), Times(1.0, 1.0, 1.5)


class ContactScene(Scene):
    """
    Contact scene with one robot.

    :param flights: folder of the flight recordings, from which a collision is timed.
    """

    def __init__(self, robot: CatalogRobot, dynamics: Dynamics, arm: SimulatedArm, step: Step,
                 brief: bool, flights: Path):
        super().__init__(robot, dynamics, arm, step)
        self.times, self.flights = BRIEF if brief else FULL, flights
        self.tool = contact_plan.tool(dynamics, self.pose)
        self.impact = contact_plan.impact(dynamics, self.pose, self.tool)
        self.task = contact_plan.task_gains(self.model, self.tool.frame)
        self._moving = float(self.impact.asked.times[-1])
        self.duration = (sum(self.times) + HOLD_TIME + RELEASE_TIME + 3 * (
            START_DELAY + self._moving + RECORDED_AFTER_CONTACT))
        self._external: list[JointState] = []
        arm.node.create_subscription(JointState, f'{arm.namespace}/controller/external_torque',
                                     self._external.append, ALL_STATES)

    def run(self) -> None:
        """Run all steps."""
        self.configure()
        with self.step('cartesian_impedance: the tool is pushed, and returns'):
            self.push()
        with self.step('gravity_compensation: a hand leads the tool'):
            self.lead()
        with self.step('joint_impedance: a motion without contact'):
            limits = self.quiet()
        with self.step('into a post, without detection'):
            self.fault_expected = True      # the same motion without contact had none
            self.post(WITHOUT)
            self.arm.deactivate()
            stopped = [code for code in self.faults() if code in POST_FAULTS]
        with self.step('into a post, with detection'):
            self.collide(limits)
        self.compare(stopped)
        self.check_faults(*stopped, 'COLLISION')

    # The steps

    def push(self) -> None:
        """Push the tool, held by a Cartesian spring, and let it return."""
        duration = self.times.push
        stiffness = [float(k) for k in self.task['task_stiffness']]
        push = contact_plan.push(self.dynamics, self.pose, self.tool, stiffness)
        self.begin('cartesian_impedance', **self.task)
        self.arm.set_parameters('simulator', push_duration=duration)
        begin = self.arm.time
        self.arm.push(self.tool.frame, push.force)
        states, at, external = self.watch(duration + self.times.rest)
        time, moved = states.time - begin, self.along(states)

        def late(time: ndarray) -> ndarray:
            return (time > 0.5 * duration) & (time < 0.9 * duration)
        there, back = float(np.median(moved[late(time)])), float(moved[-1])
        allowed = DISPLACEMENT_TOLERANCE * push.moved + push.tolerance
        self.check(f'{np.linalg.norm(push.force):.3g} N on {self.tool.frame} move it by F/K',
                   f'{1e3 * there:.4g} mm',
                   f'{1e3 * push.moved:.4g} ± {1e3 * allowed:.2g}',
                   abs(there - push.moved) < allowed)
        self.below('without the force it returns, off by', abs(back),
                   RETURN_TOLERANCE + push.tolerance, 'mm')
        efforts, exerted = external[:, 2], float(np.linalg.norm(push.efforts))
        felt = np.median(efforts[late(at - begin)], axis=0)
        off = np.linalg.norm(felt - push.efforts) / exerted
        tolerance = ESTIMATE_TOLERANCE + np.linalg.norm(self.model.coulomb_friction) / exerted
        self.check('the controller feels the push: error of its estimate', f'{off:.1%}',
                   f'< {tolerance:.0%}', off < tolerance)
        self.results.traces['tool'] = Trace(time, moved, push.moved * (time < duration))
        self.results.traces['felt'] = Trace(at - begin, np.linalg.norm(efforts, axis=1),
                                            exerted * (at - begin < duration))

    def lead(self) -> None:
        """Lead the floating arm by a hand that pushes its tool, and let go."""
        self.begin('gravity_compensation')
        damping = scene.damping(self.dynamics, self.pose, COASTING_TIME_CONSTANT)
        stiffness, stuck = contact_plan.hand(self.dynamics, self.pose, self.tool, damping)
        way = contact_plan.guided(self.model, self.pose, self.tool)
        time = np.arange(0.0, self.times.lead + HOLD_TIME, STEP_TIME)
        x = np.minimum(time / self.times.lead, 1.0)
        hand = way * x**3 * (10 - 15 * x + 6 * x**2)
        begin = self.arm.time
        self.arm.set_parameters(
            'simulator', joint_damping=damping, obstacle_link=self.tool.frame,
            obstacle_normal=self.tool.direction.tolist(), obstacle_stiffness=stiffness)
        led = [self.arm.run(STEP_TIME, obstacle_surface=(
            self.tool.position + at * self.tool.direction).tolist()) for at in hand]
        led.append(self.arm.run(RELEASE_TIME, obstacle_link=''))
        states = _joined(led)
        moved, at = self.along(states), states.time - begin
        there = float(moved[len(moved) - len(led[-1].time)])
        self.check('a hand leads the tool, floating', f'{1e3 * there:.4g} mm',
                   f'{1e3 * way:.4g} ± {1e3 * (GUIDING_TOLERANCE + stuck):.2g}',
                   abs(there - way) < GUIDING_TOLERANCE + stuck)
        self.below('let go, it stays: drift in 0.5 s', np.ptp(moved[at > at[-1] - 0.5]),
                   RELEASE_TOLERANCE, 'mm', states.position[-1])
        self.results.traces['hand'] = Trace(at, moved, np.interp(at, time, hand))
        self.arm.set_parameters('simulator', joint_damping=0.0)

    def quiet(self) -> dict[str, list[float]]:
        """Move without contact; return thresholds that are above what is estimated there."""
        self.begin('joint_impedance', collision_threshold=[0.0])
        self.arm.send(self.impact.asked, self.arm.time + STEP_TIME)
        _, _, external = self.watch(self._moving + 0.3)
        q, qd, efforts = external.transpose(1, 0, 2)
        bias = np.array([self.dynamics.inverse_dynamics(*row, 0.0 * qd[0])
                         for row in zip(q, qd)])
        limit = self.model.effort_limit
        found = thresholds(qd, bias, efforts, limit, self.model.velocity_limit,
                           margin=THRESHOLD_MARGIN)._asdict()
        found['collision_threshold'] = np.maximum(found['collision_threshold'],
                                                  MIN_THRESHOLD * limit)
        return {name: values.tolist() for name, values in found.items()}

    def post(self, name: str, **parameters: object) -> float:
        """Run into the post; return the simulation time of the first contact [s]."""
        self.begin('joint_impedance', **parameters)
        self.arm.set_parameters(
            'simulator', obstacle_link=self.tool.frame, obstacle_stiffness=POST_STIFFNESS,
            obstacle_surface=self.impact.surface.tolist(),
            obstacle_normal=self.impact.normal.tolist())
        begin = self.arm.time + START_DELAY
        states = self.follow(self.impact.asked, self._moving * contact_plan.CONTACT_SHARE
                             + RECORDED_AFTER_CONTACT)
        self.arm.set_parameters('simulator', obstacle_link='')
        depth = [(self.impact.surface - self.place(q)) @ self.impact.normal
                 for q in states.position]
        force = POST_STIFFNESS * np.maximum(0.0, depth)
        if not force.any():
            raise DemoError('the tool has not reached the post', name='simulator',
                            remedy=f'see the logs in {self.arm.folder}')
        touched = float(states.time[np.argmax(force > 0.0)])
        self.results.traces[name] = Trace(states.time - touched, force, 0.0 * force)
        return begin + touched

    def collide(self, limits: dict[str, list[float]]) -> None:
        """Run into the post with detection, and check that it is found."""
        known = {*self.flights.glob('*.mcap')}
        touched = self.post(WITH, **limits, collision_reaction='retreat', fault_action='hold')
        self.arm.resume()
        while not (new := {*self.flights.glob('*.mcap')} - known):
            self.arm.watch()
        flown = read(max(new))
        cycle = int(latched(flown.snapshot)[-1])
        found = float(flown.snapshot.cycles['now'][cycle]) + flown.about.offset - touched
        self.results.found = found
        self.check('the collision is found', flown.about.reason, 'COLLISION',
                   flown.about.reason == 'COLLISION')
        self.check(f'found after the contact at {self.impact.speed:.2g} m/s',
                   f'{1e3 * found:.1f} ms', f'< {1e3 * MAX_DETECTION_TIME:g}',
                   0.0 <= found < MAX_DETECTION_TIME)

    def compare(self, stopped: list[str]) -> None:
        """
        Check that the arm lets go of the post with detection, and without it does not.

        :param stopped: codes of the faults that have ended the contact without detection.
        """
        held, released = (late_force(self.results.traces[name]) for name in (WITHOUT, WITH))
        required, comparable = f'0 ({held:.3g} without detection)', held > 0.0
        if stopped:
            self.check('without detection the arm presses on', ', '.join(stopped),
                       'nothing: the guard stops this arm', None)
            required, comparable = '0', True
        self.check(f'{CONTACT_DURATION:g} s later the arm presses on the post',
                   f'{released:.3g} N', required, released == 0.0 and comparable)

    # What they are made of

    def watch(self, seconds: float) -> tuple[States, ndarray, ndarray]:
        """
        Run for some time; return the states, and the controller's estimates each STEP_TIME.

        :returns: their times (M,) [s], positions, velocities and external efforts (M, 3, nv).
        """
        parts, heard = [], []
        for _ in range(round(seconds / STEP_TIME)):
            parts.append(self.arm.run(STEP_TIME))
            self._external.clear()
            while len(self._external) < 2:      # the first one may have been under way
                self.arm.watch()
            heard.append([[*getattr(self._external[-1], name)] for name in (
                'position', 'velocity', 'effort')])
        return _joined(parts), np.array([part.time[-1] for part in parts]), np.array(heard)

    def place(self, q: ndarray) -> ndarray:
        """Return the position of the tool (3,) [m]."""
        return self.dynamics.pose(q, self.tool.frame)[:3, 3]

    def along(self, states: States) -> ndarray:
        """Return the way of the tool in its direction (N,) [m]."""
        return np.array([(self.place(q) - self.tool.position) @ self.tool.direction
                         for q in states.position])


def _joined(parts: list[States]) -> States:
    return States(*map(np.concatenate, zip(*parts)))
