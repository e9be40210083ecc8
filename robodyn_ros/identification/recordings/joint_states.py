# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Recordings from logged joint states: ROS 2 bags, and what `topic echo` prints."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
import io
from itertools import takewhile
import os
from pathlib import Path
import re
import shutil
import sys
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from .columns import same_numbers
from .read_table import DIALECT_LINES, is_text
from .recording import Recording
from ...errors import Argument, Placeholder, reading, RecordingError, UnknownNameError
from ...extras import pip_install_extra
from ...model.robot import RobotModel

STATE_TYPE = 'sensor_msgs/msg/JointState'
COMPRESSED = '.mcap.zstd', '.db3.zstd'
BAG_SUFFIXES = '.mcap', '.db3', *COMPRESSED
FIELD_NAME = re.compile(r'field\.(name|position|velocity|effort)\d+')
HEADER_CELLS = 3    # before the names in ROS 2: seconds, nanoseconds, frame_id


class LoggedState(NamedTuple):
    """A sensor_msgs/JointState; each array has a number for each name, or none."""

    received: int               # [ns]
    stamp: int                  # of its header [ns], 0 if it was not set
    name: Sequence[str]
    position: Sequence[float]
    velocity: Sequence[float]
    effort: Sequence[float]


def recording_of(states: Sequence[LoggedState], what: str, source: str, model: RobotModel,
                 joint_names: Sequence[str] | None) -> Recording:
    """
    Return the joint states as a recording, see :meth:`~.Recording.from_messages`.

    Times are the stamps of the headers, or those of receipt where all stamps are zero.

    :param what: description of the states, for a note.
    :param joint_names: names in the log of the model's joints, in the model's order; None: those
        of the model, or the same numbers.
    :raises RecordingError: the names of the joints are others, or the states cannot be merged.
    :raises UnknownNameError: the log has no joint of ``joint_names``.
    """
    stamped = any(state.stamp for state in states)
    clock = 'header stamps' if stamped else \
        'times of receipt (all header stamps are zero)'
    known, said = _names(states, model, joint_names, source)
    times = [state.stamp if stamped else state.received for state in states]
    recording = Recording.from_messages(
        ((1e-9 * (at - times[0]), [known.get(name, name) for name in s.name], s.position,
          s.velocity, s.effort) for at, s in zip(times, states)), source, model.joint_names)
    return replace(recording, notes=(f'{len(states)} {what}; time: {clock}', *said,
                                     *recording.notes))


def _names(states: Sequence[LoggedState], model: RobotModel, given: Sequence[str] | None,
           source: str) -> tuple[dict[str, str], list[str]]:
    """Return the model's name for each joint of the log, and a note where it is a guess."""
    names = list(dict.fromkeys(name for state in states for name in state.name))
    if given is not None:
        if unknown := [name for name in given if name not in names]:
            raise UnknownNameError(f'joint in {source}', unknown[0], names)
        if len(given) != model.nv:
            raise RecordingError(f'{len(given)} names of joints are given', name='joint_names',
                                 value=tuple(given), remedy=f'use {model.nv}, in the order of '
                                                            f'{", ".join(model.joint_names)}')
        return dict(zip(given, model.joint_names)), []
    known, said = same_numbers(names, model.joint_names)
    if known or not {*names}.isdisjoint(model.joint_names):
        return known, said
    raise RecordingError(
        f'{source} has none of the joints of the model', name=model.joint_names[0],
        value=tuple(names), remedy=(
            f'it has {", ".join(names) or "no names"}: give its names of '
            f'{", ".join(model.joint_names)} (', Argument('joint_names', Placeholder('...')), ')'))


def read_bag(path: Path, model: RobotModel, topic: str | None,
             joint_names: Sequence[str] | None = None) -> Recording:
    """
    Return the joint states of a bag: a folder with metadata.yaml, or a file of BAG_SUFFIXES.

    :param topic: of sensor_msgs/JointState; None: the only one that carries joints of the model.
    :param joint_names: names in the bag of the model's joints, in the model's order; None: those
        of the model, or the same numbers.
    :raises RecordingError: the bag cannot be read, `rosbags` is not installed, or several topics
        match.
    :raises UnknownNameError: there is no such topic of this type, or no such joint.
    """
    try:
        from rosbags.highlevel import AnyReader
        from rosbags.typesys import get_typestore, Stores
        if sys.version_info >= (3, 14):
            from compression import zstd
        else:
            from backports import zstd
    except ImportError:
        raise RecordingError(
            f'{path.name} is a bag, and the package that reads bags is not installed',
            name='rosbags', value=str(path),
            remedy=f'run `{pip_install_extra("identify")}`') from None
    remedy = ('pass the folder of the bag, or its .mcap or .db3 file; one that was not closed is '
              'mended by `ros2 bag reindex`')
    with reading(path, RecordingError, str(path), remedy), _storage(path, zstd) as storage, \
            AnyReader([_BagPath(storage)],
                      default_typestore=get_typestore(Stores.ROS2_HUMBLE)) as reader:
        chosen = _topic(reader, model, topic, path)
        connections = [c for c in reader.connections
                       if c.topic == chosen and c.msgtype == STATE_TYPE]
        states = [_state(received, reader.deserialize(data, STATE_TYPE))
                  for _, received, data in reader.messages(connections)]
    return recording_of(states, f'messages of {chosen}, {len(connections)} publishers',
                        f'{path.name}, {chosen}', model, joint_names)


class _BagPath(type(Path())):               # type: ignore[misc]
    """Path of a bag, or of a file in it, as rosbags opens it."""

    def open(self, mode: str = 'r', *args: Any, **kwargs: Any) -> Any:
        """Open a file, for bytes as :class:`_BoundedFile`."""
        return _BoundedFile(self) if mode == 'rb' else Path(self).open(mode, *args, **kwargs)


class _BoundedFile(io.BufferedReader):
    """File that allocates no more than it has, whatever length a damaged record says."""

    def __init__(self, path: Path):
        super().__init__(io.FileIO(path))
        self._size = os.path.getsize(path)

    def read(self, size: int | None = -1, /) -> bytes:
        """Return up to ``size`` bytes, or all that are left."""
        left = max(self._size - self.tell(), 0)
        return super().read(left if size is None or size < 0 else min(size, left))


@contextmanager
def _storage(path: Path, zstd: Any) -> Iterator[Path]:
    """
    Yield the path that rosbags opens.

    It is the only bag file of a folder without metadata.yaml, and a copy of a file that is
    compressed as a whole.
    """
    if path.is_dir() and not (path / 'metadata.yaml').exists():
        path = _only_file(path)
    if path.is_dir() or not path.name.lower().endswith(COMPRESSED):
        yield path
        return
    with TemporaryDirectory() as folder:
        plain = Path(folder) / path.stem
        with zstd.open(path) as compressed, plain.open('wb') as file:
            shutil.copyfileobj(compressed, file)
        yield plain


def _only_file(path: Path) -> Path:
    files = sorted(file for file in path.iterdir() if file.name.lower().endswith(BAG_SUFFIXES))
    if len(files) != 1:
        raise RecordingError(
            f'{path.name} is a folder without metadata.yaml and with {len(files)} files of bags',
            name=str(path), value=[file.name for file in files],
            remedy='pass one of the files' if files else 'pass the folder of a bag')
    return files[0]


def _topic(reader: Any, model: RobotModel, wanted: str | None, path: Path) -> str:
    states = sorted({c.topic for c in reader.connections if c.msgtype == STATE_TYPE})
    if wanted is not None:
        if wanted not in states:
            raise UnknownNameError(f'topic of {STATE_TYPE}', wanted, states)
        return wanted
    if not states:
        others = sorted({f'{c.topic} ({c.msgtype})' for c in reader.connections})
        raise RecordingError(f'{path.name} has no topic of {STATE_TYPE}', name=str(path),
                             value=others, remedy='record joint_states; it has '
                                                  + (', '.join(others) or 'nothing'))
    if len(states) > 1:
        ours = [topic for topic in states if _carries(reader, topic, model)]
        if len(ours) != 1:
            raise RecordingError(
                f'{path.name} has {len(states)} topics of {STATE_TYPE}', name=str(path),
                value=states, remedy=('choose one, ', Argument('topic', states[0]),
                                      f', of {", ".join(states)}'))
        return ours[0]
    return states[0]


def _carries(reader: Any, topic: str, model: RobotModel) -> bool:
    """Return whether the first messages of a topic name a joint of the model."""
    connections = [c for c in reader.connections if c.topic == topic]
    for count, (_, _, data) in enumerate(reader.messages(connections)):
        if {*reader.deserialize(data, STATE_TYPE).name} & {*model.joint_names}:
            return True
        if count > 100:
            break
    return False


def _state(received: int, message: Any) -> LoggedState:
    stamp = message.header.stamp
    return LoggedState(received, stamp.sec * 10**9 + stamp.nanosec, message.name,
                       message.position, message.velocity, message.effort)


def read_echo(text: str) -> tuple[list[LoggedState], str] | None:
    """
    Return the joint states of a text and their description, or None.

    The names of the joints stand in each line, between the time and the numbers. ROS 2 prints no
    header: a line without velocities or efforts is not read, since it does not say which it lacks.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return None
    header = lines[0].split(',')
    if header[0] == '%time' and 'field.name0' in header:
        what, at = 'lines of `rostopic echo -p`', _field_columns(header)
        found = [_ros1(line.split(','), at, len(header)) for line in lines[1:]]
    else:
        what = 'lines of `ros2 topic echo --csv`'
        looked_at = [_ros2(line.split(',')) for line in lines[:DIALECT_LINES]]
        if 2 * sum(state is not None for state in looked_at) < len(looked_at):
            return None
        found = [_ros2(line.split(',')) for line in lines]
    states = [state for state in found if state is not None]
    if len(states) < len(found):        # `A message was lost!!!`, or one that was cut off
        what += f', {len(found) - len(states)} others left out'
    return (states, what) if states else None


def _ros2(cells: list[str]) -> LoggedState | None:
    """Return the joint state of a line without header, or None."""
    names = list(takewhile(is_text, cells[HEADER_CELLS:]))
    count, first = len(names), HEADER_CELLS + len(names)
    if not count or len(cells) not in (first + count, first + 3 * count):
        return None
    try:
        stamp = 10**9 * int(cells[0]) + int(cells[1])
        numbers = [float(cell) for cell in cells[first:]]
    except ValueError:
        return None
    return LoggedState(stamp, stamp, names, numbers[:count], numbers[count:2 * count],
                       numbers[2 * count:])


def _field_columns(header: list[str]) -> dict[str, list[int]]:
    """Return the columns of each field of the joint state, by its name."""
    at: dict[str, list[int]] = {'stamp': [], 'name': [], 'position': [], 'velocity': [],
                                'effort': []}
    for k, title in enumerate(header):
        if match := FIELD_NAME.fullmatch(title):
            at[match[1]].append(k)
        elif title == 'field.header.stamp':
            at['stamp'] = [k]
    return at


def _ros1(cells: list[str], at: dict[str, list[int]], width: int) -> LoggedState | None:
    """Return the joint state of a line below a header, or None."""
    if len(cells) != width:
        return None
    try:
        position, velocity, effort = ([float(cells[k]) for k in at[name]]
                                      for name in ('position', 'velocity', 'effort'))
        return LoggedState(int(cells[0]), sum(int(cells[k]) for k in at['stamp']),
                           [cells[k] for k in at['name']], position, velocity, effort)
    except ValueError:
        return None
