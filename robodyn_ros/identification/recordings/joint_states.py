# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Recording from joint states that were logged: their clock, and the names of their joints."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from .headers import by_number
from .recording import Recording
from ...errors import Argument, Placeholder, RecordingError, UnknownNameError
from ...model.robot import RobotModel


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
            f'it has {", ".join(names) or "no names"}: give its names of '
            f'{", ".join(model.joint_names)} (', Argument('joint_names', Placeholder('...')), ')'))
