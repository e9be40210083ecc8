# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Recording: raw samples of joints in SI units, not repaired yet."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy import ndarray

from .merge import merge, Message
from ...errors import RecordingError


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
                                 remedy='give one stamp a sample, and at least one sample')
        for name in ('position', 'velocity', 'effort'):
            if (given := getattr(self, name)) is None and name != 'position':
                continue
            array = np.array(given, float)
            object.__setattr__(self, name, array)
            if array.shape != (len(time), nv):
                raise RecordingError(
                    f'the {name} in {self.source} is an array {array.shape}', name=name,
                    value=array.shape,
                    remedy=f'give {len(time)} samples of {nv} joints: {(len(time), nv)}')

    def __len__(self) -> int:
        return len(self.time)

    @classmethod
    def from_messages(cls, messages: Iterable[Message], source: str = 'messages',
                      joints: Sequence[str] | None = None) -> 'Recording':
        """
        Return the recording of a stream of joint states, see :func:`~.merge.merge`.

        :param messages: tuples of time [s], names, positions, velocities and efforts; each of the
            latter has as many numbers as there are names, or none.
        :param source: name of the stream, for messages.
        :param joints: to be kept; None: all.
        :raises RecordingError: no message has a position, or messages with different joints cannot
            be merged.
        """
        merged = merge(messages, source, joints)
        return cls(merged.names, merged.time, merged.position, merged.velocity, merged.effort,
                   source, tuple(merged.notes))

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
                remedy=f'it has {", ".join(self.joint_names)}: record all joints of the model, '
                       f'or lock those that did not move when the model is loaded')
        extra = [name for name in self.joint_names if name not in names]
        notes = [f'left out, for the model has no such joint: {", ".join(extra)}'] if extra else []
        index = [self.joint_names.index(name) for name in names]
        return replace(self, joint_names=names, position=self.position[:, index],
                       velocity=None if self.velocity is None else self.velocity[:, index],
                       effort=None if self.effort is None else self.effort[:, index],
                       notes=(*self.notes, *notes))
