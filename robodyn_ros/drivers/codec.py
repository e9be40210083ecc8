# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Frames of motors that are controlled by position, velocity, stiffness, damping and torque at once.

This is the "MIT mode" of Damiao, and the operation control of RobStride. Numbers are sent as codes
of 12 or 16 bits in a range that the motor has; they are rounded to the nearest code, so that zero,
which lies between two codes, is off by half a step.
"""

from math import nan, pi
import struct
from typing import NamedTuple

from .frames import EXTENDED, Frame

SPECIAL = 0xFF_FFFF_FFFF_FFFF      # first seven bytes of frames of Damiao that are no commands


class Ranges(NamedTuple):
    """What the largest codes mean: of ±position, ±velocity, ±effort, stiffness and damping."""

    position: float         # [rad]
    velocity: float         # [rad/s]
    effort: float           # [N·m]
    stiffness: float = 500.0    # [N·m/rad]
    damping: float = 5.0        # [N·m·s/rad]


class Command(NamedTuple):
    """What a motor is to do: effort + stiffness (position - q) + damping (velocity - q̇)."""

    position: float = 0.0
    velocity: float = 0.0
    stiffness: float = 0.0
    damping: float = 0.0
    effort: float = 0.0


class Answer(NamedTuple):
    """State of a motor [rad, rad/s, N·m, °C]; ``rotor`` is NaN where it is not measured."""

    position: float
    velocity: float
    effort: float
    mosfet: float
    rotor: float
    status: int         # see `words` of the codec
    enabled: bool
    at_end: bool        # whether the position is at an end of its range, and perhaps beyond


def encoded(value: float, limit: float, bits: int) -> int:
    """
    Return the nearest code of a number in ±limit; beyond it, that of the limit.

    :raises ValueError, OverflowError: it is NaN or infinite.
    """
    most = (1 << bits) - 1
    code = round(0.5 * most * (value / limit + 1.0))
    return code if 0 <= code <= most else most * (code > 0)


def encoded_gain(value: float, limit: float, bits: int) -> int:
    """Return the nearest code of a number from 0 to the limit, as :func:`encoded`."""
    most = (1 << bits) - 1
    code = round(most * value / limit)
    return code if 0 <= code <= most else most * (code > 0)


def decoded(code: int, limit: float, bits: int) -> float:
    """Return the number in ±limit that a code stands for."""
    return (2.0 * code / ((1 << bits) - 1) - 1.0) * limit


class Damiao:
    """
    Frames to and from a motor of Damiao in MIT mode.

    :param identifier: of the motor, and ``reply`` of its answers.
    """

    # Numbers that types are known to have, in the order of Ranges. Public tables contradict each
    # other, and the registers of a motor say which ones it has
    TYPES = {
        'DM3507': ((12.5, 12.566), (50.0,), (5.0, 10.0)), 'DM4310': ((12.5,), (30.0,), (10.0,)),
        'DM4310V': ((12.5, 3.1416), (30.0, 50.0), (10.0,)),
        'DM4340': ((12.5,), (8.0, 10.0), (28.0,)), 'DM6006': ((12.5,), (45.0,), (20.0,)),
        'DM8006': ((12.5,), (45.0,), (40.0,)),
        'DM8009': ((12.5,), (45.0,), (54.0,)), 'DM10010': ((12.5,), (20.0,), (200.0,)),
        'DM10010L': ((12.5,), (25.0,), (200.0,)), 'DM6248': ((12.566,), (20.0,), (120.0,)),
        'DMH3510': ((12.5,), (280.0,), (1.0,)), 'DMH6215': ((12.5,), (45.0,), (10.0,)),
        'DMG6220': ((12.5,), (45.0,), (10.0,))}
    GAINS: dict[str, tuple[float, float]] = {}      # others than those of Ranges
    RANGES = {21: 'PMAX', 22: 'VMAX', 23: 'TMAX'}
    REPLY, TIMEOUT, MODE, MIT = 7, 9, 10, 1
    TIMEOUT_UNIT = 50e-6    # [s]
    UNSIGNED = {*range(7, 11), *range(13, 17), 35, 36}
    BITS = 135              # of a frame with all stuff bits and the pause after it
    COMMON = 0x7FF          # identifier of requests that name the motor in their data
    READ, WRITE, STORE, REFRESH = 0x33, 0x55, 0xAA, 0xCC
    ENABLED, LOST = 1, 0xD
    WORDS = {0: '', 1: '', 5: 'sensor error', 6: 'parameter error', 8: 'over-voltage',
             9: 'under-voltage', 0xA: 'over-current', 0xB: 'MOSFET too hot',
             0xC: 'rotor too hot', LOST: 'communication lost', 0xE: 'overload'}

    def __init__(self, identifier: int, reply: int):
        self.identifier, self.reply = identifier, reply
        self.keys = (reply,)

    @classmethod
    def words(cls, status: int) -> str:
        """Return the error that a status means, '' for none."""
        return cls.WORDS.get(status, f'unknown error {status:#x}')

    def command(self, ranges: Ranges, command: Command) -> Frame:
        """Return the frame of a command; beyond the ranges, that of their ends."""
        p, v, kp, kd, t = command
        bits = (encoded(p, ranges.position, 16) << 48 | encoded(v, ranges.velocity, 12) << 36
                | encoded_gain(kp, ranges.stiffness, 12) << 24
                | encoded_gain(kd, ranges.damping, 12) << 12 | encoded(t, ranges.effort, 12))
        if bits >> 8 == SPECIAL:        # it would switch the motor on or off, or set its zero
            bits -= 1 << 36
        return self.identifier, bits.to_bytes(8, 'big')

    def answer(self, ranges: Ranges, identifier: int, data: bytes) -> Answer | None:
        """
        Return the state that a frame of 8 bytes brings, None if it brings none.

        Values of registers look like the state of a motor that is off at the end of its range.
        """
        if data[0] & 0x0F != self.identifier & 0x0F or (
                data[0] < 0x10 and data[1] == self.identifier >> 8
                and data[2] in (self.READ, self.WRITE, self.STORE)):
            return None
        position, status = data[1] << 8 | data[2], data[0] >> 4
        return Answer(decoded(position, ranges.position, 16),
                      decoded(data[3] << 4 | data[4] >> 4, ranges.velocity, 12),
                      decoded((data[4] & 0x0F) << 8 | data[5], ranges.effort, 12),
                      data[6], data[7], status, status == self.ENABLED,
                      position in (0, 0xFFFF))

    def enable(self) -> Frame:
        """Return the frame that switches the motor on."""
        return self._special(0xFC)

    def disable(self) -> Frame:
        """Return the frame that switches the motor off."""
        return self._special(0xFD)

    def clear(self) -> Frame:
        """Return the frame that clears an error."""
        return self._special(0xFB)

    def refresh(self, timeout: float) -> Frame:
        """Return the frame that asks for the state; ``timeout``: value of that register."""
        return self._request(self.REFRESH)

    def read(self, register: int) -> Frame:
        """Return the frame that asks for a register."""
        return self._request(self.READ, register)

    def write(self, register: int, value: float) -> Frame:
        """Return the frame that writes a register."""
        kind, number = ('<I', int(value)) if register in self.UNSIGNED else ('<f', value)
        return self._request(self.WRITE, register, struct.pack(kind, number))

    def register(self, register: int, identifier: int, data: bytes) -> float | None:
        """Return the value that a frame of 8 bytes brings of a register, None if it does not."""
        if identifier == self.COMMON or (data[0] | data[1] << 8, data[2], data[3]) != (
                self.identifier, self.READ, register):     # the echo of a write proves nothing
            return None
        return struct.unpack_from('<I' if register in self.UNSIGNED else '<f', data, 4)[0]

    def from_host(self, identifier: int, data: bytes) -> bool:
        """Return whether a frame commands this motor, or writes its registers."""
        if identifier == self.COMMON:
            return (len(data) > 2 and data[0] | data[1] << 8 == self.identifier
                    and data[2] in (self.WRITE, self.STORE))
        return identifier & ~0x300 == self.identifier

    def _special(self, last: int) -> Frame:
        return self.identifier, (SPECIAL << 8 | last).to_bytes(8, 'big')

    def _request(self, what: int, register: int = 0, value: bytes = bytes(4)) -> Frame:
        return self.COMMON, struct.pack('<HBB4s', self.identifier, what, register, value)


class RobStride:
    """
    Frames to and from a motor of RobStride under operation control.

    :param identifier: of the motor, and ``reply`` of this host.
    """

    # Public tables contradict each other, and no parameter says which one a motor has
    TYPES = {
        'RS00': ((4 * pi,), (33.0, 50.0), (14.0, 17.0)), 'RS01': ((4 * pi,), (44.0,), (17.0,)),
        'RS02': ((4 * pi,), (44.0,), (17.0,)), 'RS03': ((4 * pi,), (20.0, 50.0), (60.0,)),
        'RS04': ((4 * pi,), (15.0,), (120.0,)), 'RS05': ((4 * pi,), (50.0, 33.0), (5.5, 17.0)),
        'RS06': ((4 * pi,), (50.0, 20.0), (36.0, 60.0))}
    GAINS = dict.fromkeys(('RS03', 'RS04', 'RS06'), (5000.0, 100.0))
    TIMEOUT, MODE, MIT, TORQUE_LIMIT = 0x7028, 0x7005, 0, 0x700B
    TIMEOUT_UNIT = 50e-6    # [s]
    UNSIGNED = {TIMEOUT}
    BYTES = {MODE, 0x7029}
    BITS = 160              # of a frame with all stuff bits and the pause after it
    CONTROL, STATE, ENABLE, DISABLE, ZERO = 1, 2, 3, 4, 6       # kinds of frames
    READ, WRITE, STORE = 17, 18, 22
    RUNNING = 2
    WORDS = ('under-voltage', 'over-current', 'motor too hot', 'encoder error', 'stall overload',
             'uncalibrated')

    def __init__(self, identifier: int, reply: int):
        self.identifier, self.reply = identifier, reply
        self.keys = tuple(EXTENDED | kind << 24 | identifier << 8 | reply
                          for kind in (self.STATE, self.READ))

    @classmethod
    def words(cls, status: int) -> str:
        """Return the errors that a status means, '' for none."""
        return ', '.join(word for bit, word in enumerate(cls.WORDS) if status >> bit & 1)

    def command(self, ranges: Ranges, command: Command) -> Frame:
        """Return the frame of a command; beyond the ranges, that of their ends."""
        p, v, kp, kd, t = command
        return (self._identifier(self.CONTROL, encoded(t, ranges.effort, 16)),
                struct.pack('>4H', encoded(p, ranges.position, 16),
                            encoded(v, ranges.velocity, 16),
                            encoded_gain(kp, ranges.stiffness, 16),
                            encoded_gain(kd, ranges.damping, 16)))

    def answer(self, ranges: Ranges, identifier: int, data: bytes) -> Answer | None:
        """Return the state that a frame of 8 bytes brings, None if it brings none."""
        if identifier >> 24 & 0x1F != self.STATE:
            return None
        p, v, t, temperature = struct.unpack('>4H', data)
        return Answer(decoded(p, ranges.position, 16), decoded(v, ranges.velocity, 16),
                      decoded(t, ranges.effort, 16), 0.1 * temperature, nan,
                      identifier >> 16 & 0x3F, identifier >> 22 & 3 == self.RUNNING,
                      p in (0, 0xFFFF))

    def enable(self) -> Frame:
        """Return the frame that switches the motor on."""
        return self._frame(self.ENABLE)

    def disable(self) -> Frame:
        """Return the frame that switches the motor off."""
        return self._frame(self.DISABLE)

    def clear(self) -> Frame:
        """Return the frame that clears an error, and switches the motor off."""
        return self._frame(self.DISABLE, b'\1' + bytes(7))

    def refresh(self, timeout: float) -> Frame:
        """
        Return a frame that is answered with the state: it writes a parameter to what it is.

        :param timeout: value of TIMEOUT.
        """
        return self.write(self.TIMEOUT, timeout)

    def read(self, register: int) -> Frame:
        """Return the frame that asks for a parameter."""
        return self._frame(self.READ, struct.pack('<H6x', register))

    def write(self, register: int, value: float) -> Frame:
        """Return the frame that writes a parameter."""
        return self._frame(self.WRITE, struct.pack(
            '<Hxx4s', register, struct.pack(*self._packed(register, value))))

    def register(self, register: int, identifier: int, data: bytes) -> float | None:
        """Return the value that a frame of 8 bytes brings of a parameter, None if it does not."""
        if (identifier >> 16 & 0x1FFF, identifier >> 8 & 0xFF, data[0] | data[1] << 8) != (
                self.READ << 8, self.identifier, register):
            return None
        return struct.unpack_from(self._packed(register, 0.0)[0], data, 4)[0]

    def from_host(self, identifier: int, data: bytes) -> bool:
        """Return whether a frame commands this motor, or writes its parameters."""
        return bool(identifier & EXTENDED) and identifier & 0xFF == self.identifier and (
            identifier >> 24 & 0x1F in (self.CONTROL, self.ENABLE, self.DISABLE, self.ZERO,
                                        self.WRITE, self.STORE))

    def _packed(self, register: int, value: float) -> tuple[str, float]:
        if register in self.BYTES:
            return '<B', int(value)
        return ('<I', int(value)) if register in self.UNSIGNED else ('<f', value)

    def _identifier(self, kind: int, middle: int) -> int:
        return EXTENDED | kind << 24 | middle << 8 | self.identifier

    def _frame(self, kind: int, data: bytes = bytes(8)) -> Frame:
        return self._identifier(kind, self.reply), data


Codec = Damiao | RobStride
CODECS: tuple[type[Codec], ...] = (Damiao, RobStride)


def codec_of(kind: str) -> type[Codec] | None:
    """Return the codec of a type of motor, None of an unknown one."""
    return next((codec for codec in CODECS if kind in codec.TYPES), None)


def key_of(identifier: int) -> int:
    """Return an identifier without the bits in which an answer carries the status of its motor."""
    return identifier & 0x9F00FFFF if identifier & EXTENDED else identifier
