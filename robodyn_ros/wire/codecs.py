# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Joint states and efforts between bytes and arrays in the joint order of the model."""

from collections.abc import Sequence
import math
import struct

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from .cdr import write, Writer
from .decoders import DecoderArrays
from . import decoders
from ..errors import ArgumentError
from ..state import no_state, STATE

MAX_LAYOUT_BYTES = 1 << 16    # of the names of a message whose layout is cached


def decoder_arrays(joint_names: Sequence[str]) -> DecoderArrays:
    """Return the memory of a decoder of joints, of which nothing is known yet."""
    n, encoded = len(joint_names), [name.encode() for name in joint_names]
    scratch = np.zeros((n, 3))
    return DecoderArrays(
        names=np.frombuffer(bytearray(b''.join(encoded)), np.uint8),
        ends=np.cumsum([0, *map(len, encoded)], dtype=np.int64),
        layout=np.zeros(decoders.LAYOUT_SIZE, np.int64), permutation=np.full(n, -1, np.int64),
        known=np.zeros(MAX_LAYOUT_BYTES, np.uint8), mask=np.zeros(MAX_LAYOUT_BYTES, np.uint8),
        scratch=scratch, scratch_bytes=scratch.reshape(-1).view(np.uint8),
        state=no_state(n).view(float).reshape(n, len(STATE.names or ())), stamp=np.full(1, np.nan))


class JointStateDecoder:
    """
    Decoder that keeps the latest state of the named joints, in any order and set of messages.

    Joints are found by name; joints of the message that are not ours are ignored, ours may be
    spread over several messages. One thread at a time may use a decoder.

    :param joint_names: our joints, in the order of ``state``.
    """

    def __init__(self, joint_names: Sequence[str]):
        self.joint_names = tuple(joint_names)
        for name in self.joint_names:
            if self.joint_names.count(name) > 1:
                raise ArgumentError(f'joint {name!r} is given twice', name='joint_names',
                                    value=self.joint_names, remedy='name each joint once')
        #: Memory of the compiled decoder.
        self.arrays = decoder_arrays(self.joint_names)
        #: (n,) records of STATE; refused messages leave it as it was.
        self.state: np.recarray = self.arrays.state.reshape(-1).view(STATE).view(np.recarray)
        # Here and not at the top: nodes start discovery before they import Numba
        from .compile import compiled_joint_state

        self._decode = compiled_joint_state()

    @property
    def stamp(self) -> float:
        """Header stamp of the last accepted message [s], NaN before the first one."""
        return float(self.arrays.stamp[0])

    @property
    def missing(self) -> tuple[str, ...]:
        """Our joints that no accepted message has carried yet."""
        absent = np.isnan(self.state['received'])
        return tuple(n for n, waiting in zip(self.joint_names, absent) if waiting)

    @property
    def not_finite(self) -> tuple[str, ...]:
        """Our joints for which the last message had numbers that are NaN or infinite."""
        position, velocity, effort = self.arrays.scratch.T
        wrong = ~np.isfinite(position) | np.isinf(velocity) | np.isinf(effort)
        return tuple(n for n, is_wrong in zip(self.joint_names, wrong) if is_wrong)

    def decode(self, message: bytes, received: float, sequence: float = math.nan) -> int:
        """
        Decode a serialized message; return ACCEPTED, or the code of a refusal.

        :param received: receipt time on the clock of the caller's choice [s].
        :param sequence: number that its publisher counts messages by, where it is known.
        """
        return self._decode(np.frombuffer(message, np.uint8), len(message), received, sequence,
                            self.arrays)

    def forget(self) -> None:
        """Forget all states."""
        self.state[...] = np.nan


class JointStateEncoder:
    """
    Writes JointState messages of the same joints: only the stamp and the numbers change.

    :param joint_names: names in the order in which the arrays will come.
    """

    def __init__(self, joint_names: Sequence[str], frame_id: str = ''):
        n = len(joint_names)
        out = Writer()
        out.pack('i', 0)
        out.pack('I', 0)
        out.string(frame_id)
        out.pack('I', n)
        for name in joint_names:
            out.string(name)
        self._buffer, (self._position, self._velocity, self._effort) = out.finish(n, n, n)

    def encode(self, stamp_ns: int, position: ArrayLike, velocity: ArrayLike,
               effort: ArrayLike) -> bytes:
        """
        Return the serialized message.

        :param stamp_ns: header stamp [ns].
        :param position: (n,) [rad | m]; velocity (n,) [rad/s | m/s]; effort (n,) [N·m | N].
        """
        struct.pack_into('<iI', self._buffer, 4, *divmod(stamp_ns, 1_000_000_000))
        write('position', position, self._position)
        write('velocity', velocity, self._velocity)
        write('effort', effort, self._effort)
        return bytes(self._buffer)


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
        from .compile import compiled_efforts

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
