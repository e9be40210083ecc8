# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Exceptions in callbacks, and a log that nobody reads: neither may end a node."""

import os
import signal
import sys

from faults.conftest import EXACT
from faults.live_arm import LiveArm
from faults.rows import row
from forked import FORKED
from nodes.bring_up import CONTROLLER
import pytest
from robodyn_ros.nodes.middleware import node_main
from std_srvs.srv import Trigger

near = pytest.approx
# The controller, with two services more
RAISING = FORKED + """
import sys
from std_srvs.srv import Trigger
from robodyn_ros.nodes.controller.node import ControllerNode
from robodyn_ros.nodes.middleware import node_main

class Raising(ControllerNode):
    def __init__(self):
        super().__init__()
        self.create_service(Trigger, '~/in_it', self.in_it)
        self.create_service(Trigger, '~/in_a_coroutine', self.in_a_coroutine)

    def in_it(self, request, response):
        raise OSError('out of order')

    async def in_a_coroutine(self, request, response):
        raise OSError('out of order')

sys.exit(node_main.main(Raising, None))
"""


@row('an exception in any callback', where=node_main._run,
     find='executors = [TolerantExecutor(node) for node in nodes]',
     instead='from rclpy.executors import SingleThreadedExecutor as Plain\n'
             'executors = [Plain() for node in nodes]\n'
             'for node, executor in zip(nodes, executors):\n    executor.add_node(node)')
def test_an_exception_in_any_callback(start, remote):
    """It is logged as an error; the efforts go on, and so do other callbacks and the next call."""
    arm = LiveArm(remote, start([sys.executable, '-c', RAISING], *CONTROLLER, *EXACT))
    arm.bring_up()
    for number, where in enumerate(2 * ['in_it', 'in_a_coroutine'], 1):
        remote.ask(Trigger, f'/controller/{where}', Trigger.Request())
        remote.until(lambda n=number: arm.controller.text.count('node continues') == n, 'the log')
        assert 'Traceback' in arm.controller.text
        arm.steady()
        assert remote.state() == 'active'
        remote.malformed_is_refused('controller')
    assert arm.phase == 'RUNNING'
    arm.controller.popen.send_signal(signal.SIGINT)
    arm.until()
    assert arm.controller.wait() == 0


# Logs to a named pipe
INTO_PIPE = FORKED + """
import os, sys
from robodyn_ros.nodes.controller import main
os.dup2(os.open(sys.argv.pop(1), os.O_WRONLY), 2)
sys.exit(main())
"""


@pytest.fixture
def piped(start, remote, tmp_path):
    """Start an :class:`Arm` whose controller logs to a pipe, and return both: (arm, reader)."""
    path = tmp_path / 'log.pipe'
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    arm = LiveArm(remote, start([sys.executable, '-c', INTO_PIPE, str(path), *CONTROLLER, *EXACT,
                                 '-p', 'stop_timeout:=0.0195']))
    yield arm, reader
    try:
        os.close(reader)
    except OSError:
        pass


def stuff(reader):
    """Fill the pipe, so that whoever writes to it blocks."""
    writer = os.open(f'/proc/self/fd/{reader}', os.O_WRONLY | os.O_NONBLOCK)
    try:
        while os.write(writer, b'.'):
            pass
    except BlockingIOError:
        pass
    finally:
        os.close(writer)


@row('a blocked log', where=node_main.able_to_block, find='_ or _ or _', instead='False')
@pytest.mark.parametrize('reader_stays', [True, False])
def test_a_log_that_nobody_reads(piped, reader_stays):
    """The arm is stopped, faults and is reset as ever; the end of the process is bounded."""
    arm, reader = piped
    arm.bring_up()
    if reader_stays:
        stuff(reader)
    else:
        os.close(reader)
    arm.tick(velocity=[])
    arm.until()
    arm.faulted('NO_VELOCITY')
    arm.reset()
    arm.deactivate()
    assert arm.controller.interrupt() == 0


def test_what_was_logged_meanwhile_comes_when_it_is_read_again(piped, remote):
    """In order, with nothing lost that there is room for."""
    arm, reader = piped
    arm.bring_up()
    os.read(reader, 1 << 16)
    stuff(reader)
    with arm.streaming():
        assert remote.change('deactivate') and remote.change('activate')
    said = b''

    def read():
        nonlocal said
        try:
            said += os.read(reader, 1 << 16)
        except BlockingIOError:
            pass
        return b'RUNNING' in said
    remote.until(read, 'the log')
    assert said.index(b'INACTIVE') < said.index(b'arming') and b'dropped' not in said
    arm.controller.popen.send_signal(signal.SIGINT)
    arm.ends()
