# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of target poses and twists: one test a row of the table in docs/safety.md."""

from math import nan

from faults.rows import row
from geometry_msgs.msg import PoseStamped, TwistStamped
import numpy as np
import pytest
from robodyn_ros.control.references import pose_planning
from robodyn_ros.nodes.topics import frame_transforms
from scipy.spatial.transform import Rotation

near = pytest.approx
TASK = {'mode': 'cartesian_impedance', 'task_frame': 'tool0', 'nullspace_kp': [0.0]}


def target(arm, frame='', **changed):
    """Return the present pose of the tool, 2 cm to the side."""
    T = arm.dynamics.pose(arm.position, 'tool0')
    message = PoseStamped()
    message.header.stamp, message.header.frame_id = arm.stamp(), frame
    p, o = message.pose.position, message.pose.orientation
    p.x, p.y, p.z = (T[:3, 3] + [0.02, 0.0, 0.0]).tolist()
    o.x, o.y, o.z, o.w = Rotation.from_matrix(T[:3, :3]).as_quat().tolist()
    for name, value in changed.items():
        setattr(o if name == 'w' else p, name, value)
    return message


def sender(arm, kind=PoseStamped, topic='target_pose'):
    """Return a publisher that the controller hears."""
    publisher = arm.remote.node.create_publisher(kind, f'/controller/{topic}', 1)
    arm.remote.until(publisher.get_subscription_count, 'the controller')
    return publisher


def refusal(arm, publisher, message, why):
    """Send what must be refused for this reason; nothing changes in the efforts."""
    said = len(arm.controller.text)
    publisher.publish(message)
    arm.remote.until(lambda: why in arm.controller.text[said:], why)
    assert arm.ticks(60)[-1] == near(arm.gravity, abs=1e-9)


@row('bad target pose', where=pose_planning.checked_pose, find='np.isfinite(a).all()',
     instead='True')
def test_bad_target_pose(running):
    """Refused with the reason; the reference is held."""
    arm = running(**TASK)
    poses = sender(arm)
    late = target(arm)
    late.header.stamp.sec -= 10
    for message, why in (
            (target(arm, x=nan), 'position of the target pose'),
            (target(arm, w=nan), 'orientation of the target pose'),
            (target(arm, w=3.0), 'normalize it'), (target(arm, x=5.0), 'within reach'),
            (target(arm, frame='camera'), "frame_id is 'camera'"), (late, 'from now')):
        refusal(arm, poses, message, why)
    twists, twist = sender(arm, TwistStamped, 'target_twist'), TwistStamped()
    twist.twist.linear.x = 9.0
    refusal(arm, twists, twist, 'give at most')
    other = sender(arm)
    refusal(arm, other, target(arm), '2 publishers of target_pose')    # whom it knows by now
    arm.remote.node.destroy_publisher(other)
    assert arm.phase == 'RUNNING' and arm.remote.diagnostics['reason code'] == 'NO_REASON'


@row('target pose of another frame', where=frame_transforms.FrameTransforms.to_base,
     find="frame in ('', base)", instead='True')
def test_target_pose_of_another_frame(running):
    """Nothing is transformed silently; the frame of the base may be named."""
    arm = running(**TASK)
    poses = sender(arm)
    refusal(arm, poses, target(arm, frame='tool0'), "frame_id is 'tool0'")
    poses.publish(target(arm, frame=arm.model.base_link))
    arm.remote.until(lambda: abs(arm.tick() - arm.gravity).max() > 0.1, 'the motion')


@row('target poses jump or stop', where=pose_planning.to_pose, find='time_optimal(_, _, _)',
     instead='(np.array([0.0, 1e-3]), *(np.array([a, b]) for a, b in zip(_present(now), '
             '(target, np.zeros(6), np.zeros(6)))))')
def test_target_poses_jump_or_stop(running):
    """The spring is loaded within the limits of the reference, and stays as it is in silence."""
    arm = running(**TASK)
    poses = sender(arm)
    poses.publish(target(arm))
    arm.remote.until(lambda: abs(arm.tick() - arm.gravity).max() > 0.02, 'the motion')
    efforts = arm.ticks(700) - arm.gravity
    assert abs(np.diff(efforts, axis=0)).max() < 0.1      # 2 cm at once would be 10 N
    assert efforts[-1] == near(efforts[-100], abs=1e-9) and abs(efforts[-1]).max() > 1.0
    assert arm.phase == 'RUNNING'
