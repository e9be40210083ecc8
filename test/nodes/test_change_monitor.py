# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""An executor that sleeps for long is woken by changes and by signals, and by nothing else."""

import os
import signal
import threading
import time

from processes import DEADLINE
import pytest
from rclpy.executors import SingleThreadedExecutor
from robodyn_ros.nodes.middleware.change_monitor import ChangeMonitor, woken_by_signals


@pytest.fixture
def executor(node):
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)
    yield executor
    executor.shutdown()


def spin(executor):
    """Wait for one thing to do; it comes long before."""
    begin = time.monotonic()
    executor.spin_once(DEADLINE)
    assert time.monotonic() - begin < DEADLINE / 2


def test_the_executor_does_what_a_look_finds(node, executor):
    """Once for each thing that is there, in its own thread; after the end there is no thread."""
    there, done, looks = [], [], []

    def look():
        looks.append(0)
        return bool(there)

    def act():
        done.append((there.pop(), threading.current_thread()))
    watch = ChangeMonitor(node, 0.001, look, act)
    executor.spin_once(0.1)
    assert done == [] and looks
    for word in ('one', 'two'):
        there.append(word)
        spin(executor)
        assert done.pop() == (word, threading.current_thread())
    watch.close()
    there.append('three')
    executor.spin_once(0.1)
    assert done == [] and 'watch' not in {thread.name for thread in threading.enumerate()}


def test_nothing_is_looked_for_without_an_executor(node):
    looks = []
    watch = ChangeMonitor(node, 0.001, lambda: bool(looks.append(0)), lambda: None)
    time.sleep(0.05)
    watch.close()
    assert looks == []


def test_a_signal_ends_a_wait(executor):
    """Its handler runs, and the wait is over; what was there before is there afterwards."""
    caught, before = [], signal.getsignal(signal.SIGUSR1)
    signal.signal(signal.SIGUSR1, lambda *_: caught.append(0))
    try:
        with woken_by_signals(lambda: executor.create_task(lambda: None)):
            sender = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGUSR1))
            sender.start()
            spin(executor)
            assert caught == [0]
            sender.join()
        os.kill(os.getpid(), signal.SIGUSR1)
        assert caught == [0, 0]
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert signal.set_wakeup_fd(-1) == -1
    assert 'signals' not in {thread.name for thread in threading.enumerate()}
