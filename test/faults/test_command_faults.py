# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Another publisher on the topic of the commands: the drives obey whoever came last."""

import time

from faults.live_arm import LiveArm
from faults.rows import row
import pytest
from robodyn_ros.nodes.topics.publishers import CommandPublishers, NAMELESS
from std_msgs.msg import Float64MultiArray

near = pytest.approx
SAID = "another publisher sends commands ('/test')"


@row('a second publisher on commands', 'OTHER_COMMANDS', where=CommandPublishers.look,
     find="_['command_publishers'] = _", instead='pass')
def test_second_publisher_on_commands(controller, remote):
    """A fault, and no arming, that name it, though it never sends, and on a remapped topic."""
    topic = 'elsewhere/commands'
    remote.ignore_commands()
    remote.hear_commands(topic)
    arm = LiveArm(remote, controller(remap=[f'commands:=/{topic}']))
    arm.bring_up()
    intruder = remote.node.create_publisher(Float64MultiArray, topic, 10)
    arm.until()
    arm.faulted('OTHER_COMMANDS')
    # The publisher may be discovered before the name of its node
    remote.until(lambda: SAID in remote.diagnostics['message'], SAID)
    arm.controller.wait_for_line("FAULT OTHER_COMMANDS: another publisher sends commands "
                                 r"\('(/test|a node whose name is not known yet)'\)")
    arm.refuses_reset(SAID)
    assert remote.change('deactivate')
    arm.refuses_activation(SAID)
    remote.node.destroy_publisher(intruder)
    arm.resumes()


def test_activating_waits_for_discovery(controller, remote):
    """Until other publishers must have been discovered, counted from the start of the node."""
    begin = time.monotonic()
    LiveArm(remote, controller(discovery_time=2.5)).bring_up()
    assert time.monotonic() - begin > 2.5


def test_two_controllers(controller, remote):
    """
    The one that drives faults as soon as it discovers the second one, which cannot be armed.

    Where discovery takes longer than arming waits for it, the second one faults as well.
    """
    arm = LiveArm(remote, controller())
    arm.bring_up()
    second = controller(remap=['__node:=second'], autostart='true')
    with arm.streaming():
        remote.until_line(second, '(autostart ends|FAULT OTHER_COMMANDS): another publisher')
        remote.until_line(arm.controller, 'FAULT OTHER_COMMANDS: another')
    assert "'/controller'" in second.text or NAMELESS in second.text
    assert second.text.count('RUNNING') <= second.text.count('FAULT')
