# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Trajectories that are requested: waypoints, the order of their joints, and their queue."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, TYPE_CHECKING
from unicodedata import normalize

import numpy as np
from numpy import ndarray

from ..inputs.pose_tracking import Points, sample
from ...errors import TrajectoryError, TrajectoryJointsError

if TYPE_CHECKING:
    from ...model.robot import RobotModel

MAX_WAYPOINTS = 20_000
# Segments of trajectories that are queued: the queue must not fill the memory
MAX_SEGMENTS = 2 * MAX_WAYPOINTS
# s: a single waypoint no later than that is one of a stream, which the next one will replace
MAX_STREAM_TIME = 0.2
QUINTIC_PEAK_RATIO = 15 / 8     # peak over mean velocity of a quintic from rest to rest
GENTLE_SHARE, GENTLE_TIME = 0.25, 2.0   # of the velocity limits; s at least


@dataclass(frozen=True)
class Waypoints:
    """
    Waypoints of a requested trajectory, with the joints in any order.

    :param joint_names: joints of the model, each once; those that are missing keep their
        present reference.
    :param times: (W,) [s] since the start, increasing; none: stop.
    :param positions: (W, len(joint_names)) [rad | m], as all that follows; None where a stream
        has velocities alone, see :func:`is_streamed`.
    :param velocities: [rad/s | m/s] or None.
    :param accelerations: [rad/s² | m/s²] or None; needs velocities.
    :param efforts: [N·m | N] or None; added to the efforts of the law, with linear
        interpolation, see :mod:`.trajectory_tracking`.
    :param elapsed: time [s] since the start for which it should have been under way already.
    """

    joint_names: Sequence[str]
    times: ndarray
    positions: ndarray | None
    velocities: ndarray | None = None
    accelerations: ndarray | None = None
    efforts: ndarray | None = None
    elapsed: float = 0.0


def gentle_motion(model: RobotModel, start: ndarray, end: ndarray,
                  duration: float | None = None) -> Waypoints:
    """
    Return a motion from rest to rest, which does not look for collisions.

    It takes a quarter of the velocity limits of the model; continuous joints go the shortest way.

    :param start, end: (nv,) [rad | m].
    :param duration: another one [s].
    """
    end = model.nearest_turn(end, start)
    longest = (QUINTIC_PEAK_RATIO * np.abs(end - start)
               / (GENTLE_SHARE * model.velocity_limit)).max()
    rest = np.zeros((1, len(end)))
    return Waypoints(model.joint_names, np.array([duration or max(GENTLE_TIME, longest)]),
                     end[None], rest, rest)


def is_target(asked: Waypoints) -> bool:
    """Return whether one waypoint at time 0 asks for a pose as soon as the limits allow."""
    return len(asked.times) == 1 and asked.times[0] == 0.0


def is_streamed(asked: Waypoints) -> bool:
    """
    Return whether a single waypoint is one of a stream, as MoveIt Servo and teleoperators send.

    The next one will replace it before, or soon after, the reference is there: each of them to be
    reached at rest, at its time exactly, would demand that the arm stop and go with each.
    """
    return len(asked.times) == 1 and 0.0 < asked.times[0] <= MAX_STREAM_TIME


def splice(old: Any, new: Any, now: float, rest: Callable[[Any], Any] | None = None) -> Any:
    """
    Return a reference that follows ``old`` until ``new`` starts, and ``new`` from there on.

    The motion under way is not disturbed, whenever the cycle begins to use the result before
    then. Segments of ``old`` that have ended at ``now`` [s] are left out.

    :param old, new: Points, or PosePoints.
    :param rest: returns the segment of rest at the end of a reference; None: of Points.
    :raises TrajectoryError: more than MAX_SEGMENTS segments would be queued.
    """
    begin = new.header['start'][0]
    times, present = old.times + (old.header['start'][0] - begin), now - begin
    if present >= min(times[-1], 0.0) or times[0] >= 0.0:       # over, or never begun
        return new
    parts = [old]
    if times[-1] < 0.0:                                     # rest at the end of the old one
        times, parts = np.append(times, 0.0), [old, (rest or _at_rest)(old)]
    first = max(int(np.searchsorted(times, present, side='right')) - 1, 0)
    kept = int(np.searchsorted(times, 0.0))                 # segments that begin before the start
    if (waiting := kept - first + len(new.coefficients)) > MAX_SEGMENTS:
        raise TrajectoryError(f'{waiting} segments would wait to be followed', name='points',
                              remedy=f'at most {MAX_SEGMENTS} may: send it later, or with fewer '
                              'waypoints')
    return new._replace(times=np.concatenate([times[first:kept], new.times]), **{
        name: np.concatenate([
            np.concatenate([getattr(one, name) for one in parts])[first:kept], getattr(new, name)])
        for name in new._fields[2:4]})                      # coefficients, efforts or bases


def _at_rest(old: Points) -> Points:
    held = Points.none(old.coefficients.shape[2])
    held.coefficients[0, 0] = sample(old, np.inf)[0]
    return held


def joint_order(joints: Sequence[str], names: Sequence[str], *,
                partial: bool = False) -> list[int]:
    """
    Return the index in ``names`` of each of ``joints``.

    :param partial: whether joints may be missing, whose index is -1.
    :raises TrajectoryJointsError: ``names`` are not ``joints``, each once.
    """
    ours = ', '.join(joints)
    for name in names:
        if name in joints:
            continue
        shown = repr(name) if repr(name).isascii() else f'{name!r} ({ascii(name)})'
        twins = [j for j in joints if normalize('NFKC', j) == normalize('NFKC', name)]
        _refuse_joint(f'no joint {shown}', name,
                      f'copy it from the URDF: {ascii(twins[0])} looks the '
                      'same and is not' if twins else f'the joints are {ours}')
    at: dict[str, int] = {}
    for i, name in enumerate(names):
        if name in at:
            _refuse_joint(f'joint {name!r} is named twice', name, 'name every joint once')
        at[name] = i
    for name in () if partial else joints:
        if name not in at:
            _refuse_joint(f'joint {name!r} is missing', name, 'name every joint of the robot')
    return [at.get(name, -1) for name in joints]


def _refuse_joint(problem: str, name: str, remedy: str) -> NoReturn:
    raise TrajectoryJointsError(problem, name=name, remedy=remedy)
