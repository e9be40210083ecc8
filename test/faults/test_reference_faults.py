# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of the reference: one test a row of the table in docs/safety.md."""

from math import inf, nan

import numpy as np
import pytest
from builtin_interfaces.msg import Duration
from faults.rows import row
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

near = pytest.approx


def motion(arm, position=(0.6, 0.2), seconds=1, **fields):
    """A trajectory to a position, from now on."""
    point = JointTrajectoryPoint(positions=list(position), velocities=[0.0, 0.0],
                                 time_from_start=Duration(sec=seconds))
    return JointTrajectory(**{'joint_names': arm.names, 'points': [point], **fields})


def refusal(arm, sender, message, why):
    """Send a trajectory that must be refused for this reason; nothing changes in the efforts."""
    said = len(arm.controller.text)
    sender.publish(message)
    arm.remote.until(lambda: 'trajectory' in arm.controller.text[said:], why)
    assert why in arm.controller.text[said:]
    assert arm.ticks(5) == near(np.tile(arm.gravity, (5, 1)))


@row('two publishers of the reference',
     module='nodes.trajectory_subscriber',
     change='_.count_publishers(_) > 1', to='False')
def test_two_publishers_of_the_reference(running):
    """Refused and warned about, whoever sends; one is enough again when the other has gone."""
    arm = running(mode='computed_torque')
    first = arm.remote.trajectories()
    second = arm.remote.trajectories()
    for sender in (first, second):
        refusal(arm, sender, motion(arm), '2 publishers of joint_trajectory')
    arm.remote.until(lambda: '2 publishers' in arm.remote.diagnostics['message'], 'diagnostics')
    assert arm.remote.diagnostics['level'] == '1' and arm.phase == 'RUNNING'
    arm.remote.node.destroy_publisher(second)
    arm.controller.wait_for_line('accepted again')
    first.publish(motion(arm))
    arm.controller.wait_for_line('following a trajectory')
    assert abs(arm.ticks(500)[-1] - arm.gravity).max() > 0.1


@row('bad reference',
     module='nodes.trajectory_subscriber',
     change='start < now', to='False')
def test_bad_reference(running):
    """Each is refused with its reason, and the pose is held by gravity as before."""
    arm = running(mode='computed_torque')
    sender = arm.remote.trajectories()
    late = motion(arm)
    arm.time += 1.0
    arm.tick(0.0)
    late.header.stamp.sec = int(arm.time) - 1
    for message, why in (
            (late, 'should have started'),
            (motion(arm, (nan, 0.2)), 'finite'), (motion(arm, (inf, 0.2)), 'finite'),
            (motion(arm, joint_names=['joint1', 'elbow']), "no joint 'elbow'"),
            (motion(arm, joint_names=['joint1']), 'joint2'),
            (motion(arm, (0.1, 0.2, 0.3)), 'positions'),
            (motion(arm, points=[]), 'no waypoints'),
            (motion(arm, (9.0, 0.2), 60), 'outside'), (motion(arm, (-2.0, 2.0), 0), 'waypoint')):
        refusal(arm, sender, message, why)
    assert arm.phase == 'RUNNING' and arm.remote.diagnostics['reason code'] == 'NO_REASON'


def test_a_refused_reference_leaves_the_motion_under_way(running):
    """The efforts of a motion are the same, bit by bit, whatever is refused meanwhile."""
    runs = []
    for disturbed in (False, True):
        arm = running(mode='computed_torque', stop_timeout=0.1)     # no state follows the last
        sender = arm.remote.trajectories()
        arm.time = 200.0
        arm.tick()
        message = motion(arm)
        message.header.stamp = arm.stamp()
        message.header.stamp.nanosec += 100_000_000
        sender.publish(message)
        arm.controller.wait_for_line('following a trajectory')
        if disturbed:
            sender.publish(motion(arm, (nan, nan)))
            arm.controller.wait_for_line('trajectory refused')
        runs.append(arm.ticks(400))
        assert arm.controller.interrupt() == 0
        arm.remote.node.destroy_publisher(sender)
    assert runs[0].tobytes() == runs[1].tobytes() and np.ptp(runs[0]) > 1.0
