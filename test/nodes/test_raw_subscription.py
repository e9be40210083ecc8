# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Serialized messages of any size through real DDS, and the ends a subscription must survive."""

import sys
import threading
import time

from processes import until
import pytest
from rclpy.qos import QoSProfile
from rclpy.serialization import serialize_message
from robodyn_ros.nodes.middleware.raw_subscription import SerializedSubscription
from robodyn_ros.nodes.middleware.raw_waitable import LargeMessages
from robodyn_ros.nodes.topics.trajectory_subscriber import (
    ClockSkew, MAX_CLOCK_OFFSET, TRANSIT_WINDOW)
from robodyn_ros.wire import cdr
from robodyn_ros.wire.codecs import JointStateDecoder, JointStateEncoder
from robodyn_ros.wire.decoders import ACCEPTED
from sensor_msgs.msg import JointState
from std_msgs.msg import String

NAMES = ['shoulder', 'elbow']
LONG = 60_000_000_000       # ns; what a wait that is ended by something else would last
DEADLINE = 60.0             # s; reached only by a test that fails

# Publishes faster than any reader takes.
FLOOD = """
import rclpy
from sensor_msgs.msg import JointState
rclpy.init()
out = rclpy.create_node('flood').create_publisher(JointState, 'joint_states', 1)
print('ready')
while True:
    out.publish(b'\\0\\1\\0\\0' + bytes(40))
"""


def connect(node):
    """Return a subscription of ``joint_states`` in this node, with one matched publisher."""
    subscription = SerializedSubscription(node, JointState, 'joint_states', 10)
    publisher = node.create_publisher(JointState, 'joint_states', 10)
    until(lambda: subscription.publisher_count() and publisher.get_subscription_count())
    return subscription, publisher


def collect(subscription, number):
    messages = []
    end = time.monotonic() + DEADLINE
    while len(messages) < number:
        assert time.monotonic() < end, f'only {len(messages)} messages came'
        subscription.wait(100_000_000)
        messages += subscription.drain()
    return messages


def in_thread(function):
    """Start ``function`` in a thread; return what joins it and gives its result."""
    result = []
    thread = threading.Thread(target=lambda: result.append(function()), daemon=True)
    thread.start()

    def join():
        thread.join(DEADLINE)
        assert not thread.is_alive(), 'the wait goes on'
        return result[0]
    return join


def test_drain_gives_all_in_order_then_nothing(node):
    subscription, publisher = connect(node)
    encoder, decoder = JointStateEncoder(NAMES), JointStateDecoder(NAMES)
    for k in range(5):
        publisher.publish(encoder.encode(0, [k, k], [0, 0], [0, 0]))
    for k, message in enumerate(collect(subscription, 5)):
        assert decoder.decode(message, 0.0) == ACCEPTED
        assert decoder.state.position[0] == k
    assert subscription.drain() == []
    assert not subscription.wait(0)


def test_drain_comes_to_an_end_under_a_flood(node, start):
    subscription = SerializedSubscription(node, JointState, 'joint_states', QoSProfile(depth=2))
    start([sys.executable, '-c', FLOOD]).wait_for_line('ready')
    sizes = []
    while len(sizes) < 500:
        assert subscription.wait(LONG)
        sizes.append(len(subscription.drain()))
    assert max(sizes) <= 2


def test_an_executor_leaves_the_messages_alone(node, plain):
    subscription, publisher = connect(node)
    publisher.publish(JointStateEncoder(NAMES).encode(0, [1, 2], [0, 0], [0, 0]))
    assert subscription.wait(LONG)
    ticks = []
    timer = node.create_timer(0.001, lambda: ticks.append(1))
    while len(ticks) < 5:
        plain.spin_once()
    timer.cancel()
    assert len(subscription.drain()) == 1


def test_waits_end(node):
    subscription = SerializedSubscription(node, JointState, 'joint_states', 10)
    assert not subscription.wait(1_000_000)
    assert not subscription.wait(-1)
    subscription = SerializedSubscription(node, JointState, 'joint_states', 10)
    join = in_thread(lambda: subscription.wait(LONG))
    subscription.wake()
    assert not join()
    assert not subscription.wait(1_000_000)


@pytest.mark.parametrize('end', ['destroy', 'destroy_node', 'shutdown'])
def test_what_ends_under_a_waiting_thread_ends_it_quietly(node, end):
    subscription = SerializedSubscription(node, JointState, 'joint_states', 10)
    running, over = threading.Event(), threading.Event()

    def loop():
        while not over.is_set():
            subscription.wait(1_000_000)
            subscription.drain()
            running.set()
        return 'clean'

    join = in_thread(loop)
    assert running.wait(DEADLINE)
    {'destroy': subscription.destroy, 'destroy_node': node.destroy_node,
     'shutdown': node.context.shutdown}[end]()
    over.set()
    assert join() == 'clean'
    assert subscription.drain() == []
    assert not subscription.wait(LONG)
    assert subscription.publisher_count() == 0
    subscription.wake()
    subscription.destroy()


@pytest.mark.parametrize('end', ['destroy', 'shutdown'])
def test_a_long_wait_is_ended_before_its_time(node, end):
    subscription = SerializedSubscription(node, JointState, 'joint_states', 10)
    join = in_thread(lambda: subscription.wait(10 * LONG))
    time.sleep(0.05)        # most likely it waits by now; the outcome is the same if it does not
    {'destroy': subscription.destroy, 'shutdown': node.context.shutdown}[end]()
    assert not join()


class Reader:
    """A topic on which the test hears itself."""

    def __init__(self, node, executor, most):
        self.heard, self.executor = [], executor
        self.messages = LargeMessages(node, String, 'text', 10, most,
                                      lambda data, size: self.heard.append((bytes(data), size)))
        self.publisher = node.create_publisher(String, 'text', 10)
        self.until(self.publisher.get_subscription_count)

    def until(self, condition):
        until(condition, lambda: self.executor.spin_once(0.05))


@pytest.fixture
def reader(node, plain):
    return Reader(node, plain, 1000)


def test_messages_come_whole_or_with_their_size(reader):
    # Byte for byte what was published.
    sent = [serialize_message(String(data=f'message {i}')) for i in range(5)]
    for data in sent:
        reader.publisher.publish(data)
    reader.until(lambda: len(reader.heard) == 5)
    assert reader.heard == [(data, len(data)) for data in sent]
    assert reader.messages.take_data() is None
    reader.heard.clear()
    # However large it is, no more than asked for is handed out.
    sent = serialize_message(String(data=10_000_000 * 'x'))
    reader.publisher.publish(sent)
    reader.until(lambda: reader.heard)
    assert reader.heard == [(sent[:1000], len(sent))]


def test_a_message_that_cannot_be_taken_is_told(reader, monkeypatch, capfd):
    """Nothing is raised in the executor, on which the arm's node depends; the next one comes."""
    with monkeypatch.context() as without_memory:
        without_memory.setattr(cdr.rcutils(), 'rcutils_get_default_allocator', cdr.Allocator)
        reader.publisher.publish(String(data='lost'))
        said = ''
        while 'a message on /text is lost: rcl error' not in said:
            reader.executor.spin_once(0.05)
            said += capfd.readouterr().err
    reader.publisher.publish(String(data='here'))
    reader.until(lambda: reader.heard)
    assert b'here' in reader.heard[0][0]


def test_nothing_comes_when_the_context_is_gone(reader, node):
    """No error: there is simply no message any more."""
    node.context.shutdown()
    assert reader.messages.take_data() is None


def test_times_of_other_clocks():
    clock = ClockSkew()
    assert '2.000 s ahead' in clock.note(-2.0, 'joint_trajectory')
    assert clock.note(-2.0, 'joint_trajectory') == '' and clock.offset == -2.0
    clock = ClockSkew()
    said = [clock.note(transit, 'x') for transit in (3.0, *[0.01] * TRANSIT_WINDOW, 3.0)]
    assert not any(said)
    said = [clock.note(3.0, 'x') for _ in range(TRANSIT_WINDOW)]
    assert [bool(s) for s in said] == [False] * (TRANSIT_WINDOW - 2) + [True, False]
    clock = ClockSkew()
    assert clock.note(2 * MAX_CLOCK_OFFSET, 'x') == '' and clock.offset == 0.0


def test_the_transit_of_a_message_is_that_of_its_publication(reader):
    """Between publication and receipt by the executor, on one host."""
    reader.publisher.publish(String(data='now'))
    reader.until(lambda: reader.heard)
    assert 0.0 < reader.messages.transit < 10.0
