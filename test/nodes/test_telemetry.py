# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Telemetry of a running controller, and the ready displays, which name topics that exist."""

import json
from pathlib import Path
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from robodyn_ros.control.steps import guard
from robodyn_ros.nodes.controller.telemetry_publisher import EFFORT_PARTS, PHASE, TOPICS
from sensor_msgs.msg import JointState
from std_msgs.msg import UInt8
import yaml

DISPLAYS = Path(__file__).resolve().parents[2] / 'examples' / 'displays'
TYPES = {'sensor_msgs/msg/JointState': {'position', 'velocity', 'effort'},
         'std_msgs/msg/UInt8': {'data'}}
# From other nodes of ROS
ELSEWHERE = {'/tf'}


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
    """The topics of the nodes are those of the displays."""
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
