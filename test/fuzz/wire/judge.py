# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Criteria for every stream of messages, whoever wrote it.

rclpy's own deserialisation says what is in a message; from that follows the one answer that each
decoder must give, and every number that it must have taken over, bit for bit. In two things we
are stricter than rclpy, and nowhere else (:func:`refused_outright`). The plain form of a decoder
runs over :class:`~fuzz.wire.buffers.Strict` arrays, the compiled one over memory that ends at
protected pages, and both must leave the very same bytes everywhere.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
import math
import os
import struct
import traceback
from typing import Any

from fuzz.judge import Canary, FAILED, VALID, Verdict
from fuzz.wire.buffers import effort_arrays, guarded, joint_state_arrays, Letterbox, Strict
from fuzz.wire.streams import EFFORTS, JOINT_STATES, Kind, made, OURS, split, TRAJECTORIES
import numpy as np
from numpy import ndarray
from rclpy.serialization import deserialize_message
from robodyn_ros.errors import TrajectoryError
from robodyn_ros.state import STATE
from robodyn_ros.wire import decoders
from robodyn_ros.wire.compile import compiled_decoders
from robodyn_ros.wire.decoders import (
    ACCEPTED, DecoderArrays, DUPLICATE, FOREIGN, LENGTHS, MALFORMED, NON_FINITE)
from robodyn_ros.wire.joint_trajectory import FIELDS, JointTrajectoryMessage, NS_PER_S
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

TYPES = {JOINT_STATES: JointState, EFFORTS: Float64MultiArray, TRAJECTORIES: JointTrajectory}


def read_by_rclpy(what: str, wire: bytes) -> Any:
    """
    Return the message that rclpy reads, None where it refuses to.

    It is asked about the bytes that count: without the padding that the encapsulation header
    announces, of which it would leave out one byte only, and start to read behind the message
    where there is not even that one. Of a sequence inside of another message that is longer than
    what is there, it prints so from C, leaves it empty and goes on to read something else: that
    is a refusal. (Kilted, Fast CDR 2.3.)
    """
    padding = wire[3] & 3 if len(wire) > 3 else 0
    if len(wire) < 4 + padding:
        return None
    wire = wire[:3] + b'\0' + wire[4:len(wire) - padding]
    try:
        with _printed() as file:
            read = deserialize_message(wire, TYPES[what])
    except Exception as error:
        # Its class is not one that can be imported by name.
        if type(error).__name__ != 'RMWError':
            raise
        read = None
    if os.fstat(file).st_size:
        os.ftruncate(file, 0)
        os.lseek(file, 0, os.SEEK_SET)
        read = None
    return read


@contextmanager
def _printed() -> Iterator[int]:
    """Keep what goes to standard error in a file; return that."""
    usual = os.dup(2)
    os.dup2(_file, 2)
    try:
        yield _file
    finally:
        os.dup2(usual, 2)
        os.close(usual)


_file = os.memfd_create('stderr')


def refused_outright(what: str, wire: bytes, read: Any) -> bool:
    """
    Whether we call bytes malformed that rclpy reads.

    We do if they say to be anything else than plain little-endian CDR (rclpy takes parameter
    lists for it too), and if a string lacks its NUL or has another one inside (rclpy takes what
    is before it).
    """
    if wire[:2] != b'\0\1':
        return True
    if what == EFFORTS:
        offset, strings, behind = 8, len(read.layout.dim), 8        # size and stride
    elif what == JOINT_STATES:
        offset, strings, behind = 12, 1 + len(read.name), 0
    elif what == TRAJECTORIES:
        offset, strings, behind = 12, 1 + len(read.joint_names), 0
    else:
        raise ValueError(f'messages are one of {list(TYPES)}, not {what!r}')
    for k in range(strings):
        offset = -(-offset // 4) * 4
        size, = struct.unpack_from('<I', wire, offset)
        text = wire[offset + 4:offset + 4 + size]
        if text and text.find(b'\0') != size - 1:
            return True
        offset += 4 + size
        if k == 0 and what != EFFORTS:
            offset = -(-offset // 4) * 4 + 4        # behind the number of names
        offset = -(-offset // 4) * 4 + behind
    return False


class _JointStates:
    """A decoder in both forms, and the state that it must have."""

    def __init__(self, known: int, plain: Any, compiled: Any):
        self._forms = plain.joint_state, compiled.joint_state
        self._arrays = (joint_state_arrays(OURS, known), joint_state_arrays(OURS, known, guarded))
        self._strict = DecoderArrays(*map(Strict, self._arrays[0]))
        self._new = [a.copy() for a in self._arrays[0]]

    def begin(self) -> None:
        for arrays in self._arrays:
            for array, new in zip(arrays, self._new):
                array[...] = new
        self._state = np.full((len(OURS), len(STATE.names or ())), np.nan)
        self._stamp = np.full(1, np.nan)

    def take(self, wire: bytes, delivered: ndarray, k: int) -> int:
        received, sequence = float(k), (math.nan, 0.0, 1.0)[k % 3]
        read = read_by_rclpy(JOINT_STATES, wire)
        wanted = MALFORMED
        if read is not None and not refused_outright(JOINT_STATES, wire, read):
            wanted = self._expect(read, received, sequence)
        plain, compiled = self._forms
        code = plain(Strict(np.frombuffer(wire, np.uint8)), len(wire), received, sequence,
                     self._strict)
        same('code', code, wanted)
        same('code of the compiled form', compiled(delivered, len(wire), received, sequence,
                                                   self._arrays[1]), wanted)
        same('state', self._arrays[0].state, self._state)
        same('stamp', self._arrays[0].stamp, self._stamp)
        for ours, theirs in zip(*self._arrays):
            same('array of the compiled form', theirs, ours)
        return wanted

    def _expect(self, read: JointState, received: float, sequence: float) -> int:
        """Return the answer to a message that can be read, and keep what is to be kept of it."""
        times = Counter(read.name)
        present = [(j, read.name.index(name)) for j, name in enumerate(OURS) if times[name]]
        if not present:
            return FOREIGN
        if any(times[name] > 1 for name in OURS):
            return DUPLICATE
        columns = read.position, read.velocity, read.effort
        n = len(read.name)
        if len(columns[0]) != n or any(len(column) not in (0, n) for column in columns):
            return LENGTHS
        rows = {j: np.array([column[k] if column else math.nan for column in columns])
                for j, k in present}
        if any(math.isnan(row[0]) or np.isinf(row).any() for row in rows.values()):
            return NON_FINITE
        stamp = read.header.stamp
        self._stamp[0] = (stamp.sec * NS_PER_S + stamp.nanosec) * 1e-9
        for j, row in rows.items():
            kept = self._state[j]
            kept[:3] = row
            if kept[4] >= sequence:
                kept[5] = kept[3]
            kept[3:5] = received, sequence
            kept[6] = self._stamp[0] or math.nan
        return ACCEPTED


class _Efforts:
    """A decoder in both forms, and the efforts that it must have given."""

    def __init__(self, n: int, plain: Any, compiled: Any):
        self._forms = plain.efforts, compiled.efforts
        self._arrays = effort_arrays(n), effort_arrays(n, guarded)
        self._strict = [Strict(a) for a in self._arrays[0]]

    def begin(self) -> None:
        for scratch, _, out in self._arrays:
            scratch[:], out[:] = 0.0, np.nan
        self._out = self._arrays[0][2].copy()

    def take(self, wire: bytes, delivered: ndarray, k: int) -> int:
        read = read_by_rclpy(EFFORTS, wire)
        wanted = MALFORMED
        if read is not None and not refused_outright(EFFORTS, wire, read):
            wanted = ACCEPTED
            if len(read.data) != self._out.size:
                wanted = LENGTHS
            elif not np.isfinite(read.data).all():
                wanted = NON_FINITE
        if wanted == ACCEPTED:
            self._out[:] = read.data
        plain, compiled = self._forms
        same('code', plain(Strict(np.frombuffer(wire, np.uint8)), len(wire), *self._strict),
             wanted)
        same('code of the compiled form', compiled(delivered, len(wire), *self._arrays[1]), wanted)
        same('efforts', self._arrays[0][2], self._out)
        for ours, theirs in zip(*self._arrays):
            same('array of the compiled form', theirs, ours)
        return wanted


class _Trajectories:
    """
    The one form there is: NumPy, whose indices are checked, over the protected page.

    Nothing is remembered between messages.
    """

    def begin(self) -> None:
        pass

    def take(self, wire: bytes, delivered: ndarray, k: int) -> int:
        read = read_by_rclpy(TRAJECTORIES, wire)
        sound = (read is not None and not refused_outright(TRAJECTORIES, wire, read)
                 and self._sound(read))
        try:
            message = JointTrajectoryMessage(delivered)
            times, numbers = message.points()
        except TrajectoryError as error:
            assert not sound, f'refused ({error}), but rclpy reads it'
            return MALFORMED
        assert sound, 'read, but it must be refused'
        stamp = read.header.stamp
        same('stamp', message.stamp_ns, stamp.sec * NS_PER_S + stamp.nanosec)
        same('names', [name.encode(errors='surrogateescape').decode(errors='replace')
                       for name in message.joint_names], list(read.joint_names))
        same('times', times, np.array([p.time_from_start.sec + 1e-9 * p.time_from_start.nanosec
                                       for p in read.points]))
        for field, got in zip(FIELDS, numbers):
            rows = np.array([getattr(p, field) for p in read.points])
            same(field, np.empty((len(rows), 0)) if got is None else got, rows)
        return ACCEPTED

    def _sound(self, read: JointTrajectory) -> bool:
        """Whether a message that can be read is one that could be followed."""
        sizes = {tuple(len(getattr(p, field)) for field in FIELDS) for p in read.points}
        n = len(read.joint_names)
        return len(sizes) == 1 and {*sizes.pop()} <= {0, n} and all(
            part.nanosec < NS_PER_S
            for part in (read.header.stamp, *(p.time_from_start for p in read.points)))


def same(what: str, got: Any, wanted: Any) -> None:
    """Raise AssertionError unless two things are the same, arrays bit for bit."""
    if isinstance(wanted, ndarray):
        assert got.shape == wanted.shape and got.tobytes() == wanted.tobytes(), (
            f'{what}: {got}, but it must be {wanted}')
    else:
        assert got == wanted, f'{what}: {got}, but it must be {wanted}'


class Judge:
    """
    Sends streams through the decoders; an exception is what may not be, and so is a death.

    :param plain: their plain form; ``compiled``: as machine code.
    """

    def __init__(self, plain: Any = decoders, compiled: Any = None):
        self._forms = plain, compiled or compiled_decoders()
        self._decoders: dict[Kind, _JointStates | _Efforts | _Trajectories] = {}
        self._letterbox = Letterbox()

    def __call__(self, data: bytes) -> list[tuple[str, int]]:
        """Return what each message was, and the answer to it."""
        kind, messages = split(data)
        if kind not in self._decoders:
            self._decoders[kind] = (
                _Trajectories() if kind.what == TRAJECTORIES else
                (_JointStates if kind.what == JOINT_STATES else _Efforts)(kind.size, *self._forms))
        decoder = self._decoders[kind]
        decoder.begin()
        return [(kind.what, decoder.take(wire, self._letterbox.deliver(wire), k))
                for k, wire in enumerate(messages)]


the_judge = cache(Judge)


def judged(seed: int, index: int, canary: Canary) -> Verdict:
    """Judge a stream that anybody can make again, for :func:`fuzz.campaign.campaign`."""
    try:
        the_judge()(made(seed, index))
    except Exception:
        return Verdict(FAILED, traceback.format_exc())
    return Verdict(VALID)
