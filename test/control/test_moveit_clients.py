# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""MoveIt and MoveIt Servo without ROS: their trajectories move an arm that sags."""

from collections import deque
from dataclasses import replace

import numpy as np
import pytest
from robodyn_ros import load_urdf
from robodyn_ros.closed_loop import ClosedLoop
from robodyn_ros.control.controller.trajectory_goal import Status, TrajectoryGoal
from robodyn_ros.control.references.trajectory import Waypoints
from robodyn_ros.control.settings.motion_limits import default_tolerances
from robodyn_ros.control.settings.settings import Settings
from robodyn_ros.control.steps import guard
from robodyn_ros.errors import TrajectoryError
from thorough import seeds

MODEL = replace(load_urdf('two_link'), position_lower=np.full(2, -2.0),
                position_upper=np.full(2, 2.0), velocity_limit=np.full(2, 2.0))
SPEED = np.array([0.5, -0.5])       # rad/s


@pytest.mark.slow
def test_goals_of_moveit():
    """Plans from the measured pose, millirads from the reference; some end at limits, or early."""
    arm = SaggingArm(mode='joint_impedance', following_error=[0.0])
    rng, sags = np.random.default_rng(3), []
    for number in range(seeds(10, 200)):
        end = rng.uniform(-0.9, 0.9, 2)
        end[0] = 2.0 * np.sign(end[0]) if number % 10 == 9 else end[0]
        sags.append(abs(arm.controller._v.target - arm.measured).max())
        plan = moveit_plan(MODEL, arm.measured, end, rng.uniform(0.1, 0.9), 1 + number % 3)
        if number % 3:
            plan.velocities[-1] = 1e-16
        result = arm.goal(plan, 0.3 if number % 7 == 6 else np.inf)
        assert result.status in (Status.SUCCEEDED, Status.CANCELED)
    assert max(sags) > 2e-3


@pytest.mark.parametrize('fields, rate', [('p', 30.0), ('pv', 100.0), ('v', 30.0)])
def test_a_stream_of_single_waypoints(fields, rate):
    """MoveIt Servo up to Iron, and teleoperators: there, back, and a halt with velocity 0."""
    arm = SaggingArm(mode='joint_impedance')
    servo, rng, due = Servo(arm, 1.0 / rate, fields), np.random.default_rng(1), 0.0
    begin, furthest = arm.measured, 0.0
    for tick in range(1500):
        if 1e-3 * tick >= due:
            due += servo.period * rng.uniform(0.7, 1.3)
            servo.send(SPEED * (tick < 600) - SPEED * (600 <= tick < 1000))
        arm.tick()
        furthest = max(furthest, abs(arm.measured - begin).max())
    assert not arm.refused
    assert (0.05 if fields == 'p' else 0.2) < furthest < 0.33
    assert not arm.controller._v.target_qd.any()


@pytest.mark.parametrize('fields', ['p', 'pv'])
def test_a_stream_of_windows(fields):
    """MoveIt Servo from Jazzy on: windows that begin in the past and end with a velocity."""
    arm = SaggingArm(mode='joint_impedance', allow_nonzero_velocity_at_trajectory_end=True)
    servo, begin, furthest = Servo(arm, 0.01, fields, measured=False), arm.measured, 0.0
    for tick in range(1500):
        if tick % 10 == 0 and tick < 1200:
            servo.send(SPEED * (tick < 600) - SPEED * (600 <= tick < 1000))
        arm.tick()
        furthest = max(furthest, abs(arm.measured - begin).max())
    assert not arm.refused
    assert 0.25 < furthest < 0.32
    assert not arm.controller._v.target_qd.any()


LEAD = 0.0101               # s from the arrival of a trajectory to its start, as of the node
RESAMPLED = 0.1             # s between the waypoints of MoveIt
SERVO_GAINS = {'stiffness': [400.0, 100.0], 'damping': [40.0, 10.0],
               'acceleration_kp': [400.0], 'acceleration_kd': [40.0]}


class SaggingArm(ClosedLoop):
    """A two-link arm whose friction the controller does not know, in MuJoCo."""

    def __init__(self, **settings):
        plant = replace(MODEL, coulomb_friction=np.array([1.5, 0.4]),
                        static_friction=np.array([1.8, 0.5]), viscous_friction=np.full(2, 0.2))
        super().__init__(MODEL, Settings(**{**SERVO_GAINS, **settings}), [0.3, 0.5], plant=plant)
        self.refused: list[str] = []
        self.start()

    @property
    def measured(self):
        return self.controller._v.q.copy()

    def tick(self):
        super().tick()
        assert self.controller.phase != guard.FAULT, self.controller.reason

    def follow(self, waypoints, lead=LEAD):
        try:
            self.controller.follow(waypoints, self.now + lead)
        except TrajectoryError as error:
            self.refused.append(str(error))

    def goal(self, waypoints, cancel_after=np.inf):
        """Send a goal of the action, cancel it after so long [s], and return its result."""
        planned = self.controller.prepare(waypoints, self.now + LEAD)
        goal = TrajectoryGoal(self.controller, planned,
                              default_tolerances(MODEL, self.controller.settings))
        begin, result = self.now, None
        while result is None:
            for _ in range(20):
                self.tick()
            result = goal.step()
            if self.now - begin > cancel_after:
                goal.cancel()
        return result


def moveit_plan(model, begin, end, scale, fields=3):
    """
    Return a plan as MoveIt's time-optimal parametrization has it, from a measured pose.

    A trapezoid of velocity along a line, sampled each RESAMPLED: the corners of its velocity lie
    between waypoints. Its first waypoint is at time 0.

    :param scale: of the limits of velocity; those of acceleration are reached in 0.25 s.
    :param fields: 1: positions; 2: velocities too; 3: accelerations too.
    """
    d = np.subtract(end, begin)
    v = scale * np.min(model.velocity_limit / np.maximum(abs(d), 1e-9))     # 1/s
    a = v / 0.25
    v = min(v, np.sqrt(a))
    ramp, whole = v / a, 1.0 / v + v / a
    t = np.append(np.arange(0.0, whole - 1e-3, RESAMPLED), whole)
    rising, falling = t < ramp, t > whole - ramp
    s = np.where(rising, a * t**2 / 2, np.where(falling, 1 - a * (whole - t)**2 / 2,
                                                v * (t - ramp / 2)))
    sd = np.where(rising, a * t, np.where(falling, a * (whole - t), v))
    sdd = np.where(rising, a, np.where(falling, -a, 0.0))
    rows = [begin + d * s[:, None], d * sd[:, None], d * sdd[:, None]]
    return Waypoints(model.joint_names, t, *rows[:fields])


class Servo:
    """
    MoveIt Servo, whose command is a velocity of the joints.

    :param fields: what is published: 'p' positions, 'v' velocities, 'pv' both.
    :param measured: whether positions begin at the measured ones, as up to Iron; else, as from
        Jazzy on, each message has a window of waypoints that begins ``latency`` in the past.
    """

    latency = 0.1

    def __init__(self, arm, period, fields='pv', measured=True):
        self.arm, self.period, self.fields, self.from_measured = arm, period, fields, measured
        self.command = arm.measured
        self.window: deque = deque()

    def send(self, velocity):
        """Publish once: zero halts, with the positions that were sent last."""
        arm, now = self.arm, self.arm.now
        if self.from_measured:
            if np.any(velocity):
                self.command = arm.measured + self.period * np.asarray(velocity)
            arm.follow(Waypoints(MODEL.joint_names, np.array([self.period]),
                                 *self._fields(self.command[None], np.array([velocity]))))
            return
        if not (self.window and self.window[-1][0] > now):
            self.window.clear()
            self.command = arm.measured
        self.command = self.command + self.period * np.asarray(velocity)
        while self.window and self.window[0][0] < now - self.latency:
            self.window.popleft()
        if not self.window or self.window[-1][0] < now + self.latency - 1e-9:
            self.window.append((now + self.latency, self.command, np.array(velocity, float)))
        if len(self.window) < 3:
            return
        t, x, xd = (np.array(a) for a in zip(*list(self.window)[:-1]))
        start = now + LEAD              # of a trajectory that starts at once
        ahead = max(0.0, t[0] - now)
        arm.follow(Waypoints(MODEL.joint_names, t - t[0], *self._fields(x, xd),
                             elapsed=0.0 if ahead else start - t[0]), ahead or LEAD)

    def _fields(self, x, xd):
        return (x if 'p' in self.fields else None), (xd if 'v' in self.fields else None)
