# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The last message reaches a listener that is busy with something else when it is published."""

import signal
import sys

from nodes.bring_up import bring_up, CONTROLLER, SIMULATOR
from processes import node
import pytest

LISTENER = """
import rclpy
from std_msgs.msg import Float64MultiArray
rclpy.init()
node = rclpy.create_node('listener')
node.create_subscription(Float64MultiArray, 'commands',
                         lambda m: print(list(m.data), flush=True), 9)
rclpy.spin(node)
"""


@pytest.mark.parametrize('how', ['SIGINT', 'SIGTERM'])
def test_the_process_does_not_end_before_its_last_word_is_heard(start, remote, how):
    """Damping must not stay in force because the listener was not quick."""
    start(node('simulator'), *SIMULATOR).wait_for_line('simulator ready')
    controller = start(node('controller'), *CONTROLLER)
    bring_up(remote)
    listener = start([sys.executable, '-c', LISTENER])
    listener.wait_for_line(r'\[\d')
    listener.popen.send_signal(signal.SIGSTOP)
    controller.popen.send_signal(signal.Signals[how])
    remote.until(lambda: remote.newest_command() == [0.0, 0.0], 'the last message')
    remote.listen(0.2)
    listener.popen.send_signal(signal.SIGCONT)
    assert controller.wait() == 0
    listener.wait_for_line(r'\[0\.0, 0\.0\]')
