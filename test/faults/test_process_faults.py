# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The process of controller or simulator ends; a simulated robot compensates gravity."""

from faults.live_arm import LiveArm
from faults.rows import row
from geometry_msgs.msg import WrenchStamped
from nodes.bring_up import bring_up, CONTROLLER, POSE, SIMULATOR
import numpy as np
from processes import node
import pytest
from robodyn_ros import load_urdf
from robodyn_ros.model.resources import robot_path
from robodyn_ros.simulation import drive
from robodyn_ros.simulation.plant import Plant

near = pytest.approx


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


@row('command after the command timeout', where=drive.Drive.expire, find='self._held = True',
     instead='pass')
def test_command_after_the_command_timeout():
    """Whoever comes late, with a zero even, does not let the arm go, and is told so once."""
    told, model, tau = [], load_urdf('two_link'), np.array([18.0, 4.0])
    arm = drive.Drive(Plant(robot_path('two_link').read_text(), model=model), initial=POSE,
                      timeout=0.1, tell=told.append)

    def moves():
        before = arm.state().position
        arm.advance(1)
        return (arm.state().position != before).any()
    arm.command(tau, 7.0)
    arm.advance(1)
    arm.watch(7.1)
    assert moves()
    arm.watch(7.11)
    arm.watch(7.3)
    assert not moves()
    assert told[1:] == ['brakes engaged: no command for 0.1 s']
    for late in (np.zeros(2), tau, tau):
        arm.command(late, 8.0)
        arm.watch(8.05)
        assert arm.held and not moves()
    assert told[2:] == [
        'a command came: the brakes stay engaged until ~/reset or ~/release_brakes of the '
        'simulator']
    arm.release(8.05)
    assert moves() and arm.state().effort == near(tau)      # of who commands now
    arm.watch(8.3)
    assert arm.held
    arm.reset()                     # which begins anew: the first command releases them
    arm.command(tau, 9.0)
    assert moves()


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
    remote.until(lambda: remote.newest_command() == [0.0, 0.0], 'the last message')


@pytest.mark.alone
def test_a_simulator_that_ends_and_comes_back(start, remote):
    """On the steady clock: the fault names a joint; a reset is refused until states are back."""
    simulator = start(node('simulator'), *SIMULATOR)
    simulator.wait_for_line('simulator ready')
    arm = LiveArm(remote, start(
        node('controller'), *CONTROLLER, '-p', 'state_timeout:=0.5', '-p', 'fault_hold_time:=0.3',
        '-p', 'fault_ramp_time:=0.5', '-p', 'arming_timeout:=0.5'))
    bring_up(remote)
    remote.until(lambda: remote.command_count > 200, 'commands')
    granted, why = remote.trigger('/controller/reset')
    assert not granted and 'no fault to reset' in why
    simulator.interrupt()     # killed, it might hold a lock of the middleware for a second
    remote.until(lambda: remote.newest_command() == [0.0, 0.0], 'the last message')
    efforts = np.array(remote.commands)
    share = efforts @ arm.gravity / (arm.gravity @ arm.gravity)
    assert abs(efforts - np.outer(share, arm.gravity)).max() < 0.05
    assert share[:100] == near(1.0, abs=0.01) and np.diff(share).max() < 0.01
    assert np.any((share > 0.1) & (share < 0.9)) and share[-1] == 0.0
    arm.faulted('STALE_STATE')
    assert 'joint1' in remote.diagnostics['reason']
    remote.listen(0.5)
    assert remote.command_count == len(efforts)
    granted, why = remote.trigger('/controller/reset')
    assert not granted and 'state is stale' in why
    start(node('simulator'), *SIMULATOR).wait_for_line('simulator ready')
    remote.until(lambda: remote.trigger('/controller/reset')[0], 'a reset')
    remote.until(lambda: arm.phase == 'RUNNING', 'RUNNING')
