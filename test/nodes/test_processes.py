# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
import os
import signal
import sys

from processes import until
import pytest
from robodyn_ros.errors import DemoError
from robodyn_ros.nodes.clients.processes import (
    Child, ending_once, free_domain, interrupts_later, running, undisturbed)

# Says when it is ready, counts interrupts and ends on the first, or never
GENTLE = [sys.executable, '-uc', 'import signal, time\n'
          'def leave(*_): print("interrupted"); raise SystemExit(0)\n'
          'signal.signal(signal.SIGINT, leave); print("ready"); time.sleep(100)']
DEAF = [sys.executable, '-uc', 'import signal, time\n'
        'signal.signal(signal.SIGINT, signal.SIG_IGN); print("ready"); time.sleep(100)']


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_every_child_gets_one_interrupt_and_is_waited_for(tmp_path):
    with pytest.raises(KeyboardInterrupt), \
            running({'a': GENTLE, 'b': GENTLE}, tmp_path, os.environ) as children:
        until(lambda: all('ready' in child.output for child in children.values()))
        raise KeyboardInterrupt
    for child in children.values():
        assert child.output.count('interrupted') == 1
        assert child.stop() == 0


def test_a_child_that_does_not_listen_is_ended_nevertheless(tmp_path, monkeypatch):
    monkeypatch.setattr('robodyn_ros.nodes.clients.processes.SIGINT_TIMEOUT', 0.2)
    child = Child('deaf', DEAF, tmp_path / 'log', os.environ)
    until(lambda: 'ready' in child.output)
    assert child.stop() == -signal.SIGTERM


def test_a_child_that_has_ended_is_an_error_with_the_end_of_its_log(tmp_path):
    child = Child('short', [sys.executable, '-c', 'print("why"); raise SystemExit(3)'],
                  tmp_path / 'log', os.environ)

    def ended():
        try:
            child.check()
        except DemoError as error:
            return str(error)
    until(ended)
    assert 'the short has ended with exit code 3' in ended()
    assert ended().endswith('why')
    assert child.stop() == 3


def test_a_killed_parent_takes_its_children_with_it(start, tmp_path):
    parent = start([sys.executable, '-uc', 'import os, sys, time\n'
                    'from pathlib import Path\n'
                    'from robodyn_ros.nodes.clients.processes import Child\n'
                    f'log = Path({str(tmp_path / "log")!r})\n'
                    f'child = Child("c", {GENTLE!r}, log, os.environ)\n'
                    'print("child", child._process.pid); time.sleep(100)'])
    pid = int(parent.wait_for_line(r'child (\d+)')[1])
    assert alive(pid)
    os.kill(parent.popen.pid, signal.SIGKILL)
    parent.wait()
    until(lambda: not alive(pid))


def test_signals_wait_and_exits_are_orderly():
    finished = False
    with pytest.raises(KeyboardInterrupt), interrupts_later():
        os.kill(os.getpid(), signal.SIGINT)
        finished = True
    assert finished
    cleaned = False
    with pytest.raises(KeyboardInterrupt), ending_once():
        try:
            os.kill(os.getpid(), signal.SIGINT)
        finally:
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGTERM)
            cleaned = True
    assert cleaned
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with pytest.raises(SystemExit, match='143'), ending_once():
        os.kill(os.getpid(), signal.SIGTERM)
    with undisturbed():
        os.kill(os.getpid(), signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)


def test_the_domain_is_the_users_or_any_free_one(monkeypatch):
    monkeypatch.setenv('ROS_DOMAIN_ID', '7')
    assert free_domain() == 7
    monkeypatch.delenv('ROS_DOMAIN_ID')
    assert 1 <= free_domain() < 100
