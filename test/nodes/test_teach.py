# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`robodyn teach` in a terminal: a floating arm is pushed, its poses and motions are repeated."""

import re
import sys

from geometry_msgs.msg import WrenchStamped
from nodes.bring_up import IN_STEP, LOCKSTEP
import numpy as np
from processes import node
import pytest
from robodyn_ros.identification.excitation.trajectory_file import read

ROBODYN = [sys.executable, '-m', 'robodyn_ros.cli']
COMMAND = [*ROBODYN, 'teach', '--sim-time', '--wait', '30']
SIMULATED = ['-p', 'urdf:=two_link', '-p', 'initial_position:=[0.3, 0.9]', *LOCKSTEP,
             '-p', 'push_duration:=0.3', '-p', 'joint_damping:=6.0']
CONTROLLER = ['-p', 'urdf:=two_link', *IN_STEP, '-p',
              'autostart:=true', '-p', 'robot_compensates_gravity:=false', '-p',
              'mode:=gravity_compensation',
              '-p', 'stiffness:=[400.0, 100.0]', '-p', 'damping:=[40.0, 10.0]',
              '-p', 'acceleration_limit:=[20.0]']


@pytest.fixture
def floating(start, remote):
    """Return functions that push a floating arm, and that tell where it is."""
    start(node('simulator'), '--ros-args', *SIMULATED).wait_for_line('simulator ready')
    start(node('controller'), '--ros-args', *CONTROLLER).wait_for_line('RUNNING')
    publisher = remote.node.create_publisher(WrenchStamped, '/simulator/push', 10)
    remote.until(publisher.get_subscription_count, 'the simulator')

    def place():
        remote.until(remote.newest_state, 'a state')
        return np.array(remote.newest_state().position)

    def push(force):
        begin, message = place(), WrenchStamped()
        message.header.frame_id = 'tool0'
        message.wrench.force.z = force
        publisher.publish(message)
        remote.until(lambda: abs(place() - begin).max() > 0.05, 'the motion')
        remote.until(lambda: abs(np.array(remote.newest_state().velocity)).max() < 1e-3, 'rest')
    return push, place


def test_poses_are_kept_and_repeated(floating, start, remote, terminal, tmp_path):
    """
    One key each; the last one dropped; then `play` brings the arm from one to the other.

    Takes 15 s: two nodes and two commands, one after the other.
    """
    push, place = floating
    file = tmp_path / 'way.yaml'
    process, press, text = terminal([*COMMAND, str(file)])
    remote.until(lambda: '0 poses; now at' in text(), 'the line')
    begin = place()
    press('\r')
    remote.until(lambda: '1 poses' in text(), 'the first pose')
    push(20.0)
    end = place()
    press('\r')
    remote.until(lambda: '2 poses' in text(), 'the second pose')
    press('\r')
    remote.until(lambda: '3 poses' in text(), 'once more')
    press('b')
    press('q')
    assert process.wait(30.0) == 0, text()
    way = read(file)
    assert way.positions == pytest.approx(np.array([begin, end]), abs=2e-3)
    assert remote.set('controller', mode='joint_impedance') == ''
    played = start([*ROBODYN, 'play', str(file)], '--approach', '1', '--sim-time', '--wait', '30')
    assert played.wait(60.0) == 0, played.text
    assert place() == pytest.approx(end, abs=0.02)
    again, _, text = terminal([*COMMAND, str(file)])
    assert again.wait(30.0) != 0 and 'exists' in text()


def test_a_motion_is_recorded_between_two_keys(floating, remote, terminal, tmp_path):
    """It begins and ends where the arm was, at rest."""
    push, place = floating
    file = tmp_path / 'motion.yaml'
    process, press, text = terminal([*COMMAND, str(file), '--motion', '--speed', '1.0'])
    remote.until(lambda: 'not begun' in text(), 'the line')
    begin = place()
    press(' ')
    remote.until(lambda: re.search(r'[1-9]\d* states on', text()), 'states')
    push(-20.0)
    press(' ')
    assert process.wait(30.0) == 0, text()
    motion = read(file)
    assert motion.positions[[0, -1]] == pytest.approx(np.array([begin, place()]), abs=3e-3)
    assert len(motion.times) > 20 and not motion.velocities[[0, -1]].any()
