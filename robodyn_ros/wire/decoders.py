# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Decoders of joint states and efforts: plain functions that never raise or read past the message.

Each decodes into a scratch array first and writes its result only once everything is checked, so
a refused message leaves no trace. :mod:`robodyn_ros.wire.compile` compiles them; the classes that
hold their arrays are in ``codecs.py``.
"""

import math
from typing import NamedTuple

from numpy import ndarray

from .cdr import aligned, body_end, BODY_OFFSET, copy_double, count, doubles, string, u32

ACCEPTED = 0
MALFORMED = 1
LENGTHS = 2
DUPLICATE = 3
NON_FINITE = 4
FOREIGN = 5

REASONS: dict[int, str] = {
    ACCEPTED: 'accepted',
    MALFORMED: 'the bytes are cut off or not plain little-endian CDR',
    LENGTHS: 'the arrays do not have the number of elements they must have',
    DUPLICATE: 'a joint of the robot is named twice',
    NON_FINITE: 'a number is NaN or infinite where it must not be',
    FOREIGN: 'no joint of the robot is in it',
}


STAMP_END = BODY_OFFSET + 8    # offset after the two 32-bit numbers of the stamp

# Elements of `DecoderArrays.layout`: what is known of the names of the last accepted message.
NAMES_END, NAME_COUNT, OUR_COUNT, REPEATED, LAYOUT_SIZE = 0, 1, 2, 3, 4

# Columns of `DecoderArrays.state`, in the order of the fields of STATE.
POSITION, VELOCITY, EFFORT, RECEIVED, SEQUENCE, OTHER, STAMP = range(7)


class DecoderArrays(NamedTuple):
    """Memory of a decoder of joint states, for n joints."""

    names: ndarray          # UTF-8 of the joint names; name j is names[ends[j]:ends[j + 1]]
    ends: ndarray           # (n + 1,) int64
    layout: ndarray         # (LAYOUT_SIZE,) int64, of the names of the last accepted message
    permutation: ndarray    # (n,) int64, element of that message that is joint j; -1: none
    known: ndarray          # its bytes as far as the names go; longer names are parsed each time
    mask: ndarray           # same shape, zero where the byte is padding
    scratch: ndarray        # (n, 3) float64
    scratch_bytes: ndarray  # (24 n,) uint8, the memory of `scratch`
    state: ndarray          # (n, 7) float64, the fields of STATE
    stamp: ndarray          # (1,) float64, header stamp of the last accepted message [s]


def find(b: ndarray, begin: int, end: int, names: ndarray, ends: ndarray) -> int:
    """Return the number of the joint whose name is ``b[begin:end]``, -1 if there is none."""
    for joint in range(ends.shape[0] - 1):
        first = ends[joint]
        if ends[joint + 1] - first == end - begin:
            same = True
            for i in range(end - begin):
                if b[begin + i] != names[first + i]:
                    same = False
                    break
            if same:
                return joint
    return -1


def parse_names(b: ndarray, length: int, names: ndarray, ends: ndarray, layout: ndarray,
                permutation: ndarray) -> bool:
    """Fill ``layout`` and ``permutation`` from frame id and names; return whether they fit in."""
    for joint in range(permutation.shape[0]):
        permutation[joint] = -1
    layout[NAMES_END] = layout[OUR_COUNT] = layout[REPEATED] = 0
    begin, end, offset = string(b, length, STAMP_END)
    if begin < 0:
        return False
    number, offset = count(b, length, offset)
    if number < 0:
        return False
    for k in range(number):
        begin, end, offset = string(b, length, offset)
        if begin < 0:
            return False
        joint = find(b, begin, end, names, ends)
        if joint >= 0:
            if permutation[joint] >= 0:
                layout[REPEATED] = 1
            permutation[joint] = k
            layout[OUR_COUNT] += 1
    layout[NAMES_END], layout[NAME_COUNT] = offset, number
    return True


def names_are_known(b: ndarray, length: int, layout: ndarray, known: ndarray,
                    mask: ndarray) -> bool:
    """Return whether frame id and names are those of the last accepted message, byte for byte."""
    end = layout[NAMES_END]
    if end == 0 or end > length or end > known.shape[0]:
        return False
    difference = 0
    for i in range(STAMP_END, end):     # no early exit: vectorized
        difference |= (b[i] ^ known[i]) & mask[i]
    return difference == 0


def remember_names(b: ndarray, length: int, layout: ndarray, known: ndarray,
                   mask: ndarray) -> None:
    """Keep frame id and names of an accepted message; mask out padding, which is arbitrary."""
    end = layout[NAMES_END]
    if end > known.shape[0]:
        return
    for i in range(STAMP_END, end):
        known[i], mask[i] = b[i], 255
    begin, _, offset = string(b, length, STAMP_END)
    for i in range(offset, min(aligned(offset, 4), end)):
        mask[i] = 0
    _, offset = count(b, length, offset)
    for _ in range(layout[NAME_COUNT]):
        begin, _, offset = string(b, length, offset)
        for i in range(offset, min(aligned(offset, 4), end)):
            mask[i] = 0


def time_of(b: ndarray) -> float:
    """Return the time [s] that a message of at least STAMP_END bytes begins with."""
    seconds = u32(b, BODY_OFFSET)
    if seconds >= 1 << 31:
        seconds -= 1 << 32
    return (seconds * 1_000_000_000 + u32(b, BODY_OFFSET + 4)) * 1e-9


def joint_state(b: ndarray, length: int, received: float, sequence: float,
                arrays: DecoderArrays) -> int:
    """
    Decode a sensor_msgs/JointState; return one of the codes above.

    :param b: bytes of the message, the first ``length`` of them valid.
    :param received: receipt time to note for each joint of the message [s].
    :param sequence: number that its publisher counts messages by, NaN where it is not known.
    :param arrays: memory of the decoder; ``state`` and ``stamp`` are written for ACCEPTED only.
    """
    layout, known, mask = arrays.layout, arrays.known, arrays.mask
    length = body_end(b, length)
    if length < STAMP_END:
        return MALFORMED
    cached = names_are_known(b, length, layout, known, mask)
    if not cached and not parse_names(b, length, arrays.names, arrays.ends, layout,
                                      arrays.permutation):
        return MALFORMED
    end = layout[NAMES_END]
    if not cached:
        layout[NAMES_END] = 0           # not known until accepted
    code = decode_numbers(b, length, end, arrays)
    if code != ACCEPTED:
        return code
    arrays.stamp[0] = time_of(b)
    store(arrays, received, sequence)
    if not cached:
        layout[NAMES_END] = end
        remember_names(b, length, layout, known, mask)
    return ACCEPTED


def decode_numbers(b: ndarray, length: int, end: int, arrays: DecoderArrays) -> int:
    """
    Copy positions, velocities and efforts of our joints to ``scratch``; return a decode status.

    :param end: offset behind the names.
    """
    layout, scratch, scratch_bytes = arrays.layout, arrays.scratch, arrays.scratch_bytes
    number = layout[NAME_COUNT]
    positions, position, offset = doubles(b, length, end)
    velocities, velocity, offset = doubles(b, length, offset)
    efforts, effort, offset = doubles(b, length, offset)
    if positions < 0 or velocities < 0 or efforts < 0:
        return MALFORMED
    if layout[OUR_COUNT] == 0:
        return FOREIGN
    if layout[REPEATED]:
        return DUPLICATE
    if (positions != number or (velocities != 0 and velocities != number)
            or (efforts != 0 and efforts != number)):
        return LENGTHS
    for joint in range(arrays.permutation.shape[0]):
        k = arrays.permutation[joint]
        if k >= 0:
            copy_double(b, position + 8 * k, scratch_bytes, 3 * joint)
            scratch[joint, 1] = scratch[joint, 2] = math.nan
            if velocities > 0:
                copy_double(b, velocity + 8 * k, scratch_bytes, 3 * joint + 1)
            if efforts > 0:
                copy_double(b, effort + 8 * k, scratch_bytes, 3 * joint + 2)
            if (not math.isfinite(scratch[joint, 0]) or math.isinf(scratch[joint, 1])
                    or math.isinf(scratch[joint, 2])):
                return NON_FINITE
    return ACCEPTED


def store(arrays: DecoderArrays, received: float, sequence: float) -> None:
    """Write the sample in ``scratch`` to ``state``."""
    state, scratch = arrays.state, arrays.scratch
    measured = arrays.stamp[0] if arrays.stamp[0] != 0.0 else math.nan
    for joint in range(arrays.permutation.shape[0]):
        if arrays.permutation[joint] >= 0:
            for i in range(3):
                state[joint, i] = scratch[joint, i]
            if state[joint, SEQUENCE] >= sequence:      # a publisher only counts up
                state[joint, OTHER] = state[joint, RECEIVED]
            state[joint, SEQUENCE] = sequence
            state[joint, RECEIVED] = received
            state[joint, STAMP] = measured


def efforts(b: ndarray, length: int, scratch: ndarray, scratch_bytes: ndarray,
            out: ndarray) -> int:
    """
    Decode a std_msgs/Float64MultiArray of n numbers; return one of them.

    The layout is skipped, as effort controllers do.

    :param b: bytes of the message, the first ``length`` of them valid.
    :param scratch: (n,) float64; ``scratch_bytes`` (8 n,) uint8 is its memory.
    :param out: (n,) float64 [N·m | N], written for ACCEPTED only.
    """
    length = body_end(b, length)
    dimensions, offset = count(b, length, BODY_OFFSET)
    for _ in range(dimensions):
        begin, _, offset = string(b, length, offset)            # label
        size, offset = count(b, length, offset)
        stride, offset = count(b, length, offset)
        if begin < 0 or stride < 0:
            return MALFORMED
    first, offset = count(b, length, offset)                    # data_offset
    number, begin, offset = doubles(b, length, offset)
    if dimensions < 0 or number < 0:
        return MALFORMED
    n = out.shape[0]
    if number != n:
        return LENGTHS
    for i in range(n):
        copy_double(b, begin + 8 * i, scratch_bytes, i)
        if not math.isfinite(scratch[i]):
            return NON_FINITE
    for i in range(n):
        out[i] = scratch[i]
    return ACCEPTED
