# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The whole demo as a process, to its end and interrupted: verdict, files, and nothing left."""

import os
from pathlib import Path
import re
import signal
import sys
import time

from processes import DEADLINE, OWN_MEMORY, require_own_memory, until
import pytest
from sensor_msgs.msg import JointState

DEMO = [sys.executable, '-m', 'robodyn_ros.cli', 'demo', 'two_link', '--brief']
STALL = 2.5        # s, beyond `state_timeout` however it is counted


def children(demo):
    """Return the numbers of the processes that the demo has started, of those that still run."""
    pid = demo.popen.pid
    return {int(child) for child in Path(f'/proc/{pid}/task/{pid}/children').read_text().split()}


def running(pids):
    return {pid for pid in pids if Path(f'/proc/{pid}').exists()}


def files(memory):
    """
    Return what is in the folder of shared memory, as any process that was killed leaves there.

    Apart from the files of LTTng, which stay for ever, and from ports of Fast DDS, which the last
    user leaves to the next one if another opens it while it is closed, or if a thread that waits
    there got no processor for a second.
    """
    kept = ('lttng-ust-wait', 'fastdds_port', 'sem.fastdds_port')
    return [name for name in os.listdir(memory) if not name.startswith(kept)]


@pytest.fixture
def alone(start, tmp_path):
    """
    Yield the demo in a /dev/shm of its own, and the open folder, which outlives the demo.

    In that of all, a process that another test kills keeps ports of the demo that it looked at.
    """
    require_own_memory()
    demo = start([*OWN_MEMORY, *DEMO], '--output', tmp_path / 'demo')
    demo.wait_for_line('compiling', DEADLINE)
    memory = os.open(f'/proc/{demo.popen.pid}/root/dev/shm', os.O_RDONLY)
    yield demo, memory
    os.close(memory)


@pytest.fixture
def demo(start, tmp_path):
    return start(DEMO, '--output', tmp_path / 'demo')


def test_a_busy_machine_changes_no_digit_and_nothing_is_left(alone, tmp_path):
    """Both nodes wait for a processor for a while; the figures are those of an idle machine."""
    demo, memory = alone
    demo.wait_for_line('it floats', 2 * DEADLINE)
    nodes = children(demo)
    for pid in nodes:
        os.kill(pid, signal.SIGSTOP)
        time.sleep(STALL)
        os.kill(pid, signal.SIGCONT)
    assert files(memory)
    assert demo.wait(2 * DEADLINE) == 0, demo.text
    assert demo.text.count('passed') == 9
    rms = dict(re.findall(r'^ *(pd|joint_impedance|computed_torque) +([\d.]+)', demo.text,
                          re.MULTILINE))
    assert rms == {'pd': '142', 'joint_impedance': '33.5', 'computed_torque': '0.411'}
    assert 'Control loop in real time' in demo.text
    assert len(nodes) == 2 and not running(nodes) and not files(memory)
    names = {path.name for path in (tmp_path / 'demo').iterdir()}
    assert {'two_link.png', 'two_link.yaml', 'two_link_controller.yaml', 'controller.log',
            'simulator.log'} <= names


def test_the_contact_scene_passes_and_leaves_a_picture(start, tmp_path):
    """
    Pushed, guided, into a post: every check passes.

    Takes 20 s: two nodes in lockstep through 13 s of simulation time.
    """
    demo = start(DEMO, '--scene', 'contact', '--output', tmp_path / 'demo')
    assert demo.wait(3 * DEADLINE) == 0, demo.text
    assert demo.text.count('passed') == 9
    assert (tmp_path / 'demo' / 'two_link_contact.png').stat().st_size > 20_000
    assert list((tmp_path / 'demo' / 'flights').glob('*_COLLISION.mcap'))


def test_a_fault_of_the_controller_ends_the_demo(demo, remote):
    demo.wait_for_line('it is pushed', 2 * DEADLINE)        # RUNNING; before, it would not arm
    publisher = remote.node.create_publisher(JointState, '/joint_states', 10)
    state = JointState(name=['joint1', 'joint2'], position=[0.0, 0.0], velocity=[0.0, 0.0])
    until(lambda: publisher.publish(state) or demo.popen.poll() is not None,
          lambda: time.sleep(0.1))
    assert demo.wait() == 1
    assert re.search(r'FAULT TWO_STATE_PUBLISHERS: .*see .*controller\.log', demo.text)
    assert 'Traceback' not in demo.text


@pytest.mark.parametrize('line', ['the nodes start', 'it floats'])
def test_ctrl_c_ends_everything_at_any_moment(alone, line):
    demo, memory = alone
    demo.wait_for_line(line, 2 * DEADLINE)
    nodes = children(demo)
    assert demo.interrupt() == 130
    assert 'Traceback' not in demo.text
    assert not running(nodes) and not files(memory)


def test_a_node_that_dies_ends_the_demo_with_its_last_words(demo):
    demo.wait_for_line('it floats', 2 * DEADLINE)
    nodes = children(demo)
    simulator, = (pid for pid in nodes
                  if 'nodes.simulator' in Path(f'/proc/{pid}/cmdline').read_text())
    os.kill(simulator, signal.SIGTERM)
    assert demo.wait() == 1
    assert 'the simulator has ended with exit code' in demo.text
    assert 'simulator ends' in demo.text
    assert 'Traceback' not in demo.text
    assert not running(nodes)
