# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Recording: raw samples of joints in SI units, not repaired yet, merged from messages."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
import csv
from dataclasses import dataclass, replace
from io import TextIOWrapper
from math import nan
import os
from pathlib import Path
import tempfile
from typing import Any, BinaryIO

import numpy as np
from numpy import ndarray

from ...errors import Argument, Placeholder, RecordingError, Remedy

TURN_TOLERANCE = 1.0    # [rad] of motion between two samples, besides a jump by a turn
# time [s], names, positions, velocities, efforts
Message = tuple[float, Sequence[str], Sequence[float], Sequence[float], Sequence[float]]
QUANTITIES = ('position', 'velocity', 'effort')
MAX_MESSAGE_GAP = 5    # periods without a message of a joint, up to which to interpolate
MAX_LATE_PERIODS = 5    # of a message; more is a clock that was set back


def unwrapped(angle: ndarray) -> tuple[ndarray, int]:
    """
    Return angles (N,) [rad] without jumps by a turn, and their number.

    Not ``numpy.unwrap``, which spreads NaN, and changes steps of any size above half a turn, also
    those of angles that are in degrees.
    """
    known = np.isfinite(angle)
    steps = np.diff(angle[known])
    turns = np.where(np.abs(np.abs(steps) - 2 * np.pi) < TURN_TOLERANCE, np.sign(steps), 0.0)
    result = angle.copy()
    result[np.flatnonzero(known)[1:]] -= 2 * np.pi * np.cumsum(turns)
    return result, int(np.count_nonzero(turns))


@dataclass
class _Series:
    """One quantity of one joint: numbers of its messages, stamps and values."""

    count: ndarray
    time: ndarray
    value: ndarray


def _sort(messages: Iterable[Message],
          joints: Sequence[str] | None) -> tuple[dict[tuple, list[tuple]], int]:
    """Group messages with the same contents; count those that cannot be used."""
    streams: dict[tuple, list[tuple]] = defaultdict(list)
    refused = 0
    for count, (time, names, *values) in enumerate(messages):
        names = tuple(names)
        filled = tuple(len(v) > 0 for v in values)
        if any(len(v) not in (0, len(names)) for v in values) or len(set(names)) < len(names):
            refused += 1
        elif any(filled) and (joints is None or not set(names).isdisjoint(joints)):
            streams[names, filled].append((count, time, *values))
    if joints is not None:
        streams = {(tuple(name if name in joints else '' for name in names), filled): rows
                   for (names, filled), rows in streams.items()}
    return streams, refused


def _series(streams: dict[tuple, list[tuple]]) -> dict[tuple[str, str], _Series]:
    parts: dict[tuple[str, str], list[tuple]] = defaultdict(list)
    for (names, filled), rows in streams.items():
        count, time = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
        for k, quantity in enumerate(QUANTITIES):
            if filled[k]:
                values = np.array([row[2 + k] for row in rows], float)
                for j, name in enumerate(names):
                    if name:
                        parts[quantity, name].append((count, time, values[:, j]))
    series = {}
    for key, of_key in parts.items():
        count, time, value = map(np.concatenate, zip(*of_key))
        order = np.argsort(count)
        order = order[by_stamp(time[order])]
        series[key] = _Series(count[order], time[order], value[order])
    return series


def usual_period(time: ndarray) -> float:
    """Return the median of the intervals at which stamps (N,) [s] rise, NaN where none does."""
    steps = np.diff(time)
    rising = steps[steps > 0]
    return float(np.median(rising)) if len(rising) else nan


def by_stamp(time: ndarray) -> ndarray:
    """
    Return the order (N,) of samples that were received, by their stamps (N,) [s].

    Those from before the clock was set back stay before the others.
    """
    steps = np.diff(time)
    if not (steps < 0).any() or not (steps > 0).any():
        return np.arange(len(time))
    back = steps < -MAX_LATE_PERIODS * usual_period(time)
    return np.lexsort((time, np.r_[0, np.cumsum(back)]))


def _check_rising(series: dict[tuple[str, str], _Series], source: str) -> None:
    for (_, name), s in series.items():
        if (np.diff(s.time) < 0).any():
            raise RecordingError(
                f'the stamps of {name} in {source} run backwards, so it cannot be combined with '
                f'joints of other messages', name=name, value=float(np.diff(s.time).min()),
                remedy='record all joints in one message, or with one clock')


def _covered(at: ndarray, time: ndarray) -> ndarray:
    """Return at which times there are samples near, before and after."""
    after = np.searchsorted(time, at).clip(1, max(len(time) - 1, 1))
    if len(time) < 2:
        return np.isin(at, time)
    longest = MAX_MESSAGE_GAP * np.median(np.diff(time))
    inside = (at >= time[0]) & (at <= time[-1])
    return inside & (time[after] - time[after - 1] <= longest)


@dataclass(frozen=True, eq=False)
class Recording:
    """
    Raw samples of joints.

    :param joint_names: nv names, in the order of the columns.
    :param time: (N,) [s] as stamped, possibly with gaps, steps and duplicates.
    :param position: (N, nv) [rad | m].
    :param velocity: (N, nv) [rad/s | m/s]; None where it was not recorded.
    :param effort: (N, nv) in ``effort_unit``; None where it was not recorded.
    :param source: name of the file or topic, for messages.
    :param notes: how the data were interpreted, one line each.
    :param effort_unit: of rotary joints: 'N·m' (prismatic joints: N) or 'A'.
    :raises RecordingError: an array has the wrong shape, or a joint is named twice.
    """

    joint_names: tuple[str, ...]
    time: ndarray
    position: ndarray
    velocity: ndarray | None = None
    effort: ndarray | None = None
    source: str = 'arrays'
    notes: tuple[str, ...] = ()
    effort_unit: str = 'N·m'

    def __post_init__(self) -> None:
        object.__setattr__(self, 'joint_names', tuple(self.joint_names))
        nv = len(self.joint_names)
        if len(set(self.joint_names)) < nv:
            raise RecordingError(f'{self.source} names a joint twice', name='joint_names',
                                 value=self.joint_names, remedy='name each joint once')
        time = np.array(self.time, float)
        object.__setattr__(self, 'time', time)
        if time.ndim != 1 or not len(time):
            raise RecordingError(f'the time in {self.source} is an array {time.shape}',
                                 name='time', value=time.shape,
                                 remedy='pass one stamp per sample, and at least one sample')
        for name in QUANTITIES:
            if (given := getattr(self, name)) is None and name != 'position':
                continue
            array = np.array(given, float)
            object.__setattr__(self, name, array)
            if array.shape != (len(time), nv):
                raise RecordingError(
                    f'the {name} in {self.source} is an array {array.shape}', name=name,
                    value=array.shape,
                    remedy=f'pass {len(time)} samples of {nv} joints: {(len(time), nv)}')

    def __len__(self) -> int:
        return len(self.time)

    @property
    def efforts(self) -> ndarray:
        """Return the efforts (N, nv); :class:`RecordingError` if there are none."""
        if self.effort is None:
            raise RecordingError(f'{self.source} has no efforts', name='effort', remedy=(
                'record joint torques or motor currents, without which neither masses nor '
                'friction can be identified; or name their columns: ',
                Argument('columns', {'effort': 'tau{i}'})))
        return self.effort

    @classmethod
    def from_messages(cls, messages: Iterable[Message], source: str = 'messages',
                      joints: Sequence[str] | None = None) -> 'Recording':
        """
        Return the recording of a stream of joint states, at common stamps.

        Where all joints come in one message, stamps are those of the messages. Otherwise they are
        those of the joint with the most messages, and the other joints are interpolated linearly.
        Samples at which a joint was silent for more than MAX_MESSAGE_GAP of its periods are left
        out.

        :param messages: tuples of time [s], names, positions, velocities and efforts; each of the
            latter has as many numbers as there are names, or none.
        :param source: name of the stream, for messages.
        :param joints: to be kept; None: all.
        :raises RecordingError: no message has a position, or messages with different joints cannot
            be merged, since the stamps of a joint run backwards.
        """
        streams, refused = _sort(messages, joints)
        notes = [f'{refused} messages refused: the numbers do not match the names'
                 ] if refused else []
        series = _series(streams)
        names = tuple(dict.fromkeys(name for quantity, name in series if quantity == 'position'))
        if not names:
            raise RecordingError(f'{source} has no joint positions', name='position',
                                 remedy='record sensor_msgs/JointState with names and positions'
                                 + (f' of {", ".join(joints)}' if joints else ''))
        base = max((series['position', name] for name in names), key=lambda s: len(s.time))
        used = {key: s for key, s in series.items() if key[1] in names}
        if late := int(np.sum(np.diff(base.count) < 0)):
            notes.append(f'{late} messages were out of order; sorted by time stamp')
        together = all(np.array_equal(s.count, base.count) for s in used.values())
        if not together:
            _check_rising(used, source)
            notes.append(f'the joints came in messages of {len(streams)} kinds, put together at '
                         'the stamps of the joint that came most often')
        keep = np.ones(len(base.time), bool)
        columns = {}
        for key, s in used.items():
            if np.array_equal(s.count, base.count):
                columns[key] = s.value
            else:
                value = unwrapped(s.value)[0] if key[0] == 'position' else s.value
                columns[key] = np.interp(base.time, s.time, value)
                keep &= _covered(base.time, s.time)
        if not keep.all():
            notes.append(f'{np.sum(~keep)} samples left out: some joint has no message near them')
        arrays: dict[str, Any] = {}
        for quantity in QUANTITIES:
            rest = [name for name in names if (quantity, name) not in columns]
            if not rest:
                arrays[quantity] = np.column_stack([
                    columns[quantity, name][keep] for name in names])
            elif len(rest) < len(names):
                notes.append(f'{quantity} not used: missing for {", ".join(rest)}')
        return cls(names, base.time[keep], source=source, notes=tuple(notes), **arrays)

    def of(self, joint_names: Sequence[str]) -> 'Recording':
        """
        Return the recording of these joints, in this order.

        :raises RecordingError: a joint was not recorded.
        """
        names = tuple(joint_names)
        if missing := [name for name in names if name not in self.joint_names]:
            raise RecordingError(
                f'{self.source} has no joint {", ".join(missing)}', name=missing[0],
                value=self.joint_names,
                remedy=(f'it has {", ".join(self.joint_names)}: record all joints of the model, '
                        'lock those that did not move, load the recorded chain alone (',
                        Argument('root', Placeholder('...')), ', ',
                        Argument('tip', Placeholder('...')),
                        '), or name the columns in their order (',
                        Argument('joint_names', Placeholder('...')), ')'))
        extra = [name for name in self.joint_names if name not in names]
        notes = [f'left out, for the model has no such joint: {", ".join(extra)}'] if extra else []
        index = [self.joint_names.index(name) for name in names]
        return replace(self, joint_names=names, notes=(*self.notes, *notes), **{
            quantity: array[:, index] for quantity, array in arrays_of(self).items()})


def check_target(path: Path, force: bool) -> None:
    """
    Check before a recording is made that its file can be written.

    :param force: whether an existing file may be replaced.
    :raises RecordingError: the suffix is unknown, the file exists, or the folder is not writable.
    """
    if path.suffix.lower() not in WRITERS:
        _refuse(path, 'has an unknown extension', f'end it in {" or ".join(WRITERS)}')
    if path.exists() and not force:
        _refuse(path, 'is there already', ('choose another name, or ', Argument('force', True)))
    if not path.parent.is_dir():
        _refuse(path, 'would be in a folder that is not there', f'make {path.parent}')
    if path.is_dir() or not os.access(path.parent, os.W_OK):
        _refuse(path, 'cannot be written there', 'choose a folder with write permission')


def write(path: Path, recording: Recording) -> None:
    """
    Write .npz (arrays joint_names, time, position, ...) or .csv (time, position_NAME, ...).

    The file is written next to the target and then renamed.

    :raises RecordingError: writing failed; the remedy names the file where the recording was saved
        instead.
    """
    try:
        _write(path, recording)
    except OSError as error:
        remedy = 'make room'
        try:
            rescued = Path(tempfile.mkdtemp(prefix='robodyn_')) / path.name
            _write(rescued, recording)
            remedy = f'it is in {rescued}: move it from there'
        except OSError as other:
            remedy = f'it could not be kept elsewhere either ({other})'
        _refuse(path, f'cannot be written ({error})', remedy)


def _write(path: Path, recording: Recording) -> None:
    beside = path.with_name(f'.{path.name}.{os.getpid()}')
    try:
        with beside.open('wb') as file:
            WRITERS[path.suffix.lower()](file, recording)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def arrays_of(recording: Recording) -> dict[str, Any]:
    """Return the arrays of the quantities that were recorded, by name."""
    return {name: array for name in QUANTITIES if (array := getattr(recording, name)) is not None}


def _npz(file: BinaryIO, recording: Recording) -> None:
    np.savez_compressed(file, joint_names=np.array(recording.joint_names), time=recording.time,
                        **arrays_of(recording))


def _csv(file: BinaryIO, recording: Recording) -> None:
    arrays = arrays_of(recording)
    text = TextIOWrapper(file, encoding='utf-8', newline='')
    out = csv.writer(text)
    out.writerow(['time', *(f'{quantity}_{name}' for quantity in arrays
                            for name in recording.joint_names)])
    out.writerows(np.column_stack([recording.time, *arrays.values()]).tolist())
    text.flush()
    text.detach()


WRITERS: dict[str, Callable[[BinaryIO, Recording], None]] = {'.npz': _npz, '.csv': _csv}


def _refuse(path: Path, problem: str, remedy: Remedy) -> None:
    raise RecordingError(f'{path} {problem}', name=str(path), remedy=remedy)
