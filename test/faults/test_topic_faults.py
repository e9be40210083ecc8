# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Bad messages, two publishers and silence on the topics of a node: refused, with a log line."""

from math import inf, nan
import time

from builtin_interfaces.msg import Duration
from faults.live_arm import Button
from faults.rows import row
from geometry_msgs.msg import InertiaStamped, PoseStamped, WrenchStamped
import numpy as np
import pytest
from rcl_interfaces.srv import GetParameters
from rclpy.parameter import parameter_value_to_python
from rclpy.serialization import serialize_message
from robodyn_ros.control.inputs.partner import CouplingState, WAITING
from robodyn_ros.nodes.topics import publishers, stop_topics, tool_topics
from robodyn_ros.nodes.topics.array_topics import coupling_message, policy_message
from robodyn_ros.nodes.topics.tool_topics import PayloadSubscriber
from robodyn_ros.nodes.topics.trajectory_subscriber import TrajectorySubscriber
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

pytestmark = pytest.mark.xdist_group('topic faults')     # one node for all
near = pytest.approx
PARAMETERS = {'mode': 'computed_torque', 'task_frame': 'tool0', 'nullspace_kp': [0.0],
              'coupling_role': 'follower', 'guiding_timeout': 0.3}
PAYLOAD = 'payload_frame', 'payload_mass', 'payload_com', 'payload_inertia'
NAMES = ['joint1', 'joint2']


def header(message, arm, frame='', late=0):
    """Stamp a message with the time of the arm, or one that is past [s]."""
    message.header.stamp, message.header.frame_id = arm.stamp(), frame
    message.header.stamp.sec -= late
    return message


def trajectory(arm, position=(0.6, 0.2), seconds=1, names=NAMES):
    point = JointTrajectoryPoint(positions=list(position), velocities=[0.0, 0.0],
                                 time_from_start=Duration(sec=seconds))
    return JointTrajectory(joint_names=names, points=[point])


def payload(arm, mass=1.0, frame='tool0'):
    message = InertiaStamped()
    message.header.frame_id, message.inertia.m = frame, mass
    return message


def policy(arm, names=NAMES, stamp=None):
    """Return a policy that holds the arm with another effort than g(q)."""
    return policy_message(names, arm.time if stamp is None else stamp,
                          effort=arm.gravity + [1.0, 0.5], position=arm.position,
                          velocity=np.zeros(2), gain=np.zeros((2, 4)))


def pose(arm, frame='', late=0, x=0.02):
    """Return the present pose of the tool, moved to the side."""
    T = arm.dynamics.pose(arm.position, 'tool0')
    message = header(PoseStamped(), arm, frame, late)
    p = message.pose.position
    p.x, p.y, p.z = (T[:3, 3] + [x, 0.0, 0.0]).tolist()
    message.pose.orientation.y = np.sin(-0.5 * arm.position.sum())
    message.pose.orientation.w = np.cos(-0.5 * arm.position.sum())
    return message


def wrench(arm, frame='', late=0):
    """Return a force that the tool is to exert."""
    message = header(WrenchStamped(), arm, frame, late)
    message.wrench.force.x = 5.0
    return message


def partner(arm, names=NAMES, stamp=None):
    """Return the state of a leader in the pose of the arm."""
    rows = np.array([arm.position, np.zeros(2), [40.0, 10.0], [8.0, 2.0], np.zeros(2)])
    return coupling_message(CouplingState('leader', WAITING, tuple(names), rows),
                            arm.time if stamp is None else stamp)


KINDS = {'joint_trajectory': JointTrajectory, 'payload': InertiaStamped,
         'policy': Float64MultiArray, 'partner': Float64MultiArray,
         'target_pose': PoseStamped, 'target_wrench': WrenchStamped,
         'target_stiffness': Float64MultiArray}


@pytest.fixture
def arm(shared):
    """Return the arm, RUNNING in gravity compensation of the mode that a test sets."""
    yield shared
    assert shared.phase == 'RUNNING' and shared.remote.diagnostics['reason code'] == 'NO_REASON'


@pytest.fixture
def sender(arm):
    """Return a function (topic) that makes a publisher that the controller hears."""
    made = []

    def sender(topic):
        made.append(arm.remote.node.create_publisher(KINDS[topic], f'controller/{topic}', 1))
        arm.remote.until(made[-1].get_subscription_count, 'the controller')
        return made[-1]
    yield sender
    for publisher in made:
        arm.remote.node.destroy_publisher(publisher)
    arm.remote.until(lambda: not any(arm.remote.node.count_publishers(f'controller/{topic}')
                                     for topic in KINDS), 'silence')


def uses(arm, mode):
    """Hold the present pose in a mode."""
    for each in ('gravity_compensation', mode):
        assert arm.remote.set('controller', mode=each) == ''
        arm.ticks(60)


def logged(arm, publisher, message, why):
    """Send a message until the log says this of it."""
    said, next_time = len(arm.controller.text), -inf

    def told() -> bool:
        nonlocal next_time
        # Again each second: the controller may not know yet of a publisher that has been heard
        if time.monotonic() > next_time:
            publisher.publish(message)
            next_time = time.monotonic() + 1.0
        return why in arm.controller.text[said:]
    try:
        arm.remote.until(told, why, 10.0)
    except AssertionError:
        raise AssertionError(f'{why}\n{arm.controller.text[said:]}') from None


def refuses(arm, publisher, message, why):
    """Check that a message is refused for this reason; nothing changes in the efforts."""
    logged(arm, publisher, message, why)
    arm.steady(5)


@row('invalid reference', where=TrajectorySubscriber._start, find='_ < _', instead='False')
def test_bad_reference(arm, sender):
    """Expired, not finite, or of other joints: refused, and the pose is held as before."""
    uses(arm, 'computed_torque')
    publisher, late = sender('joint_trajectory'), trajectory(arm)
    arm.time += 1.0
    arm.tick(0.0)
    late.header.stamp.sec = int(arm.time) - 1
    for message, why in ((late, 'should have started'),
                         (trajectory(arm, (inf, 0.2)), 'finite'),
                         (trajectory(arm, names=['joint1', 'elbow']), "no joint 'elbow'")):
        refuses(arm, publisher, message, why)


@row('two publishers of the reference', where=publishers.several,
     find='_.count_publishers(_) < 2', instead='True')
@pytest.mark.parametrize(('mode', 'topic', 'message'), [
    ('computed_torque', 'joint_trajectory', lambda arm: trajectory(arm, (nan, 0.2))),
    ('cartesian_impedance', 'target_pose', lambda arm: pose(arm, x=nan)),
    ('leader_follower', 'partner', lambda arm: partner(arm, stamp=nan))])
def test_two_publishers_of_the_reference(arm, sender, mode, topic, message):
    """Refused and warned about, whoever sends; bad ones, until the second one is discovered."""
    uses(arm, mode)
    for publisher in [sender(topic), sender(topic)]:
        refuses(arm, publisher, message(arm), f'2 publishers of {topic}')


def test_one_publisher_of_the_reference_is_left(arm, sender):
    """One is enough again when the other has gone; diagnostics warn until then, and no longer."""
    def next_report_is_of_now():
        pair = sender('joint_trajectory'), sender('joint_trajectory')
        logged(arm, pair[0], trajectory(arm, arm.position), '2 publishers of')
        for publisher in pair:
            arm.remote.node.destroy_publisher(publisher)
        reports = arm.remote.reports
        arm.remote.until(lambda: arm.remote.reports > reports, 'the next report')
        return '2 publishers' not in arm.remote.diagnostics['message']

    uses(arm, 'computed_torque')
    # More than one try: the controller may learn of their end after that report
    assert any(next_report_is_of_now() for _ in range(5))
    first, second = sender('joint_trajectory'), sender('joint_trajectory')
    arm.remote.until(lambda: '2 publishers' in arm.remote.diagnostics['message'], 'diagnostics')
    assert arm.remote.diagnostics['level'] == '1'
    said = len(arm.controller.text)
    arm.remote.node.destroy_publisher(second)
    arm.remote.until(lambda: 'accepted again' in arm.controller.text[said:], 'one publisher')
    logged(arm, first, trajectory(arm, arm.position), 'following a trajectory')
    arm.ticks(1100)


def in_force(arm):
    """Return the payload that the parameters tell."""
    answer = arm.remote.call(GetParameters, '/controller/get_parameters',
                             GetParameters.Request(names=PAYLOAD))
    return [parameter_value_to_python(value) for value in answer.values]


@row('invalid payload', where=PayloadSubscriber._set, find='result.successful', instead='True')
def test_bad_payload(arm, sender):
    """Not finite, of no link, against the measurement: refused, and the parameters stay."""
    uses(arm, 'gravity_compensation')
    publisher, before = sender('payload'), in_force(arm)
    for message, why in ((payload(arm, nan), 'payload_mass'), (payload(arm, frame='hand'), 'hand'),
                         (payload(arm, frame=''), 'frame_id is empty')):
        refuses(arm, publisher, message, why)
    publisher.publish(serialize_message(payload(arm)).replace(b'tool0', b'\xff\xfeol0'))
    arm.steady(200)                                     # no UTF-8, and it still listens:
    refuses(arm, publisher, payload(arm, 3.0), 'the gravity torque of joint1 would be')
    assert in_force(arm) == before


@row('two publishers of the payload', where=PayloadSubscriber._refusal,
     find='several(_, _, _)', instead="''")
def test_two_publishers_of_the_payload(arm, sender):
    """Refused and warned about, whoever sends."""
    for publisher in [sender('payload'), sender('payload')]:
        refuses(arm, publisher, payload(arm, nan), '2 publishers of payload')


def test_payload(arm, sender):
    """The parameters tell the payload that is in force."""
    uses(arm, 'gravity_compensation')
    publisher = sender('payload')
    logged(arm, publisher, payload(arm, 0.01), 'payload: 0.01 kg at tool0')
    assert in_force(arm) == ['tool0', 0.01, [0.0] * 3, [0.0] * 6]
    logged(arm, publisher, payload(arm, 0.0), 'payload: 0 kg')
    arm.ticks(600)                                      # payload_transition


@row('target pose of another frame', where=tool_topics.FrameTransforms.to_base,
     find="frame in ('', base)", instead='True')
def test_target_pose_of_another_frame(arm, sender):
    """Nothing is transformed silently; the frame of the base may be named."""
    uses(arm, 'cartesian_impedance')
    poses = sender('target_pose')
    refuses(arm, poses, pose(arm, 'tool0'), "frame_id is 'tool0'")
    poses.publish(pose(arm, arm.model.base_link))
    arm.remote.until(lambda: abs(arm.tick() - arm.gravity).max() > 0.1, 'the motion')


@pytest.mark.parametrize(('mode', 'topic', 'message', 'why'), [
    ('feedback_policy', 'policy', lambda arm: policy(arm, NAMES[::-1]), 'rows of the policy'),
    ('feedback_policy', 'policy', lambda arm: Float64MultiArray(data=[1.0]), 'data_offset'),
    ('leader_follower', 'partner', lambda arm: partner(arm, stamp=arm.time - 10.0), 'from now'),
    ('cartesian_impedance', 'target_pose', lambda arm: pose(arm, late=10), 'from now'),
    ('cartesian_impedance', 'target_wrench', lambda arm: wrench(arm, late=10), 'from now'),
    ('cartesian_impedance', 'target_wrench', lambda arm: wrench(arm, 'camera'), "is 'camera'"),
    ('cartesian_impedance', 'target_stiffness', lambda arm: Float64MultiArray(data=[500.0] * 5),
     'the stiffness is')])
def test_bad_commands(arm, sender, mode, topic, message, why):
    """Of another time, frame or layout: refused with the reason; the arm is held."""
    uses(arm, mode)
    refuses(arm, sender(topic), message(arm), why)


def guided(arm, expected):
    """States go on until the diagnostics tell whether the arm is guided by hand."""
    with arm.streaming():
        arm.remote.until(lambda: arm.phase == 'FAULT' or (
            arm.remote.diagnostics.get('guided by hand') == expected), expected)
    assert arm.phase == 'RUNNING', arm.remote.diagnostics['reason']


@row('enabling signal of hand guiding silent', where=stop_topics.GuidingTopic._look,
     find='self._left = left = _', instead='self._left = left = self._timeout()')
def test_enabling_signal_silent(arm):
    """While it says true the arm is guided; false and silence hold it."""
    uses(arm, 'hand_guiding')
    signal = Button(arm.remote, '/controller/guiding')
    with signal.pressed(True):
        guided(arm, 'yes')
    guided(arm, 'no')
    with signal.pressed(True):
        guided(arm, 'yes')
    with signal.pressed(False):
        guided(arm, 'no')
    signal.leave()
    arm.steady()


@row('two publishers of the enabling signal', where=stop_topics.GuidingTopic._look,
     find='len(_) > 1', instead='False')
def test_two_publishers_of_the_enabling_signal(arm):
    """The second may hide that the first has let go: the arm holds until one is gone."""
    uses(arm, 'hand_guiding')
    signal = Button(arm.remote, '/controller/guiding')
    with signal.pressed(True):
        guided(arm, 'yes')
        second = Button(arm.remote, '/controller/guiding')
        guided(arm, 'no')
        second.leave()
        guided(arm, 'yes')
    signal.leave()
    guided(arm, 'no')
