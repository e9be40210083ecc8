# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Recordings of the flight recorder as MCAP files (https://mcap.dev/spec).

The channels are ROS messages for viewers. The attachments are the exact arrays (``flight.npz``,
the only part that :func:`read` uses) and, as text, the settings (``flight.json``).
"""

from importlib.util import find_spec
import json
import os
from pathlib import Path
import struct
from typing import Any
import zipfile
import zlib

import numpy as np

from .arrays import About, described, Flown, packed, unpacked
from .cycles_file import cycles_of, is_cycles_file, MAGIC
from ..control.controller.history import Snapshot
from ..control.laws.registry import mode_name
from ..control.steps import guard
from ..control.steps.cycle_data import VECTOR_NAMES
from ..errors import RecordingError, RobodynError
from ..extras import pip_install
from ..model.robot import RobotModel
from ..wire.cdr import Writer
from ..wire.codecs import EffortEncoder, JointStateEncoder

ARRAYS, WORDS = 'flight.npz', 'flight.json'
GIVE = 'give a file that a flight recorder has written'
# Prefix of the topics: playing a file back must not drive an arm
TOPICS = '/flight'

MAX_STAMP = 2.0**31 - 1.0    # [s]

# Exceptions that reading damaged or foreign bytes may raise
FILE_ERRORS = (ArithmeticError, AssertionError, AttributeError, EOFError, LookupError, MemoryError,
               RobodynError, RuntimeError, TypeError, ValueError, struct.error, zipfile.BadZipFile,
               zlib.error)

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
    from mcap import writer

    text = json.dumps(described(model, snapshot, about), indent=1,
                      default=lambda value: np.asarray(value).tolist())
    times = _nanoseconds(snapshot.cycles['now'] + about.offset)
    last = int(times[-1]) if len(times) else 0
    part = path.with_name(f'{path.name}.{os.getpid()}.part')
    try:
        with part.open('wb') as stream:
            out = writer.Writer(stream)
            out.start('ros2', f'robodyn_ros {about.version}')
            out.add_metadata('robodyn_ros', {'reason': about.reason, 'what': about.sentence,
                                             'time': about.time, 'node': about.node})
            out.add_attachment(last, last, WORDS, 'application/json', text.encode())
            out.add_attachment(last, last, ARRAYS, 'application/zip', packed(text, snapshot))
            _messages(out, model, snapshot, times, about.offset)
            out.finish()
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def read(path: Path) -> Flown:
    """
    Return the recording in a file of a flight recorder, or of the C library.

    :raises RecordingError: the file cannot be read, or is no recording; it names the file.
    """
    def refuse(problem: str, remedy: str) -> RecordingError:
        return RecordingError(f'{path} {problem}', name='file', value=str(path), remedy=remedy)
    try:
        with path.open('rb') as stream:
            if is_cycles_file(stream.read(len(MAGIC))):
                stream.seek(0)
                return cycles_of(stream.read())
    except OSError as error:
        raise refuse(f'cannot be read ({error.strerror or error})', GIVE) from error
    except FILE_ERRORS as error:
        raise refuse(f'is no recording by a C library of this version ({error})',
                     'give a file of a library that this version of robodyn_ros has '
                     'exported') from error
    if not available():
        raise refuse('cannot be read: the library mcap is missing',
                     f'run `{pip_install("mcap")}`')
    from mcap.exceptions import McapError
    from mcap.reader import make_reader

    try:
        with path.open('rb') as stream:
            reader = make_reader(stream)
            if reader.get_summary() is None:
                raise ValueError('it has no end')
            data = [a.data for a in reader.iter_attachments() if a.name == ARRAYS]
        if len(data) != 1:
            raise ValueError(f'no attachment {ARRAYS}')
        return unpacked(data[0])
    except OSError as error:
        raise refuse(f'cannot be read ({error.strerror or error})', GIVE) from error
    except (McapError, *FILE_ERRORS) as error:
        raise refuse(f'is no flight recording of this version ({error})',
                     'give a file that the flight recorder of this version of robodyn_ros has '
                     'written, all of it') from error


def _nanoseconds(seconds: np.ndarray) -> np.ndarray:
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
    received = _nanoseconds(s.state['received'].max(axis=1, initial=-np.inf) + offset)
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
