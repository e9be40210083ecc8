# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The trial of what the native loop relies on: it passes on this machine, and can fail."""


import numpy as np
from processes import until
import pytest
import rclpy
from rclpy.context import Context
from robodyn_ros.errors import DataPathError
from robodyn_ros.nodes.middleware.raw_subscription import SerializedSubscription
from robodyn_ros.realtime.native import io, probe
from robodyn_ros.realtime.native.loop import aligned_copy
from robodyn_ros.wire.codecs import EffortEncoder
from std_msgs.msg import Float64MultiArray


@pytest.fixture
def ends():
    """Return a subscription and a publisher that have found each other."""
    context = Context()
    rclpy.init(context=context)
    node = rclpy.create_node('of_the_test', context=context)
    heard = SerializedSubscription(node, Float64MultiArray, 'trial', 10)
    ours = node.create_publisher(Float64MultiArray, 'trial', 10)
    until(lambda: heard.publisher_count() and ours.get_subscription_count())
    yield heard, ours
    node.destroy_node()
    context.shutdown()


def test_passes_again_and_again(ends):
    """Messages go out and come in, small and large, and nothing else is written."""
    heard, ours = ends
    for _ in range(20):
        probe.probe(heard.handle, ours.handle, ours.publish, heard.drain_numbered)


@pytest.mark.parametrize(('what', 'symbols', 'named'), [
    ('a function is missing', {'librcl.so': ('rcl_take_nothing',)}, 'rcl_take_nothing'),
    ('a library is missing', {'libnothing.so': ()}, 'libnothing.so')])
def test_names_what_is_missing(ends, monkeypatch, what, symbols, named):
    """Before the linker looks for it, which would end the process."""
    heard, ours = ends
    monkeypatch.setattr(io, 'SYMBOLS', symbols)
    with pytest.raises(DataPathError, match=named):
        probe.probe(heard.handle, ours.handle, ours.publish, heard.drain_numbered)


@pytest.mark.parametrize(('send', 'drain', 'said'), [
    (lambda message: message, lambda number: number + 1, 'numbers of messages'),
    (lambda message: message + b'\0\0\0\0', lambda number: number, 'as another one'),
    (None, lambda number: number, 'no message came back')])
def test_trusts_nothing_that_differs(ends, monkeypatch, send, drain, said):
    """Other bytes, other numbers or none at all end the trial."""
    heard, ours = ends
    monkeypatch.setattr(probe, 'TRIAL_TIMEOUT', 0.2)
    with pytest.raises(DataPathError, match=said):
        probe.probe(
            heard.handle, ours.handle,
            (lambda message: ours.publish(send(message))) if send else lambda message: None,
            lambda: [sample._replace(number=drain(sample.number))
                     for sample in heard.drain_numbered()])


def test_a_struct_of_another_size_is_seen(ends, monkeypatch):
    """What librcl writes behind the words that are expected is not overlooked."""
    heard, ours = ends
    canary = io.INFO_EXPECTED
    assert 3 <= canary < io.INFO_WORDS
    monkeypatch.setattr(probe, 'INFO_EXPECTED', 3)
    with pytest.raises(DataPathError, match='writes where it is not expected'):
        probe.probe(heard.handle, ours.handle, ours.publish, heard.drain_numbered)


def test_efforts_are_aligned_for_the_processor():
    """The numbers of a message are at the addresses that float64s have."""
    for n in range(1, 9):
        encoder = EffortEncoder(n)
        message, numbers = aligned_copy(encoder.message, encoder.numbers)
        assert numbers.ctypes.data % 8 == 0 and len(numbers) == n
        numbers[:] = np.arange(n)
        assert message.tobytes() == encoder.encode(np.arange(n))
