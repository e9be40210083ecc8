# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A suspended process, and brakes that have engaged: in wall-clock time."""

import signal
import time

from faults.live_arm import LiveArm, Simulation
from faults.rows import row
from nodes.bring_up import bring_up, POSE, SIMULATOR
import numpy as np
from processes import node
import pytest
from robodyn_ros.simulation import drive
from std_msgs.msg import Float64MultiArray

pytestmark = pytest.mark.alone
near = pytest.approx
ZERO = [0.0, 0.0]
STOPPED = 1.2           # s, wall time: twice TIMEOUT, for a stall is later than silence
TIMEOUT = 0.6           # s, state_timeout: longer than a busy machine keeps a loop waiting
BRAKES = 0.5            # s, command_timeout
# An effort on its way into the middleware when the process was suspended, which nobody recalls
HANDED_OVER = 1
TRIGGERS = {'state': [], 'timer': ['-p', 'rate:=100.0', '-p', 'motor_test_effort:=0.0']}
SLOWLY = {'rate': 200.0, 'stiffness': [0.0], 'damping': [0.0], 'acceleration_kp': [0.0],
          'acceleration_kd': [0.0], 'trigger': 'state', 'state_timeout': TIMEOUT,
          'motor_test_effort': 0.0}
WAYS = [*(('native', trigger) for trigger in TRIGGERS), ('python', 'timer')]


def driven(start, remote, *further):
    """Both nodes, the arm driven on the steady clock: simulator, controller."""
    simulator = start(node('simulator'), *SIMULATOR, '-p', f'command_timeout:={BRAKES}')
    simulator.wait_for_line('simulator ready')
    controller = start(
        node('controller'), '--ros-args', '-p', f'state_timeout:={TIMEOUT}',
        '-p', 'missed_limit:=5000', '-p', 'late_limit:=1.0', '-p', 'arming_timeout:=5.0', *further)
    bring_up(remote)
    remote.until(lambda: remote.command_count > 50, 'commands')
    return simulator, controller


def stalls(remote, simulator, controller):
    """Suspend the controller until the brakes have long engaged; the time it goes on [ns]."""
    controller.popen.send_signal(signal.SIGSTOP)
    simulator.wait_for_line(f'brakes engaged: no command for {BRAKES:g} s')
    remote.listen(STOPPED - BRAKES)
    instant = time.time_ns()
    controller.popen.send_signal(signal.SIGCONT)
    return instant


@pytest.mark.parametrize(('path', 'trigger'), WAYS)
def test_loop_stands_still(start, remote, path, trigger):
    """Nothing is published after it; states that waited move nothing, brakes stay engaged."""
    simulator, controller = driven(start, remote, '-p', f'data_path:={path}',
                                   '-p', f'trigger:={trigger}', *TRIGGERS[trigger])
    arm = LiveArm(remote, controller)
    instant = stalls(remote, simulator, controller)
    arm.faulted('LOOP_STALLED')
    remote.listen(0.3)
    assert len(remote.commands_since(instant)) <= HANDED_OVER
    assert 'brakes released: ' not in simulator.text.split('brakes engaged: ')[1]
    remote.forget()
    remote.until(lambda: remote.state_count > 100, 'states')
    assert np.ptp(remote.positions(), axis=0).max() == 0.0
    assert remote.positions()[0] == near(POSE, abs=0.01)

    remote.until(lambda: remote.trigger('/controller/reset')[0], 'a reset')
    remote.until(lambda: remote.command_count > 20 and arm.phase == 'RUNNING', 'RUNNING')
    assert simulator.text.count('brakes released') == 1         # by the first command of all
    assert remote.trigger('/simulator/release_brakes')[0]
    remote.forget()
    remote.until(lambda: remote.state_count > 100, 'states')
    assert abs(remote.positions() - POSE).max() < 0.02


def test_zero_after_a_stall_by_choice(start, remote):
    """For a drive that keeps its last command for ever: one zero, which opens no brakes."""
    simulator, controller = driven(start, remote, '-p', 'stall_action:=zero')
    instant = stalls(remote, simulator, controller)
    LiveArm(remote, controller).faulted('LOOP_STALLED')
    remote.listen(0.3)
    *others, last = remote.commands_since(instant)
    assert last == ZERO and len(others) <= HANDED_OVER and ZERO not in others
    simulator.wait_for_line('a command came: the brakes stay engaged')
    assert np.ptp(remote.positions()[-200:], axis=0).max() == 0.0


def test_loop_stands_still_in_a_simulation(controller, remote):
    """Its time tells nothing of a gap, the steady clock does; a paused simulation is none."""
    arm = Simulation(remote, controller(**SLOWLY))
    arm.bring_up()
    remote.listen(STOPPED)                      # paused
    arm.asked('to go on', lambda: True)
    assert arm.phase == 'RUNNING'

    arm.controller.popen.send_signal(signal.SIGSTOP)
    remote.listen(STOPPED)
    instant = time.time_ns()
    arm.controller.popen.send_signal(signal.SIGCONT)
    with arm.streaming():
        arm.faulted('LOOP_STALLED')
        remote.listen(0.2)
    assert len(remote.commands_since(instant)) <= HANDED_OVER
    arm.reset()
    remote.until(lambda: len(remote.commands_since(instant)) > HANDED_OVER, 'efforts')


@row('command after the command timeout', where=drive.Drive.expire, find='self._held = True',
     instead='pass')
def test_command_after_the_command_timeout(start, remote):
    """Brakes that a timeout has engaged are opened on request alone, whoever sends what."""
    simulator = start(node('simulator'), *SIMULATOR)
    simulator.wait_for_line('simulator ready')
    commands = remote.node.create_publisher(Float64MultiArray, 'commands', 10)
    remote.until(commands.get_subscription_count, 'the simulator')
    efforts = [19.0, 3.0]
    timer = remote.node.create_timer(
        0.01, lambda: commands.publish(Float64MultiArray(data=efforts)))
    remote.until_line(simulator, 'brakes released: by a command')
    remote.node.destroy_timer(timer)
    remote.until_line(simulator, 'brakes engaged: no command for 1 s')
    remote.forget()
    efforts = ZERO
    late = remote.node.create_timer(
        0.01, lambda: commands.publish(Float64MultiArray(data=efforts)))
    remote.until_line(simulator, 'a command came: the brakes stay engaged')
    remote.listen(0.3)
    assert np.ptp(remote.positions(), axis=0).max() == 0.0
    assert remote.trigger('/simulator/release_brakes')[0]
    remote.until(lambda: np.ptp(remote.positions(), axis=0).max() > 0.01, 'a fall')
    remote.node.destroy_timer(late)
