# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The controller node against the simulator node: real processes, real topics."""

from copy import deepcopy

import numpy as np
import pytest
from builtin_interfaces.msg import Duration
from nodes.bring_up import CONTROLLER, POSE, SIMULATOR, bring_up
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from processes import node

EXACT = ['-p', 'trigger:=state', '-p', 'use_sim_time:=true']


def goal(*positions, seconds=1.0, names=('joint1', 'joint2')):
    """A trajectory to one pose."""
    whole = int(seconds)
    return JointTrajectory(joint_names=list(names), points=[JointTrajectoryPoint(
        positions=list(positions),
        time_from_start=Duration(sec=whole, nanosec=round(1e9 * (seconds - whole))))])


def test_holds_an_arm_up_and_ends_with_zero(pair, remote, gravity):
    """At a fixed rate: nothing before activation, g(q) after it, zero as the last message."""
    sim, controller = pair()
    assert remote.change('configure')
    remote.listen(0.5)
    assert remote.commands == [] and remote.state() == 'inactive'
    assert remote.change('activate')
    remote.until(lambda: len(remote.commands) > 1500, 'commands')
    assert abs(np.array(remote.commands) - gravity).max() < 0.02
    assert abs(remote.positions() - POSE).max() < 1e-3
    remote.until(lambda: remote.diagnostics.get('phase') == 'RUNNING', 'diagnostics')
    assert remote.diagnostics['refused samples'] == '0'
    assert remote.diagnostics['data path'] == 'python wait set'
    assert remote.change('deactivate') and remote.state() == 'inactive'
    remote.until(lambda: remote.commands[-1] == [0.0, 0.0], 'the last message')
    sim.wait_for_line('brakes engaged: no command')
    assert controller.interrupt() == 0 and sim.interrupt() == 0


def test_lockstep_is_exact(pair, remote):
    """Each state gets one command; a motion gives the same efforts however slow the machine is."""
    runs = []
    publisher = remote.node.create_publisher(JointTrajectory, '/controller/joint_trajectory', 1)
    for _ in range(2):
        sim, controller = pair(['-p', 'lockstep:=true', '-p', 'publish_clock:=true',
                                '-p', 'lockstep_settle:=0.5', '-p', 'lockstep_timeout:=60.0'],
                               [*EXACT, '-p', 'mode:=computed_torque'])
        bring_up(remote)
        remote.until(publisher.get_subscription_count, 'the controller')
        remote.forget()
        remote.until(lambda: remote.states, 'states')
        motion = goal(0.6, 0.2)
        motion.header.stamp = deepcopy(remote.states[-1].header.stamp)
        motion.header.stamp.sec += 2        # accepted before it starts, whatever happens
        publisher.publish(motion)
        controller.wait_for_line('following')
        remote.until(lambda: abs(np.array(remote.states[-1].position) - [0.6, 0.2]).max() < 1e-4,
                     'the goal')
        assert controller.interrupt() == 0 and sim.interrupt() == 0
        assert 'commands for one state' not in sim.text and 'lockstep: ends' not in sim.text
        stamps = [m.header.stamp.sec * 1e9 + m.header.stamp.nanosec for m in remote.states]
        answered = np.array(remote.commands)
        started = int(np.argmax(abs(answered - answered[0]).max(axis=1) > 1e-3))
        runs.append(answered[started:started + 900])
        assert set(np.diff(stamps[:started + 900])) == {1e6}
    assert runs[0] == pytest.approx(runs[1], abs=1e-9)


def test_follows_a_trajectory_and_refuses_nonsense(pair, remote):
    """A good trajectory is followed; a bad one changes nothing and is named in the log."""
    _, controller = pair([], ['-p', 'mode:=computed_torque'])
    bring_up(remote)
    publisher = remote.node.create_publisher(JointTrajectory, '/controller/joint_trajectory', 1)
    remote.until(publisher.get_subscription_count, 'the controller')
    publisher.publish(goal(0.6, 0.2))
    remote.until(lambda: abs(np.array(remote.states[-1].position) - [0.6, 0.2]).max() < 2e-3,
                 'the goal')
    publisher.publish(goal(0.6, float('nan')))
    controller.wait_for_line(r'trajectory refused: positions of joint2 .* nan')
    publisher.publish(goal(0.6, 9.0))
    controller.wait_for_line(r'trajectory refused: position of joint2')
    remote.listen(0.3)
    assert np.array(remote.states[-1].position) == pytest.approx([0.6, 0.2], abs=2e-3)


def test_killed_simulator_is_a_latched_fault(pair, remote, gravity):
    """Without states: a fault that names a joint, gravity for a while, then silence; latched."""
    sim, controller = pair([], ['-p', 'state_timeout:=0.2', '-p', 'fault_hold_time:=0.3',
                                '-p', 'fault_ramp_time:=0.2'])
    bring_up(remote)
    remote.until(lambda: len(remote.commands) > 100, 'commands')
    sim.kill()
    controller.wait_for_line(r'FAULT: state is stale \(joint1\)')
    remote.until(lambda: remote.commands[-1] == [0.0, 0.0], 'the last message')
    efforts = np.array(remote.commands)
    share = efforts @ gravity / (gravity @ gravity)     # counting them would count stalls too
    assert abs(efforts - np.outer(share, gravity)).max() < 0.05
    assert share[:100] == pytest.approx(1.0, abs=0.01) and np.diff(share).max() < 0.01
    assert np.any((share > 0.1) & (share < 0.9)) and share[-1] == 0.0
    remote.until(lambda: remote.diagnostics.get('reason') == 'state is stale (joint1)',
                 'the reason in the diagnostics')
    assert remote.diagnostics['level'] == '2'
    heard = len(remote.commands)
    remote.listen(0.5)
    assert len(remote.commands) == heard
    assert controller.interrupt() == 0


def test_reset_arms_again_when_the_cause_is_gone(pair, start, remote):
    """~/reset is refused while states are missing, and arms when they are back."""
    sim, controller = pair([], ['-p', 'state_timeout:=0.2', '-p', 'fault_hold_time:=0.1',
                                '-p', 'fault_ramp_time:=0.1', '-p', 'arming_timeout:=1.0'])
    bring_up(remote)
    assert remote.trigger('/controller/reset') == (False, 'there is no fault to reset')
    sim.kill()
    controller.wait_for_line('FAULT')
    success, why = remote.trigger('/controller/reset')
    assert not success and 'state is stale' in why
    start(node('simulator'), *SIMULATOR).wait_for_line('simulator ready')
    remote.until(lambda: remote.trigger('/controller/reset')[0], 'a reset')
    remote.until(lambda: remote.diagnostics.get('phase') == 'RUNNING', 'RUNNING')


class TestStates:
    """What the controller makes of joint states, published by the test itself."""

    def publish(self, remote, gravity, **change):
        """One joint state of the arm at rest."""
        message = JointState(name=['joint1', 'joint2'], position=POSE, velocity=[0.0, 0.0],
                             effort=list(gravity))
        for field, value in change.items():
            setattr(message, field, value)
        self.publisher.publish(message)

    @pytest.fixture
    def armed(self, start, remote, gravity):
        """A controller that holds the arm whose states the test publishes."""
        self.controller = start(
            node('controller'), *CONTROLLER, '-p', 'state_timeout:=0.5', '-p', 'urdf:=two_link')
        self.publisher = remote.node.create_publisher(JointState, 'joint_states', 10)
        timer = remote.node.create_timer(0.002, lambda: self.publish(remote, gravity))
        assert remote.change('configure')
        remote.until(self.publisher.get_subscription_count, 'the controller')
        assert remote.change('activate')
        remote.until(lambda: remote.commands, 'commands')
        remote.node.destroy_timer(timer)
        return remote

    @pytest.mark.parametrize(('change', 'reason'), [
        ({'position': [0.3, float('nan')]}, 'finite'),
        ({'position': [0.3]}, 'number of elements'),
        ({'name': ['joint1', 'joint1']}, 'twice|duplicate'),
        ({'name': ['elbow', 'wrist']}, 'joint')])
    def test_bad_samples_are_refused_and_count_as_stale(self, armed, gravity, change, reason):
        """Each is refused and counted; nothing but bad samples is a fault, never their numbers."""
        timer = armed.node.create_timer(0.002, lambda: self.publish(armed, gravity, **change))
        armed.until_line(self.controller, f'joint states are refused: .*({reason})')
        armed.until_line(self.controller, 'FAULT: state is stale')
        armed.node.destroy_timer(timer)
        assert np.isfinite(armed.commands).all()
        armed.until(lambda: int(armed.diagnostics.get('refused samples', 0)) > 0, 'the count')

    def test_other_order_and_extra_joints_change_nothing(self, armed, gravity):
        """Joints are matched by name: the output is the same to the last bit."""
        self.publish(armed, gravity)
        armed.until(lambda: len(armed.commands) > 100, 'commands')
        before = armed.commands[-1]
        armed.forget()
        timer = armed.node.create_timer(0.002, lambda: self.publish(
            armed, gravity, name=['gripper', 'joint2', 'joint1'],
            position=[9.0, POSE[1], POSE[0]], velocity=[1.0, 0.0, 0.0],
            effort=[5.0, gravity[1], gravity[0]]))
        armed.until(lambda: len(armed.commands) > 800, 'commands')
        armed.node.destroy_timer(timer)
        assert armed.commands[700:800] == [before] * 100

    def test_a_missing_joint_is_named(self, armed, gravity):
        """When one joint falls silent the others do not make up for it."""
        timer = armed.node.create_timer(0.002, lambda: self.publish(
            armed, gravity, name=['joint1'], position=POSE[:1], velocity=[0.0],
            effort=[gravity[0]]))
        armed.until_line(self.controller, r'FAULT: state is stale \(joint2\)')
        armed.node.destroy_timer(timer)
