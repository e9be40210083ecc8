# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Several controllers in one process: their arms are apart, their end is common."""

import signal

from nodes.bring_up import CONTROLLER, IN_STEP, LOCKSTEP, parameters, SIMULATOR
from processes import node as node_command
import pytest
from std_msgs.msg import Float64MultiArray

SIDES = 'left', 'right'


def test_a_signal_ends_all(start, remote, tmp_path):
    """Each has its parameters; both are brought to rest, and get zero as the last message."""
    file = tmp_path / 'arms.yaml'
    file.write_text('/left/controller:\n  ros__parameters:\n    mode: joint_impedance\n'
                    '/right/controller:\n  ros__parameters:\n    mode: gravity_compensation\n')
    clocks = ['-r', '/clock:=clock']            # two simulators have two times
    simulators = [start(node_command('simulator'), *SIMULATOR, *LOCKSTEP, *clocks, '-r',
                        f'__ns:=/{side}') for side in SIDES]
    efforts = {side: [] for side in SIDES}
    for side in SIDES:
        remote.node.create_subscription(
            Float64MultiArray, f'/{side}/commands',
            lambda message, side=side: efforts[side].append(list(message.data)), 10)
    for simulator in simulators:
        simulator.wait_for_line('simulator ready')
    both = start(node_command('controllers'), *SIDES, *CONTROLLER, *IN_STEP, *clocks,
                 *parameters(damping=[40.0, 8.0], autostart=True), '--params-file', file)
    both.wait_for_line(r'left\.controller\]: configured: .*joint_impedance')
    both.wait_for_line(r'right\.controller\]: configured: .*gravity_compensation')
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
