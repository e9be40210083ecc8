# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Payloads, collision thresholds and friction of simulated arms, found by commands and set."""

from contextlib import nullcontext
from dataclasses import replace
from math import remainder, tau
from pathlib import Path
import re
import sys
from types import SimpleNamespace

from control.rig import TURNING
from geometry_msgs.msg import WrenchStamped
from nodes.bring_up import bring_up, IN_STEP, LOCKSTEP, parameters, SIMULATOR
import numpy as np
from processes import node
import pytest
from rich.console import Console
from robodyn_ros import Dynamics, load_urdf
from robodyn_ros.catalog.robots import load_robot
from robodyn_ros.cli import calibrate
from robodyn_ros.cli.calibrate import calibrate_collision
from robodyn_ros.cli.controller import set_
from robodyn_ros.control.settings.settings import symmetric
from robodyn_ros.errors import IdentificationError, ParameterError, RobodynError
from robodyn_ros.identification.excitation.payload_motion import payload_motion
from robodyn_ros.identification.excitation.trajectory_file import JointTrajectory
from robodyn_ros.identification.recordings.recording import Recording
from robodyn_ros.model.resources import robot_path
from robodyn_ros.model.robot import with_payload
from robodyn_ros.model.to_urdf import to_urdf
from robodyn_ros.nodes.clients import record
from sensor_msgs.msg import JointState
import yaml

COMMAND = [sys.executable, '-m', 'robodyn_ros.cli']
ROOT = Path(__file__).resolve().parents[2]
CONFIG = 'config/ur5.yaml'
FRAME, MASS, COM = 'tool0', 1.5, (0.01, -0.02, 0.06)
INERTIA = (0.004, 0.0, 0.0005, 0.005, 0.0, 0.003)
SIMULATED = [*LOCKSTEP, *parameters(position_noise=1e-5, effort_noise=0.05)]
HOLDING = [*IN_STEP, *parameters(mode='joint_impedance', autostart=True)]
FAST = parameters(rate=500.0)            # for which the gains of CONFIG are
SOFT = parameters(stiffness=[30.0, 40.0, 20.0, 10.0, 10.0, 5.0])     # so that the load sags
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
    _, arm = pair({'push_duration': 60.0}, {
        **CONTROLLER, 'external_wrench_frame': 'tool0'})
    arm.wait_for_line('RUNNING')
    file = tmp_path / 'collisions.yaml'
    done = start([*COMMAND, 'calibrate', 'collision'], '--duration', '1', '--set', '--sim-time',
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
    with pytest.raises(RobodynError, match='exists'):
        calibrate_collision(1.0, output=file)


def quiet_efforts(commands, model):
    """Whether no effort changed by more than the rate of two late periods allows."""
    steps = abs(np.diff(np.array(commands), axis=0))
    return (steps.max(0) < 0.05 * model.effort_limit).all()


@pytest.fixture
def carrying(start, tmp_path):
    """Return a simulated UR5 that carries a load, and its controller, which does not know."""
    def carrying():
        model = load_urdf(robot_path('ur5'))
        file = tmp_path / 'loaded.urdf'
        file.write_text(to_urdf(with_payload(model, FRAME, MASS, COM, symmetric(INERTIA))))
        start(node('simulator'), '--ros-args', '--params-file', CONFIG, '-p', f'urdf:={file}',
              *SIMULATED, *FAST).wait_for_line('simulator ready')
        controller = start(node('controller'), '--ros-args', '--params-file', CONFIG, '-p',
                           'urdf:=ur5', *HOLDING, *FAST, *SOFT)
        controller.wait_for_line('RUNNING')
        return model, controller
    return carrying


def test_a_payload_is_found_and_set(carrying, start, remote, capsys):
    """
    Mass within 3 %, center of mass within 1 cm, and no step of an effort; a false one is refused.

    Takes 10 s: two nodes start, and a motion of 5 s is driven.
    """
    model, controller = carrying()
    finding = start([*COMMAND, 'calibrate', 'payload'], '--frame', FRAME, '--set', '--sim-time',
                    '--duration', 5)
    assert finding.wait() == 0, finding.text
    words = re.search(r'accepted: (\S+) kg at \[(.*?)\]', ' '.join(finding.text.split()))
    assert float(words[1]) == pytest.approx(MASS, rel=0.03)
    assert [float(x) for x in words[2].split(',')] == pytest.approx(COM, abs=0.01)
    with pytest.raises(ParameterError, match='the gravity torque of'):
        set_(['payload_mass=80', 'payload_com=0,0,0.1'], wait=20.0)
    set_([f'payload_mass={MASS}', f'payload_com={COM}'.replace('(', '[').replace(')', ']'),
          'payload_inertia=' + ','.join(map(str, INERTIA)), f'payload_frame={FRAME}'], wait=20.0)
    assert 'accepted: payload_com = 0.01, -0.02, 0.06' in capsys.readouterr().out
    remote.listen(0.7)
    assert quiet_efforts(remote.commands, model)
    assert 'FAULT' not in controller.text


def test_positions_that_begin_anew_at_a_turn_are_recorded_without_jumps(monkeypatch):
    """A motion about the pose in which the encoder of a continuous joint does so."""
    q = np.array([[3.1, 0.5], [3.2, 0.5], [3.1, 0.5]])
    states = [(0.01 * k, TURNING.joint_names, [remainder(x, tau), y], (), ())
              for k, (x, y) in enumerate(q)]
    recorder = SimpleNamespace(recording=lambda: Recording.from_messages(states, 'joint_states'))
    monkeypatch.setattr(record, 'recording', lambda *_: nullcontext(recorder))
    here, player = SimpleNamespace(until=lambda *_: False), SimpleNamespace(states='')
    monkeypatch.setattr(calibrate, 'play_with_bar', lambda *_: None)
    found = calibrate.recorded(here, player, JointTrajectory(TURNING.joint_names, np.zeros(1),
                               *np.zeros((3, 1, 2))), TURNING, 1.0, Console(quiet=True))
    assert found.position == pytest.approx(q)


@pytest.mark.parametrize('name', ['arm6', 'panda', 'ur5'])
def test_the_motion_stays_near_and_ends_where_it_begins(name):
    """At rest at both ends, derivatives that fit, and within amplitude and velocity limits."""
    robot = load_robot(name, {}, [])
    found = payload_motion(robot.model, robot.model.link_names[-1], robot.pose, amplitude=0.3)
    motion = found.trajectory
    away = abs(motion.positions - robot.pose)
    assert (away <= found.amplitude + 1e-9).all() and found.amplitude.max() <= 0.3
    assert away[-1] == pytest.approx(0.0) and motion.velocities[-1] == pytest.approx(0.0)
    assert motion.accelerations[-1] == pytest.approx(0.0)
    assert (abs(motion.velocities) <= 0.31 * robot.model.velocity_limit).all()
    h = motion.times[1] - motion.times[0]
    assert np.gradient(motion.positions, h, axis=0)[1:-1] == pytest.approx(
        motion.velocities[1:-1], abs=0.02)
    assert np.gradient(motion.velocities, h, axis=0)[1:-1] == pytest.approx(
        motion.accelerations[1:-1], abs=0.15)
    assert 0.0 < found.mass_error < 0.2


@pytest.mark.parametrize('amplitude, duration', [(0.35, 10.0), (1.0, 10.0), (0.35, 2.0)])
def test_the_motion_is_within_the_efforts_of_the_arm(amplitude, duration):
    """Of one that can just hold itself, too; what is said to be moved is what moves."""
    pose = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.5, 0.7, 0.02])
    model = load_urdf('panda')
    weight = abs(Dynamics(model).gravity(pose))
    model = replace(model, effort_limit=np.minimum(model.effort_limit, np.maximum(
        1.1 * weight, 0.02 * model.effort_limit)))
    try:
        found = payload_motion(model, 'panda_hand', pose, amplitude=amplitude, duration=duration)
    except IdentificationError as error:
        assert duration < 10.0 and 'no small motion' in str(error)
        return
    motion = found.trajectory
    efforts = Dynamics(model).batch.inverse_dynamics(
        motion.positions, motion.velocities, motion.accelerations)
    assert (abs(efforts) <= model.effort_limit).all()
    away = abs(motion.positions - pose).max(0)
    assert (away <= found.amplitude + 1e-9).all() and (found.amplitude <= 1.3 * away).all()


def test_a_load_that_a_planar_arm_does_not_feel_is_not_looked_for():
    """Its center of mass along the joint axes has no effect on any effort."""
    with pytest.raises(IdentificationError, match='no small motion'):
        payload_motion(load_urdf(robot_path('two_link')), 'tool0', np.array([0.3, 0.5]))


def test_an_arm_is_calibrated(start, remote, tmp_path):
    """
    The corrected URDF has the gravity of the arm, whose link is 20 % heavier than its model says.

    Takes 10 s: two nodes start, and a motion of 10 s is driven, at three times its speed.
    """
    model = load_urdf(robot_path('two_link'))
    heavier = with_payload(model, 'link2', 0.2 * model.mass[1], model.com[1], np.zeros((3, 3)))
    file = tmp_path / 'heavier.urdf'
    file.write_text(to_urdf(heavier))
    start(node('simulator'), '--ros-args', '-p', f'urdf:={file}', '-p',
          'initial_position:=[0.3, 0.5]', *SIMULATED).wait_for_line('simulator ready')
    start(node('controller'), '--ros-args', '--params-file', 'config/two_link.yaml', '-p',
          'urdf:=two_link', *HOLDING).wait_for_line('RUNNING')
    done = start([*COMMAND, 'calibrate', 'float'], '--sim-time', '--duration', '10', '--output',
                 str(tmp_path / 'found'))
    assert done.wait() == 0, done.text
    found = load_urdf(tmp_path / 'found' / 'corrected.urdf')
    for q in np.random.default_rng(0).uniform(-0.3, 0.3, (10, 2)) + [0.3, 0.5]:
        true = Dynamics(heavier).gravity(q)
        assert Dynamics(found).gravity(q) == pytest.approx(true, abs=0.02 * abs(true).max())
    assert 'coulomb_friction' in (tmp_path / 'found' / 'friction.yaml').read_text()


def test_a_file_of_friction(remote, start, tmp_path, gravity):
    """It is read beside the configuration, changes while the arm is driven, within bounds."""
    path, urdf = tmp_path / 'friction.yaml', tmp_path / 'rusty.urdf'
    text = (ROOT / 'docs' / 'robots.md').read_text()
    path.write_text(re.search(r'```yaml\n(# friction.yaml\n.*?)```', text, re.DOTALL)[1])
    rusty = robot_path('two_link').read_text()
    for given in ('damping="0.8" friction="2"', 'damping="0.3" friction="0.8"'):
        rusty = rusty.replace('damping="0" friction="0"', given, 1)
    urdf.write_text(rusty)
    start(node('simulator'), *SIMULATOR, *LOCKSTEP, *parameters(urdf=urdf))
    start(node('controller'), '--ros-args', '--params-file', ROOT / 'config' / 'two_link.yaml',
          '--params-file', path, *parameters(urdf='two_link', discovery_time=0.0), *IN_STEP)
    bring_up(remote)
    for offset in (0.07, 0.05):         # shares of 0.1 N·m
        remote.until(lambda effort=gravity + [offset, 0.0]: remote.command_count and abs(
            np.array(remote.newest_command()) - effort).max() < 1e-3, 'the offset')
        assert remote.set('controller', friction_compensation=[0.5]) == ''
    assert '[0, 0.8]' in remote.set('controller', friction_compensation=[0.9])
    assert remote.set('controller', mode='computed_torque', friction_compensation=[1.0]) == ''
    assert 'friction_compensation' in remote.set('controller', mode='gravity_compensation')
