# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Plan of the contact scene: within the limits, and of a known size."""

from dataclasses import replace

import numpy as np
import pytest
from robodyn_ros.catalog.robots import load_robot
from robodyn_ros.control.references.sine_motion import reference
from robodyn_ros.control.steps.motion_checks import MIN_WRONG_EFFORT
from robodyn_ros.demo import contact_plan
from robodyn_ros.dynamics import Dynamics

ROBOTS = 'two_link', 'rp', 'panda'


@pytest.fixture(scope='module', params=ROBOTS)
def planned(request):
    """Dynamics, initial pose and tool of a robot."""
    robot = load_robot(request.param, {}, [], roomy=True)
    dynamics = Dynamics(robot.model)
    return dynamics, robot.pose, contact_plan.tool(dynamics, robot.pose)


def test_the_tool_moves_and_the_post_is_met_within_the_limits(planned):
    dynamics, pose, tool = planned
    assert np.linalg.norm(tool.direction) == pytest.approx(1.0)
    J = dynamics.jacobian(pose, tool.frame, reference='aligned')[:3]
    assert J @ tool.joints == pytest.approx(tool.direction, abs=1e-9)
    assert tool.position == pytest.approx(dynamics.pose(pose, tool.frame)[:3, 3])
    model = dynamics.model
    asked, surface, normal, speed = contact_plan.impact(dynamics, pose, tool)
    motion, time = reference(model, asked), np.linspace(0.0, asked.times[-1], 201)
    q, qd = motion(time), motion(time, 1)
    assert q[0] == pytest.approx(pose)
    assert (q >= model.position_lower).all() and (q <= model.position_upper).all()
    assert (np.abs(qd) < model.velocity_limit).all()
    assert qd[[0, -1]] == pytest.approx(0.0, abs=1e-9)
    assert 0.1 < speed < 1.2 * contact_plan.MAX_TOOL_SPEED
    depth = [(surface - dynamics.pose(q, tool.frame)[:3, 3]) @ normal for q in q]
    assert depth[0] < -0.05 and depth[-1] > 0.03


def test_a_push_in_as_many_directions_as_joints_is_that_of_the_spring(planned):
    dynamics, pose, tool = planned
    stiffness = contact_plan.task_gains(dynamics.model, tool.frame)['task_stiffness']
    push = contact_plan.push(dynamics, pose, tool, stiffness)
    force = np.linalg.norm(push.force)
    assert push.force == pytest.approx(force * tool.direction)
    assert push.moved == contact_plan.PUSH_DISPLACEMENT
    if dynamics.model.nv >= 6:
        assert force == pytest.approx(stiffness[0] * push.moved, rel=1e-6)
    else:           # the other axes of the spring hold against it
        assert force > stiffness[0] * push.moved * (1.0 - 1e-6)


def test_a_weak_arm_is_pushed_less():
    """More than its efforts can counter in time would throw it about: WRONG_DIRECTION."""
    robot = load_robot('two_link', {}, [])
    weak = replace(robot.model, effort_limit=0.4 * robot.model.effort_limit)
    dynamics = Dynamics(weak)
    tool = contact_plan.tool(dynamics, robot.pose)
    force, efforts, moved, _ = contact_plan.push(
        dynamics, robot.pose, tool, [*contact_plan.STIFFNESS])
    assert np.abs(efforts / weak.effort_limit).max() < MIN_WRONG_EFFORT
    full = contact_plan.push(Dynamics(robot.model), robot.pose, tool, [*contact_plan.STIFFNESS])
    assert full.moved == contact_plan.PUSH_DISPLACEMENT
    assert force == pytest.approx(full.force * moved / full.moved)


def test_a_hand_leads_a_damped_arm_with_its_time_constant(planned):
    dynamics, pose, tool = planned
    damping = 3.0
    k, _ = contact_plan.hand(dynamics, pose, tool, damping)
    along = dynamics.jacobian(pose, tool.frame, reference='aligned')[:3].T @ tool.direction
    speed = along @ (along * k / (damping + dynamics.model.viscous_friction))
    assert speed == pytest.approx(1.0 / contact_plan.HAND_TIME_CONSTANT)


def test_coulomb_friction_holds_the_tool_off_the_hand():
    robot = load_robot('two_link', {}, [])
    friction = replace(robot.model, coulomb_friction=np.array([1.0, 2.0]))
    dynamics, tool = Dynamics(friction), contact_plan.tool(Dynamics(robot.model), robot.pose)
    k, stuck = contact_plan.hand(dynamics, robot.pose, tool, 3.0)
    along = dynamics.jacobian(robot.pose, tool.frame, reference='aligned')[:3].T @ tool.direction
    assert (np.abs(along) * k * stuck <= [1.0 + 1e-9, 2.0 + 1e-9]).all()
    assert np.isclose(np.abs(along) * k * stuck, [1.0, 2.0]).any()
