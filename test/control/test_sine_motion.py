# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from robodyn_ros.catalog.robots import load_robot
from robodyn_ros.control.references import sine_motion as motion
from robodyn_ros.dynamics import Dynamics
from robodyn_ros.errors import DemoError, UrdfError

ROBOTS = ['two_link', 'rp', 'arm6', 'panda', 'ur5', 'kinova']


@pytest.fixture(scope='module', params=ROBOTS)
def planned(request):
    robot = load_robot(request.param, {}, [])
    dynamics = Dynamics(robot.model)
    return robot, dynamics, motion.plan(dynamics, robot.pose, 4.0)


def test_it_stays_within_all_limits(planned):
    robot, dynamics, asked = planned
    model, q = robot.model, motion.reference(robot.model, asked)
    for t in np.linspace(0.0, asked.times[-1], 500):
        assert (model.position_lower < q(t)).all() and (q(t) < model.position_upper).all()
        # Between waypoints it may be a little faster than at them
        assert (np.abs(q(t, 1)) <= 0.65 * model.velocity_limit).all()
        assert (np.abs(dynamics.inverse_dynamics(q(t), q(t, 1), q(t, 2)))
                <= 0.75 * model.effort_limit).all()


def test_it_begins_and_ends_at_rest_and_is_seen(planned):
    robot, _, asked = planned
    q = motion.reference(robot.model, asked)
    for t in (0.0, asked.times[-1]):
        assert q(t) == pytest.approx(robot.pose, abs=1e-12)
        assert q(t, 1) == pytest.approx(0.0, abs=1e-12)
        assert q(t, 2) == pytest.approx(0.0, abs=1e-9)
    robot, _, asked = planned
    assert (np.ptp(asked.positions, axis=0) > 0.05).all()


def test_velocity_and_acceleration_are_the_derivatives_of_position():
    robot = load_robot('two_link', {}, [])
    asked = motion.waypoints(robot.model, robot.pose, np.full(2, 0.3), 4.0)
    dense = motion.reference(robot.model, asked)
    t, h = asked.times[1:-1], 1e-5
    assert (dense(t + h) - dense(t - h)) / (2 * h) == pytest.approx(asked.velocities[1:-1],
                                                                    abs=1e-6)
    # The polynomials take the accelerations as given: look at the formula across waypoints
    curve = motion.waypoints(robot.model, robot.pose, np.full(2, 0.3), 4.0)
    fine = np.gradient(curve.velocities, curve.times, axis=0)
    assert np.abs(fine - curve.accelerations)[2:-2].max() < 0.1 * np.abs(fine).max()


def test_robots_without_limits_or_power_are_refused(tmp_path):
    from robodyn_ros.model.resources import robot_path
    weak = tmp_path / 'weak.urdf'
    weak.write_text(robot_path('two_link').read_text().replace('effort="80"', 'effort="8"'))
    robot = load_robot(str(weak), {}, [])
    with pytest.raises(DemoError, match='joint1'):
        motion.plan(Dynamics(robot.model), robot.pose, 4.0)
    robot = load_robot('double_pendulum', {}, [])
    with pytest.raises(DemoError, match='joint1 .*range is 0.*velocity limit is 0.*effort limit '
                                        'is 0.*joint2 .*<limit') as refused:
        motion.check_limits(robot.model)
    assert len(refused.value.value) == 2
    for name in ROBOTS:
        motion.check_limits(load_robot(name, {}, []).model)
    with pytest.raises(UrdfError) as refused:
        load_robot('no such robot', {}, [])
    offered = refused.value.remedy.partition('one of ')[2].partition(' (')[0].split(', ')
    assert {'two_link', 'panda'} <= {*offered}
    for name in offered:
        motion.check_limits(load_robot(name, {}, []).model)
