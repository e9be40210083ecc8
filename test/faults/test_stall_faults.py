# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A suspended controller, in wall-clock time; test_time_faults.py plays all that follows."""

import signal
import time

from faults.live_arm import LiveArm
from nodes.bring_up import bring_up, POSE, SIMULATOR
import numpy as np
from processes import node
import pytest

pytestmark = pytest.mark.alone
near = pytest.approx
STOPPED = 1.2           # s, wall time: twice TIMEOUT, for a stall is later than silence
TIMEOUT = 0.6           # s, state_timeout: longer than a busy machine keeps a loop waiting
BRAKES = 0.5            # s, command_timeout
# An effort on its way into the middleware when the process was suspended, which nobody recalls
HANDED_OVER = 1
TRIGGERS = {'state': [], 'timer': ['-p', 'rate:=100.0', '-p', 'motor_test_effort:=0.0']}
WAYS = ('native', 'state'), ('python', 'timer')


@pytest.mark.parametrize(('path', 'trigger'), WAYS)
def test_loop_stands_still(start, remote, path, trigger):
    """Nothing is published after it; states that waited move nothing, brakes stay engaged."""
    simulator = start(node('simulator'), *SIMULATOR, '-p', f'command_timeout:={BRAKES}')
    simulator.wait_for_line('simulator ready')
    controller = start(
        node('controller'), '--ros-args', '-p', f'state_timeout:={TIMEOUT}',
        '-p', 'missed_limit:=5000', '-p', 'late_limit:=1.0', '-p', 'arming_timeout:=5.0',
        '-p', f'data_path:={path}', '-p', f'trigger:={trigger}', *TRIGGERS[trigger])
    bring_up(remote)
    remote.until(lambda: remote.command_count > 50, 'commands')
    controller.popen.send_signal(signal.SIGSTOP)
    simulator.wait_for_line(f'brakes engaged: no command for {BRAKES:g} s')
    remote.listen(STOPPED - BRAKES)
    instant = time.time_ns()
    controller.popen.send_signal(signal.SIGCONT)
    arm = LiveArm(remote, controller)
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
