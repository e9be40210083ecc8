# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Messages of any size through real DDS, taken past rclpy."""

from processes import until
import pytest
from rclpy.executors import SingleThreadedExecutor
from rclpy.serialization import serialize_message
from robodyn_ros.nodes.middleware.raw_waitable import LargeMessages
from robodyn_ros.realtime import serialized_bytes
from std_msgs.msg import String


class Reader:
    """A topic on which the test hears itself."""

    def __init__(self, node, most):
        self.heard = []
        self.messages = LargeMessages(node, String, 'text', 10, most,
                                      lambda data, size: self.heard.append((bytes(data), size)))
        self.publisher = node.create_publisher(String, 'text', 10)
        self.executor = SingleThreadedExecutor(context=node.context)
        self.executor.add_node(node)
        self.until(self.publisher.get_subscription_count)

    def until(self, condition):
        until(condition, lambda: self.executor.spin_once(0.05))


@pytest.fixture
def reader(node):
    reader = Reader(node, 1000)
    yield reader
    reader.executor.shutdown()


def test_messages_come_whole_and_in_order(reader):
    """Byte for byte what was published."""
    sent = [serialize_message(String(data=f'message {i}')) for i in range(5)]
    for data in sent:
        reader.publisher.publish(data)
    reader.until(lambda: len(reader.heard) == 5)
    assert reader.heard == [(data, len(data)) for data in sent]
    assert reader.messages.take_data() is None


def test_of_a_larger_one_the_beginning_and_the_size(reader):
    """However large it is, no more than asked for is handed out."""
    sent = serialize_message(String(data=10_000_000 * 'x'))
    reader.publisher.publish(sent)
    reader.until(lambda: reader.heard)
    assert reader.heard == [(sent[:1000], len(sent))]


def test_a_message_that_cannot_be_taken_is_told(reader, monkeypatch, capfd):
    """Nothing is raised in the executor, on which the arm's node depends; the next one comes."""
    with monkeypatch.context() as without_memory:
        without_memory.setattr(serialized_bytes.rcutils(), 'rcutils_get_default_allocator',
                               serialized_bytes.Allocator)
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
