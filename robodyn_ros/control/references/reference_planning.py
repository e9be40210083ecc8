# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Planning of references: trajectories, single targets and stops, of all joints or of some."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy import ndarray

from .reference_joining import combined, continued, end_state, join, SAME_STATE_TOLERANCE, State
from .reference_stream import decelerate, deceleration, is_streamed, is_target, reach, stream
from .trajectory import interpolate, joint_order, points_through, REST_VELOCITY, Waypoints
from ..inputs.points import Points, sample_state
from ..settings.motion_limits import check_positions, MotionLimits
from ...errors import TrajectoryError, TrajectoryJointsError, TrajectoryOverError

# s that a start may be past: a trajectory with the time of now as its stamp means "at once"
AT_ONCE_DELAY = 0.5


class PlannedReference(NamedTuple):
    """
    Reference that has been planned and is not followed yet.

    ``asked`` waypoints; ``start`` [s] on the clock of references; ``following``: whether
    ``old`` was in force when ``new`` was planned, which continues it; ``end`` [s]: when the joints
    that are named come to rest; ``law``: number of the law and gains that it was planned beside.
    """

    asked: Waypoints
    start: float
    following: bool
    old: Points
    new: Points
    end: float
    law: int


def plan(limits: MotionLimits, asked: Waypoints, old: Points | None, held: ndarray,
         start: float, serial: int) -> Points:
    """Return the reference of :func:`plan_motion` alone."""
    return plan_motion(limits, asked, old, held, start, serial)[0]


@np.errstate(all='ignore')          # numbers that overflow are refused
def plan_motion(limits: MotionLimits, asked: Waypoints, old: Points | None, held: ndarray,
                start: float, serial: int) -> tuple[Points, float]:
    """
    Return the reference that is asked for, which continues the present one, and its end [s].

    No waypoints: deceleration to rest. One at time 0: the time-optimal motion to it. One soon
    after: see :func:`.reference_stream.stream`. Others: :func:`.trajectory.interpolate`, which the
    reference joins within its limits where it is elsewhere. Joints that are not named keep their
    present reference.

    :param old: present reference, None where a pose is held.
    :param held: (nv,) [rad | m] that pose.
    :param start: time [s] on the clock of the controller.
    :param serial: number of the new reference.
    :raises TrajectoryError: naming the joint or the waypoint, and the remedy.
    """
    model = limits.model
    state = (held, np.zeros(model.nv), np.zeros(model.nv)) if (
        old is None) else sample_state(old, start)
    order = np.array(joint_order(model.joint_names, asked.joint_names, partial=True))
    if len(asked.times) == 0:
        new = decelerate(limits, state[0], state[1], state[2], start, serial)
        return new, start + new.times[-1]
    named = order >= 0
    if asked.positions is None and not (is_streamed(asked) and asked.velocities is not None):
        raise TrajectoryError('the trajectory has no positions', name='positions',
                              remedy='give one a joint and waypoint')
    if not named.any():
        raise TrajectoryJointsError('no joint is named', name='joint_names',
                                    remedy='name the joints of the waypoints')
    check_efforts(limits, asked)
    halts = asked.positions is None and not np.any(asked.velocities)
    asked = _integrated(limits, asked, state[0])
    asked = asked if named.all() else complete(model.joint_names, asked, order, state[0])
    position, velocity, acceleration = state[0], *(np.where(named, a, 0.0) for a in state[1:])
    if is_target(asked):
        new = reach(limits, asked, position, velocity, acceleration, start, serial)
    elif is_streamed(asked) and halts:
        new = decelerate(limits, position, velocity, acceleration, start, serial)
    elif is_streamed(asked) and np.isfinite(limits.jerk).all():     # nothing bounds others
        new = stream(limits, asked, position, velocity, acceleration, start, serial)
    else:
        new = _path(limits, asked, (position, velocity, acceleration), start, serial)
    end = start + float(new.times[-1])
    return new if old is None or named.all() else combined(new, old, named), end


def _path(limits: MotionLimits, asked: Waypoints, state: State, start: float,
          serial: int) -> Points:
    """Return the trajectory through waypoints of all joints, which begins in a state."""
    model = limits.model
    path = interpolate(model, _startable(limits, asked, state[0]), *state[:2],
                       start - asked.elapsed, serial, moving_end=limits.moving_end)
    x, xd, xdd = end_state(path)
    if np.abs(xd).max() > REST_VELOCITY:
        most = np.where(np.isfinite(limits.acceleration), limits.acceleration, 0.0)
        times, x, xd, xdd = deceleration(limits, x, xd, np.clip(xdd, -most, most))
        check_positions(limits, x)
        path = continued(path, points_through(times, x, xd, xdd, start, serial))
    return join(limits, path, state, start)


def _startable(limits: MotionLimits, asked: Waypoints, position: ndarray) -> Waypoints:
    """
    Return waypoints of which the first, where it is that of the measured pose, can be joined.

    An arm that has sunk below a position limit by less than the tolerance is taken to be on it. A
    first waypoint that is so near, and so soon, that the reference would jump to it begins at
    once, and is joined like one at time 0.
    """
    model, times, x = limits.model, np.asarray(asked.times, float), asked.positions
    if x is None or np.shape(x) != (len(times), model.nv) or not np.isfinite(x).all():
        return asked                    # refused for that
    of = joint_order(asked.joint_names, model.joint_names)
    x = np.array(x, float)
    inside = np.clip(x[0], model.position_lower[of], model.position_upper[of])
    tolerance = np.broadcast_to(limits.start_tolerance, model.nv)[of]
    x[0] = np.where(np.abs(x[0] - inside) <= tolerance + SAME_STATE_TOLERANCE, inside, x[0])
    distance = np.abs(x[0] - position[of])
    soon = 0.0 < times[0] and (6.0 * distance > limits.acceleration[of] * times[0]**2).any()
    still = asked.velocities is None or not np.any(asked.velocities[0])
    if not (soon and still and (distance <= tolerance).all() and len(times) > 1):
        return replace(asked, positions=x)
    velocities, accelerations, efforts = (
        None if a is None else np.vstack([a[:1], a])
        for a in (asked.velocities, asked.accelerations, asked.efforts))
    return Waypoints(asked.joint_names, np.append(0.0, times), np.vstack([x[:1], x]), velocities,
                     accelerations, efforts)


def from_now_on(limits: MotionLimits, asked: Waypoints, position: ndarray) -> Waypoints:
    """
    Return waypoints that should have been under way for ``elapsed``, as they are followed now.

    Without much delay, a stamp means "at once", unless the reference is nearer to where the
    trajectory should be by now than to its start, as it is to that of a window of MoveIt Servo,
    which begins in the past. A trajectory under way is joined, if that is within
    ``start_tolerance`` of the reference; else the next of its waypoints is the first one.

    :param position: (nv,) [rad | m] of the reference.
    :raises TrajectoryError: all of it is over; a joint that the robot has not.
    """
    model, elapsed, times = limits.model, asked.elapsed, np.asarray(asked.times, float)
    order = np.array(joint_order(model.joint_names, asked.joint_names, partial=True))
    named = order >= 0
    if (elapsed <= 0.0 or asked.positions is None or (np.diff(times) <= 0.0).any()
            or np.shape(asked.positions) != (len(times), len(asked.joint_names))):
        return replace(asked, elapsed=0.0)
    over = int(np.searchsorted(times, elapsed, side='right'))
    if over == len(times) > 0 and elapsed > AT_ONCE_DELAY:
        raise TrajectoryOverError(
            f'the trajectory should have started {elapsed:.3f} s ago and is over',
            name='header.stamp',
            remedy='stamp it with the time of now or later, or with zero for now')

    def apart(where: ndarray) -> ndarray:
        d = where[order[named]] - position[named]
        return np.abs(np.where(model.periodic[named], np.remainder(d + np.pi, 2.0 * np.pi) - np.pi,
                               d))
    x = np.asarray(asked.positions, float)
    by_now = apart(np.array([np.interp(elapsed, times, column) for column in x.T]))
    if elapsed <= AT_ONCE_DELAY:
        joins = 0 < over < len(times) and by_now.max() < apart(x[0]).max()
        return asked if joins else replace(asked, elapsed=0.0)
    tolerance = np.broadcast_to(limits.start_tolerance, model.nv)[named]
    if over and (by_now <= tolerance).all():
        return asked
    velocities, accelerations, efforts = (
        None if a is None else np.asarray(a)[over:]
        for a in (asked.velocities, asked.accelerations, asked.efforts))
    late = Waypoints(asked.joint_names, times[over:] - elapsed, x[over:], velocities,
                     accelerations, efforts)
    if is_streamed(late) and (apart(x[-1]) > tolerance).any():     # it is no waypoint of a stream
        raise TrajectoryOverError(
            f'the trajectory should have started {elapsed:.3f} s ago, and only its last waypoint '
            'is left', name='header.stamp',
            remedy='stamp it with the time of now or later, or with zero for now')
    return late


def _integrated(limits: MotionLimits, asked: Waypoints, position: ndarray) -> Waypoints:
    """Return one of a stream of velocities with the positions (nv,) that they lead to."""
    model, n = limits.model, len(asked.joint_names)
    if (asked.positions is not None or asked.velocities is None or not is_streamed(asked)
            or np.shape(asked.velocities) != (1, n)):
        return asked
    of = [model.joint_names.index(name) for name in asked.joint_names]
    there = position[of] + asked.times[0] * np.asarray(asked.velocities, float)
    return replace(asked, positions=np.clip(there, model.position_lower[of],
                                            model.position_upper[of]))


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
    return Waypoints(names, asked.times, positions, velocities, accelerations, efforts,
                     asked.elapsed)


def check_efforts(limits: MotionLimits, asked: Waypoints) -> None:
    """
    Refuse efforts of waypoints that are not finite or beyond ``feedforward_limit``.

    :raises TrajectoryError: naming the joint and the waypoint, and the remedy.
    """
    if asked.efforts is None:
        return
    efforts, shape = np.asarray(asked.efforts, float), (len(asked.times), len(asked.joint_names))
    if efforts.shape != shape:
        raise TrajectoryError(f'efforts have shape {efforts.shape}', name='efforts',
                              remedy=f'give one value a joint and waypoint: {shape}')
    if len(asked.times) == 1 and asked.times[0] == 0.0 and efforts.any():
        raise TrajectoryError('the target has efforts', name='efforts',
                              remedy='leave them empty, or give the waypoint a time after 0')
    names = limits.model.joint_names
    most = np.array([limits.effort[names.index(name)] for name in asked.joint_names])
    if not (good := np.abs(efforts) <= most).all():             # nor is NaN
        w, i = np.argwhere(~good)[0]
        raise TrajectoryError(
            f'effort of {asked.joint_names[i]} at waypoint {w} is {efforts[w, i]:.6g}, and '
            f'trajectories may add {most[i]:.6g}', name=asked.joint_names[i],
            value=float(efforts[w, i]), remedy='give what the control law lacks, not all of the '
            'effort; the parameter feedforward_limit bounds it')
