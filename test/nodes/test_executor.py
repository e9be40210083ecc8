# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""No exception of a callback, nor of what comes before it, ends an executor or locks a group."""

from processes import DEADLINE
import pytest
from rclpy.executors import ExternalShutdownException
from rclpy.waitable import NumberOfEntities, Waitable
from robodyn_ros.nodes.executor import BURST, TolerantExecutor
from robodyn_ros.nodes.raw_subscription import RCLError


class Untakeable(Waitable):
    """Something of a node that is always ready, and raises an exception when it is taken."""

    def __init__(self, node):
        super().__init__(node.default_callback_group)
        self.taken = 0
        node.add_waitable(self)

    def take_data(self):
        self.taken += 1
        raise OSError('out of order')

    async def execute(self, taken_data):
        raise AssertionError('nothing was taken')

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


def test_what_cannot_be_taken_locks_no_group(node, executor, capfd):
    """It is asked again, and others of its group run."""
    ticks, broken = [], Untakeable(node)
    node.create_timer(0.001, lambda: ticks.append(0))
    for _ in range(100):
        executor.spin_once(DEADLINE)
    assert broken.taken == 2 and len(ticks) > 10
    assert capfd.readouterr().err.count('OSError: out of order') == 2


def test_a_stream_of_exceptions_does_not_fill_the_log(node, executor, capfd):
    """The first few are told of, and that there were more."""
    raised = []

    def failing():
        raised.append(0)
        raise OSError('out of order')
    node.create_timer(0.0001, failing)
    while len(raised) < 500:
        executor.spin_once(DEADLINE)
    said = capfd.readouterr().err.count('the node goes on')
    assert BURST <= said < 100


def test_tasks_may_raise_too(node, executor, capfd):
    def failing():
        raise OSError('out of order')
    executor.create_task(failing)
    executor.spin_once(DEADLINE)
    assert 'OSError: out of order' in capfd.readouterr().err


def test_the_end_of_ros_ends_it(node, executor):
    node.context.try_shutdown()
    with pytest.raises((ExternalShutdownException, RCLError)):
        executor.spin_once(DEADLINE)
