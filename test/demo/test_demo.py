# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The whole demo as a process, to its end and interrupted: verdict, files, and nothing left."""

from contextlib import suppress
import os
from pathlib import Path
import re
import signal
import sys
import time
from typing import NamedTuple

from processes import DEADLINE, until
import pytest
from sensor_msgs.msg import JointState

DEMO = [sys.executable, '-m', 'robodyn_ros.cli', 'demo', 'two_link', '--brief']
SHM = Path('/dev/shm')
STALL = 0.5        # s, below `state_timeout`


class Seen(NamedTuple):
    """A process: its parent, the files in /dev/shm that it has mapped, and those it owns."""

    parent: int
    mapped: set[str]
    own: set[str]


def processes():
    """
    Return what is to be seen of every process, by its number.

    Fast DDS maps the ports of others too, to send to them or to see whether they are free: a
    process owns those whose lock it has open, a file of the same name and _el.
    """
    found = {}
    for folder in Path('/proc').glob('[0-9]*'):
        try:
            parent = int((folder / 'stat').read_text().rpartition(')')[2].split()[1])
            mapped = set(re.findall(r'/dev/shm/(\S+)', (folder / 'maps').read_text()))
            own = set()
            for file in (folder / 'fd').iterdir():
                with suppress(FileNotFoundError):           # it has been closed
                    if lock := re.match(r'/dev/shm/((\S+)_el)', os.readlink(file)):
                        own |= set(lock.groups())
        except (OSError, ValueError):
            continue                    # it has ended, or is none of our business
        found[int(folder.name)] = Seen(parent, mapped, own)
    return found


class Traces:
    """What a demo starts and puts into /dev/shm, seen from outside."""

    def __init__(self, pid):
        self.pid, self.children = pid, set()
        self.before = {path.name for path in SHM.iterdir()}
        self.files = set()

    def look(self):
        """Note the children and the files that they and the demo own now."""
        now = processes()
        self.children |= {pid for pid, seen in now.items() if seen.parent == self.pid}
        for pid in {self.pid, *self.children} & now.keys():
            self.files |= now[pid].own - self.before

    def left(self):
        """Children that still run, and files that nobody else uses but that are still there."""
        now = processes()
        used = set().union(*(seen.mapped | seen.own for seen in now.values()))
        files = {name for name in self.files - used if (SHM / name).exists()}
        return files | (self.children & now.keys())


@pytest.fixture
def demo(start, tmp_path):
    return start(DEMO, '--output', tmp_path / 'demo')


def test_a_busy_machine_changes_no_digit_and_nothing_is_left(demo, tmp_path):
    """Both nodes wait for a processor for a while; the figures are those of an idle machine."""
    traces = Traces(demo.popen.pid)
    demo.wait_for_line('it floats', 2 * DEADLINE)
    traces.look()
    for pid in [*traces.children, *traces.children]:
        os.kill(pid, signal.SIGSTOP)
        time.sleep(STALL)
        os.kill(pid, signal.SIGCONT)
    demo.wait_for_line('computed_torque: it follows', 2 * DEADLINE)
    traces.look()
    assert demo.wait(2 * DEADLINE) == 0, demo.text
    assert demo.text.count('passed') == 9
    rms = dict(re.findall(r'^ *(pd|joint_impedance|computed_torque) +([\d.]+)', demo.text,
                          re.MULTILINE))
    assert rms == {'pd': '142', 'joint_impedance': '33.4', 'computed_torque': '0.206'}
    assert 'Control loop in real time' in demo.text
    assert len(traces.children) == 2 and traces.files
    assert not traces.left()
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


@pytest.mark.parametrize('line', ['compiling', 'the nodes start', 'it floats'])
def test_ctrl_c_ends_everything_at_any_moment(demo, line):
    traces = Traces(demo.popen.pid)
    demo.wait_for_line(line, 2 * DEADLINE)
    traces.look()
    assert demo.interrupt() == 130
    assert 'Traceback' not in demo.text
    assert not traces.left()


def test_a_node_that_dies_ends_the_demo_with_its_last_words(demo):
    demo.wait_for_line('it floats', 2 * DEADLINE)
    traces = Traces(demo.popen.pid)
    traces.look()
    simulator, = (pid for pid in traces.children
                  if 'nodes.simulator' in Path(f'/proc/{pid}/cmdline').read_text())
    os.kill(simulator, signal.SIGTERM)
    assert demo.wait() == 1
    assert 'the simulator has ended with exit code' in demo.text
    assert 'simulator ends' in demo.text
    assert 'Traceback' not in demo.text
    assert not traces.children & processes().keys()
