# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""External efforts and collisions through real nodes, and `robodyn calibrate-collision`."""

import sys

from geometry_msgs.msg import WrenchStamped
import numpy as np
import pytest
from sensor_msgs.msg import JointState
import yaml

COMMAND = [sys.executable, '-m', 'robodyn_ros.cli']
CONTROLLER = {'mode': 'joint_impedance', 'autostart': True, 'external_effort_rate': 100.0}
FORCE = np.array([2.0, 4.0, 0.0])       # N, axes of the tool: in the plane of the arm


def push(remote):
    """Push the tool for long."""
    publisher = remote.node.create_publisher(WrenchStamped, '/simulator/push', 10)
    remote.until(publisher.get_subscription_count, 'the simulator')
    message = WrenchStamped()
    message.header.frame_id = 'tool0'
    f = message.wrench.force
    f.x, f.y, f.z = FORCE.tolist()
    publisher.publish(message)


def test_a_push_is_measured_and_a_calibrated_one_is_a_collision(pair, start, remote, tmp_path):
    """Thresholds of a quiet run, then a push: fault COLLISION, and the wrench while it lasts."""
    _, arm = pair({'push_duration': 60.0}, {**CONTROLLER, 'external_wrench_frame': 'tool0'})
    arm.wait_for_line('RUNNING')
    file = tmp_path / 'collisions.yaml'
    done = start([*COMMAND, 'calibrate-collision'], '--duration', '2', '--set', '--sim-time',
                 '--output', file)
    assert done.wait() == 0, done.text
    assert 'Collision thresholds' in done.text and 'hardly moved: joint1, joint2' in done.text
    found = yaml.safe_load(file.read_text())['/**']['ros__parameters']
    assert found['collision_threshold'] == pytest.approx([0.8, 0.3])    # 1 % of the effort limits
    torques, wrenches, confidence = [], [], []
    for kind, topic, heard in ((JointState, 'external_torque', torques),
                               (WrenchStamped, 'external_wrench', wrenches),
                               (WrenchStamped, 'external_wrench_confidence', confidence)):
        remote.node.create_subscription(kind, f'/controller/{topic}', heard.append, 10)
    remote.until(lambda: torques and wrenches and confidence, 'the estimates')
    assert abs(np.array(torques[-1].effort)).max() < 0.05
    assert list(torques[-1].name) == ['joint1', 'joint2']
    assert torques[-1].position.tolist() == pytest.approx([0.3, 0.5], abs=1e-3)
    assert wrenches[-1].header.frame_id == 'tool0'
    push(remote)
    arm.wait_for_line('FAULT COLLISION: external effort exceeds the collision threshold')
    last = confidence[-1].wrench
    assert 1.0 < last.force.x + last.force.y < 2.001 and last.force.z < 0.01
    again = start([*COMMAND, 'calibrate-collision'], '--duration', '1', '--output', file)
    assert again.wait() != 0 and 'exists' in again.text


def test_an_unknown_frame_of_the_wrench_is_refused(pair):
    """The controller is not configured, and says which frames there are."""
    _, controller = pair(controller={**CONTROLLER, 'external_wrench_frame': 'gripper'})
    controller.wait_for_line('two_link has no frame gripper')
    assert 'tool0' in controller.text
