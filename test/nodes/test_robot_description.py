# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Robot descriptions, and publishers whose messages do not arrive."""

import os

from processes import until
import pytest
import rclpy
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from robodyn_ros.errors import UrdfError
from robodyn_ros.nodes.controller import robot
from robodyn_ros.nodes.controller.robot import RobotDescription
from robodyn_ros.nodes.middleware import qos
from robodyn_ros.nodes.middleware.middleware import lone_node
from robodyn_ros.nodes.topics.publishers import IncompatiblePublishers, unmatched_subscribers
from robodyn_ros.nodes.topics.trajectory_subscriber import TrajectorySubscriber
from robots import ARM
from std_msgs.msg import Float64MultiArray, String
from trajectory_msgs.msg import JointTrajectory

PARAMETERS = {p.name: p.default for p in robot.PARAMETERS}


def test_a_description_is_text_in_any_encoding(tmp_path):
    (path := tmp_path / 'arm.urdf').write_text(ARM)
    assert robot.model(PARAMETERS, ARM).joint_names == ('shoulder', 'slide')
    os.mkfifo(pipe := tmp_path / 'pipe')        # who opens it hangs
    for description in (path, pipe):
        with pytest.raises(UrdfError, match='robot description is not XML'):
            robot.model(PARAMETERS, str(description))
    (path := tmp_path / 'arm.urdf').write_bytes(
        b'\n<?xml version="1.0" encoding="gb2312"?>\n' + ARM.replace('upper"/>', '臂"/>').replace(
            'name="upper"', 'name="臂"').encode('gb2312'))
    given = PARAMETERS | {'urdf': str(path)}
    assert robot.model(given, robot.description(given)).link_names == ('臂', 'fore')


VOLATILE = QoSProfile(depth=1)
BEST_EFFORT = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT,
                         durability=DurabilityPolicy.TRANSIENT_LOCAL)


@pytest.fixture
def other(node):
    """Return another node, which publishes."""
    other = rclpy.create_node('other', context=node.context)
    yield other
    other.destroy_node()


@pytest.mark.parametrize(('profile', 'policy'), [
    (VOLATILE, 'volatile publisher and transient local subscription'),
    (BEST_EFFORT, 'best effort publisher and reliable subscription')])
def test_a_description_that_does_not_arrive(node, other, capfd, profile, policy):
    description, monitor = RobotDescription(node), IncompatiblePublishers(node)
    publisher = other.create_publisher(String, 'robot_description', profile)
    publisher.publish(String(data='<robot/>'))
    until(lambda: node.count_publishers('/robot_description'))
    for _ in range(3):
        monitor.look()
    said = capfd.readouterr().err
    assert said.count('WARN') == 1 and description.newest() == ''
    assert "'/other' on /robot_description do not arrive" in said and policy in said.lower()
    other.destroy_publisher(publisher)
    until(lambda: not node.count_publishers('/robot_description'))
    monitor.look()
    other.create_publisher(String, 'robot_description', qos.DESCRIPTION).publish(
        String(data='<robot/>'))
    until(description.newest)
    monitor.look()
    assert capfd.readouterr().err == ''
    description.destroy()


def test_trajectories_that_do_not_arrive(node, other, capfd):
    TrajectorySubscriber(node, lambda: None)
    topic = '/of_the_test/joint_trajectory'
    other.create_publisher(JointTrajectory, topic, BEST_EFFORT)
    until(lambda: node.count_publishers(topic))
    IncompatiblePublishers(node).look()
    assert f"'/other' on {topic} do not arrive" in capfd.readouterr().err


def test_commands_that_do_not_arrive(node, other):
    """Subscribers of another type, and those that ask for more than is offered, are named."""
    commands = node.create_publisher(Float64MultiArray, '/commands', BEST_EFFORT)

    def found():
        return unmatched_subscribers(node, '/commands')
    other.create_subscription(Float64MultiArray, '/commands', print, BEST_EFFORT)
    until(commands.get_subscription_count)
    assert found() == ''
    other.create_subscription(Float64MultiArray, '/commands', print, 1)
    # One process has one type for a topic in each context
    with lone_node('third') as third:
        third.create_subscription(String, '/commands', print, BEST_EFFORT)
        until(lambda: "'/third'" in found())
        reliability, wrong_type = found().split('; ')
    assert reliability.startswith("'/other': ") and 'reliab' in reliability.lower()
    assert wrong_type == ("'/third' expects std_msgs/msg/String, not "
                          'std_msgs/msg/Float64MultiArray')


@pytest.mark.parametrize(('urdf', 'refused'), [('two_link', False), ('', True)])
def test_a_description_that_is_not_used_is_not_refused(node, other, urdf, refused):
    """robot_state_publisher publishes it, in nearly every system, soon after the start."""
    description = RobotDescription(node)
    publisher = other.create_publisher(String, 'robot_description', qos.DESCRIPTION)
    publisher.publish(String(data='<robot name="first"/>'))
    until(description.newest)
    description.chosen(PARAMETERS | {'urdf': urdf, 'description_timeout': 0.0}, lambda: False)
    publisher.publish(String(data='<robot name="second"/>'))
    answers: list[bool] = []
    until(lambda: answers.append(description.replaced()) or 'second' in description.newest())
    assert any([*answers, description.replaced()]) == refused
    description.destroy()
