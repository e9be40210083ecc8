# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Ends and faults of what is beside the law: the controller's process, who listens, the robot."""

import re
import signal

from faults.arm import Arm, RAMP, TELEPORTED
from faults.rows import row
from geometry_msgs.msg import WrenchStamped
from nodes.bring_up import bring_up, CONTROLLER, POSE, SIMULATOR
import numpy as np
from processes import node
import pytest
from robodyn_ros.control.cycle import cycle
from robodyn_ros.control.steps import gravity_check, phase_efforts
from robodyn_ros.simulation import drive

near = pytest.approx
ZERO = [0.0, 0.0]
STEP = np.array([0.8, 0.3])         # N·m a period: the effort rate, ten times two_link's limits
MOVING = np.array([0.5, -0.4])      # rad/s
STOPPING = {'stop_timeout': 0.0195, **TELEPORTED}       # s, 20 ticks; it stays where it is


def damped(arm: Arm, count: int) -> np.ndarray:
    """Gravity (count, 2) [N·m] and, at the effort rate, the damping of the arm's velocity."""
    most = np.outer(np.arange(1, count + 1), STEP)
    return arm.gravity + np.clip(arm.damping, -most, most)


@row('deactivate, SIGINT, SIGTERM', where=phase_efforts.damped_gravity, find='_gravity - _ * _',
     instead='_gravity')
@pytest.mark.parametrize('how', ['deactivate', 'SIGINT', 'SIGTERM'])
def test_deactivate_sigint_sigterm(running, remote, how):
    """Damped gravity while the arm moves, for a bounded time; then zero; then nothing."""
    arm = running(**STOPPING)
    arm.velocity = MOVING
    assert arm.tick() == near(arm.gravity)
    if how == 'deactivate':
        answer = remote.begin('deactivate')
        efforts = arm.until(ZERO)
        remote.until(answer.done, 'deactivate')
        assert answer.result().success and remote.state() == 'inactive'
    else:
        arm.controller.popen.send_signal(signal.Signals[how])
        efforts = arm.until(ZERO)
        assert arm.controller.wait() == 0
    arm.nothing()
    assert efforts[:-21] == near(np.tile(arm.gravity, (len(efforts) - 21, 1)))
    assert efforts[-21:-1] == near(damped(arm, 20))


def test_stops_at_rest_with_gravity_by_choice(running, remote):
    """A slow arm ends the stopping phase; g(q) may be left to a plant that keeps it."""
    arm = running(stop_with='gravity', **TELEPORTED)
    arm.velocity = MOVING
    g = arm.gravity
    answer = remote.begin('deactivate')
    for _ in range(3000):
        if arm.tick() != near(g):
            break
    assert arm.ticks(50)[-1] == near(damped(arm, 50)[-1])
    assert arm.tick(velocity=[0.015, -0.015]) == near(g)
    remote.until(answer.done, 'deactivate')
    arm.nothing()
    assert arm.controller.interrupt() == 0      # while INACTIVE
    arm.nothing()


def test_signal_while_rising(controller, remote):
    """An arm that has not got all its gravity yet, and is at rest: zero at once, exit code 0."""
    arm = Arm(remote, controller(effort_rate_limit=[10.0], arming_effort=10.0))
    arm.configure()
    arm.effort = np.zeros(2)
    with arm.streaming():
        assert remote.change('activate')
    remote.until(lambda: arm.phase == 'RISING', 'the diagnosis')
    arm.ticks(10)
    arm.controller.popen.send_signal(signal.SIGINT)
    arm.until(ZERO)
    assert arm.controller.wait() == 0
    *rise, last = np.array(remote.commands)
    assert (np.diff(rise, axis=0) > 0.0).any() and (abs(np.diff(rise, axis=0)) < 0.021).all()
    assert last.tolist() == ZERO and (rise[-1] < 0.9 * arm.gravity).any()
    arm.nothing()


def test_signal_in_a_fault(running):
    """Its damped gravity becomes that of the stopping phase: zero in the end, exit code 0."""
    arm = running(fault_hold_time=60.0, **STOPPING)
    arm.tick(velocity=[])
    arm.faulted('NO_VELOCITY')
    arm.velocity = MOVING
    braked = arm.ticks(30)[-1]
    assert braked == near(damped(arm, 30)[-1])
    arm.controller.popen.send_signal(signal.SIGTERM)
    efforts = arm.until(ZERO)
    assert efforts[:-1] == near(np.tile(braked, (len(efforts) - 1, 1)))
    assert arm.controller.wait() == 0
    arm.nothing()


@row('SIGKILL of the controller', where=drive.Drive.watch, find='_ is not None and _ > _',
     instead='False')
@pytest.mark.parametrize('watchdog', ['on', 'off'])
def test_sigkill_of_the_controller(start, remote, watchdog):
    """The plant's own command timeout brakes; without it the last effort stays, whatever comes."""
    timeout = {'on': 0.1, 'off': 60.0}[watchdog]
    simulator = start(node('simulator'), *SIMULATOR, '-p', f'command_timeout:={timeout}')
    controller = start(node('controller'), *CONTROLLER)
    simulator.wait_for_line('simulator ready')
    bring_up(remote)
    pushes = remote.node.create_publisher(WrenchStamped, '/simulator/push', 1)
    remote.until(pushes.get_subscription_count, 'the simulator')
    controller.kill()
    if watchdog == 'on':
        remote.until_line(simulator, 'brakes engaged: no command')
    push = WrenchStamped()
    push.header.frame_id, push.wrench.force.z = 'link2', 20.0
    pushes.publish(push)
    remote.until_line(simulator, 'push on link2')
    remote.until(remote.newest_command, 'commands')
    last = remote.newest_command()
    remote.forget()
    remote.until(lambda: remote.state_count > 300, 'states')
    if watchdog == 'on':
        assert np.ptp(remote.positions(), axis=0).max() == 0.0
        assert remote.positions()[0] == near(POSE, abs=0.01)
    else:
        remote.until(lambda: abs(remote.position() - POSE).max() > 0.5, 'a swing')
        efforts = np.array([state.effort for state in remote.states])
        assert efforts[0] == near(last, abs=0.1) and np.ptp(efforts, axis=0).max() == 0.0
        assert 'no command' not in simulator.text


@row('robot that compensates gravity itself', where=cycle.compute_dynamics,
     find='0.0 if _ == 1 else _gravity', instead='_gravity')
def test_robot_that_compensates_gravity_itself(running, remote):
    """What is published is without g(q), always: no fault, no rising, no end ever brings -g(q)."""
    arm = running(mode='joint_impedance', robot_compensates_gravity='true', arming_effort=10.0,
                  **TELEPORTED)
    assert arm.ticks(5) == near(np.zeros((5, 2)), abs=1e-12)
    arm.position = arm.position - [0.01, 0.0]
    assert arm.ticks(20)[-1] == near([4.0, 0.0], abs=1e-9)
    assert remote.commands[0] == ZERO and abs(np.array(remote.commands)).max() == near(4.0)

    arm.tick(velocity=[])
    arm.faulted('NO_VELOCITY')
    arm.velocity = MOVING
    drag, efforts = 10.0 * arm.dynamics.mass_matrix(arm.position) @ MOVING, arm.until(ZERO)
    assert (abs(efforts) < np.maximum(abs(drag), [4.0, 0.0]) + 1e-9).all()
    assert efforts[19:] == near(-RAMP[:, None] * drag, abs=1e-9)
    arm.nothing()
    arm.faulted('NO_VELOCITY')

    arm.velocity, arm.effort = np.zeros(2), np.zeros(2)     # its sensors do not feel its gravity
    heard = remote.command_count
    arm.reset()
    arm.controller.popen.send_signal(signal.SIGINT)
    with arm.streaming():
        remote.until(lambda: arm.controller.popen.poll() is not None, 'the end')
    assert arm.controller.wait() == 0
    remote.until(lambda: remote.newest_command() == ZERO, 'the last message')
    assert abs(np.array(remote.commands[heard:])).max() < 1e-12


def seconds(state):
    """When a state was measured."""
    return state.header.stamp.sec + 1e-9 * state.header.stamp.nanosec


class SelfHolding(Arm):
    """An arm that adds g(q) to what it is told, and measures the sum."""

    def send(self, *seconds, **fields):
        """Send the state of now."""
        last = self.remote.newest_command() or ZERO
        self.effort = last + self.gravity
        super().send(*seconds, **fields)


@row('measured efforts contradict who compensates gravity', 'GRAVITY_CONTRADICTED',
     where=gravity_check.gravity_contradicted, find='_ < CONTRADICTING_SAMPLES', instead='True')
def test_measured_efforts_contradict_who_compensates_gravity(controller, remote):
    """The robot adds gravity, which is g(q) twice; once that shows, nothing is commanded."""
    arm = SelfHolding(remote, controller())
    arm.configure()
    with arm.streaming():
        assert remote.change('activate')
        remote.until(lambda: arm.phase == 'FAULT', 'the fault')
        remote.listen(0.5)
    arm.faulted('GRAVITY_CONTRADICTED')
    efforts = np.array(remote.commands)
    thrown = efforts.any(1).sum()
    assert efforts[:thrown] == near(np.tile(arm.gravity, (thrown, 1)))
    assert not efforts[thrown:].any()
    assert thrown < 200
    arm.refuses_reset('contradict robot_compensates_gravity')


@pytest.mark.parametrize('by_robot', [True, False])
def test_a_simulated_robot_of_which_the_contrary_is_said(start, remote, by_robot):
    """Neither thrown nor dropped: it stays where it is."""
    simulator = start(node('simulator'), *SIMULATOR, '-p',
                      f'compensates_gravity:={str(by_robot).lower()}')
    controller = start(node('controller'), *CONTROLLER, '-p',
                       f'robot_compensates_gravity:={str(not by_robot).lower()}')
    simulator.wait_for_line('simulator ready')
    assert remote.change('configure')
    remote.until(lambda: remote.state_count > 100, 'states')
    remote.change('activate')
    remote.until_line(controller, 'FAULT GRAVITY_CONTRADICTED: the measured efforts contradict')
    # Nothing is commanded from then on: until the brakes come it may sink, however late we look
    fault = float(re.findall(r'\[ERROR\] \[([\d.]+)\] .*FAULT', controller.text)[0])
    remote.until(lambda: seconds(remote.newest_state()) > fault, 'states')
    poses = [state.position for state in remote.states if seconds(state) < fault]
    assert len(poses) > 100 and abs(np.array(poses) - POSE).max() < 0.05
    assert controller.interrupt() == 0


def test_simulated_robot_that_compensates_gravity_itself(start, remote):
    """It keeps its pose by commands near zero, and passes the arming check with all it feels."""
    simulator = start(node('simulator'), *SIMULATOR, '-p', 'compensates_gravity:=true')
    controller = start(node('controller'), *CONTROLLER, '-p', 'robot_compensates_gravity:=true',
                       '-p', 'mode:=computed_torque')
    simulator.wait_for_line('simulator ready')
    bring_up(remote)
    remote.until(lambda: remote.command_count > 500 and remote.state_count > 100,
                 'commands and states')
    assert abs(np.array(remote.commands)).max() < 0.02
    assert abs(remote.positions() - POSE).max() < 1e-4
    assert controller.interrupt() == 0
    remote.until(lambda: remote.newest_command() == ZERO, 'the last message')


@row('nobody listens on commands', 'NOBODY_LISTENS', where=cycle.cycle,
     find='_.listeners == 0', instead='False')
def test_nobody_listens_on_commands(controller, remote):
    """No arming; while RUNNING a warning, and nothing adds up that a new listener would get."""
    arm = Arm(remote, controller(mode='joint_impedance', arming_timeout=1.0,
                                 saturation_timeout=3600.0, **TELEPORTED))
    remote.ignore_commands()
    arm.configure()
    arm.refuses_activation('no subscriber to the commands')
    arm.hear()
    arm.activate()
    assert arm.tick() == near(arm.gravity)

    remote.ignore_commands()
    arm.position = arm.position + 0.1       # 40 N·m away from the reference before
    with arm.streaming(velocity=MOVING):
        remote.until(lambda: remote.diagnostics['listeners'] == '0', 'the diagnosis')
        assert remote.diagnostics['level'] == '1'
        assert remote.diagnostics['message'].endswith('no subscriber to the commands')
        arm.hear()
        remote.until(lambda: remote.command_count, 'commands')
    arm.velocity = MOVING
    arm.ticks(40)
    extra = np.array(remote.commands) - arm.gravity
    assert extra[-1] == near([-20.0, 4.0])                  # D q̇ of the spring-damper, no more
    # States that came together are one cycle, of up to two periods
    assert (abs(np.diff(extra, axis=0, prepend=0.0)) < 2.0 * STEP + 1e-9).all()
    arm.velocity = np.zeros(2)
    assert arm.ticks(40)[-1] == near(arm.gravity)
    assert arm.phase == 'RUNNING'
