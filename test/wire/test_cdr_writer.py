# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The layout of messages as it is written, byte for byte."""

import numpy as np
import pytest
from robodyn_ros.errors import ArgumentError
from robodyn_ros.wire.cdr import write, Writer


def test_items_stand_at_their_alignment():
    out = Writer()
    out.string('é')
    out.pack('I', 0x01020304)
    buffer, (empty, pair) = out.finish(0, 2)
    assert bytes(buffer[:24]) == (b'\0\1\0\0' b'\3\0\0\0' b'\xc3\xa9\0' b'\0' b'\4\3\2\1'
                                  b'\0\0\0\0' b'\2\0\0\0')
    assert (len(buffer) - 4) % 8 == 0
    pair[:] = 1.0, -2.0
    assert bytes(buffer[-16:]) == np.array([1.0, -2.0], '<f8').tobytes()
    assert empty.size == 0


@pytest.mark.parametrize('numbers', [1.0, [1.0], [1.0, 2.0, 3.0], [[1.0, 2.0]]])
def test_numbers_are_never_broadcast(numbers):
    out = np.zeros(2)
    with pytest.raises(ArgumentError, match=r'tau has shape .*: give it shape \(2,\)'):
        write('tau', numbers, out)
    assert not out.any()
