# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""References over real topics: who may send them, which are followed, and why others are not."""

from dataclasses import replace
from functools import partial
import re
import time
from types import SimpleNamespace
import warnings

from builtin_interfaces.msg import Duration, Time
from control.rig import Rig
from hypothesis import given, settings, strategies as st
from nodes.bring_up import POSE
import numpy as np
from processes import until
import pytest
import rclpy
from rclpy.action import GoalResponse
from rclpy.executors import SingleThreadedExecutor
from rclpy.serialization import serialize_message
from robodyn_ros import load_urdf
from robodyn_ros.control.inputs.pose_tracking import sample
from robodyn_ros.control.references.reference_planning import AT_ONCE_DELAY
from robodyn_ros.control.references.trajectory import Waypoints
from robodyn_ros.errors import TrajectoryLateError
from robodyn_ros.model.resources import robot_path
from robodyn_ros.nodes.middleware.executor import Throttle
from robodyn_ros.nodes.topics import trajectory_action, trajectory_subscriber
from robodyn_ros.nodes.topics.trajectory_subscriber import (
    BURST, MAX_MESSAGE_BYTES, MAX_START_DELAY, Request, StreamRate, TrajectorySubscriber)
from std_msgs.msg import Header
from thorough import seeds
from trajectories import trajectory_bytes
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

NAMES = ['joint1', 'joint2']


class Arm:
    """A controller that holds an arm on a clock of its own."""

    def __init__(self, on_ros_time, **change):
        self.on_ros_time = on_ros_time
        model = replace(load_urdf(robot_path('two_link')), **change)
        self.rig = Rig(model, POSE, mode='computed_torque')
        self.rig.rise()
        self.controller = self.rig.controller
        self.controller.memory['since'] -= 1e3      # its clock does not go on meanwhile

    def now(self):
        return self.rig.time


class Desk:
    """A node with a reference input, and publishers of the test on other nodes."""

    def __init__(self, node, on_ros_time=False, **change):
        self.node, self.arm = node, Arm(on_ros_time, **change)
        self.follower, self.nodes = self.arm, []
        self.references = TrajectorySubscriber(node, lambda: self.follower)
        self.executor = SingleThreadedExecutor(context=node.context)
        self.executor.add_node(node)
        self.publisher = self.add('planner')

    def now(self):
        """Time of now as a stamp states it [s]."""
        return self.arm.now() if self.arm.on_ros_time else 1e-9 * (
            self.node.get_clock().now().nanoseconds)

    def add(self, name):
        """One more publisher, on a node of this name."""
        node = rclpy.create_node(name, context=self.node.context)
        self.nodes.append(node)
        publisher = node.create_publisher(JointTrajectory, '/of_the_test/joint_trajectory', 1)
        self.until(publisher.get_subscription_count)
        return publisher

    def until(self, condition):
        until(condition, lambda: self.executor.spin_once(0.05))

    def trouble(self):
        """Look at the publishers, as a controller does with each report."""
        self.references.look()
        return self.references.trouble

    def send(self, message, publisher=None):
        """Publish, and return whether it was accepted."""
        r = self.references
        accepted, heard = r.accepted, r.accepted + r.refused
        (publisher or self.publisher).publish(message)
        self.until(lambda: r.accepted + r.refused > heard)
        return r.accepted > accepted

    def close(self):
        self.executor.shutdown()
        for node in self.nodes:
            node.destroy_node()


@pytest.fixture
def desk(node):
    desk = Desk(node)
    yield desk
    desk.close()


def point(*positions, at=1.0, **fields):
    """One waypoint."""
    return JointTrajectoryPoint(positions=positions, time_from_start=Duration(
        sec=int(at // 1), nanosec=round(at % 1 * 1e9)), **fields)


def goal(**change):
    """Return a trajectory that is followed."""
    return JointTrajectory(**{'joint_names': NAMES, 'points': [point(0.4, 0.4)], **change})


def stamped(stamp, **change):
    """Return the same with a stamp, which may be a number of seconds."""
    if not isinstance(stamp, Time):
        whole, rest = divmod(round(1e9 * stamp), 10**9)
        stamp = Time(sec=whole, nanosec=rest)
    return goal(header=Header(stamp=stamp), **change)


def test_a_trajectory_is_followed(desk):
    """From the present pose to where it asks, joints in any order."""
    assert desk.send(goal(joint_names=NAMES[::-1],
                          points=[point(0.4, 0.2), point(0.3, 0.1, at=2.0)]))
    desk.arm.rig.run(2.2)
    assert desk.arm.rig.q == pytest.approx([0.1, 0.3], abs=1e-3)
    assert (desk.references.accepted, desk.references.refused) == (1, 0)
    desk.follower = None
    assert not desk.send(goal())


def test_an_empty_trajectory_stops(desk):
    """The reference comes to rest smoothly, with or without names, and is held there."""
    for names in (NAMES, []):
        assert desk.send(goal(points=[point(1.0, 0.0), point(*POSE, at=2.0)]))
        desk.arm.rig.run(0.5)
        moving = desk.arm.controller._v.target_qd.copy()
        assert desk.send(JointTrajectory(joint_names=names))
        speeds = []
        for _ in range(800):
            desk.arm.rig.tick()
            speeds.append(desk.arm.controller._v.target_qd.copy())
        assert abs(moving).max() > 0.3 and abs(speeds[0]).max() > 0.3
        assert abs(np.diff(speeds, axis=0)).max() < 0.1 and not speeds[-1].any()
        assert desk.arm.rig.phase == 'RUNNING'


def test_many_waypoints_wait_for_the_compiler(desk, monkeypatch, capfd):
    """Planned in plain Python, they would come too late; few are followed in the meantime."""
    monkeypatch.setattr(trajectory_subscriber, 'planner_is_being_compiled', lambda: True)
    monkeypatch.setattr(trajectory_subscriber, 'MAX_PLAIN_WAYPOINTS', 2)
    many = [point(0.3, 0.3, at=1.0 + k) for k in range(3)]
    assert not desk.send(goal(points=many)) and desk.send(goal(points=many[:2]))
    assert '3 waypoints while the planner is being compiled' in capfd.readouterr().err


def test_what_was_planned_too_late_starts_after_planning_it_again():
    """However long that takes; a start that was asked for stays."""
    clock, starts = SimpleNamespace(time=10.0), []
    asked = Waypoints(tuple(NAMES), np.array([1.0]), np.array([POSE]))
    request = Request(SimpleNamespace(now=lambda: clock.time), asked, 10.01, True)

    def follow(r):
        starts.append(r.start)
        clock.time += 9.0
        if r.start < clock.time:
            raise TrajectoryLateError('too late', name='start', remedy='stamp it later')
        return r.start
    assert request.followed(follow) == starts[1] > 28.0
    with pytest.raises(TrajectoryLateError):
        request._replace(at_once=False).followed(follow)


def test_trajectories_of_some_joints_each_do_not_replace_one_another(desk):
    """Published one after the other, and taken between two control cycles: both are followed."""
    planner = desk.nodes[0].create_publisher(JointTrajectory, '/of_the_test/joint_trajectory', 10)
    desk.nodes[0].destroy_publisher(desk.publisher)
    desk.until(lambda: planner.get_subscription_count() and not desk.trouble())
    for name, there in zip(NAMES, (0.6, 0.7)):
        planner.publish(goal(joint_names=[name], points=[point(there)]))
    desk.until(lambda: desk.references.accepted == 2)
    desk.arm.rig.run(1.2)
    assert desk.arm.rig.q == pytest.approx([0.6, 0.7], abs=1e-3)


def test_what_is_over_is_skipped(node):
    """A trajectory that should be under way is followed from the waypoints to come."""
    desk = Desk(node, on_ros_time=True)
    desk.arm.rig.run(5.0)
    start = desk.arm.now() - 2.0
    assert desk.send(stamped(start, points=[point(-9.0, -9.0), point(0.4, 0.4, at=3.0)]))
    desk.arm.rig.run(0.5)
    assert abs(desk.arm.rig.q - [0.4, 0.4]).max() > 1e-2
    desk.arm.rig.run(0.6)
    assert desk.arm.rig.q == pytest.approx([0.4, 0.4], abs=1e-3)
    for times in ((1.0,), (0.0,), (1.0, 1.0, 9.0), (9.0, 3.0)):
        assert not desk.send(stamped(start, points=[point(0.4, 0.4, at=t) for t in times]))
    desk.close()


def test_rate_of_a_stream():
    """Mean and deviation of its intervals, until a pause ends it."""
    stream = StreamRate()
    assert stream.rate(0.0)[0] == 0.0
    for k in range(51):
        stream.add(0.02 * k + 0.001 * (k % 2))
    rate, jitter = stream.rate(1.0)
    assert rate == pytest.approx(50.0) and jitter == pytest.approx(1e-3)
    assert stream.rate(9.0)[0] == 0.0
    stream.add(9.0)
    assert stream.rate(9.0)[0] == 0.0


FAR = int(MAX_START_DELAY) + 60
# One of the planner, which test_trajectory.py, test_reference_stream.py and others ask, and ours
REFUSED = [
    (goal(joint_names=[]), 'positions of waypoint 0 are 2 numbers'),
    (goal(joint_names=[], points=[JointTrajectoryPoint()]), 'no positions'),
    (goal(joint_names=['joint1', 'elbow']), 'no joint .elbow.: the joints are joint1, joint2'),
    (goal(points=[point(velocities=[0.0, 0.0])]), 'no positions'),
    (goal(points=[point(0.4, 0.4, effort=[1.0])]), 'effort of waypoint 0 are 1 numbers'),
    (goal(points=[point(0.4, np.nan)]), 'positions of joint2 at waypoint 0 is nan'),
    (goal(points=[point(0.4, 9.0)]), 'position of joint2 would be 9 at waypoint 0, outside [^:]*: '
     'stay within the limits of the URDF$'),
    (goal(points=[point(0.4, 0.4, at=-2.0**31)]), 'waypoint 0 is at -2147483648 s'),
    (stamped(Time(sec=5)), 'should have started .* s ago'),
    (stamped(Time(sec=-5)), 'should have started .* s ago'),
    (stamped(Time(sec=2**31 - 1)), 'would start in .* s: stamp it at most 600 s ahead'),
    (serialize_message(goal())[:60], 'the message ends'),
    (trajectory_bytes(NAMES, np.arange(20_001), np.zeros((20_001, 2))),
     '20001 waypoints: use at most 20000'),
    (serialize_message(goal()) + bytes(MAX_MESSAGE_BYTES),
     'a message of .* bytes: use at most 167'),
]


@pytest.mark.filterwarnings('error')
def test_each_refusal_says_why(desk, capfd):
    """Whatever comes, the motion under way goes on; then a good one is followed."""
    assert desk.send(goal(points=[point(*POSE, at=60.0)]))
    for message, reason in REFUSED:
        assert not desk.send(message), reason
        said = capfd.readouterr().err
        assert re.search(f'trajectory refused: .*{reason}', said), (reason, said)
        desk.arm.rig.tick()
        assert desk.arm.controller.memory['serial'] == 1
    desk.arm.rig.run(0.1)
    assert desk.arm.rig.phase == 'RUNNING' and desk.arm.rig.q == pytest.approx(POSE, abs=1e-6)
    assert desk.send(goal())


def test_names_do_not_forge_the_log(desk, capfd):
    """A name is quoted with its line ends, escapes, right-to-left marks and bytes spelled out."""
    forged = 'x\n[INFO] [1.0] [controller]: RUNNING \x1b[2J\r\u202e\u2028'
    data = bytearray(serialize_message(goal(joint_names=['joint1', forged])))
    assert not desk.send(bytes(data))
    data[data.index(b'[2J')] = 0xff
    assert not desk.send(bytes(data))
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) == 2 and all('trajectory refused: no joint' in line for line in lines)
    assert all(c.isprintable() for line in lines for c in line) and r'\udcff' in lines[1]


def test_a_stream_is_not_all_logged(desk, capfd, monkeypatch):
    """What is followed, as teleoperation sends it, nor what is refused: all are counted."""
    for _ in range(30):
        assert desk.send(goal(points=[point(*POSE, at=9.0)]))
    said = capfd.readouterr().err
    assert 10 <= said.count('following a trajectory of 1 waypoints') < 15
    assert desk.references.accepted == 30
    monkeypatch.setattr(desk.references, '_warnings', throttle := Throttle(BURST, 1e-3))
    for _ in range(int(BURST) + 5):
        assert not desk.send(goal(points=[point(0.4)]))
    throttle._when -= 1e3       # s, for one more
    assert not desk.send(goal(points=[point(0.4)]))
    said = capfd.readouterr().err
    assert said.count('trajectory refused') == BURST + 1
    assert said.count(' (5 more before it)') == 1 and desk.references.refused == BURST + 6


def test_one_publisher_only(desk, capfd):
    """With two, each is refused and both are named; what is followed goes on; then one is left."""
    assert desk.send(goal(points=[point(0.4, 0.4, at=0.5)])) and desk.references.trouble == ''
    intruder = desk.add('intruder')
    desk.until(desk.trouble)
    for publisher in (intruder, desk.publisher):
        assert not desk.send(goal(), publisher)
    desk.arm.rig.run(1.0)
    assert desk.arm.rig.q == pytest.approx([0.4, 0.4], abs=1e-3)
    who = "2 publishers of joint_trajectory ('/intruder', '/planner')"
    assert desk.references.trouble == who
    said = capfd.readouterr().err
    assert said.count(f'{who}: trajectories are refused') == 1
    assert f'trajectory refused: {who}: let one remain' in said
    intruder.destroy()
    desk.until(lambda: not desk.trouble())
    assert desk.send(goal()) and 'accepted again' in capfd.readouterr().err


@pytest.mark.parametrize('on_ros_time', [False, True])
def test_stamps(node, on_ros_time):
    """Wall time is converted to the follower's clock; ROS time is that clock."""
    desk = Desk(node, on_ros_time)
    start = desk.now() + 3.0
    assert desk.send(stamped(start))
    desk.arm.rig.run(1.0)
    assert desk.arm.rig.q == pytest.approx(POSE, abs=1e-4)      # not yet
    assert not desk.send(stamped(start + FAR))
    desk.arm.rig.run(3.5)
    assert desk.arm.rig.q == pytest.approx([0.4, 0.4], abs=1e-3)
    desk.close()


@pytest.mark.parametrize('on_ros_time', [False, True])
def test_a_stamp_of_now_means_at_once(node, on_ros_time):
    """It is past when it comes; the motion begins then, whole and from the present reference."""
    desk = Desk(node, on_ros_time)
    for k, ago in enumerate((0.0, 0.8 * AT_ONCE_DELAY)):
        start = desk.now() - ago
        before = desk.arm.controller._v.target.copy()
        assert desk.send(stamped(start, points=[point(0.4 - 0.1 * k, 0.4)]))
        points = desk.arm.controller.trajectory.points
        begins = float(points.header['start'][0])
        assert desk.arm.now() < begins < desk.arm.now() + 0.1
        assert sample(points, begins)[0] == pytest.approx(before, abs=1e-9)
        desk.arm.rig.run(1.2)
        assert desk.arm.rig.q == pytest.approx([0.4 - 0.1 * k, 0.4], abs=1e-3)
    assert not desk.send(stamped(desk.now() - 2 * MAX_START_DELAY))
    desk.close()


RARELY = st.integers(0, 9).map(lambda k: k == 9)
NUMBER = st.floats(-3.0, 3.0)
WILD = st.floats() | st.sampled_from([1e308, -1e308, 1e12])


@st.composite
def messages(draw):
    """Trajectories, most of them nearly right; of some a few bytes are changed."""
    names = draw(st.lists(st.sampled_from(NAMES) | st.text(max_size=4)) if draw(RARELY)
                 else st.permutations(NAMES))
    number = draw(st.integers(0 if draw(RARELY) else 1, 5))
    fields = draw(st.integers(0, 4) if draw(RARELY) else st.integers(1, 3))
    times = draw(st.lists(st.floats(0.0, 2.0**31 - 1) | st.floats(0.0, 9.0), min_size=number,
                          max_size=number, unique=True))
    wild, points = draw(RARELY), []
    for at in times if draw(RARELY) else sorted(times):
        size = draw(st.integers(0, 3)) if draw(RARELY) and draw(RARELY) else len(names)
        row = st.lists(WILD if wild else NUMBER, min_size=size, max_size=size)
        points.append(point(*draw(row), at=at, **{
            field: draw(row) for field in ('velocities', 'accelerations', 'effort')[:fields - 1]}))
    if points and len(points[-1].velocities) and not draw(RARELY):
        points[-1].velocities = np.zeros(len(points[-1].velocities))
    data = bytearray(serialize_message(JointTrajectory(
        joint_names=[n.replace('\0', '') for n in names], points=points)))
    if draw(RARELY):
        at = draw(st.integers(4, len(data) - 1))
        data[at:at + 4] = draw(st.binary(min_size=4, max_size=4))
    return bytes(data)


def test_any_message_is_followed_or_refused(node):
    """No exception in the executor, no warning of numpy, nothing followed that is no number."""
    endless = np.full(2, np.inf)
    desk = Desk(node, position_lower=-endless, position_upper=endless,
                velocity_limit=np.full(2, 1e3))

    @settings(max_examples=seeds(150, 1000))
    @given(messages())
    def check(message):
        with warnings.catch_warnings():
            warnings.simplefilter('error')
            accepted = desk.send(message)
        if accepted:
            points = desk.arm.controller.trajectory.points
            for t in points.header['start'][0] + np.linspace(0.0, 1.0, 9) * points.times[-1]:
                assert np.isfinite(sample(points, t)).all()

    check()
    assert desk.references.accepted > 20 and desk.references.refused > 20
    desk.close()


def test_a_trajectory_from_before_the_arm_was_running_is_refused(desk):
    """One that waits while a reset keeps the executor busy does not start a motion after it."""
    desk.publisher.publish(goal())
    time.sleep(0.3)
    desk.arm.controller.memory['since'] = desk.arm.now() - 0.1
    assert not desk.send(goal())        # counts the first one; both have waited
    # The second one, sent when RUNNING, or the next where a busy machine has it wait as well
    desk.until(lambda: desk.references.accepted or desk.send(goal()))


def test_what_starts_at_once_waits_for_a_plan_that_takes_long(desk, monkeypatch):
    """A busy machine is no reason to refuse it; a start that has been asked for has passed."""
    rig, durations = desk.arm.rig, []
    prepare = rig.controller.trajectory.prepare

    def prepare_slowly(*asked):
        planned = prepare(*asked)
        rig.run(durations.pop() if durations else 0.0)
        return planned
    monkeypatch.setattr(rig.controller.trajectory, 'prepare', prepare_slowly)
    asked = JointTrajectory(joint_names=NAMES, points=[point(0.6, 0.2)])
    durations.append(0.2)
    assert desk.send(asked) and not durations
    rig.run(2.0)
    assert rig.q == pytest.approx([0.6, 0.2], abs=1e-3)
    seconds = desk.now() + 0.05
    asked.header.stamp = Time(sec=int(seconds), nanosec=round(seconds % 1 * 1e9))
    durations.append(0.2)
    assert not desk.send(asked)


def test_a_goal_that_starts_at_once_waits_for_a_busy_executor(desk, monkeypatch):
    """What passes between its acceptance and its start is no reason to abort it."""
    monkeypatch.setattr(trajectory_action, '_TimedServer', lambda *_, **__: None)
    action, rig = trajectory_action.TrajectoryAction(
        desk.node, SimpleNamespace(Result=SimpleNamespace), desk.references, str), desk.arm.rig

    def accepted(stamp):
        """Return the end of a goal that is followed 0.2 s after it was accepted, '' for none."""
        ends = []
        goal = SimpleNamespace(trajectory=stamped(stamp, points=[point(0.6, 0.2)]),
                               path_tolerance=(), goal_tolerance=(),
                               goal_time_tolerance=Duration())
        assert action._on_goal(goal) == GoalResponse.ACCEPT
        rig.run(0.2)
        action._on_accepted(SimpleNamespace(
            request=goal, goal_id=SimpleNamespace(uuid=b''), execute=list, **{
                end: partial(ends.append, end) for end in ('succeed', 'canceled', 'abort')}))
        rig.run(2.0)
        action._step()
        return ends
    assert accepted(desk.now() + 0.05) == ['abort']
    assert accepted(Time()) == accepted(desk.now()) == ['succeed']
    assert rig.q == pytest.approx([0.6, 0.2], abs=1e-3)
    desk.node.destroy_timer(action._timer)
