# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""References over topics: messages of MoveIt and Servo, huge ones, poses of other frames."""

from importlib.util import find_spec

from builtin_interfaces.msg import Duration
from control.test_moveit_clients import moveit_plan
from geometry_msgs.msg import PoseStamped, Transform
from nodes.bring_up import bring_up, POSE
import numpy as np
import pytest
from rclpy.serialization import serialize_message
from robodyn_ros import load_urdf
from robodyn_ros.control.references.trajectory import MAX_WAYPOINTS
from robodyn_ros.errors import TrajectoryError
from robodyn_ros.model.resources import robot_path
from robodyn_ros.nodes.topics.tool_topics import FrameTransforms, transformed
from scipy.spatial.transform import Rotation
from trajectories import trajectory_bytes
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

NAMES = ['joint1', 'joint2']
PERIOD, SPEED = 0.02, np.array([[0.5, -0.5]])       # s, rad/s


@pytest.mark.alone
def test_a_million_waypoints_do_not_let_the_arm_go(pair, remote, gravity):
    """They are refused and the arm is held; so it is while as many as there may be are planned."""
    _, controller = pair(controller={'mode': 'computed_torque'}, real_time=True)
    bring_up(remote)
    publisher = remote.trajectories()
    publisher.publish(trajectory_bytes(NAMES, np.arange(1e6), np.zeros((10**6, 2))))
    remote.until_line(controller, 'trajectory refused: 1000000 waypoints: use at most 20000')
    rows = np.zeros((3, MAX_WAYPOINTS, 2))
    rows[0] = POSE
    publisher.publish(trajectory_bytes(NAMES, np.arange(1.0, MAX_WAYPOINTS + 1), *rows))
    remote.until_line(controller, 'following a trajectory of 20000 waypoints')
    remote.listen(0.5)
    remote.until(remote.newest_command, 'commands')
    assert abs(np.array(remote.commands) - gravity).max() < 0.05
    assert abs(remote.positions() - POSE).max() < 1e-3
    remote.until(lambda: remote.diagnostics.get('phase') == 'RUNNING', 'diagnostics')
    assert 'FAULT' not in controller.text and controller.interrupt() == 0


def rusty(tmp_path):
    """Return the URDF of the arm with friction that the controller does not know."""
    text = robot_path('two_link').read_text()
    for given in ('damping="0.3" friction="1.5"', 'damping="0.2" friction="0.4"'):
        text = text.replace('damping="0" friction="0"', given, 1)
    (tmp_path / 'rusty.urdf').write_text(text)
    return tmp_path / 'rusty.urdf'


def test_plans_and_streams_are_followed(pair, remote, tmp_path):
    """Plans from the measured pose; then streams of positions, of velocities and of both."""
    _, controller = pair({'urdf': rusty(tmp_path), 'real_time_factor': 2.0},
                         {'mode': 'joint_impedance'})
    bring_up(remote)
    publisher, rng = remote.trajectories(), np.random.default_rng(2)
    model = load_urdf(robot_path('two_link'))
    for k in range(3):
        end = rng.uniform(-0.6, 0.6, 2)
        plan = moveit_plan(model, remote.position(), end, 0.08, 1 + k)
        rows = [plan.positions, plan.velocities, plan.accelerations][:1 + k]
        publisher.publish(trajectory_bytes(NAMES, plan.times, *rows))
        remote.until(lambda end=end: 'refused' in controller.text or (
            abs(remote.position() - end).max() < 0.02), 'the end of the plan')
        assert 'refused' not in controller.text

    for fields in ('p', 'v', 'pv'):
        begin, since = remote.position(), remote.now
        for velocity in (*[SPEED] * 30, *[0.0 * SPEED] * 3):
            position = remote.position() + PERIOD * velocity
            # A message of velocities alone has no positions
            publisher.publish(trajectory_bytes(NAMES, [PERIOD], *{
                'p': (position,), 'pv': (position, velocity)}[fields]) if 'p' in fields
                else velocities_alone(velocity))
            remote.pass_time(PERIOD)
        most = 1.1 * (remote.now - since) * abs(SPEED[0])
        remote.pass_time(1.0)
        moved = (remote.position() - begin) * np.sign(SPEED[0])
        assert (moved > 0.03).all() and (moved < most).all(), fields
        still = remote.position()
        remote.pass_time(0.2)
        assert abs(remote.position() - still).max() < 1e-3
    assert 'refused' not in controller.text and 'FAULT' not in controller.text
    remote.until(lambda: remote.diagnostics.get('phase') == 'RUNNING', 'diagnostics')


def velocities_alone(velocity):
    """Return a message of one waypoint without positions."""
    return serialize_message(JointTrajectory(joint_names=NAMES, points=[JointTrajectoryPoint(
        velocities=velocity[0].tolist(), time_from_start=Duration(nanosec=round(1e9 * PERIOD)))]))


def test_a_pose_is_that_of_the_matrices():
    random = np.random.default_rng(0)
    turn, own = Rotation.random(random_state=1), Rotation.random(random_state=2)
    shift, position = random.uniform(-1, 1, 3), random.uniform(-1, 1, 3)
    message = Transform()
    t, r = message.translation, message.rotation
    t.x, t.y, t.z = shift.tolist()
    r.x, r.y, r.z, r.w = turn.as_quat().tolist()
    p, q = transformed(message, position, own.as_quat())
    assert p == pytest.approx(turn.as_matrix() @ position + shift)
    assert Rotation.from_quat(q).as_matrix() == pytest.approx(turn.as_matrix() @ own.as_matrix())
    # What is no rotation stays none, for the check that refuses it
    assert np.linalg.norm(transformed(message, position, 3.0 * own.as_quat())[1]) == (
        pytest.approx(3.0))
    assert not transformed(message, position, np.zeros(4))[1].any()


@pytest.mark.skipif(find_spec('tf2_ros') is not None, reason='tf2 is installed')
def test_without_tf2_another_frame_is_refused_with_the_remedy():
    transforms, message = FrameTransforms(None), PoseStamped()
    message.pose.position.x = 0.3
    for frame in '', 'base':
        message.header.frame_id = frame
        assert transforms.to_base(message, 'base')[0].tolist() == [0.3, 0.0, 0.0]
    message.header.frame_id = 'camera'
    with pytest.raises(TrajectoryError, match="'camera', and tf2_ros is not installed.*base"):
        transforms.to_base(message, 'base')
