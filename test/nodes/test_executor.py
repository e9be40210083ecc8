# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Exceptions, `/clock`, changes and signals: what ends, locks or wakes an executor."""

import os
import signal
import threading
import time

from processes import DEADLINE
import pytest
from rclpy.executors import ExternalShutdownException
from rclpy.parameter import Parameter
from rclpy.waitable import NumberOfEntities, Waitable
from robodyn_ros.nodes.middleware.executor import (
    BURST, ChangeMonitor, CLOCK_PERIOD, TolerantExecutor, woken_by_signals)
from robodyn_ros.nodes.middleware.raw_subscription import RCLError
from rosgraph_msgs.msg import Clock


class Untakeable(Waitable):
    """Something of a node that is always ready, and raises an exception when it is taken."""

    def __init__(self, node):
        super().__init__(node.default_callback_group)
        self.taken = 0
        node.add_waitable(self)

    def take_data(self):
        self.taken += 1
        raise OSError('out of order')

    async def execute(self, taken_data): raise AssertionError('nothing was taken')

    def __enter__(self):
        pass

    def __exit__(self, *exception):
        pass

    def get_num_entities(self):
        return NumberOfEntities()

    def add_to_wait_set(self, wait_set):
        pass

    def is_ready(self, wait_set):
        return self.taken < 2


@pytest.fixture
def executor(node):
    executor = TolerantExecutor(node)
    yield executor
    executor.shutdown()


def test_exceptions_do_not_end_an_executor(node, executor, capfd):
    # It is asked again, and others of its group run.
    ticks, broken = [], Untakeable(node)
    node.create_timer(0.001, lambda: ticks.append(0))
    for _ in range(100):
        executor.spin_once(DEADLINE)
    assert broken.taken == 2 and len(ticks) > 10
    assert capfd.readouterr().err.count('OSError: out of order') == 2
    def failing():
        raise OSError('out of order')
    executor.create_task(failing)
    executor.spin_once(DEADLINE)
    assert 'OSError: out of order' in capfd.readouterr().err


def test_a_stream_of_exceptions_does_not_fill_the_log(node, executor, capfd):
    """The first few are told of, and that there were more."""
    raised = []

    def failing():
        raised.append(0)
        raise OSError('out of order')
    node.create_timer(0.0001, failing)
    while len(raised) < 500:
        executor.spin_once(DEADLINE)
    said = capfd.readouterr().err.count('the node continues')
    assert BURST <= said < 100


def test_the_end_of_ros_ends_it(node, executor):
    node.context.try_shutdown()
    with pytest.raises((ExternalShutdownException, RCLError)):
        executor.spin_once(DEADLINE)


def test_of_the_clock_topic_only_some_messages_are_taken(node, executor):
    """The newest after each CLOCK_PERIOD; what else there is to do is done at once."""
    node.set_parameters([Parameter('use_sim_time', value=True)])
    publisher = node.create_publisher(Clock, '/clock', 10)
    times, done, sent = set(), [], 0
    begin = time.monotonic()
    while sent < 150 or time.monotonic() < begin + 20 * CLOCK_PERIOD:
        assert time.monotonic() < begin + DEADLINE
        sent += 1
        message = Clock()
        message.clock.nanosec = sent * 1000
        publisher.publish(message)
        executor.create_task(done.append, sent)
        executor.spin_once(1.0)         # the task
        times.add(node.get_clock().now().nanoseconds)
    most = 2 + (time.monotonic() - begin) / CLOCK_PERIOD
    assert 2 < len(times) <= most and len(done) >= sent - most - 3
    while node.get_clock().now().nanoseconds < sent * 1000:
        assert time.monotonic() < begin + DEADLINE
        executor.spin_once(1.0)


def spin(plain):
    """Wait for one thing to do; it comes long before."""
    begin = time.monotonic()
    plain.spin_once(DEADLINE)
    assert time.monotonic() - begin < DEADLINE / 2


def test_the_executor_does_what_a_look_finds(node, plain):
    """Once for each thing that is there, in its own thread; after the end there is no thread."""
    there, done, looks = [], [], []

    def look():
        looks.append(0)
        return bool(there)

    def act():
        done.append((there.pop(), threading.current_thread()))
    watch = ChangeMonitor(node, 0.001, look, act)
    plain.spin_once(0.1)
    assert done == [] and looks
    for word in ('one', 'two'):
        there.append(word)
        spin(plain)
        assert done.pop() == (word, threading.current_thread())
    watch.close()
    there.append('three')
    plain.spin_once(0.1)
    assert done == [] and 'watch' not in {thread.name for thread in threading.enumerate()}


def test_nothing_is_looked_for_without_an_executor(node):
    looks = []
    watch = ChangeMonitor(node, 0.001, lambda: bool(looks.append(0)), lambda: None)
    time.sleep(0.05)
    watch.close()
    assert looks == []


def test_a_signal_ends_a_wait(plain):
    """Its handler runs, and the wait is over; what was there before is there afterwards."""
    caught, before = [], signal.getsignal(signal.SIGUSR1)
    signal.signal(signal.SIGUSR1, lambda *_: caught.append(0))
    try:
        with woken_by_signals(lambda: plain.create_task(lambda: None)):
            sender = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGUSR1))
            sender.start()
            spin(plain)
            assert caught == [0]
            sender.join()
        os.kill(os.getpid(), signal.SIGUSR1)
        assert caught == [0, 0]
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert signal.set_wakeup_fd(-1) == -1
    assert 'signals' not in {thread.name for thread in threading.enumerate()}
