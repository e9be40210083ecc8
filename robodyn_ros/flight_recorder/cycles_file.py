# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Files of recorded cycles that the C library writes: its memory as it is.

A file consists of MAGIC, the sizes of what follows, :func:`description`, the arrays of the ring,
the changes of the settings, the references, and the number of cycles that were overwritten while
the file was written. All numbers have eight bytes, in the order of x86-64.
"""

from collections.abc import Mapping
from dataclasses import replace
import json
from typing import Any

import numpy as np
from numpy import ndarray

from .arrays import About, described, Flown, packed, unpacked
from .replay import latched
from ..compiler.code_cache import machine
from ..control.controller.history import Snapshot, Version
from ..control.cycle.compile import compiled
from ..control.cycle.ring_buffer import CYCLE
from ..control.inputs.partner import Policy, QUANTITIES
from ..control.inputs.pose_tracking import HEADER, no_command, Points, PosePoints
from ..control.steps import guard
from ..control.steps.cycle_data import CONTROLLER_STATE, Cycle, CYCLE_INPUT
from ..dynamics.model_data import BODY
from ..model.resources import package_version
from ..model.robot import RobotModel
from ..state import STATE

MAGIC = b'robodyn_cycles 1'
HEAD_NUMBERS = 5    # numbers after it: bytes, cycles, changes, bytes of each, references
UNITS = 'changed settings', 'references'


def description(model: RobotModel, versions: Mapping[int, Version], inputs: Cycle) -> bytes:
    """
    Return what :func:`cycles_of` needs beside the recorded cycles: a recording without any.

    :param versions: settings, by the index that changes refer to.
    :param inputs: of the cycle, of any of them.
    """
    nv = model.nv
    snapshot = Snapshot(
        np.zeros(0, CYCLE), np.zeros(0, CYCLE_INPUT), np.zeros((0, nv), STATE),
        np.zeros(1, CONTROLLER_STATE), np.zeros((1, len(inputs.ring.present), nv)),
        np.zeros((1, nv)), np.zeros((0, len(QUANTITIES), nv)), dict(versions),
        {0: Points.none(nv)}, {0: Policy.none(nv)}, {0: PosePoints.none()})
    snapshot.memory['mode'] = versions[0].record['mode']
    about = About('C library', 'NO_REASON', '', 'at an unknown time', 'c', 'step', 'steady', 0.0,
                  package_version(), compiled().code, machine())
    text = json.dumps(described(model, snapshot, about),
                      default=lambda value: np.asarray(value).tolist())
    return packed(text, snapshot)


def is_cycles_file(data: bytes) -> bool:
    """Return whether data are those of such a file, or its first bytes."""
    return data.startswith(MAGIC)


def cycles_of(data: bytes) -> Flown:
    """
    Return the recording in the contents of a file.

    :raises ValueError: it is no recording, or damaged; other exceptions of
        :data:`.file.FILE_ERRORS` likewise.
    """
    stream = _Stream(data)
    if stream.take(len(MAGIC)).tobytes() != MAGIC:
        raise ValueError('it begins in another way')
    size, count, changes, change_bytes, references = stream.numbers(HEAD_NUMBERS)
    first = unpacked(stream.take(size).tobytes())
    model, nv = first.model, first.model.nv
    rows = first.snapshot.vectors.shape[1]
    if not 0 <= count <= len(data):
        raise ValueError(f'{count} cycles')
    arrays: list[Any] = [
        np.frombuffer(stream.take((count + 1) * dtype.itemsize * int(np.prod(shape, dtype=int))),
                      dtype).reshape(count + 1, *shape).copy()
        for dtype, shape in (
            (CYCLE, ()), (CYCLE_INPUT, ()), (STATE, (nv,)), (CONTROLLER_STATE, ()),
            (np.dtype(float), (rows, nv)), (np.dtype(float), (nv,)),
            (np.dtype(float), (len(QUANTITIES), nv)))]
    known, bodies = _changes(stream.take(changes * change_bytes), change_bytes, model.nb)
    points, poses = dict(first.snapshot.points), dict(first.snapshot.poses)
    for _ in range(references):
        _take_reference(stream, nv, points, poses)
    lost = max(0, *stream.numbers(1))
    cycles, inputs, state, memory, vectors, tau, partner = arrays
    complete = (np.isin(cycles['version'], [*known]) & np.isin(cycles['serial'], [*points])
                & np.isin(cycles['pose'], [*poses]))[:count]
    gaps = np.flatnonzero(~complete)
    begin = min(max(lost, gaps[-1] + 1 if len(gaps) else 0), count)
    used = slice(begin, count)
    versions = {int(number): _version(first.snapshot.versions, int(number), known[int(number)])
                for number in np.unique(cycles['version'][used])}
    snapshot = Snapshot(
        cycles[used], inputs[used], state[used], memory[begin:], vectors[begin:], tau[begin:],
        partner[used], versions, _used(points, cycles['serial'][used]),
        first.snapshot.policies, _used(poses, cycles['pose'][used]))
    about = _about(first.about, model, snapshot)
    text = json.dumps(described(model, snapshot, about),
                      default=lambda value: np.asarray(value).tolist())
    flown = unpacked(packed(text, snapshot))        # with all of its checks
    for number, version in flown.snapshot.versions.items():     # with a payload set at run time
        given = bodies[number]
        if given.tobytes() != version.robot.bodies.tobytes():
            flown.snapshot.versions[number] = version._replace(robot=version.robot._replace(
                bodies=given, addresses=np.zeros_like(version.robot.addresses)))
    return flown


def _used(kept: Mapping[int, Any], numbers: ndarray) -> dict[int, Any]:
    """Return those of the references that cycles refer to."""
    return {number: kept[number] for number in map(int, np.unique(numbers))}


class _Stream:
    """Bytes that are read from the front."""

    def __init__(self, data: bytes):
        self._data, self._place = np.frombuffer(data, np.uint8), 0

    def take(self, size: int) -> ndarray:
        """Return the next bytes."""
        end = self._place + int(size)
        if not 0 <= self._place <= end <= len(self._data):
            raise ValueError('it is too short')
        out, self._place = self._data[self._place:end], end
        return out

    def numbers(self, count: int) -> list[int]:
        """Return the next integers."""
        return np.frombuffer(self.take(8 * count).tobytes(), np.int64).tolist()


def _changes(data: ndarray, size: int, nb: int) -> tuple[dict[int, ndarray], dict[int, ndarray]]:
    """Return index, law, basis and payload of the settings, and the bodies, by version."""
    kind = np.dtype([('version', np.int64), ('numbers', np.int64, (4,)), ('bodies', BODY, (nb,))])
    if kind.itemsize != size:
        raise ValueError(f'{UNITS[0]} of {size} bytes')
    changes = np.frombuffer(data.tobytes(), kind)
    used = [c for i, c in enumerate(changes) if c['version'] or i == 0]
    return ({int(c['version']): c['numbers'] for c in used},
            {int(c['version']): c['bodies'].copy() for c in used})


def _version(exported: Mapping[int, Version], number: int, change: ndarray) -> Version:
    """Return the settings of a change, with its numbers."""
    index, law, basis, payload = change.tolist()
    version = exported[index]
    record = version.record.copy()
    record['version'], record['law'] = number, law
    record['basis'], record['payload'] = basis, payload
    return version._replace(record=record)


def _take_reference(stream: _Stream, nv: int, points: dict[int, Points],
                    poses: dict[int, PosePoints]) -> None:
    """Add the next reference to those of the joints or of the pose, if there is one."""
    pose, segments, room, size = stream.numbers(4)
    numbers = np.frombuffer(stream.take(8 * size).tobytes(), float)
    if not 0 <= segments <= room <= size:
        raise ValueError(f'{UNITS[1]} of {segments} segments')
    if not segments:
        return
    header, numbers = numbers[:2].copy().view(HEADER), numbers[2:]
    times, numbers = numbers[:segments + 1].copy(), numbers[room + 1:]

    def part(*shape: int) -> ndarray:
        nonlocal numbers
        each = int(np.prod(shape))
        out, numbers = numbers[:segments * each].reshape(segments, *shape), numbers[room * each:]
        return out.copy()
    serial = int(header['serial'][0])
    if pose:
        coefficients, bases = part(6, 6), part(3, 3)
        poses[serial] = PosePoints(header, times, coefficients, bases,
                                   numbers[:len(no_command())].copy())
    else:
        points[serial] = Points(header, times, part(6, nv), part(2, nv))


def _about(about: About, model: RobotModel, snapshot: Snapshot) -> About:
    """Return the origin with the latest fault, or the reason that is latched at the end."""
    faults = latched(snapshot)
    after: Any = snapshot.memory[faults[-1] + 1 if len(faults) else -1]
    code, joint = guard.CODES[after['reason']], int(after['joint'])
    return replace(about, reason=code, sentence=guard.REASONS[code] + (
        f' ({model.joint_names[joint]})' if joint >= 0 else ''))
