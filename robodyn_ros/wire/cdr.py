# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Bounds-checked reading of CDR (XCDR1, little endian).

Offsets count from the first byte of the serialized message: 4 bytes of encapsulation header, then
the body, whose alignment counts from byte 4. Plain functions over any indexable of bytes, compiled
by :mod:`robodyn_ros.wire.compile`. Each takes ``length``, the number of valid bytes, and returns
-1 in its first element where an item would reach past it; no byte beyond is ever looked at. Counts
are 32 bits wide and sums of them are made in 64, so none of them can wrap around.
"""

import struct

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from ..errors import ArgumentError

BODY_OFFSET = 4    # of the first byte after the encapsulation header


def body_end(b: ndarray, length: int) -> int:
    """
    Return where the body of plain little-endian CDR ends, -1 if ``b`` is anything else.

    The last two bits of the header count the bytes of padding behind the body.
    """
    if length < BODY_OFFSET or b[0] != 0 or b[1] != 1:
        return -1
    return length - np.int64(b[3] & 3)          # type: ignore[return-value]


def aligned(offset: int, size: int) -> int:
    """Return the next offset at which an item of ``size`` bytes (a power of 2) may begin."""
    return ((offset - BODY_OFFSET + size - 1) & -size) + BODY_OFFSET


def u32(b: ndarray, offset: int) -> int:
    """Return the unsigned 32 bits at ``offset``, which the caller has found to be inside."""
    return (np.int64(b[offset]) | np.int64(b[offset + 1]) << 8      # type: ignore[return-value]
            | np.int64(b[offset + 2]) << 16 | np.int64(b[offset + 3]) << 24)


def count(b: ndarray, length: int, offset: int) -> tuple[int, int]:
    """Return (number, offset behind it) of an unsigned 32-bit number, -1 where it is cut off."""
    begin = aligned(offset, 4)
    if begin + 4 > length:
        return -1, begin
    return u32(b, begin), begin + 4


def string(b: ndarray, length: int, offset: int) -> tuple[int, int, int]:
    """
    Return (first character, end of the characters, offset behind) of a string.

    The terminating NUL is part of the wire's length but not of the characters. Empty strings
    are also met with length 0. A string without its NUL, or with another one inside, is refused
    as cut off: readers disagree about what such a name is.
    """
    size, begin = count(b, length, offset)
    if size < 0 or size > length - begin:
        return -1, begin, begin
    if size == 0:
        return begin, begin, begin
    last = begin + size - 1
    for i in range(begin, last):
        if b[i] == 0:
            return -1, begin, begin
    if b[last] != 0:
        return -1, begin, begin
    return begin, last, last + 1


def doubles(b: ndarray, length: int, offset: int) -> tuple[int, int, int]:
    """Return (number of elements, first byte, offset behind) of a sequence of float64."""
    size, after = count(b, length, offset)
    if size <= 0:                   # an empty sequence is not followed by padding
        return size, after, after
    begin = aligned(after, 8)
    if size > (length - begin) // 8:
        return -1, after, after
    return size, begin, begin + 8 * size


def copy_double(b: ndarray, offset: int, to: ndarray, index: int) -> None:
    """Copy the float64 at ``offset`` to element ``index`` of the array whose bytes are ``to``."""
    for i in range(8):
        to[8 * index + i] = b[offset + i]


class Writer:
    """Appends plain little-endian CDR items to a buffer, each at its alignment."""

    def __init__(self) -> None:
        self.buffer = bytearray(b'\x00\x01\x00\x00')

    def align(self, size: int) -> None:
        """Pad with zeros to the next place for an item of ``size`` bytes."""
        self.buffer += bytes(aligned(len(self.buffer), size) - len(self.buffer))

    def pack(self, code: str, value: float) -> None:
        """Append one number of the type that ``code`` means in :mod:`struct`."""
        self.align(struct.calcsize(code))
        self.buffer += struct.pack(f'<{code}', value)

    def string(self, text: str) -> None:
        """Append a string; a NUL inside would end it early for most readers and is refused."""
        if '\0' in text:
            raise ArgumentError(f'{text!r} has a NUL character', name='text', value=text,
                                remedy='names are text without control characters')
        encoded = text.encode() + b'\0'
        self.pack('I', len(encoded))
        self.buffer += encoded

    def finish(self, *sizes: int) -> tuple[bytearray, list[ndarray]]:
        """Append sequences of float64; return the buffer and, for each, a view of its numbers."""
        begins = []
        for size in sizes:
            self.pack('I', size)
            if size:
                self.align(8)
            begins.append(len(self.buffer))
            self.buffer += bytes(8 * size)
        return self.buffer, [np.frombuffer(self.buffer, '<f8', size, begin)
                             for size, begin in zip(sizes, begins)]


def write(name: str, numbers: ArrayLike, out: ndarray) -> None:
    """Copy ``numbers`` to ``out``; :class:`ArgumentError` unless they have its very shape."""
    if np.shape(numbers) != out.shape:
        raise ArgumentError(f'{name} has shape {np.shape(numbers)}', name=name, value=numbers,
                            remedy=f'give it shape {out.shape}')
    out[:] = numbers
