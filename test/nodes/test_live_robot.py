# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What `robodyn view --live` hears of a robot."""

import time

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
import numpy as np
import pytest
from robodyn_ros.nodes.clients.live_robot import LiveRobot, STATE_TIMEOUT
from robodyn_ros.nodes.middleware.client_session import session
from robodyn_ros.wire.joint_state import JointStateEncoder
from sensor_msgs.msg import JointState

JOINTS = ('joint1', 'joint2')


@pytest.fixture
def live(node):
    """Return a listener, and functions that publish to it until a condition holds."""
    with session('robodyn_view_test') as here:
        robot = LiveRobot(here.node, JOINTS, 'joint_states', '/arm/controller')
        states = node.create_publisher(JointState, 'joint_states', 10)
        statuses = node.create_publisher(DiagnosticArray, '/diagnostics', 10)
        errors = node.create_publisher(JointState, '/arm/controller/tracking_error', 10)

        def until(condition, position=(0.3, -0.2), status=None, joints=JOINTS,
                  error=()):
            end = time.monotonic() + 60.0
            while not condition():
                assert time.monotonic() < end
                states.publish(JointStateEncoder(joints).encode(
                    0, np.array(position), np.zeros(len(joints)), np.zeros(len(joints))))
                if error:
                    errors.publish(JointState(name=JOINTS[::-1], position=error))
                if status:
                    statuses.publish(DiagnosticArray(status=[status]))
                here.poll()
        yield robot, until


def test_newest_positions_in_the_order_of_the_model(live):
    robot, until = live
    until(lambda: robot.update(1.0), (-0.2, 0.3), joints=JOINTS[::-1])
    assert robot.position == pytest.approx([0.3, -0.2]) and robot.report() == []


def test_what_is_missing_or_old_is_told(live):
    robot, until = live
    robot.update(0.0)
    (line,) = robot.report()
    assert line.problem and line.text == 'waiting for joint1, joint2 on /joint_states'
    until(lambda: robot.update(1.0))
    seen = robot.position
    until(lambda: robot.update(1.0) and robot._states.drain() == [], (np.nan, 0.1))
    assert (robot.position == seen).all()           # a NaN is never drawn
    robot.update(1.0 + STATE_TIMEOUT + 2.0)
    (line,) = robot.report()
    assert line.problem and 'the picture is old' in line.text


def test_a_fault_is_told_and_forgotten_when_it_is_not_repeated(live):
    robot, until = live
    until(lambda: robot.update(1.0) and robot.report(), status=DiagnosticStatus(
        level=DiagnosticStatus.ERROR, name='controller', hardware_id='two_link',
        message='FAULT: stale'))
    assert robot.report() == [('two_link controller: FAULT: stale', True)]
    until(lambda: robot.update(100.0) and robot._decoder.state['received'].min() == 100.0)
    assert not [line for line in robot.report() if 'FAULT' in line.text]


def test_the_tracking_error_is_that_of_one_cycle_of_the_controller(live):
    """Not the difference of the newest reference and the newest state, of different times."""
    robot, until = live
    assert np.isnan(robot.tracking_error).all()
    until(lambda: robot.update(1.0) and not np.isnan(robot.tracking_error).any(),
          position=(1.3, -0.2), error=(2e-4, -1e-4))
    assert robot.tracking_error == pytest.approx([-1e-4, 2e-4])
    robot.update(1.0 + STATE_TIMEOUT + 0.1)
    assert np.isnan(robot.tracking_error).all()
