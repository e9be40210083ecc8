# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A log that nobody reads, or whose reader is gone."""

import os
import signal
import sys

from faults.conftest import EXACT
from faults.live_arm import LiveArm
from faults.rows import row
from forked import FORKED
from nodes.bring_up import CONTROLLER
import pytest
from robodyn_ros.nodes.middleware import log_relay

near = pytest.approx
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


@row('a blocked log', where=log_relay.able_to_block, find='_ or _ or _', instead='False')
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
