# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Streams of messages: how a few of them are written as one input, made up, and mutated.

What the decoders remember between messages matters as much as each message does, so an input is
a stream for one decoder: a byte that chooses it, then each message behind its length.
"""

from collections.abc import Callable, Iterable
import math
from random import Random
import struct
from typing import NamedTuple

from robodyn_ros.wire.cdr import Writer
from robodyn_ros.wire.decoders import STAMP_END

JOINT_STATES, EFFORTS, TRAJECTORIES = 'joint states', 'efforts', 'trajectories'


class Kind(NamedTuple):
    """Which decoder a stream is for, and how large it is: names it remembers [bytes], or n."""

    what: str
    size: int = 0


KINDS = (Kind(JOINT_STATES, 256), Kind(JOINT_STATES, 30), Kind(JOINT_STATES),
         Kind(EFFORTS, 2), Kind(EFFORTS), Kind(TRAJECTORIES))
OURS = ('a', 'bc', 'Gelenk_ä', '')      # the joints that are decoded
POOL = (*OURS, 'wheel', 'b', 'cb', 'x' * 40, '\ufffd')
MOST_MESSAGES = 6
LONGEST_INPUT = 1000    # bytes: no trajectory in it can have a name that is too long for us
COUNTS = (0, 1, 2, 3, 4, 5, 8, 13, 2**16, 2**29, 2**29 + 1, 2**31 - 1, 2**31, 2**32 - 8,
          2**32 - 4, 2**32 - 1)
NUMBERS = (0.0, -0.0, 1.5, -2.25, 1e308, 5e-324, math.nan, math.inf, -math.inf)
SIGNALLING = struct.pack('<Q', 0x7FF4_0000_0000_0001)       # a NaN that arithmetic would change


def split(data: bytes) -> tuple[Kind, list[bytes]]:
    """Read any bytes as a stream; what is left of a last message that is cut off counts."""
    messages, offset = [], 1
    while offset + 2 <= len(data) and len(messages) < MOST_MESSAGES:
        size = int.from_bytes(data[offset:offset + 2], 'little')
        messages.append(bytes(data[offset + 2:offset + 2 + size]))
        offset += 2 + size
    return KINDS[data[0] % len(KINDS) if data else 0], messages


def join(kind: Kind, messages: Iterable[bytes]) -> bytes:
    """Write a stream."""
    return bytes([KINDS.index(kind)]) + b''.join(
        struct.pack('<H', len(message)) + message for message in messages)


class Untidy(Writer):
    """Leaves in the padding what happened to be there, as rclpy does."""

    def __init__(self, random: Random):
        super().__init__()
        self._random = random

    def align(self, size: int) -> None:
        before = len(self.buffer)
        super().align(size)
        self.buffer[before:] = self._random.randbytes(len(self.buffer) - before)

    def doubles(self, size: int) -> None:
        """Append a sequence of float64, most of them usual."""
        self.pack('I', size)
        for _ in range(size):
            usual = self._random.random() < 0.95
            self.pack('d', self._random.gauss(0, 1) if usual else self._random.choice(NUMBERS))


def _header(out: Untidy, random: Random) -> None:
    out.pack('i', random.randint(-2**31, 2**31 - 1))
    _nanoseconds(out, random)
    out.string(random.choice(('', 'base', 'ä')))


def _nanoseconds(out: Untidy, random: Random) -> None:
    usual = random.random() < 0.95
    out.pack('I', random.choice((0, 5, 999_999_999) if usual else (10**9, 2**31, 2**32 - 1)))


def _names(out: Untidy, names: list[str]) -> None:
    out.pack('I', len(names))
    for name in names:
        out.string(name)


def _joint_state(out: Untidy, random: Random) -> None:
    _header(out, random)
    names = random.choices(POOL, k=random.randint(0, 4))
    if random.random() < 0.7:
        names = random.sample(OURS, random.randint(1, len(OURS)))
    _names(out, names)
    for _ in range(3):
        out.doubles(len(names) if random.random() < 0.85 else random.randint(0, 5))


def _efforts(out: Untidy, random: Random) -> None:
    dimensions = random.choice((0, 0, 1, 2))
    out.pack('I', dimensions)
    for _ in range(dimensions):
        out.string(random.choice(POOL))
        out.pack('I', random.choice(COUNTS))
        out.pack('I', random.choice(COUNTS))
    out.pack('I', random.choice(COUNTS))
    out.doubles(random.choice((0, 2, 2, 2, 3)))


def _trajectory(out: Untidy, random: Random) -> None:
    _header(out, random)
    names = random.choices(POOL, k=random.randint(0, 3))
    _names(out, names)
    points, filled = random.randint(0, 4), [random.random() < 0.5 for _ in range(4)]
    out.pack('I', points)
    for _ in range(points):
        for full in filled:
            sound = random.random() < 0.95
            out.doubles((len(names) if full else 0) if sound else random.randint(0, 4))
        out.pack('i', random.randint(-2, 9))
        _nanoseconds(out, random)


WRITERS: dict[str, Callable[[Untidy, Random], None]] = {
    JOINT_STATES: _joint_state, EFFORTS: _efforts, TRAJECTORIES: _trajectory}


def made_up(kind: Kind, random: Random) -> bytes:
    """Return a message that most often is all right."""
    out = Untidy(random)
    WRITERS[kind.what](out, random)
    return bytes(out.buffer)


def seed_stream(random: Random) -> bytes:
    """Return a stream of messages that most often are all right."""
    kind = random.choice(KINDS)
    return join(kind, [made_up(kind, random) for _ in range(random.randint(1, 3))])


def mutated(data: bytes, random: Random) -> bytes:
    """Return a stream like this one but for one to three changes."""
    kind, messages = split(data)
    messages = messages or [made_up(kind, random)]
    for _ in range(random.randint(1, 3)):
        random.choice(CHANGES)(kind, messages, random)
    while len(changed := join(kind, messages)) > LONGEST_INPUT and len(messages) > 1:
        del messages[random.randrange(len(messages))]
    return changed[:LONGEST_INPUT]


def _somewhere(messages: list[bytes], random: Random, step: int,
               put: Callable[[bytes], bytes]) -> None:
    """Overwrite ``step`` bytes at a place where such an item may be."""
    k = random.randrange(len(messages))
    wire = bytearray(messages[k])
    places = range(4, len(wire) - step + 1, min(step, 4))
    if places:
        at = random.choice(places)
        wire[at:at + step] = put(bytes(wire[at:at + step]))
        messages[k] = bytes(wire)


def _count(kind: Kind, messages: list[bytes], random: Random) -> None:
    _somewhere(messages, random, 4, lambda old: struct.pack('<I', random.choice(
        (*COUNTS, (int.from_bytes(old, 'little') + random.choice((-1, 1))) % 2**32))))


def _number(kind: Kind, messages: list[bytes], random: Random) -> None:
    _somewhere(messages, random, 8, lambda old: random.choice(
        (SIGNALLING, *(struct.pack('<d', x) for x in NUMBERS))))


def _byte(kind: Kind, messages: list[bytes], random: Random) -> None:
    _somewhere(messages, random, 1, lambda old: random.choice(
        (b'\0', b'\xff', random.randbytes(1), bytes([old[0] ^ 1 << random.randrange(8)]))))


def _begin(kind: Kind, messages: list[bytes], random: Random) -> None:
    """Make the encapsulation another one."""
    k, at = random.randrange(len(messages)), random.randrange(4)
    messages[k] = messages[k][:at] + bytes([random.choice((0, 1, 2, 3, 7, 255))]) \
        + messages[k][at + 1:]


def _cut(kind: Kind, messages: list[bytes], random: Random) -> None:
    k = random.randrange(len(messages))
    messages[k] = messages[k][:random.randint(0, len(messages[k]))]


def _extend(kind: Kind, messages: list[bytes], random: Random) -> None:
    messages[random.randrange(len(messages))] += random.randbytes(random.randint(1, 12))


def _take_out(kind: Kind, messages: list[bytes], random: Random) -> None:
    """Leave some bytes out or repeat them."""
    k = random.randrange(len(messages))
    wire, size = messages[k], random.choice((1, 4, 8, 12))
    at = random.randint(0, len(wire))
    messages[k] = wire[:at] + random.choice((b'', 2 * wire[at:at + size])) + wire[at + size:]


def _again(kind: Kind, messages: list[bytes], random: Random) -> None:
    """Send a message once more: its names are known by then."""
    messages.insert(random.randint(0, len(messages)), random.choice(messages))


def _nearly_again(kind: Kind, messages: list[bytes], random: Random) -> None:
    """Send a message again with one bit changed: other names, or other padding."""
    k = random.randrange(len(messages))
    messages.insert(k + 1, messages[k])
    changed = bytearray(messages[k])
    if len(changed) > STAMP_END:
        changed[random.randrange(STAMP_END, min(len(changed), 80))] ^= 1 << random.randrange(8)
    messages[k + 1] = bytes(changed)


def _another(kind: Kind, messages: list[bytes], random: Random) -> None:
    messages.insert(random.randint(0, len(messages)), made_up(kind, random))


def _splice(kind: Kind, messages: list[bytes], random: Random) -> None:
    """Join the beginning of one message to the end of another."""
    head, tail = random.choice(messages), random.choice((*messages, made_up(kind, random)))
    at = random.randint(0, max(len(head), STAMP_END))
    messages[random.randrange(len(messages))] = head[:at] + tail[at:]


CHANGES = (_count, _count, _number, _byte, _byte, _begin, _cut, _extend, _take_out, _again,
           _nearly_again, _nearly_again, _another, _splice)


def made(seed: int, index: int) -> bytes:
    """Return stream number ``index``; below 0, one that is as it should be."""
    random = Random(f'{seed}/{index}')
    data = seed_stream(random)
    for _ in range(random.choice((0, 1, 2, 4)) if index >= 0 else 0):
        data = mutated(data, random)
    return data
