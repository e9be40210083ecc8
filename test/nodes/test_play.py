# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`robodyn play` as a person runs it, against the real controller and simulator."""

from math import tau
import sys
import time

from control.rig import TURNING
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from nodes.bring_up import bring_up, POSE
import numpy as np
import pytest
import rclpy
from rclpy.serialization import deserialize_message
from rclpy.time import Time
from robodyn_ros import load_urdf
from robodyn_ros.cli.play import play
from robodyn_ros.control.references.sine_motion import waypoints
from robodyn_ros.errors import RobodynError, RosError, TrajectoryError
from robodyn_ros.identification.excitation.trajectory_file import JointTrajectory, write
from robodyn_ros.identification.options import PreparationOptions
from robodyn_ros.identification.recorded_motion import checked_motion
from robodyn_ros.identification.recordings.read import read
from robodyn_ros.model.resources import robot_path
from robodyn_ros.nodes.clients.play import approach, Player
from robodyn_ros.nodes.clients.running_controller import LOOP
from robodyn_ros.nodes.middleware.client_session import session
from robodyn_ros.nodes.middleware.raw_subscription import SerializedSubscription
from rosgraph_msgs.msg import Clock
from trajectory_msgs.msg import JointTrajectory as JointTrajectoryMessage

PLAY = [sys.executable, '-m', 'robodyn_ros.cli', 'play']
MODEL = load_urdf(robot_path('two_link'))
START = np.array(POSE) + [0.2, -0.3]
DURATION = 3.0
# Of tests that share one arm; the first one begins with what is not configured
SIMULATED, CONTROLLED = {}, {'mode': 'computed_torque'}


@pytest.fixture
def motion(tmp_path):
    """Return a file of a motion around START, and what is in it."""
    asked = waypoints(MODEL, START, np.array([0.2, 0.3]), DURATION)
    motion = JointTrajectory(asked.joint_names, asked.times, asked.positions, asked.velocities,
                             asked.accelerations)
    write(tmp_path / 'motion.yaml', motion)
    return tmp_path / 'motion.yaml', motion


def test_a_motion_is_refused_then_approached_played_and_recorded(shared, remote, start, tmp_path,
                                                                 motion):
    file, asked = motion
    assert remote.change('configure')
    refused = 'is not running: not active: .robodyn reset'
    with session('early') as here, pytest.raises(RosError, match=refused):
        Player(here, 'controller', within=20.0).find()
    assert remote.change('activate')

    far = start(PLAY, file, '--sim-time', '--record', tmp_path / 'motion.npz')
    assert far.wait() == 1
    assert far.text.splitlines()[-1].startswith(
        'robodyn: controller refuses it: the trajectory starts 0.3 rad from the reference of ')

    assert not (tmp_path / 'motion.npz').exists()
    near = start(PLAY, file, '--sim-time', '--approach', 1.0, '--record', tmp_path / 'motion.npz')
    assert near.wait() == 0, near.text
    assert shared.controller.text.count('following a trajectory') == 2
    for word in ('approach', 'motion.npz', 'position, velocity, effort'):
        assert word in near.text

    recording = read(tmp_path / 'motion.npz', MODEL)
    assert np.abs(recording.position[[0, -1]] - START).max() < 0.05
    # Rest, the motion, rest: it is found where it fits best
    done, *_ = checked_motion(recording, MODEL, PreparationOptions(cutoff=20.0))
    fit = min(distance(done, asked, shift) for shift in np.arange(-1.0, 2.0, 0.01))
    assert fit < 0.1       # of 0.4 and 0.6 from end to end


def distance(done, asked, shift):
    """How far a motion is from what was asked, if that began so much later (rad)."""
    at = done.time - done.time[0] - shift
    inside = (at > 0) & (at < asked.times[-1])
    if inside.sum() < 0.7 * DURATION * done.rate:
        return np.inf
    return max(np.abs(done.position[inside, i] - np.interp(
        at[inside], asked.times, asked.positions[:, i])).max() for i in range(MODEL.nv))


def test_the_publisher_before_it_is_named(shared, remote, start, motion):
    """The controller would follow neither; and Ctrl-C while it plays stops the arm."""
    controller = shared.controller
    if remote.state() != 'active':
        bring_up(remote)
    other = remote.trajectories()
    # By us, or by the controller where it knows of it before we do
    with session('second') as here:
        with pytest.raises((RosError, TrajectoryError), match='2 publish.*/second.*/test'):
            player = Player(here, 'controller', within=20.0)
            player.find()
            player.play(motion[1], lambda at, end: None)
        controller.wait_for_line('2 publishers of joint_trajectory')    # it looks once a second
    remote.node.destroy_publisher(other)
    controller.wait_for_line('trajectories are accepted again')

    motions = controller.text.count('following a trajectory of 1 waypoints')
    player = start(PLAY, motion[0], '--approach', 30.0, '--sim-time')
    remote.until(lambda: controller.text.count('following a trajectory of 1 waypoints') > motions,
                 'the approach')
    assert player.interrupt() == 130
    controller.wait_for_line('coming to rest')


def test_two_arms_are_told_apart(node):
    """By the namespace in the diagnostics: the left one runs, the right one does not."""
    sides = {'left': 'RUNNING', 'right': 'not active'}
    arms = [rclpy.create_node('controller', namespace=side, context=node.context)
            for side in sides]
    for arm in arms:
        arm.create_subscription(JointTrajectoryMessage, '~/joint_trajectory', print, 1)
    reports = node.create_publisher(DiagnosticArray, '/diagnostics', 10)
    told = [DiagnosticStatus(name=f'{side}/controller: {LOOP}', message=phase,
                             values=[KeyValue(key='phase', value=phase)])
            for side, phase in sides.items()]
    with session('asking') as here:
        here.node.create_timer(0.05, lambda: [
            reports.publish(DiagnosticArray(status=[one])) for one in told])
        left, right = (Player(here, f'{side}/controller', within=20.0) for side in sides)
        assert right.states == '/right/joint_states'
        left.find()
        with pytest.raises(RosError, match='right/controller is not running: not active'):
            right.find()
    for arm in arms:
        arm.destroy_node()


def test_controllers_of_others_are_played_to_unconfirmed(start, motion, node):
    """On their clock; they get the file, every digit."""
    file, asked = motion
    heard = SerializedSubscription(node, JointTrajectoryMessage, '/other/joint_trajectory', 10)
    with session('asking') as here, pytest.raises(RosError, match='of_the_test says nothing'):
        Player(here, '/other', within=1.0).find()
    clock = node.create_publisher(Clock, '/clock', 10)
    process = start(PLAY, file, '--node', '/other', '--unconfirmed', '--sim-time', '--delay', 0.1)
    now, end = 1000.0, time.monotonic() + 60.0
    while process.popen.poll() is None:
        assert time.monotonic() < end
        clock.publish(Clock(clock=Time(seconds=now).to_msg()))
        time.sleep(0.01)
        now += 0.05                 # five times as fast as ours
    assert process.wait() == 0, process.text
    message, = (deserialize_message(m, JointTrajectoryMessage) for m in heard.drain())
    heard.destroy()
    assert message.joint_names == list(asked.joint_names)
    for point, at, *row in zip(message.points, asked.times, asked.positions, asked.velocities,
                               asked.accelerations, strict=True):
        given = point.positions, point.velocities, point.accelerations
        np.testing.assert_allclose(given, row, rtol=0, atol=1e-9)
        told = point.time_from_start
        assert told.sec + 1e-9 * told.nanosec == pytest.approx(at, abs=1e-9)


def test_there_is_nobody_or_no_file(motion, tmp_path):
    with pytest.raises(RosError, match='no subscriber to /nobody/joint_trajectory: start a cont'):
        play(motion[0], node='nobody', wait=0.5)
    with pytest.raises(RobodynError, match='no.yaml.* cannot be read'):
        play(tmp_path / 'no.yaml')


def test_approaches(motion):
    _, asked = motion
    fastest = np.abs(asked.velocities).max(0)
    way = approach(asked, START - [1.0, 0.0], 0.5)
    assert way.times[0] == pytest.approx(15 / 8 / (0.5 * fastest[0]))
    assert approach(asked, START - [0.001, 0.0], 0.5).times[0] == 0.5
    assert (way.positions[0] == asked.positions[0]).all() and not way.velocities.any()
    still = JointTrajectory(asked.joint_names, asked.times,
                            np.where([True, False], asked.positions, asked.positions[0]),
                            asked.velocities * [1, 0], asked.accelerations)
    assert approach(still, START, 2.0).times[0] == 2.0
    assert approach(still, START + [tau, 0.0], 2.0, TURNING).times[0] == 2.0
    with pytest.raises(TrajectoryError, match='joint2 is 0.1 away from its start'):
        approach(still, START + [0.0, 0.1], 2.0)
    poses = np.array([[0.0, 0.0], [1.0, 0.5]])
    rest = np.zeros_like(poses)
    way = approach(JointTrajectory(('joint1', 'joint2'), np.array([0.0, 2.0]), poses, rest, rest),
                   np.array([-1.0, 0.0]), 0.5)
    assert way.times[0] == pytest.approx(15 / 8 / (0.5 * 0.5))
