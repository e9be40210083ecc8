# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Files of recordings: MCAP (https://mcap.dev/spec), and the memory of the C library as it is.

The channels of MCAP are ROS messages for viewers. The attachments are the exact arrays
(``flight.npz``, the only part that :func:`read` uses) and, as text, the settings
(``flight.json``).

A file of the C library consists of MAGIC, the sizes of what follows, :func:`description`, the
arrays of the ring, the changes of the settings, the references, and the number of cycles that were
overwritten while the file was written. All numbers have eight bytes, in the order of x86-64.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timezone
from importlib.util import find_spec
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy import ndarray

from .arrays import About, described, Flown, packed, unpacked
from .replay import last_fault
from ..control.controller.controller import Controller
from ..control.controller.history import Snapshot, Version
from ..control.cycle.ring_buffer import BOUNDARIES, slot_types
from ..control.inputs.partner import Policy
from ..control.inputs.pose_tracking import HEADER, no_command, Points, PosePoints
from ..control.laws.registry import mode_name
from ..control.steps import guard
from ..control.steps.cycle_data import Cycle, VECTOR_NAMES
from ..dynamics.model_data import BODY
from ..errors import reading, RecordingError, RobodynError, writing
from ..extras import pip_install
from ..model.robot import RobotModel
from ..wire.cdr import Writer
from ..wire.codecs import EffortEncoder, JointStateEncoder

ARRAYS, WORDS = 'flight.npz', 'flight.json'
GIVE = ('pass a file, all of it, that a flight recorder or an exported library of this version of '
        'robodyn_ros has written')
# Prefix of the topics: playing a file back must not drive an arm
TOPICS = '/flight'

MAX_STAMP = 2.0**31 - 1.0    # [s]

JOINT_STATE = """std_msgs/Header header
string[] name
float64[] position
float64[] velocity
float64[] effort
================================================================================
MSG: std_msgs/Header
builtin_interfaces/Time stamp
string frame_id
================================================================================
MSG: builtin_interfaces/Time
int32 sec
uint32 nanosec
"""
MULTI_ARRAY = """std_msgs/MultiArrayLayout layout
float64[] data
================================================================================
MSG: std_msgs/MultiArrayLayout
std_msgs/MultiArrayDimension[] dim
uint32 data_offset
================================================================================
MSG: std_msgs/MultiArrayDimension
string label
uint32 size
uint32 stride
"""
DIAGNOSTICS = """std_msgs/Header header
diagnostic_msgs/DiagnosticStatus[] status
================================================================================
MSG: diagnostic_msgs/DiagnosticStatus
byte OK=0
byte WARN=1
byte ERROR=2
byte STALE=3
byte level
string name
string message
string hardware_id
diagnostic_msgs/KeyValue[] values
================================================================================
MSG: diagnostic_msgs/KeyValue
string key
string value
""" + JOINT_STATE[JOINT_STATE.index('====='):]
# Schemas by message type; all in one encoding, because rosbag2 before 2026 opens no file of two
SCHEMAS = {'sensor_msgs/msg/JointState': JOINT_STATE,
           'std_msgs/msg/Float64MultiArray': MULTI_ARRAY,
           'diagnostic_msgs/msg/DiagnosticArray': DIAGNOSTICS}
OK, ERROR = 0, 2            # levels of a DiagnosticStatus
COUNTERS = ('cycles', 'good_samples', 'saturated', 'rate_limited', 'joint_limited')


def available() -> bool:
    """Return whether files can be written and read, which needs the library `mcap`."""
    return find_spec('mcap') is not None


def write(path: Path, model: RobotModel, snapshot: Snapshot, about: About) -> None:
    """
    Write a recording to ``path``, where it appears when it is complete.

    :raises OSError: it cannot be written.
    :raises RobodynError: the model cannot be written as a URDF.
    """
    text = json.dumps(described(model, snapshot, about), indent=1,
                      default=lambda value: np.asarray(value).tolist())
    times = nanoseconds(snapshot.cycles['now'] + about.offset)
    last = int(times[-1]) if len(times) else 0
    with written(path, about.version) as out:
        out.add_metadata('robodyn_ros', {'reason': about.reason, 'what': about.sentence,
                                         'time': about.time, 'node': about.node})
        out.add_attachment(last, last, WORDS, 'application/json', text.encode())
        out.add_attachment(last, last, ARRAYS, 'application/zip', packed(text, snapshot))
        _messages(out, model, snapshot, times, about.offset)


def write_cycles(path: Path, controller: Controller, node: str, option: str,
                 trigger: str = 'timer') -> None:
    """
    Write the cycles that a simulated controller has recorded, into a folder that may be new.

    :param node: what simulates it; ``option``: names the file, for errors.
    :raises RobodynError: the file cannot be written.
    """
    require_mcap(path)
    about = About(node, controller.reason_code, controller.reason,
                  f'{datetime.now(timezone.utc):%Y-%m-%dT%H:%M:%S.%fZ}', 'simulation', trigger,
                  'ros', 0.0)
    with writing(path, option):
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, controller.model, controller.history.take(), about)


@contextmanager
def written(path: Path, version: str) -> Iterator[Any]:
    """
    Yield the writer of a file of MCAP, which appears when it is complete.

    :param version: of this package.
    :raises OSError: it cannot be written.
    """
    from mcap import writer

    part = path.with_name(f'{path.name}.{os.getpid()}.part')
    try:
        with part.open('wb') as stream:
            out = writer.Writer(stream)
            out.start('ros2', f'robodyn_ros {version}')
            yield out
            out.finish()
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def read(path: Path) -> Flown:
    """
    Return the recording in a file of a flight recorder, or of the C library.

    :raises RecordingError: the file cannot be read, or is no recording; it names the file.
    """
    with reading(path, RecordingError, 'file', GIVE), path.open('rb') as stream:
        if (start := stream.read(len(MAGIC))) == MAGIC:
            return _of(cycles_of, start + stream.read())
        return _of(unpacked, attachment(path, ARRAYS))


def attachment(path: Path, name: str) -> bytes:
    """
    Return the attachment of this name in a file of MCAP.

    :raises RecordingError: the library that reads it is missing.
    :raises ValueError: there is none; a damaged file raises this and other exceptions.
    """
    require_mcap(path)
    from mcap.reader import make_reader

    with path.open('rb') as stream:
        reader = make_reader(stream)
        if reader.get_summary() is None:
            raise ValueError('it has no end')
        data = [a.data for a in reader.iter_attachments() if a.name == name]
    if len(data) != 1:
        raise ValueError(f'no attachment {name}')
    return data[0]


def require_mcap(path: Path) -> None:
    """Raise :class:`RecordingError` where the library that reads and writes a file is missing."""
    if not available():
        raise RecordingError(f'{path}: the library mcap is missing', name='file', value=str(path),
                             remedy=f'run `{pip_install("mcap")}`')


def _of(parse: Callable[[bytes], Flown], data: bytes) -> Flown:
    """Return the recording; an error of a model or of settings in it is one of the file."""
    try:
        return parse(data)
    except RobodynError as error:
        raise ValueError(str(error)) from error


def nanoseconds(seconds: np.ndarray) -> np.ndarray:
    """Return times [s] as those of MCAP [ns]: neither NaN nor before 1970."""
    return (np.nan_to_num(seconds, nan=0.0).clip(0.0, MAX_STAMP) * 1e9).astype(np.int64)


def _messages(out: Any, model: RobotModel, s: Snapshot, times: np.ndarray, offset: float) -> None:
    """Write inputs, efforts and decisions of the cycles as messages."""
    state_of = JointStateEncoder(model.joint_names)
    efforts = EffortEncoder(model.nv)
    kind = {name: out.register_schema(name, 'ros2msg', text.encode())
            for name, text in SCHEMAS.items()}
    state, array, diagnostics = kind.values()
    states, references, commands, decisions = (
        out.register_channel(f'{TOPICS}/{topic}', 'cdr', of) for topic, of in (
            ('joint_states', state), ('reference', state), ('commands', array),
            ('guard', diagnostics)))
    target, speed, tau_law = map(VECTOR_NAMES.index, ('target', 'target_qd', 'tau_law'))
    received = nanoseconds(s.state['received'].max(axis=1, initial=-np.inf) + offset)
    for k, time in enumerate(times.tolist()):
        def send(channel: int, data: bytes, k: int = k, time: int = time) -> None:
            out.add_message(channel, time, data, time, k & 0xffffffff)
        now = s.state[k]
        send(states, state_of.encode(int(received[k]), now['position'], now['velocity'],
                                     now['effort']))
        if s.memory['phase'][k + 1] == guard.RUNNING:
            v = s.vectors[k + 1]
            send(references, state_of.encode(time, v[target], v[speed], v[tau_law]))
        if s.cycles['published'][k]:
            send(commands, efforts.encode(s.tau[k + 1]))
        send(decisions, _decisions(model, s, k, time))


def _decisions(model: RobotModel, s: Snapshot, k: int, time: int) -> bytes:
    """Return the decisions of the guard in cycle ``k`` as a serialized DiagnosticArray."""
    m, c, given = s.memory[k + 1], s.cycles[k], s.inputs[k]
    phase, reason = guard.PHASES[m['phase']], guard.CODES[m['reason']]
    values = {
        'phase': phase, 'mode': mode_name(int(m['mode'])), 'reason': reason,
        'joint': (*model.joint_names, '')[m['joint']],              # -1: none
        'arming_refusal': guard.CODES[m['arming_refusal']],
        **{name: m[name] for name in COUNTERS},
        'saturation_time': m['saturation_time'],
        'missed since': given['missed'], 'missed': m['missed'], 'listeners': given['listeners'],
        'published': c['published'], 'following': m['following'], 'settings': c['version'],
        'reference': c['serial']}
    out = Writer()
    for code, number in zip('iI', divmod(time, 10**9)):
        out.pack(code, number)
    out.string('')
    out.pack('I', 1)
    out.pack('B', ERROR if m['phase'] == guard.FAULT else OK)
    for text in ('guard', guard.REASONS[reason] if m['phase'] == guard.FAULT else phase, ''):
        out.string(text)
    out.pack('I', len(values))
    for pair in values.items():
        for text in pair:
            out.string(str(text))
    return bytes(out.buffer)


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
    kinds = slot_types(nv, len(inputs.ring.present))
    arrays: dict[str, Any] = {
        name: np.zeros(int(name in BOUNDARIES), kind) for name, kind in kinds.items()}
    snapshot = Snapshot(
        **arrays, versions=dict(versions), points={0: Points.none(nv)},
        policies={0: Policy.none(nv)}, poses={0: PosePoints.none()})
    snapshot.memory['mode'] = versions[0].record['mode']
    about = About('C library', 'NO_REASON', '', 'at an unknown time', 'c', 'step', 'steady', 0.0)
    text = json.dumps(described(model, snapshot, about),
                      default=lambda value: np.asarray(value).tolist())
    return packed(text, snapshot)


def cycles_of(data: bytes) -> Flown:
    """
    Return the recording in the contents of a file.

    :raises ValueError: it is no recording, or damaged; it may raise other exceptions, too.
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
    ring = {name: np.frombuffer(stream.take((count + 1) * kind.itemsize), kind.base).reshape(
                count + 1, *kind.shape).copy() for name, kind in slot_types(nv, rows).items()}
    known, bodies = _changes(stream.take(changes * change_bytes), change_bytes, model.nb)
    points, poses = dict(first.snapshot.points), dict(first.snapshot.poses)
    for _ in range(references):
        _take_reference(stream, nv, points, poses)
    lost = max(0, *stream.numbers(1))
    cycles = ring['cycles']
    complete = (np.isin(cycles['version'], [*known]) & np.isin(cycles['serial'], [*points])
                & np.isin(cycles['pose'], [*poses]))[:count]
    gaps = np.flatnonzero(~complete)
    begin = min(max(lost, gaps[-1] + 1 if len(gaps) else 0), count)
    used = slice(begin, count)
    versions = {int(number): _version(first.snapshot.versions, int(number), known[int(number)])
                for number in np.unique(cycles['version'][used])}
    arrays: dict[str, Any] = {name: array[begin:] if name in BOUNDARIES else array[used]
                              for name, array in ring.items()}
    snapshot = Snapshot(
        **arrays, versions=versions, points=_used(points, cycles['serial'][used]),
        policies=first.snapshot.policies, poses=_used(poses, cycles['pose'][used]))
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
        poses[serial] = PosePoints(header, times, part(6, 6), part(3, 3),
                                   numbers[:len(no_command())].copy())
    else:
        points[serial] = Points(header, times, part(6, nv), part(2, nv))


def _about(about: About, model: RobotModel, snapshot: Snapshot) -> About:
    """Return the origin with the latest fault."""
    code, sentence = last_fault(model.joint_names, snapshot)
    return replace(about, reason=code, sentence=sentence)
