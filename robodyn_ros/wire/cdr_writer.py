# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Laying out a CDR message once, so that afterwards only its numbers have to be written."""

import struct

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from .cdr import aligned
from ..errors import ArgumentError


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
