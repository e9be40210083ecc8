# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Planning of references: trajectories, single targets and stops, of all joints or of some."""

from math import comb
from typing import NamedTuple

import numpy as np
from numpy import ndarray

from .effort_feedforward import check_efforts
from .motion_limits import MotionLimits
from .reference_stream import decelerate, is_target, reach
from .trajectory import interpolate, joint_order, Waypoints
from .trajectory_tracking import HEADER, Points, sample_state
from ..errors import TrajectoryError, TrajectoryJointsError


class PlannedReference(NamedTuple):
    """
    Reference that has been planned and is not followed yet.

    ``asked`` waypoints; ``start`` [s] on the clock of references; ``following``: whether
    ``old`` was in force when ``new`` was planned, which continues it.
    """

    asked: Waypoints
    start: float
    following: bool
    old: Points
    new: Points

    @property
    def end(self) -> float:
        """Time [s] at which the last waypoint, or a target without a time, is reached."""
        last = float(np.max(self.asked.times, initial=0.0))
        return self.start + (last or float(self.new.times[-1]))


@np.errstate(all='ignore')          # numbers that overflow are refused
def plan(limits: MotionLimits, asked: Waypoints, old: Points | None, held: ndarray,
         start: float, serial: int) -> Points:
    """
    Return the reference that is asked for, which continues the present one.

    No waypoints: deceleration to rest. One at time 0: the time-optimal motion to it. Others: see
    :func:`.trajectory.interpolate`. Joints that are not named keep their present reference.

    :param old: present reference, None where a pose is held.
    :param held: (nv,) [rad | m] that pose.
    :param start: time [s] on the clock of the controller.
    :param serial: number of the new reference.
    :raises TrajectoryError: naming the joint or the waypoint, and the remedy.
    """
    model = limits.model
    position, velocity, acceleration = (held, np.zeros(model.nv), np.zeros(model.nv)) if (
        old is None) else sample_state(old, start)
    order = np.array(joint_order(model.joint_names, asked.joint_names, partial=True))
    if len(asked.times) == 0:
        return decelerate(limits, position, velocity, acceleration, start, serial)
    named = order >= 0
    if not named.any():
        raise TrajectoryJointsError('no joint is named', name='joint_names',
                                    remedy='name the joints of the waypoints')
    check_efforts(limits, asked)
    asked = asked if named.all() else complete(model.joint_names, asked, order, position)
    velocity, acceleration = (np.where(named, a, 0.0) for a in (velocity, acceleration))
    new = (reach(limits, asked, position, velocity, acceleration, start, serial)
           if is_target(asked)
           else interpolate(model, asked, position, velocity, start, serial))
    return new if old is None or named.all() else combined(new, old, named)


def complete(names: tuple[str, ...], asked: Waypoints, order: ndarray,
             position: ndarray) -> Waypoints:
    """
    Return waypoints of all joints, where those that are not named rest.

    :param order: (nv,) index in ``asked.joint_names`` of each joint, -1 where it is not named.
    :param position: (nv,) [rad | m] of the joints that rest.
    :raises TrajectoryError: an array has the wrong shape.
    """
    shape, named = (len(asked.times), len(asked.joint_names)), order >= 0
    arrays: list[ndarray | None] = []
    for kind, rest in (('positions', position), ('velocities', 0.0 * position),
                       ('accelerations', 0.0 * position), ('efforts', 0.0 * position)):
        given = getattr(asked, kind)
        if given is None:
            arrays.append(None)
            continue
        given = np.asarray(given, float)
        if given.shape != shape:
            raise TrajectoryError(f'{kind} have shape {given.shape}', name=kind,
                                  remedy=f'give one value a joint and waypoint: {shape}')
        full = np.tile(rest, (len(asked.times), 1))
        full[:, named] = given[:, order[named]]
        arrays.append(full)
    positions, velocities, accelerations, efforts = arrays
    if positions is None:
        raise TrajectoryError('the trajectory has no positions', name='positions',
                              remedy='give one a joint and waypoint')
    return Waypoints(names, asked.times, positions, velocities, accelerations, efforts)


def combined(new: Points, old: Points, named: ndarray) -> Points:
    """
    Return the reference ``new`` of some joints, with the others following ``old`` to its end.

    :param named: (nv,) whether a joint follows ``new``.
    """
    start = new.header['start'][0]
    past = old.header['start'][0] - start
    times = np.union1d(new.times, past + old.times)
    times = times[(times >= 0.0)]
    times = times[np.concatenate([[True], np.diff(times) > 1e-9])]
    coefficients = np.where(named, _expanded(new, times[:-1], 0.0),
                            _expanded(old, times[:-1], past))
    efforts = np.where(named, _expanded_efforts(new, times[:-1], 0.0),
                       _expanded_efforts(old, times[:-1], past))
    header = np.zeros(1, HEADER)
    header[0] = start, new.header['serial'][0]
    return Points(header, times, np.ascontiguousarray(coefficients), np.ascontiguousarray(efforts))


def _segments(points: Points, knots: ndarray, offset: float) -> tuple[ndarray, ndarray]:
    """Return the segment of a reference at each of ``knots`` [s], and whether it rests there."""
    times = offset + points.times
    k = np.clip(np.searchsorted(times, knots + 1e-9, side='right') - 1, 0,
                len(points.coefficients) - 1)
    return k, (knots + 1e-9 >= times[-1]) | (knots + 1e-9 < times[0])


def _expanded(points: Points, knots: ndarray, offset: float) -> ndarray:
    """Return Taylor coefficients (K, 6, nv) of a reference about ``knots`` [s] of another."""
    times, c = offset + points.times, points.coefficients
    k, outside = _segments(points, knots, offset)
    x = np.clip(knots, times[0], times[-1])[:, None] - times[k, None]
    out = np.stack([sum(comb(i, j) * c[k, i] * x**(i - j) for i in range(j, 6))
                    for j in range(6)], axis=1)
    out[outside, 1:] = 0.0
    return out


def _expanded_efforts(points: Points, knots: ndarray, offset: float) -> ndarray:
    """Return efforts and their slopes (K, 2, nv) of a reference at ``knots`` [s] of another."""
    k, outside = _segments(points, knots, offset)
    out = points.efforts[k]
    out[:, 0] += (knots - offset - points.times[k])[:, None] * out[:, 1]
    out[outside] = 0.0
    return out
