# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`robodyn teach` in a terminal: a floating arm is pushed, its poses and motions are repeated."""

import re
import sys

from geometry_msgs.msg import WrenchStamped
import numpy as np
import pytest
from robodyn_ros.identification.excitation.trajectory_file import read

ROBODYN = [sys.executable, '-m', 'robodyn_ros.cli']
COMMAND = [*ROBODYN, 'teach', '--sim-time', '--wait', '30']


@pytest.fixture
def push(pair, remote):
    """Return what pushes a floating arm [N]."""
    pair({'initial_position': [0.3, 0.9], 'push_duration': 0.3, 'joint_damping': 6.0},
         {'autostart': True})[1].wait_for_line('RUNNING')
    publisher = remote.node.create_publisher(WrenchStamped, '/simulator/push', 10)
    remote.until(publisher.get_subscription_count, 'the simulator')

    def push(force):
        begin, message = remote.position(), WrenchStamped()
        message.header.frame_id = 'tool0'
        message.wrench.force.z = force
        publisher.publish(message)
        remote.until(lambda: abs(remote.position() - begin).max() > 0.05, 'the motion')
        remote.until(lambda: abs(np.array(remote.newest_state().velocity)).max() < 1e-3, 'rest')
    return push


def test_poses_are_kept_and_repeated(push, start, remote, terminal, tmp_path):
    """One key each; the last one dropped; then `play` brings the arm from one to the other."""
    file = tmp_path / 'way.yaml'
    process, press, text = terminal([*COMMAND, str(file)])
    remote.until(lambda: '0 poses; now at' in text(), 'the line')
    begin = remote.position()
    press('\r')
    remote.until(lambda: '1 poses' in text(), 'the first pose')
    push(20.0)
    end = remote.position()
    press('\r')
    remote.until(lambda: '2 poses' in text(), 'the second pose')
    press('\r')
    remote.until(lambda: '3 poses' in text(), 'once more')
    press('b')
    press('q')
    assert process.wait(60.0) == 0, text()
    way = read(file)
    assert way.positions == pytest.approx(np.array([begin, end]), abs=2e-3)
    assert remote.set('controller', mode='joint_impedance') == ''
    played = start([*ROBODYN, 'play', str(file)], '--approach', '1', '--sim-time', '--wait', '30')
    assert played.wait() == 0, played.text
    assert remote.position() == pytest.approx(end, abs=0.02)
    again, _, text = terminal([*COMMAND, str(file)])
    assert again.wait(60.0) != 0 and 'exists' in text()


def test_a_motion_is_recorded_between_two_keys(push, remote, terminal, tmp_path):
    """It begins and ends where the arm was, at rest."""
    file = tmp_path / 'motion.yaml'
    process, press, text = terminal([*COMMAND, str(file), '--motion', '--speed', '1.0'])
    remote.until(lambda: 'not begun' in text(), 'the line')
    begin = remote.position()
    press(' ')
    remote.until(lambda: re.search(r'[1-9]\d* states on', text()), 'states')
    push(-20.0)
    press(' ')
    assert process.wait(60.0) == 0, text()
    motion = read(file)
    ends = np.array([begin, remote.position()])
    assert motion.positions[[0, -1]] == pytest.approx(ends, abs=3e-3)
    assert len(motion.times) > 20 and not motion.velocities[[0, -1]].any()
