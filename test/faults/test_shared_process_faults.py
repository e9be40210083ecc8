# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of one of several controllers in a process, which are none of the others."""

from collections.abc import Iterator
import os
from pathlib import Path
import sys

from faults.conftest import EXACT
from faults.live_arm import LiveArm
from faults.rows import row
from forked import FORKED
from lifecycle_msgs.srv import GetState
from nodes.bring_up import CONTROLLER
from nodes.remote import Remote
from processes import node
import pytest
from robodyn_ros.nodes.controller.flight_recorder import TimingFile
from robodyn_ros.nodes.middleware import node_main
from robodyn_ros.realtime import scheduling
from std_srvs.srv import Trigger

near = pytest.approx
# One in no namespace, which is that of the fixtures, and one beside it
NAMESPACES = '/', 'left'
# Nothing here is about states that are late: a busy machine may be
PATIENT = [*CONTROLLER, *EXACT, '-p', 'state_timeout:=1.0']
# The controllers, with a service that hangs until another one is called, of whichever of them
HANGING = FORKED + """
import sys, threading
from std_srvs.srv import Trigger
from robodyn_ros.nodes.controller.node import ControllerNode
from robodyn_ros.nodes.middleware import node_main
released = threading.Event()

class Hanging(ControllerNode):
    def __init__(self, namespace):
        super().__init__(namespace)
        self.create_service(Trigger, '~/hang', self.hang)
        self.create_service(Trigger, '~/release', self.release)

    def hang(self, request, response):
        response.success = released.wait(60.0)
        return response

    def release(self, request, response):
        released.set()
        return response

sys.exit(node_main.main(Hanging, None, several=True))
"""


@pytest.fixture
def left() -> Iterator[Remote]:
    """Return the ears and the voice of the test beside the other arm."""
    remote = Remote('beside', namespace='left')
    yield remote
    remote.close()


def middleware(pid: int) -> dict[str, set[int]]:
    """Return the CPUs that each thread of the middleware may run on."""
    return {task.name: os.sched_getaffinity(int(task.name))
            for task in Path(f'/proc/{pid}/task').iterdir()
            if (task / 'comm').read_text().startswith('dds.')}


@row('a fault of one of several controllers in a process', 'TWO_STATE_PUBLISHERS',
     where=scheduling.shared, find='_.users -= 1', instead='held.users = 0')
def test_a_fault_of_one_of_several_controllers(start, remote, left):
    """
    The other one answers each state as before, and so it does while the first one is armed anew.

    What they share, as the CPUs of the middleware's threads, stays until the last one has ended.
    Takes 5 s: two arms are armed, one of them twice.
    """
    cpu = min(os.sched_getaffinity(0))
    both = start(node('controllers'), *NAMESPACES, *PATIENT, '-p', f'cpus:=[{cpu}]')
    arms = arm, other = LiveArm(remote, both), LiveArm(left, both)
    for each in arms:
        each.bring_up()
    shared = middleware(both.popen.pid)
    assert {cpu} in shared.values()

    second = LiveArm(left, both)
    left.until(lambda: second.states.get_subscription_count(), 'the controller')
    other.tick()
    second.time = other.time
    # Again and again: the controller may not know of it yet, when we know of the controller
    left.until(lambda: (second.send(0.0), other.phase == 'FAULT')[1], 'a fault')
    other.faulted('TWO_STATE_PUBLISHERS', '2 publishers of joint_states', "'/left/beside'")
    arm.steady()
    assert left.change('deactivate')
    arm.steady()
    assert middleware(both.popen.pid) == shared
    assert left.change('cleanup')
    arm.steady()
    left.node.destroy_publisher(second.states)
    other.hear()
    other.bring_up()
    arm.steady()
    assert [each.phase for each in arms] == ['RUNNING'] * 2
    with arm.streaming(), other.streaming():
        assert both.interrupt() == 0
    assert [each.newest_command() for each in (remote, left)] == [[0.0, 0.0]] * 2
    assert 'Traceback' not in both.text


@row('a callback of one of several controllers in a process hangs', where=node_main._run,
     find='executors = [TolerantExecutor(node) for node in nodes]',
     instead='executors, one = [TolerantExecutor(node) for node in nodes], threading.Lock()\n'
             'for executor in executors:\n'
             '    def in_turn(timeout_sec, spin_once=executor.spin_once):\n'
             '        with one:\n            spin_once(0.01)\n'
             '        time.sleep(0.002)\n'
             '    executor.spin_once = in_turn')
def test_a_callback_of_one_hangs(start, remote, left):
    """Its arm is driven on; the other controller answers, too, for its executor is its own."""
    both = start([sys.executable, '-c', HANGING], *NAMESPACES, *PATIENT)
    arms = arm, other = LiveArm(remote, both), LiveArm(left, both)
    for each in arms:
        each.bring_up()
    assert remote.state() == 'active'
    hanging = left.ask(Trigger, 'controller/hang', Trigger.Request())
    left.listen(0.3)
    for each in arms:
        each.steady()
    answer = remote.ask(GetState, 'controller/get_state', GetState.Request())
    remote.until(answer.done, 'an answer of the other one')
    assert not hanging.done()
    remote.trigger('controller/release')
    left.until(hanging.done, 'the answer')
    assert hanging.result().success and left.state() == 'active'


@row('two controllers are given one timing file', where=TimingFile.claim, find='_.bind(_)',
     instead='None')
def test_two_controllers_are_given_one_timing_file(start, remote, left, tmp_path):
    """The second one stays unconfigured, with the parameter and the remedy; until it is free."""
    file = tmp_path / 'timing.npz'
    both = start(node('controllers'), *NAMESPACES, *PATIENT, '-p', f'timing_file:={file}')
    assert remote.change('configure')
    assert not left.change('configure') and left.state() == 'unconfigured'
    both.wait_for_line(rf'left.controller\]: timing_file {file} is that of another controller.*'
                       'give each controller a file of its own')
    assert 'is read when the node starts' in left.set('controller', timing_file='')
    assert remote.change('cleanup') and left.change('configure')
    assert not remote.change('configure')
