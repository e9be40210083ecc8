# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Telemetry of a running controller; displays of it, and `robodyn view --live`."""

import json
from pathlib import Path
import re
import time
from xml.etree import ElementTree

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
import numpy as np
import pytest
from robodyn_ros.control.steps import guard
from robodyn_ros.nodes.clients.live_control import LiveControl, LiveRobot, STATE_TIMEOUT
from robodyn_ros.nodes.controller.telemetry import EFFORT_PARTS, PHASE, TOPICS
from robodyn_ros.nodes.middleware.client_session import session
from robodyn_ros.nodes.middleware.qos import STOP
from robodyn_ros.viewer.wishes import Command
from robodyn_ros.wire.codecs import JointStateEncoder
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, UInt8
import yaml

DISPLAYS = Path(__file__).resolve().parents[2] / 'examples' / 'displays'
TYPES = {'sensor_msgs/msg/JointState': {'position', 'velocity', 'effort'},
         'std_msgs/msg/UInt8': {'data'}}
# From other nodes of ROS
ELSEWHERE = {'/tf'}
JOINTS = ('joint1', 'joint2')


def foxglove_paths():
    """Message paths of the Foxglove layout: topic and field."""
    panels = json.loads((DISPLAYS / 'foxglove.json').read_text())['configById']
    for panel in panels.values():
        for path in panel.get('paths', ()):
            topic, _, field = path['value'].partition('.')
            yield topic, field.partition('[')[0]
        for topic in (panel.get('topicToRender'), panel.get('layers', {}).get('urdf', {}).get(
                'topic'), *panel.get('topics', ())):
            if topic:
                yield topic, ''


def plotjuggler_paths():
    """Curves and topics of the PlotJuggler layout, likewise."""
    root = ElementTree.parse(DISPLAYS / 'plotjuggler.xml')
    for topic in root.iter('topic'):
        yield topic.get('name'), ''
    for curve in root.iter('curve'):
        topic, field = re.fullmatch(r'(.+?)(?:/joint\d)?/(\w+)', curve.get('name')).groups()
        yield topic, field


def rviz_paths():
    """Topics of the rviz configuration."""
    config = yaml.safe_load((DISPLAYS / 'robodyn.rviz').read_text())
    for display in config['Visualization Manager']['Displays']:
        if topic := display.get('Topic', display.get('Description Topic')):
            yield topic['Value'], ''


def test_every_panel_of_the_foxglove_layout_is_in_its_mosaic():
    layout = json.loads((DISPLAYS / 'foxglove.json').read_text())

    def leaves(part):
        return [part] if isinstance(part, str) else leaves(part['first']) + leaves(part['second'])
    assert sorted(leaves(layout['layout'])) == sorted(layout['configById'])


def test_telemetry_is_that_of_the_cycles_and_the_displays_find_their_topics(pair, remote):
    pair(controller={'mode': 'joint_impedance', 'autostart': True, 'telemetry_rate': 50.0,
                     'external_wrench_frame': 'tool0'})[1].wait_for_line('RUNNING')
    paths = {*foxglove_paths(), *plotjuggler_paths(), *rviz_paths()}
    remote.until(lambda: {topic for topic, _ in paths} - ELSEWHERE <= dict(
        remote.node.get_topic_names_and_types()).keys(), 'the topics of the displays')
    there = dict(remote.node.get_topic_names_and_types())
    for topic, field in paths:
        assert not field or field in TYPES[there[topic][0]], (topic, field)

    heard = {topic: {} for topic in TOPICS}
    phases = []

    def listen(topic):
        remote.node.create_subscription(
            JointState, f'/controller/{topic[2:]}', lambda message: heard[topic].update(
                {(message.header.stamp.sec, message.header.stamp.nanosec): message}), 10)
    for topic in TOPICS:
        listen(topic)
    remote.node.create_subscription(UInt8, f'/controller/{PHASE[2:]}',
                                    lambda message: phases.append(message.data), 10)
    remote.until(lambda: phases and set.intersection(*map(set, heard.values())),
                 'one cycle on all topics')
    stamp = max(set.intersection(*map(set, heard.values())))
    cycle = {topic: messages[stamp] for topic, messages in heard.items()}
    assert phases[-1] == guard.RUNNING
    assert all(list(message.name) == ['joint1', 'joint2'] for message in cycle.values())
    reference = cycle['~/reference']
    assert reference.position.tolist() == pytest.approx([0.3, 0.5], abs=1e-3)
    parts = sum(np.array(cycle[f'~/effort_{part}'].effort) for part in EFFORT_PARTS)
    assert parts == pytest.approx(np.array(reference.effort))
    assert abs(np.array(cycle['~/tracking_error'].position)).max() < 1e-3
    remote.until(remote.newest_state, 'a joint state')
    now = remote.newest_state().header.stamp.sec
    assert abs(stamp[0] - now) < 5          # the time of the simulation, not of the day


@pytest.fixture
def live(node):
    """Return a listener, and functions that publish to it until a condition holds."""
    with session('robodyn_view_test') as here:
        robot = LiveRobot(here.node, JOINTS, 'joint_states', '/arm/controller')
        states = node.create_publisher(JointState, 'joint_states', 10)
        statuses = node.create_publisher(DiagnosticArray, '/diagnostics', 10)
        errors = node.create_publisher(JointState, '/arm/controller/tracking_error', 10)

        def until(condition, position=(0.3, -0.2), status=None, joints=JOINTS, error=()):
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
    assert not robot.update(1.0 + STATE_TIMEOUT + 2.0)      # no pose to teach, or to start from
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


def test_the_controller_is_heard_among_the_diagnostics_of_many_devices(live):
    robot, _ = live
    robot._hear(DiagnosticArray(status=[DiagnosticStatus(name=f'device {i}') for i in range(50)]))
    robot._hear(DiagnosticArray(status=[DiagnosticStatus(
        name='arm/controller: control loop', values=[KeyValue(key='phase', value='RUNNING')])]))
    assert robot.phase == 'RUNNING' and len(robot.report()) < 20


def test_the_tracking_error_is_that_of_one_cycle_of_the_controller(live):
    """Not the difference of the newest reference and the newest state, of different times."""
    robot, until = live
    assert np.isnan(robot.tracking_error).all()
    until(lambda: robot.update(1.0) and not np.isnan(robot.tracking_error).any(),
          position=(1.3, -0.2), error=(2e-4, -1e-4))
    assert robot.tracking_error == pytest.approx([-1e-4, 2e-4])
    robot.update(1.0 + STATE_TIMEOUT + 0.1)
    assert np.isnan(robot.tracking_error).all()


def test_an_emergency_stop_of_the_page_reaches_the_controller_and_no_publisher_stays():
    """A second publisher that stayed would be a stop, too."""
    heard = []
    with session('robodyn_view_test') as here:
        here.node.create_subscription(Bool, '/arm/controller/emergency_stop', heard.append, STOP)
        control = LiveControl(here.node, '/arm/controller', '/arm/simulator', None)
        control.do(Command.EMERGENCY_STOP, time.monotonic())
        assert here.until(lambda: control.answers(time.monotonic()) or heard, 60.0)
        assert [message.data for message in heard] == [True]
        assert here.until(lambda: not (control.answers(time.monotonic()) or here.node.
                                       count_publishers('/arm/controller/emergency_stop')), 60.0)


def test_timing_is_a_problem_only_of_an_arm_that_has_one(live):
    robot, until = live
    late = DiagnosticStatus(level=DiagnosticStatus.ERROR, name='arm/controller: timing',
                            message='late', hardware_id='arm')
    until(lambda: robot.update(1.0) and robot.report(), status=late)
    assert robot.report() == [('arm arm/controller: timing: late', False)]
    missed = DiagnosticStatus(level=DiagnosticStatus.WARN, name='arm/controller: control loop',
                              message='RUNNING: 3 periods missed', hardware_id='arm')
    missed.values = [KeyValue(key='phase', value='RUNNING')]
    until(lambda: robot.update(1.0) and len(robot.report()) == 2, status=missed)
    assert [line.problem for line in robot.report()] == [True, True]
    assert robot.phase == 'RUNNING'
