# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Hostile messages against the plain decoders over arrays that forgive nothing.

The same messages then go through the compiled decoders, which must do the very same.
"""

import struct

from fuzz.wire.buffers import joint_state_arrays, Strict
from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest
from robodyn_ros.wire import decoders
from robodyn_ros.wire.compile import compiled_decoders
from robodyn_ros.wire.decode_status import ACCEPTED, MALFORMED, REASONS
from robodyn_ros.wire.decoders import DecoderArrays
from robodyn_ros.wire.joint_state import JointStateEncoder, STATE

OURS = ['a', 'bc', 'Gelenk_ä']
VERY_LARGE = [0, 1, 2**29, 2**31 - 1, 2**31, 2**32 - 8, 2**32 - 4, 2**32 - 1]


@st.composite
def messages(draw):
    """Return a joint state, mostly cut, overwritten, or with a number that cannot be true."""
    names = draw(st.lists(st.sampled_from([*OURS, 'wheel', '', 'b']), max_size=5))
    numbers = st.lists(st.floats(), min_size=len(names), max_size=len(names))
    wire = bytearray(JointStateEncoder(names, draw(st.sampled_from(['', 'base', 'ä']))).encode(
        draw(st.integers(-2**60, 2**60)), draw(numbers), draw(numbers), draw(numbers)))
    places = st.integers(0, len(wire) - 1)
    for _ in range(draw(st.integers(0, 2))):
        wire[draw(places)] = draw(st.integers(0, 255))
    if draw(st.booleans()):
        struct.pack_into('<I', wire, draw(places.map(lambda i: i // 4 * 4)),
                         draw(st.sampled_from(VERY_LARGE)))
    return bytes(wire[:draw(places)] if draw(st.booleans()) else wire)


@settings(max_examples=130, deadline=None)
@given(st.lists(messages() | st.binary(max_size=80), min_size=1, max_size=5),
       st.sampled_from([0, 12, 30, 256]), st.integers(1, 60))
@pytest.mark.slow
def test_joint_states(stream, known, cut):
    plain, compiled = joint_state_arrays(OURS, known), joint_state_arrays(OURS, known)
    strict = DecoderArrays(*map(Strict, plain))
    # Each comes twice, the second time with known names, then cut where the names may still be.
    for k, wire in enumerate(part for m in stream for part in (m, m, m[:cut])):
        # Stale bytes behind the message, as in a buffer that is used again: never looked at.
        buffer = np.frombuffer(wire + b'\1' * 9, np.uint8)
        before = plain.state.tobytes(), plain.stamp.tobytes()
        code = decoders.joint_state(Strict(buffer[:len(wire)]), len(wire), float(k), k % 2,
                                    strict)
        assert code in REASONS
        if code != ACCEPTED:
            assert (plain.state.tobytes(), plain.stamp.tobytes()) == before
        again = compiled_decoders().joint_state(buffer, len(wire), float(k), k % 2, compiled)
        assert again == code
        for ours, theirs in zip(plain, compiled):
            assert ours.tobytes() == theirs.tobytes()


def test_names_are_known_again_whatever_the_padding_and_only_then():
    wire = np.frombuffer(bytearray(JointStateEncoder(OURS, 'base').encode(
        0, np.ones(3), np.ones(3), np.ones(3))), np.uint8)
    arrays = joint_state_arrays(OURS, 256)
    assert decoders.joint_state(wire, len(wire), 0.0, 0.0, arrays) == ACCEPTED
    layout, known, mask = arrays.layout, arrays.known, arrays.mask
    padding = np.flatnonzero(mask[:layout[decoders.NAMES_END]] == 0)[decoders.STAMP_END:]
    # Frame id, three names: 'base' and its NUL take 5 of 8 bytes, 'a' 2 of 4, 'bc' 3 of 4.
    assert padding.tolist() == [21, 22, 23, 34, 35, 43]
    for i in range(decoders.STAMP_END, layout[decoders.NAMES_END]):
        changed = wire.copy()
        changed[i] ^= 1
        same = decoders.names_are_known(changed, len(wire), layout, known, mask)
        assert same == (i in padding)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(VERY_LARGE) | st.integers(0, 2), st.lists(st.sampled_from(
    [struct.pack('<I', n) for n in [*VERY_LARGE, 2, 3]] + [b'ab\0\0', bytes(8)]), max_size=12),
    st.integers(0, 3))
@pytest.mark.slow
def test_efforts(dimensions, rest, cut):
    wire = b'\0\1\0\0' + struct.pack('<I', dimensions) + b''.join(rest)
    wire = wire[:len(wire) - cut]
    b = np.frombuffer(wire, np.uint8)
    outs = []
    for run in (decoders.efforts, compiled_decoders().efforts):
        scratch, out = np.zeros(2), np.full(2, 7.0)
        arrays = [scratch, scratch.view(np.uint8), out]
        message = b
        if run is decoders.efforts:
            arrays, message = [Strict(a) for a in arrays], Strict(b)
        code = run(message, len(wire), *arrays)
        assert code == ACCEPTED or out.tolist() == [7, 7]
        outs.append((code, out.tobytes(), scratch.tobytes()))
    assert outs[0] == outs[1]


@pytest.mark.parametrize('size', VERY_LARGE)
@pytest.mark.parametrize('place', range(4, 76, 4))
def test_no_count_makes_the_compiled_decoder_lose_its_way(size, place):
    wire = bytearray(JointStateEncoder(['a', 'bc'], 'f').encode(0, [1, 2], [3, 4], [5, 6]))
    struct.pack_into('<I', wire, place, size)
    arrays = joint_state_arrays(['a', 'bc'], 256)
    code = compiled_decoders().joint_state(np.frombuffer(bytes(wire), np.uint8), len(wire), 1.0,
                                           0.0, arrays)
    assert code in REASONS
    if place in (12, 20) and size > 8:          # length of the frame id, number of names
        assert code == MALFORMED


def test_the_columns_are_the_fields_of_the_record():
    columns = {name.lower(): value for name, value in vars(decoders).items()
               if name in [field.upper() for field in STATE.names]}
    assert columns == {name: k for k, name in enumerate(STATE.names)}


def test_the_strict_array_of_this_test_is_strict():
    strict = Strict(np.zeros((2, 3)))
    assert strict[1, 2] == 0
    for index in (-1, 2, (0, 3), (0, -1)):
        with pytest.raises(AssertionError):
            strict[index]
