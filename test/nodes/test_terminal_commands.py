# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`robodyn jog` and `robodyn teach` in a terminal, with a simulated arm."""

from contextlib import nullcontext
from math import nan, remainder, tau
import re
import sys
from types import SimpleNamespace

from control.rig import TURNING
from geometry_msgs.msg import WrenchStamped
import numpy as np
import pytest
from rich.console import Console
from robodyn_ros import Dynamics, load_urdf, Settings
from robodyn_ros.cli import teach
from robodyn_ros.cli.jog import checked, Jog, jog
from robodyn_ros.errors import ParameterError, RosError
from robodyn_ros.identification.excitation.trajectory_file import read
from robodyn_ros.model.resources import robot_path
from robodyn_ros.nodes.clients import live_control


def keys_of_jog():
    return Jog(np.array([0.1, 0.4]), np.array([0.2, 1.0]), hold=0.5)


def test_a_key_moves_along_its_axis_until_it_is_old():
    keys = keys_of_jog()
    assert not keys.twist(0.0).any()
    keys.press('d', 1.0)
    assert keys.twist(1.49).tolist() == [0.0, -0.1, 0.0, 0.0, 0.0, 0.0]
    assert '- y' in keys.describe(1.2)
    assert not keys.twist(1.5).any()
    keys.press('j', 2.0)
    keys.press('j', 2.4)                            # repeated while it is held down
    assert keys.twist(2.8).tolist() == [0.0, 0.0, 0.0, 0.0, 0.0, 0.4]


@pytest.mark.parametrize('key', [' ', '7', '\n', 'q', '\x1b'])
def test_other_keys_stop(key):
    """And those that end end."""
    keys = keys_of_jog()
    keys.press('w', 1.0)
    keys.press(key, 1.1)
    assert not keys.twist(1.2).any() and keys.over == (key in 'q\x1b')


def test_speeds_and_positions_stay_within_their_limits():
    keys = keys_of_jog()
    for _ in range(50):
        keys.press('+', 0.0)
    assert keys.speed.tolist() == [0.2, 1.0]
    for _ in range(50):
        keys.press('-', 0.0)
    assert (keys.speed > 0.004).all()
    with pytest.raises(ParameterError, match='mode gravity_compensation follows no twist'):
        checked(Settings(mode='gravity_compensation'), 0.1, 0.2)
    task = Settings(mode='cartesian_impedance', task_frame='tool0')
    with pytest.raises(ParameterError, match='--angular 3 is above task_velocity_limit 1'):
        checked(task, 0.1, 3.0)
    assert checked(task, 0.1, 0.2).tolist() == [0.25, 1.0]


ROBODYN = [sys.executable, '-m', 'robodyn_ros.cli']
JOG = [*ROBODYN, 'jog', '--sim-time', '--linear', '0.1']
TEACH = [*ROBODYN, 'teach', '--sim-time', '--wait', '30']
def test_poses_are_kept_as_shown_across_the_turn_of_an_encoder(monkeypatch):
    """From 3 to 6.8 rad: back to 0.5, as the encoder says, the arm would turn the other way."""
    way = [nan, 3.0, 3.1, 3.2, 4.0, 5.0, 6.0, 6.8]
    robot = SimpleNamespace(topic='joint_states', position=np.full(2, nan))

    def update(now):
        robot.position = np.array([remainder(way.pop(0), tau), 0.5])
        return not np.isnan(robot.position).any()
    robot.update = update
    monkeypatch.setattr(live_control, 'LiveRobot', lambda *_: robot)
    monkeypatch.setattr(teach, 'keyboard', lambda: nullcontext(
        lambda: {6: '\n', 0: '\nq'}.get(len(way), '')))
    clock = SimpleNamespace(now=lambda: SimpleNamespace(nanoseconds=0))
    here = SimpleNamespace(poll=lambda: None, node=SimpleNamespace(get_clock=lambda: clock))
    poses = teach._poses(here, '', TURNING, Console(quiet=True))
    assert poses == pytest.approx(np.array([[3.0, 0.5], [6.8, 0.5]]))


SIMULATED = {'initial_position': [0.3, 0.9], 'push_duration': 0.3, 'joint_damping': 6.0,
             'real_time_factor': 3.0}
CONTROLLED = {'autostart': True, 'task_frame': 'tool0', 'twist_timeout': 1.0}


def test_an_arm_is_moved_from_a_terminal(shared, remote, terminal):
    """Along an axis of the base as long as a key is pressed; refused in a mode without a pose."""
    dynamics = Dynamics(load_urdf(robot_path('two_link')))
    dynamics.pose(np.zeros(2), 'tool0')             # compiled before the arm is driven
    shared.controller.wait_for_line('RUNNING')
    assert remote.set('simulator', joint_damping=0.0) == ''
    assert remote.set('controller', mode='cartesian_impedance') == ''

    def place():
        return dynamics.pose(remote.position(), 'tool0')[:3, 3]

    begin = place()
    process, press, text = terminal(JOG)
    remote.until(lambda: 'no motion' in text(), 'the line')
    assert abs(place() - begin).max() < 1e-3

    def moved(key):
        press(key)
        remote.listen(0.1)
        return (place() - begin)[0]
    remote.until(lambda: moved('s') < -0.03, 'the motion')
    assert abs((place() - begin)[1:]).max() < 0.01
    remote.until(lambda: moved('w') > -0.01, 'the way back')
    press('q')
    assert process.wait(60.0) == 0, text()
    remote.pass_time(1.0)                  # the reference comes to rest
    rest = place()
    remote.pass_time(0.5)
    assert abs(place() - rest).max() < 1e-3
    with pytest.raises(RosError, match='stdin is not a terminal'):
        jog(0.1, 0.5)
    assert remote.set('simulator', joint_damping=SIMULATED['joint_damping']) == ''


@pytest.fixture
def push(shared, remote):
    """Return what pushes a floating arm [N]."""
    shared.controller.wait_for_line('RUNNING')
    assert remote.set('controller', mode='gravity_compensation') == ''
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
    process, press, text = terminal([*TEACH, str(file)])
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
    again, _, text = terminal([*TEACH, str(file)])
    assert again.wait(60.0) != 0 and 'exists' in text()


def test_a_motion_is_recorded_between_two_keys(push, remote, terminal, tmp_path):
    """It begins and ends where the arm was, at rest."""
    file = tmp_path / 'motion.yaml'
    process, press, text = terminal([*TEACH, str(file), '--motion', '--speed', '1.0'])
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
