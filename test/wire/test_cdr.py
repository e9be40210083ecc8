# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The primitives of CDR, one by one."""

import struct

import numpy as np
import pytest
from robodyn_ros.wire import cdr

HEADER = b'\0\1\0\0'


def array(*parts):
    return np.frombuffer(HEADER + b''.join(parts), np.uint8)


def u32(value):
    return struct.pack('<I', value)


@pytest.mark.parametrize('header, end', [
    (b'\0\1\0\0', 300), (b'\0\1\xff\0', 300), (b'\0\1\0\1', 299), (b'\0\1\0\xff', 297),
    (b'\0\0\0\0', -1), (b'\1\1\0\0', -1), (b'\0\7\0\0', -1)])
def test_end_of_the_body(header, end):
    assert cdr.body_end(np.frombuffer(header + bytes(296), np.uint8), 300) == end


@pytest.mark.parametrize('length', range(4))
def test_a_message_shorter_than_its_header_has_no_body(length):
    assert cdr.body_end(array()[:length], length) == -1


def test_alignment_counts_from_the_body():
    for size in (1, 2, 4, 8):
        for offset in range(4, 40):
            place = cdr.aligned(offset, size)
            assert (place - 4) % size == 0
            assert offset <= place < offset + size


@pytest.mark.parametrize('value', [0, 1, 255, 256, 2**31 - 1, 2**31, 2**32 - 1])
def test_counts_are_unsigned(value):
    b = array(b'x', b'\xff\xff\xff', u32(value))
    assert cdr.count(b, len(b), 5) == (value, 12)
    assert cdr.count(b, len(b) - 1, 5)[0] == -1


@pytest.mark.parametrize('wire, characters', [
    (u32(3) + b'ab\0', b'ab'), (u32(1) + b'\0', b''), (u32(0), b''),
    (u32(2) + b'ab', None),                 # no NUL
    (u32(3) + b'a\0\0', None),              # a NUL inside
    (u32(4) + b'ab\0', None), (u32(2**32 - 1) + b'ab\0', None), (b'\3\0\0', None)])
def test_strings(wire, characters):
    b = array(wire)
    begin, end, after = cdr.string(b, len(b), 4)
    if characters is None:
        assert begin == -1
    else:
        assert b[begin:end].tobytes() == characters
        assert after == len(b)


@pytest.mark.parametrize('size', [2, 2**29, 2**31, 2**32 - 1])
def test_a_sequence_longer_than_the_message_is_cut_off(size):
    b = array(u32(size), u32(0), bytes(15))
    assert cdr.doubles(b, len(b), 4)[0] == -1


def test_an_empty_sequence_has_no_padding_behind_it():
    b = array(u32(0), u32(1), bytes(8))
    assert cdr.doubles(b, len(b), 4) == (0, 8, 8)
    assert cdr.doubles(b, len(b), 8) == (1, 12, 20)
    assert cdr.doubles(b, len(b) - 1, 8)[0] == -1
