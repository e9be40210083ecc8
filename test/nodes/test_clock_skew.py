# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A clock of another host that is off is named, once, and no slow message is taken for one."""

import time

import numpy as np
import pytest
from rclpy.serialization import serialize_message
from robodyn_ros.nodes.middleware.clock_skew import ClockSkew, MAX_CLOCK_OFFSET, TRANSIT_WINDOW
from robodyn_ros.nodes.middleware.raw_waitable import LargeMessages
from std_msgs.msg import Float64MultiArray


def test_a_clock_that_is_ahead_shows_in_the_first_message():
    clock = ClockSkew()
    assert '2.000 s ahead' in clock.note(-2.0, 'joint_trajectory')
    assert clock.note(-2.0, 'joint_trajectory') == '' and clock.offset == -2.0


def test_one_slow_message_is_no_clock_that_is_behind():
    clock = ClockSkew()
    said = [clock.note(transit, 'x') for transit in (3.0, *[0.01] * TRANSIT_WINDOW, 3.0)]
    assert not any(said)
    said = [clock.note(3.0, 'x') for _ in range(TRANSIT_WINDOW)]
    assert [bool(s) for s in said] == [False] * (TRANSIT_WINDOW - 2) + [True, False]


def test_times_of_another_epoch_are_left_out():
    clock = ClockSkew()
    assert clock.note(2 * MAX_CLOCK_OFFSET, 'x') == '' and clock.offset == 0.0


def test_the_transit_of_a_message_is_that_of_its_publication(node):
    """Between publication and receipt by the executor, on one host."""
    heard = []
    messages = LargeMessages(node, Float64MultiArray, 'large', 1, 1000,
                             lambda data, size: heard.append(messages.transit))
    publisher = node.create_publisher(Float64MultiArray, 'large', 1)
    message = serialize_message(Float64MultiArray(data=np.ones(3).tolist()))
    end = time.monotonic() + 20.0
    from rclpy.executors import SingleThreadedExecutor
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)
    while not heard and time.monotonic() < end:
        publisher.publish(message)
        executor.spin_once(0.1)
    executor.shutdown()
    assert heard == [pytest.approx(0.0, abs=10.0)] and heard[0] > 0.0
