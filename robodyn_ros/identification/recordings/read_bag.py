# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Recordings from ROS 2 bags, in SQLite or MCAP, without ROS."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from .headers import by_number
from .recording import Recording
from ...errors import Argument, Placeholder, RecordingError, UnknownNameError
from ...extras import pip_install_extra
from ...model.robot import RobotModel

STATE_TYPE = 'sensor_msgs/msg/JointState'


def read_bag(path: Path, model: RobotModel, topic: str | None,
             joint_names: Sequence[str] | None = None) -> Recording:
    """
    Return the joint states of a bag: a folder with metadata.yaml, or a .mcap or .db3 file.

    Times are the stamps of the messages, or those of receipt where all stamps are zero.

    :param topic: of sensor_msgs/JointState; None: the only one that carries joints of the model.
    :param joint_names: names in the bag of the model's joints, in the model's order; None: those
        of the model, or the same numbers.
    :raises RecordingError: the bag cannot be read, `rosbags` is not installed, or several topics
        match.
    :raises UnknownNameError: there is no such topic of this type, or no such joint.
    """
    try:
        from rosbags.highlevel import AnyReader, AnyReaderError
        from rosbags.rosbag2 import ReaderError
        from rosbags.typesys import get_typestore, Stores
    except ImportError:
        raise RecordingError(
            f'{path.name} is a bag, and what reads it is not installed', name='rosbags',
            value=str(path), remedy=f'run `{pip_install_extra("identify")}`') from None
    try:
        with AnyReader([_storage(path)],
                       default_typestore=get_typestore(Stores.ROS2_HUMBLE)) as reader:
            chosen = _topic(reader, model, topic, path)
            connections = [c for c in reader.connections
                           if c.topic == chosen and c.msgtype == STATE_TYPE]
            messages = [(received, reader.deserialize(data, STATE_TYPE))
                        for _, received, data in reader.messages(connections)]
    except (AnyReaderError, ReaderError, OSError) as error:
        raise RecordingError(f'{path.name} cannot be read as a bag: {error}', name=str(path),
                             remedy='give the folder of the bag, or its .mcap or .db3 file; one '
                                    'that was not closed is mended by `ros2 bag reindex`'
                             ) from None
    stamped = any(_nanoseconds(m) for _, m in messages)
    known, said = _names(messages, model, joint_names, path.name)
    recording = Recording.from_messages(_plain(messages, stamped, known),
                                        f'{path.name}, {chosen}', model.joint_names)
    clock = 'header stamps' if stamped else \
        'times of receipt, for the header stamps are all zero'
    notes = [f'{len(messages)} messages of {chosen}, {len(connections)} publishers; '
             f'time: {clock}', *said, *recording.notes]
    return Recording(recording.joint_names, recording.time, recording.position,
                     recording.velocity, recording.effort, recording.source, tuple(notes))


def _names(messages: list[tuple[int, Any]], model: RobotModel, given: Sequence[str] | None,
           source: str) -> tuple[dict[str, str], list[str]]:
    """Return the model's name for each joint of the bag, and a note where it is a guess."""
    names = list(dict.fromkeys(name for _, message in messages for name in message.name))
    if given is not None:
        if unknown := [name for name in given if name not in names]:
            raise UnknownNameError(f'joint in {source}', unknown[0], names)
        if len(given) != model.nv:
            raise RecordingError(f'{len(given)} names of joints are given', name='joint_names',
                                 value=tuple(given), remedy=f'give {model.nv}, in the order of '
                                                            f'{", ".join(model.joint_names)}')
        return dict(zip(given, model.joint_names)), []
    if not {*names}.isdisjoint(model.joint_names):
        return {}, []
    if known := by_number(names, model.joint_names):
        return known, ['joints by number: ' + ', '.join(f'{a} → {b}' for a, b in known.items())]
    raise RecordingError(
        f'{source} has none of the joints of the model', name=model.joint_names[0],
        value=tuple(names), remedy=(
            f'it has {", ".join(names) or "no names"}: give those that are '
            f'{", ".join(model.joint_names)} (', Argument('joint_names', Placeholder('...')), ')'))


def _storage(path: Path) -> Path:
    """Return the path that rosbags opens: the only bag file of a folder without metadata.yaml."""
    if not path.is_dir() or (path / 'metadata.yaml').exists():
        return path
    files = sorted([*path.glob('*.mcap'), *path.glob('*.db3')])
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


def _nanoseconds(message: Any) -> int:
    return message.header.stamp.sec * 10**9 + message.header.stamp.nanosec


def _plain(messages: list[tuple[int, Any]], stamped: bool,
           known: dict[str, str]) -> Iterator[tuple]:
    """Yield messages with times relative to the first one and the model's joint names."""
    first = None
    for received, message in messages:
        at = _nanoseconds(message) if stamped else received
        first = at if first is None else first
        yield ((at - first) * 1e-9, [known.get(name, name) for name in message.name],
               message.position, message.velocity, message.effort)
