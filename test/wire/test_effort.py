# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Effort messages against rclpy's own serialisation."""

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest
from rclpy.serialization import deserialize_message, serialize_message
from robodyn_ros.errors import ArgumentError
from robodyn_ros.wire.codecs import EffortDecoder, EffortEncoder
from robodyn_ros.wire.decoders import ACCEPTED, LENGTHS
from std_msgs.msg import Float64MultiArray, MultiArrayDimension, MultiArrayLayout

NUMBER = st.floats(allow_nan=False, allow_infinity=False)


def message(data, labels=()):
    dimensions = [MultiArrayDimension(label=text, size=2, stride=3) for text in labels]
    return serialize_message(
        Float64MultiArray(layout=MultiArrayLayout(dim=dimensions), data=data))


@given(st.lists(NUMBER, max_size=9), st.lists(st.text('ä/x', max_size=7), max_size=3))
def test_reads_what_rclpy_writes(data, labels):
    out = np.full(len(data), np.nan)
    assert EffortDecoder(len(data)).decode(message(data, labels), out) == ACCEPTED
    assert out.tolist() == data


@given(st.lists(NUMBER, max_size=9))
def test_rclpy_reads_what_the_encoder_writes(tau):
    encoder = EffortEncoder(len(tau))
    for numbers in ([7.0] * len(tau), tau):
        read = deserialize_message(encoder.encode(numbers), Float64MultiArray)
        assert (read.data.tolist(), read.layout.dim) == (numbers, [])


def test_a_refused_message_leaves_the_output_alone():
    # Others are in test_wire_fuzz.py.
    out = np.full(3, 7.0)
    assert EffortDecoder(3).decode(message([1, 2]), out) == LENGTHS
    assert out.tolist() == [7, 7, 7]
    with pytest.raises(ArgumentError, match=r'out has shape \(3,\): give it shape \(2,\)'):
        EffortDecoder(2).decode(message([1, 2]), np.zeros(3))
    with pytest.raises(ArgumentError, match='tau has shape'):
        EffortEncoder(2).encode(np.zeros(1))
