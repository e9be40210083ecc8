# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
trajectory_msgs/JointTrajectory out of bytes, without an object for each waypoint.

All waypoints of a trajectory that can be followed have the same fields, hence the same layout:
from the second one on (the first may be padded differently) they are rows of a matrix of bytes.
"""

from typing import NamedTuple, NoReturn

import numpy as np
from numpy import ndarray

from .cdr import aligned, body_end, BODY_OFFSET, count, doubles
from ..errors import TrajectoryError

FIELDS = ('positions', 'velocities', 'accelerations', 'effort')
MAX_NAMES, MAX_NAME_BYTES = 1000, 1000           # joints; bytes
NS_PER_S = 1_000_000_000


class _Point(NamedTuple):
    """Location of a waypoint: sizes of its fields, offsets of sizes and numbers, end."""

    sizes: tuple[int, ...]
    counts: tuple[int, ...]
    begins: tuple[int, ...]
    time: int
    end: int


class JointTrajectoryMessage:
    """
    A serialized trajectory: stamp, names and number of waypoints are read at once.

    Names keep bytes that are not UTF-8 as lone surrogates, so that no two names become one.

    :param message: its bytes, or the first of them.
    :raises TrajectoryError: they are not such a message; :meth:`points` raises it too.
    """

    def __init__(self, message: bytes | ndarray):
        self._b = np.frombuffer(message, np.uint8)
        self._end = int(body_end(self._b, len(self._b)))
        if self._end < BODY_OFFSET + 8:
            _refuse('the bytes are cut off or not plain little-endian CDR')
        sec, nanosec = self._times(BODY_OFFSET)
        #: Header stamp [ns].
        self.stamp_ns = int(sec) * NS_PER_S + int(nanosec)
        if nanosec >= NS_PER_S:
            _refuse(f'the stamp has {nanosec} ns besides its seconds', 'header.stamp',
                    f'use less than {NS_PER_S}')
        _, offset = self._string(BODY_OFFSET + 8, 'the frame id')
        number, offset = count(self._b, self._end, offset)
        if number > MAX_NAMES:
            _refuse(f'{number} joint names', 'joint_names', f'use at most {MAX_NAMES}')
        names = []
        for _ in range(number):
            name, offset = self._string(offset, 'a joint name')
            names.append(name)
        self.joint_names = tuple(names)
        #: Number of waypoints by the header, not verified yet.
        self.waypoints, self._points = (int(n) for n in count(self._b, self._end, offset))
        if number < 0 or self.waypoints < 0:
            _refuse('the message ends before its waypoints')

    def points(self) -> tuple[ndarray, list[ndarray | None]]:
        """
        Return the times (W,) [s], and for each of FIELDS its numbers (W, n), None if it is empty.

        All waypoints must have one number a joint in the same fields.
        """
        if self.waypoints == 0:
            _refuse('the trajectory has no waypoints', 'points', 'use one at least')
        first = second = self._point(0, self._points)
        if self.waypoints > 1:
            second = self._point(1, first.end)
        stride = second.end - first.end or 1
        whole = min(self.waypoints - 1, (self._end - first.end) // stride)
        rows = self._b[first.end:first.end + whole * stride].reshape(whole, stride)

        def column(offset: int, kind: str, size: int = 1) -> ndarray:
            begin, width = offset - first.end, np.dtype(kind).itemsize * size
            return np.ascontiguousarray(rows[:, begin:begin + width]).view(kind)

        other = np.zeros(whole, bool)
        for offset, size in zip(second.counts, first.sizes):
            if whole:
                other |= column(offset, '<u4')[:, 0] != size
        if whole < self.waypoints - 1 or other.any():
            k = int(other.argmax()) if other.any() else whole
            self._point(k + 1, first.end + k * stride)          # raises an error that describes it
            _refuse(f'waypoint {k + 1} has not the fields that the ones before it have', 'points',
                    'fill the same fields in every point')
        sec, nanosec = np.zeros((2, self.waypoints))
        sec[0], nanosec[0] = self._times(first.time)
        numbers: list[ndarray | None] = []
        if whole:
            sec[1:] = column(second.time, '<i4')[:, 0]
            nanosec[1:] = column(second.time + 4, '<u4')[:, 0]
        if (nanosec >= NS_PER_S).any():
            k = int((nanosec >= NS_PER_S).argmax())
            _refuse(f'the time of waypoint {k} has {nanosec[k]:.0f} ns besides its seconds',
                    'time_from_start', f'use less than {NS_PER_S}')
        for size, before, begin in zip(first.sizes, first.begins, second.begins):
            if size == 0:
                numbers.append(None)
                continue
            array = np.empty((self.waypoints, size))
            array[0] = np.frombuffer(self._b, '<f8', size, before)
            if whole:
                array[1:] = column(begin, '<f8', size)
            numbers.append(array)
        return sec + 1e-9 * nanosec, numbers

    def _point(self, number: int, offset: int) -> _Point:
        """Find one waypoint, or say what is wrong with it."""
        sizes, counts, begins = [], [], []
        for field in FIELDS:
            counts.append(int(aligned(offset, 4)))
            size, begin, offset = (int(n) for n in doubles(self._b, self._end, offset))
            if size < 0:
                _refuse(f'the message ends within waypoint {number}')
            if size not in (0, len(self.joint_names)):
                _refuse(f'the {field} of waypoint {number} are {size} numbers', field,
                        f'pass one for each of the {len(self.joint_names)} names, or none')
            sizes.append(size)
            begins.append(begin)
        time = int(aligned(offset, 4))
        if time + 8 > self._end:
            _refuse(f'the message ends within waypoint {number}')
        return _Point(tuple(sizes), tuple(counts), tuple(begins), time, time + 8)

    def _times(self, offset: int) -> tuple[np.int32, np.uint32]:
        return (np.frombuffer(self._b, '<i4', 1, offset)[0],
                np.frombuffer(self._b, '<u4', 1, offset + 4)[0])

    def _string(self, offset: int, what: str) -> tuple[str, int]:
        """Text and the offset behind it; not byte by byte, as ``cdr.string``, which compiles."""
        size, begin = (int(n) for n in count(self._b, self._end, offset))
        if size > MAX_NAME_BYTES + 1:
            _refuse(f'{what} of {size - 1} bytes', 'joint_names', f'use at most {MAX_NAME_BYTES}')
        if not 0 <= size <= self._end - begin:
            _refuse('the message ends before its waypoints')
        text, nul, rest = self._b[begin:begin + size].tobytes().partition(b'\0')
        if rest or size and not nul:
            _refuse(f'{what} has a NUL inside, or none at its end')
        return text.decode(errors='surrogateescape'), begin + size


def _refuse(problem: str, name: str = 'joint_trajectory',
            remedy: str = 'send an intact trajectory_msgs/JointTrajectory') -> NoReturn:
    raise TrajectoryError(problem, name=name, remedy=remedy)
