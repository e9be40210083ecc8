# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""std_msgs/Float64MultiArray of joint efforts between bytes and arrays."""

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from .cdr import write, Writer
from .compile import compiled_efforts
from .decoders import ACCEPTED, LENGTHS, MALFORMED, NON_FINITE, REASONS
from ..errors import ArgumentError

__all__ = ['ACCEPTED', 'LENGTHS', 'MALFORMED', 'NON_FINITE', 'REASONS',
           'EffortDecoder', 'EffortEncoder']


class EffortEncoder:
    """Writes messages of ``n`` efforts without a layout, as effort controllers take them."""

    def __init__(self, n: int):
        out = Writer()
        out.pack('I', 0)                # dimensions
        out.pack('I', 0)                # data offset
        self._buffer, (self._tau,) = out.finish(n)
        #: The message and a view of its n numbers, for direct writing.
        self.message, self.numbers = np.frombuffer(self._buffer, np.uint8), self._tau

    def encode(self, tau: ArrayLike) -> bytes:
        """Return the serialized message of the efforts ``tau`` (n,) [N·m | N]."""
        write('tau', tau, self._tau)
        return bytes(self._buffer)


class EffortDecoder:
    """Reads messages of exactly ``n`` efforts; a layout is ignored, as effort controllers do."""

    def __init__(self, n: int):
        self._scratch = np.zeros(n)
        self._arrays = self._scratch, self._scratch.view(np.uint8)
        self._decode = compiled_efforts()

    def decode(self, message: bytes, out: ndarray) -> int:
        """
        Write the efforts to ``out`` and return ACCEPTED, or the code of why it is untouched.

        :param out: (n,) float64 [N·m | N].
        """
        if out.shape != self._scratch.shape:
            raise ArgumentError(f'out has shape {out.shape}', name='out', value=out,
                                remedy=f'give it shape {self._scratch.shape}')
        return self._decode(np.frombuffer(message, np.uint8), len(message), *self._arrays, out)
