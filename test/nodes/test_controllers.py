# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Several controllers in one process: their arms are apart, their end is common."""

from pathlib import Path
import re
import signal

from diagnostic_msgs.msg import DiagnosticArray
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from nodes.bring_up import CONTROLLER, SIMULATOR
import numpy as np
from processes import node as node_command
import pytest
from robodyn_ros.realtime.time_slice import time_slice
from std_msgs.msg import Float64MultiArray

SIDES = 'left', 'right'


def slices(pid):
    """Time slices of the threads of the middleware in a process [ns]."""
    return [time_slice(int(task.name)) for task in Path(f'/proc/{pid}/task').iterdir()
            if (task / 'comm').read_text().startswith('dds.')]


def test_a_fault_of_one_arm_is_none_of_the_other(start, remote, gravity, tmp_path):
    """
    Each has its parameters; one faults and is deactivated, and the other goes on.

    Takes 6 s: three nodes, and the brakes of an arm that nobody drives any more.
    """
    file = tmp_path / 'arms.yaml'
    file.write_text('/left/controller:\n  ros__parameters:\n    mode: joint_impedance\n'
                    '/right/controller:\n  ros__parameters:\n    mode: gravity_compensation\n')
    simulators = {side: start(node_command('simulator'), *SIMULATOR, '-r', f'__ns:=/{side}')
                  for side in SIDES}
    for simulator in simulators.values():
        simulator.wait_for_line('simulator ready')
    both = start(node_command('controllers'), *SIDES, *CONTROLLER, '--params-file', file, '-p',
                 'autostart:=true')
    heard, efforts = {}, []
    remote.node.create_subscription(
        DiagnosticArray, '/diagnostics',
        lambda message: heard.update((told.name, told) for told in message.status), 10)
    remote.node.create_subscription(Float64MultiArray, '/right/commands',
                                    lambda message: efforts.append(list(message.data)), 10)

    def told(side):
        status = heard.get(f'{side}/controller: control loop')
        return {pair.key: pair.value for pair in status.values} if status else {}

    def in_phase(side, phase):
        heard.clear()
        remote.until(lambda: told(side).get('phase') == phase, f'{side} in {phase}')
    in_phase('left', 'RUNNING')
    in_phase('right', 'RUNNING')
    remote.until(lambda: told('left'), 'the left one')
    assert [told(side)['mode'] for side in SIDES] == ['joint_impedance', 'gravity_compensation']
    before = sorted(slices(both.popen.pid))     # short ones, where the kernel grants them

    simulators['left'].interrupt()
    both.wait_for_line(r'left\.controller\]: .*FAULT STALE_STATE: state is stale')
    in_phase('left', 'FAULT')
    in_phase('right', 'RUNNING')
    assert np.array(efforts[-1]) == pytest.approx(gravity, abs=0.1)
    request = ChangeState.Request(transition=Transition(id=Transition.TRANSITION_DEACTIVATE))
    assert remote.call(ChangeState, '/left/controller/change_state', request).success
    # What a loop has changed of the threads that both share outlasts the first one's end
    assert sorted(slices(both.popen.pid)) == before
    in_phase('right', 'RUNNING')
    assert both.interrupt() == 0
    remote.until(lambda: efforts[-1] == [0.0, 0.0], 'the last message')
    assert not re.search(r'right\.controller\]: .*FAULT', both.text)


def test_a_signal_ends_all(start, remote):
    """Both arms are brought to rest, and both get zero as the last message; takes 5 s."""
    simulators = [start(node_command('simulator'), *SIMULATOR, '-r', f'__ns:=/{side}')
                  for side in SIDES]
    efforts = {side: [] for side in SIDES}
    for side in SIDES:
        remote.node.create_subscription(
            Float64MultiArray, f'/{side}/commands',
            lambda message, side=side: efforts[side].append(list(message.data)), 10)
    for simulator in simulators:
        simulator.wait_for_line('simulator ready')
    both = start(node_command('controllers'), *SIDES, *CONTROLLER, '-p', 'autostart:=true')
    remote.until(lambda: all(len(heard) > 300 for heard in efforts.values()), 'efforts of both')
    assert both.popen.poll() is None
    both.popen.send_signal(signal.SIGTERM)
    remote.until(lambda: all(heard[-1] == [0.0, 0.0] for heard in efforts.values()), 'zero')
    assert both.wait() == 0
    assert 'FAULT' not in both.text


@pytest.mark.parametrize(('words', 'code', 'why'), [
    (['left', '/left'], 2, 'error: a namespace is given twice: left /left'),
    (['left', 'no good'], 1, 'error: namespace no good is refused: give names of letters'),
    (['left', 'right', '--ros-args', '-r', '__ns:=/both'], 1,
     'error: the controller of /left is in /both: leave out the remapping of __ns'),
    ([], 2, 'the following arguments are required: NAMESPACE'),
])
def test_what_cannot_be_is_told_in_one_line(start, words, code, why):
    """And a controller that has been made already ends."""
    process = start(node_command('controllers'), *words)
    assert process.wait() == code and why in process.text
    assert 'Traceback' not in process.text
