# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Recordings from ROS 2 bags, in SQLite or MCAP, without ROS."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
import shutil
import sys
from tempfile import TemporaryDirectory
from typing import Any

from .joint_states import LoggedState, recording_of
from .recording import Recording
from ...errors import Argument, reading, RecordingError, UnknownNameError
from ...extras import pip_install_extra
from ...model.robot import RobotModel

STATE_TYPE = 'sensor_msgs/msg/JointState'
COMPRESSED = '.mcap.zstd', '.db3.zstd'
BAG_SUFFIXES = '.mcap', '.db3', *COMPRESSED


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
    remedy = ('give the folder of the bag, or its .mcap or .db3 file; one that was not closed is '
              'mended by `ros2 bag reindex`')
    with reading(path, RecordingError, str(path), remedy), _storage(path, zstd) as storage, \
            AnyReader([storage],
                      default_typestore=get_typestore(Stores.ROS2_HUMBLE)) as reader:
        chosen = _topic(reader, model, topic, path)
        connections = [c for c in reader.connections
                       if c.topic == chosen and c.msgtype == STATE_TYPE]
        states = [_state(received, reader.deserialize(data, STATE_TYPE))
                  for _, received, data in reader.messages(connections)]
    return recording_of(states, f'messages of {chosen}, {len(connections)} publishers',
                        f'{path.name}, {chosen}', model, joint_names)


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
            remedy='give one of the files' if files else 'give the folder of a bag')
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
