# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The action of trajectories, over real ROS; without control_msgs only that it is left out."""

import sys

from action_msgs.msg import GoalStatus
from action_msgs.srv import CancelGoal
from builtin_interfaces.msg import Duration, Time
from nodes.bring_up import bring_up, POSE
import numpy as np
import pytest
from rclpy.action import ActionClient
from robodyn_ros.control.references.trajectory import MAX_WAYPOINTS
from robodyn_ros.nodes.topics.trajectory_action import serve_trajectories
from robodyn_ros.nodes.topics.trajectory_subscriber import TrajectorySubscriber
from std_msgs.msg import Header
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

NAMES = ['joint1', 'joint2']
WITHOUT = ('control_msgs is not installed: it comes with ROS (ros-<distro>-control-msgs), and is '
           'on no package index for Python')
ABORTED, CANCELED, SUCCEEDED = (GoalStatus.STATUS_ABORTED, GoalStatus.STATUS_CANCELED,
                                GoalStatus.STATUS_SUCCEEDED)


@pytest.fixture
def messages():
    """Return the module of the action and of the tolerances."""
    action = pytest.importorskip('control_msgs.action', reason=WITHOUT).FollowJointTrajectory
    from control_msgs.msg import JointTolerance
    return action, JointTolerance


def seconds(duration):
    return Duration(sec=int(duration // 1), nanosec=int(duration % 1 * 1e9))


def trajectory(pose=(0.6, 0.2), duration=1.0, names=NAMES, **fields):
    point = JointTrajectoryPoint(positions=list(pose), time_from_start=seconds(duration))
    return JointTrajectory(**{'joint_names': names, 'points': [point], **fields})


class Planner:
    """A client of the action, as MoveIt is one."""

    def __init__(self, remote, action):
        self.remote, self.action = remote, action
        self.client = ActionClient(remote.node, action, '/controller/follow_joint_trajectory')
        remote.until(self.client.server_is_ready, 'the action')
        remote.listen(0.5)              # until the server knows the client too
        self.feedback = []

    def wait(self, future):
        self.remote.until(future.done, 'an answer')
        return future.result()

    def send(self, asked=None, **fields):
        """Send a goal and return its handle."""
        goal = self.action.Goal(trajectory=trajectory() if asked is None else asked, **fields)
        return self.wait(self.client.send_goal_async(
            goal, feedback_callback=lambda message: self.feedback.append(message.feedback)))

    def result(self, handle):
        """Status, code and text of its end."""
        answer = self.wait(handle.get_result_async())
        return answer.status, answer.result.error_code, answer.result.error_string


@pytest.fixture
def planner(pair, remote, messages):
    """Return a client of the action of a controller that holds an arm."""
    _, controller = pair(controller={'mode': 'computed_torque'})
    bring_up(remote)
    planner = Planner(remote, messages[0])
    planner.controller = controller
    yield planner
    planner.client.destroy()


def test_a_goal_succeeds(planner, remote):
    """With feedback on the way; joints that are not named stay."""
    handle = planner.send()
    assert handle.accepted
    assert planner.result(handle) == (SUCCEEDED, planner.action.Result.SUCCESSFUL,
                                      'the goal is reached')
    assert abs(remote.position() - [0.6, 0.2]).max() < 5e-3
    times = [f.desired.time_from_start.sec + 1e-9 * f.desired.time_from_start.nanosec
             for f in planner.feedback]
    assert len(times) >= 5 and (np.diff(times) > 0.0).all()
    middle = planner.feedback[len(times) // 2]
    assert list(middle.joint_names) == NAMES
    assert np.array(middle.error.positions) == pytest.approx(
        np.subtract(middle.desired.positions, middle.actual.positions))
    handle = planner.send(trajectory([0.4], 0.5, ['joint2']))
    assert planner.result(handle)[0] == SUCCEEDED
    assert abs(remote.position() - [0.6, 0.4]).max() < 5e-3


def test_a_new_goal_a_trajectory_and_a_cancel(planner, remote):
    """A new goal replaces the old one, a trajectory on the topic both; a cancel brings to rest."""
    first = planner.send(trajectory((0.6, 0.2), 3.0))
    second = planner.send(trajectory((0.5, 0.3), 3.0))
    assert planner.result(first)[::2] == (ABORTED, 'a new goal has replaced it')
    remote.listen(0.5)
    publisher = remote.trajectories()
    publisher.publish(trajectory(POSE, 1.0))
    assert planner.result(second)[::2] == (ABORTED, 'another trajectory has replaced it')
    third = planner.send(trajectory((0.8, 0.0), 3.0))
    remote.pass_time(1.0)
    answer = planner.wait(third.cancel_goal_async())
    assert answer.return_code == CancelGoal.Response.ERROR_NONE and len(answer.goals_canceling)
    assert planner.result(third)[:2] == (CANCELED, planner.action.Result.SUCCESSFUL)
    remote.pass_time(0.3)
    pose = remote.position()
    assert 0.3 < pose[0] < 0.75
    remote.pass_time(0.3)
    assert abs(remote.position() - pose).max() < 2e-3
    assert not planner.wait(third.cancel_goal_async()).goals_canceling
    assert 'FAULT' not in planner.controller.text


def test_tolerances_stops_and_refusals(planner, remote, messages):
    """Each with its code: in the result once a goal is accepted, else in the log."""
    action, tolerance = messages
    tight = [tolerance(name='joint1', position=1e-9)]
    assert planner.result(planner.send(path_tolerance=tight))[1] == -4
    goal = planner.send(goal_tolerance=tight, goal_time_tolerance=seconds(0.1))
    assert planner.result(goal)[:2] == (ABORTED, action.Result.GOAL_TOLERANCE_VIOLATED)
    point = JointTrajectoryPoint(positions=[0.6, 0.2], time_from_start=seconds(1.0))
    for asked, fields, code in (
            (JointTrajectory(joint_names=NAMES), {}, 'INVALID_GOAL: the goal has no waypoints'),
            (trajectory((9.0, 0.0)), {}, 'INVALID_GOAL: position of joint1'),
            (trajectory(names=['joint1', 'elbow']), {}, 'INVALID_JOINTS: no joint'),
            (trajectory(header=Header(stamp=Time(nanosec=1))), {}, 'OLD_HEADER_TIMESTAMP'),
            (trajectory(points=(MAX_WAYPOINTS + 1) * [point]), {}, 'INVALID_GOAL: 20001 way'),
            (trajectory(), {'path_tolerance': [tolerance(name='joint1', position=-3.0)]},
             'INVALID_GOAL: path_tolerance')):
        assert not planner.send(asked, **fields).accepted
        remote.until_line(planner.controller, f'goal rejected, {code}')
    goal = planner.send(trajectory((0.2, 0.6), 5.0))
    assert remote.change('deactivate')
    assert planner.result(goal)[::2] == (ABORTED, 'the controller is being deactivated')
    assert not planner.send().accepted
    remote.until_line(planner.controller, 'INVALID_GOAL: the controller is not active')
    assert 'FAULT' not in planner.controller.text


def test_a_fault_aborts(planner, remote, pair):
    """The reason of the guard is in the result."""
    goal = planner.send(trajectory((0.6, 0.2), 20.0))
    other = remote.node.create_publisher(type(remote.newest_state()), 'joint_states', 10)
    remote.until(lambda: other.publish(remote.newest_state()) or 'FAULT' in (
        planner.controller.text), 'a fault')
    status, code, text = planner.result(goal)
    assert (status, code) == (ABORTED, planner.action.Result.INVALID_GOAL)
    assert text.startswith('FAULT: ') and 'publish' in text
    remote.node.destroy_publisher(other)


def test_without_control_msgs(node, monkeypatch, capfd):
    """One line says so, and nothing else is different."""
    for name in ('control_msgs', 'control_msgs.action'):
        monkeypatch.setitem(sys.modules, name, None)
    references = TrajectorySubscriber(node, lambda: None)
    before = len(list(node.waitables)), len(list(node.services))
    action = serve_trajectories(node, references, lambda: '')
    assert action is None
    assert (len(list(node.waitables)), len(list(node.services))) == before
    said = capfd.readouterr().err
    assert said.count('\n') == 1 and '[INFO]' in said and 'control_msgs is not installed' in said
    assert 'ros-<distro>-control-msgs' in said


def test_two_publishers_refuse_goals(planner, remote):
    """As on the topic: nobody knows which of them the goal belongs to."""
    senders = [remote.trajectories() for _ in range(2)]
    remote.until_line(planner.controller, '2 publishers of joint_trajectory')
    assert not planner.send().accepted
    remote.until_line(planner.controller, 'goal rejected, INVALID_GOAL: 2 publishers')
    for sender in senders:
        remote.node.destroy_publisher(sender)
