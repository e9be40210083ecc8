# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Clients like MoveIt and MoveIt Servo, with an arm that sags by friction: none is refused."""

from dataclasses import replace

from control.moveit_clients import moveit_plan, SaggingArm, Servo
import numpy as np
import pytest
from robodyn_ros import load_urdf
from robodyn_ros.control.controller.trajectory_goal import Status
from thorough import seeds

MODEL = replace(load_urdf('two_link'), position_lower=np.full(2, -2.0),
                position_upper=np.full(2, 2.0), velocity_limit=np.full(2, 2.0))
SPEED = np.array([0.5, -0.5])       # rad/s


@pytest.mark.slow
@pytest.mark.parametrize('mode', ['joint_impedance', 'computed_torque'])
def test_goals_of_moveit(mode):
    """Plans from the measured pose, millirads from the reference; some end at limits, or early."""
    arm = SaggingArm(MODEL, mode=mode, following_error=[0.0])
    rng, sags = np.random.default_rng(3), []
    for number in range(seeds(10, 200)):
        end = rng.uniform(-0.9, 0.9, 2)
        end[0] = 2.0 * np.sign(end[0]) if number % 10 == 9 else end[0]
        sags.append(arm.sag)
        plan = moveit_plan(MODEL, arm.measured, end, rng.uniform(0.1, 0.9), 1 + number % 3)
        if number % 3:
            plan.velocities[-1] = 1e-16
        result = arm.goal(plan, 0.3 if number % 7 == 6 else np.inf)
        assert not arm.refused and result.status in (Status.SUCCEEDED, Status.CANCELED)
    assert max(sags) > 2e-3


@pytest.mark.parametrize('fields, rate', [('p', 30.0), ('pv', 100.0), ('v', 30.0)])
def test_a_stream_of_single_waypoints(fields, rate):
    """MoveIt Servo up to Iron, and teleoperators: there, back, and a halt with velocity 0."""
    arm = SaggingArm(MODEL, mode='joint_impedance')
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
    arm = SaggingArm(MODEL, mode='joint_impedance',
                     allow_nonzero_velocity_at_trajectory_end=True)
    servo, begin, furthest = Servo(arm, 0.01, fields, measured=False), arm.measured, 0.0
    for tick in range(1500):
        if tick % 10 == 0 and tick < 1200:
            servo.send(SPEED * (tick < 600) - SPEED * (600 <= tick < 1000))
        arm.tick()
        furthest = max(furthest, abs(arm.measured - begin).max())
    assert not arm.refused
    assert 0.25 < furthest < 0.32
    assert not arm.controller._v.target_qd.any()
