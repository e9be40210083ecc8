# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Planning of references: trajectories, single targets and stops, of all joints or of some."""

from dataclasses import replace
from math import comb, isfinite
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from .compile_planner import plan as run
from .joint_requests import plan_joints, state_at
from .request import (
    ACCELERATIONS, DERIVATIVES, JUMP, KIND, MAX_MAGNITUDE, MAY_END_MOVING, MOVING_END, NO_LIMITS,
    NOT_FINITE, OUTSIDE, PATH, Request, request, segments_of, STOP, TARGET, TOO_FAST, VELOCITIES,
    WAYPOINT, WAYPOINTS, WRONG_TIMES)
from .trajectory import is_streamed, is_target, joint_order, MAX_WAYPOINTS, Waypoints
from ..inputs.pose_tracking import HEADER, Points
from ..settings.motion_limits import limit_rows, MotionLimits
from ...errors import TrajectoryError, TrajectoryJointsError, TrajectoryOverError
from ...model.robot import RobotModel

# s that a start may be past: a trajectory with the time of now as its stamp means "at once"
AT_ONCE_DELAY = 0.5
KINDS = 'positions', 'velocities', 'accelerations', 'efforts'     # rows of a waypoint


class PlannedReference(NamedTuple):
    """
    Reference that has been planned and is not followed yet.

    ``asked`` waypoints; ``start`` [s] on the clock of references; ``following``: whether
    ``old`` was in force when ``new`` was planned, which continues it; ``end`` [s]: when the joints
    that are named come to rest; ``law``: number of the law and gains in force when planned.
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
    after: see :func:`.joint_requests.plan_waypoint`. Others: :func:`.paths.plan_path`, quintic
    where accelerations are given, else cubic; positions alone give the C² cubic spline. Joints
    that are not named keep their present reference.

    :param old: present reference, None where a pose is held.
    :param held: (nv,) [rad | m] that pose.
    :param start: time [s] on the clock of the controller.
    :param serial: number of the new reference.
    :raises TrajectoryError: naming the joint or the waypoint, and the remedy.
    """
    nv, count = limits.model.nv, len(asked.times)
    state = np.zeros((4, nv))
    state[0] = held
    if old is not None:
        state_at(old._replace(header=old.header.view(np.recarray)), start, state)
    r = request(nv, 0, 1, segments_of(nv, count), max(count, 1))
    r.limits[0], r.state[:], named = limit_rows(limits), state, np.ones(nv, bool)
    if count == 0:
        joint_order(limits.model.joint_names, asked.joint_names, partial=True)
        r.counts[KIND] = STOP
    else:
        named = _write_request(limits, asked, r)
    if (wrong := run(plan_joints, r)) != 0:
        raise _refusal(limits, asked, r, wrong)
    n = int(r.result[2])
    header, times = r.points.header, r.points.times[:n + 1].copy()
    header[0] = start, serial
    new = Points(header, times, r.points.coefficients[:n].copy(), r.points.efforts[:n].copy())
    new.coefficients[:, :, ~named] = 0.0        # they stay where they are, also beyond a limit
    new.coefficients[:, 0, ~named] = state[0, ~named]
    end = start + float(times[-1])
    return new if old is None or named.all() else combined(new, old, named), end


def _write_request(limits: MotionLimits, asked: Waypoints, r: Request) -> ndarray:
    """Write waypoints to a request; return (nv,) whether each joint is named."""
    model, count = limits.model, len(asked.times)
    order = np.array(joint_order(model.joint_names, asked.joint_names, partial=True))
    named = order >= 0
    if asked.positions is None and not (is_streamed(asked) and asked.velocities is not None):
        raise TrajectoryError('the trajectory has no positions', name='positions',
                              remedy='pass one per joint and waypoint')
    if not named.any():
        raise TrajectoryJointsError('no joint is named', name='joint_names',
                                    remedy='name the joints of the waypoints')
    if count > MAX_WAYPOINTS:
        raise TrajectoryError(f'{count} waypoints', name='points', value=count,
                              remedy=f'use 1 to {MAX_WAYPOINTS}')
    r.state[1:3, ~named] = 0.0
    r.state[0, ~named] = np.clip(r.state[0], model.position_lower, model.position_upper)[~named]
    r.waypoints[:, 0] = r.state[0]
    for k, kind in enumerate(KINDS):
        if getattr(asked, kind) is None:
            continue
        a = np.asarray(getattr(asked, kind), float)
        if a.shape != (count, len(asked.joint_names)):
            raise TrajectoryError(
                f'{kind} have shape {a.shape}', name=kind, remedy='pass one value per joint and '
                f'waypoint: ({count}, {len(asked.joint_names)})')
        r.waypoints[:, k, named] = a[:, order[named]]
        if k >= ACCELERATIONS and is_target(asked) and a.any():
            raise TrajectoryError(f'the target has {kind}', name=kind, remedy='leave them empty, '
                                  'or give the waypoint a time after 0')
        if k <= ACCELERATIONS:
            r.counts[DERIVATIVES] = k
    if asked.efforts is not None:
        check_efforts(limits, asked)
    if asked.velocities is None and asked.accelerations is not None:
        raise TrajectoryError('accelerations without velocities', name='velocities',
                              remedy='add velocities')
    r.times[:], r.asked[:2] = asked.times, r.waypoints[0, :2]
    r.counts[WAYPOINTS], r.counts[MAY_END_MOVING] = count, limits.moving_end
    if is_target(asked):
        r.counts[KIND] = TARGET
    elif is_streamed(asked) and asked.positions is None and not np.any(asked.velocities):
        r.counts[KIND] = STOP
    elif is_streamed(asked) and (asked.positions is None or np.isfinite(limits.jerk).all()):
        r.counts[KIND], r.span[0] = WAYPOINT, asked.times[0]
        if asked.positions is None:         # those that the velocities lead to
            r.asked[0] = np.clip(r.state[0] + asked.times[0] * r.asked[1], model.position_lower,
                                 model.position_upper)
    else:                   # limits without a jerk bound no motion toward a waypoint of a stream
        r.counts[KIND], r.span[0] = PATH, asked.elapsed
    return named


def _refusal(limits: MotionLimits, asked: Waypoints, r: Request, wrong: int) -> TrajectoryError:
    """Return the error for a request that the planner has refused."""
    model, kind, value = limits.model, r.counts[KIND], float(r.found[0])
    i, w, _, k = map(int, r.result)
    time = float(r.found[1])
    name = model.joint_names[i] if i >= 0 else 'points'
    path, unit = kind == PATH, 'm' if model.slides[i] else 'rad'
    within = (f'[{model.position_lower[i]:.6g}, {model.position_upper[i]:.6g}]'
              if wrong == OUTSIDE else f'{model.velocity_limit[i]:.6g}')
    problem, remedy = 'no motion leads to the target', 'use a target that is nearer'
    if wrong == WRONG_TIMES:
        t, name, value = r.times, 'time_from_start', float(r.times[w])
        problem = f'waypoint {w} is at {t[w]:.12g} s' + (
            f', waypoint {w - 1} at {t[w - 1]:.12g} s' if w > 0 else '')
        remedy = 'use finite times that increase from 0 on'
    elif wrong == MOVING_END:
        problem = f'{name} still moves at the end, at {value:.6g}'
        remedy = ('end with velocity 0, or set allow_nonzero_velocity_at_trajectory_end to stop '
                  'behind the last waypoint')
    elif wrong == NOT_FINITE and not isfinite(value):
        problem = (f'{KINDS[k]} of {name} at waypoint {w} is {value}' if path
                   else f'the target {("position", "velocity")[k]} of {name} is {value}')
        remedy = 'use finite numbers'
    elif wrong == NOT_FINITE:
        name, remedy = 'points', 'allow the motion more time'
        problem = ('position, velocity or acceleration between the waypoints is beyond '
                   f'{MAX_MAGNITUDE:g}')
    elif wrong == NO_LIMITS:
        problem = f'joint {name} has no limits to plan its motion with'
        remedy = 'set velocity_limit, or give the waypoint a later time'
    elif wrong == JUMP:
        problem = (f'the trajectory starts {value:.4g} {unit} from the reference of {name}, more '
                   f'than the trajectory_start_tolerance of {limit_rows(limits)[5, i]:.4g} {unit}')
        remedy = (f'start at {r.state[0, i]:.6g}, give the first waypoint a time after 0, or '
                  'raise trajectory_start_tolerance')
    elif path and wrong in (OUTSIDE, TOO_FAST):
        problem = (f'{"position" if wrong == OUTSIDE else "velocity"} of {name} would be '
                   f'{value:.6g} at {time:.3f} s, outside {within}')
        remedy = 'stay within the limits of the URDF, or give the motion more time'
        given = r.waypoints[:, 0, i]
        beyond = (given < model.position_lower[i]) | (given > model.position_upper[i])
        if wrong == OUTSIDE and beyond.any():
            k = int(beyond.argmax())
            value, remedy = float(given[k]), 'stay within the limits of the URDF'
            problem = f'position of {name} would be {value:.6g} at waypoint {k}, outside {within}'
        if wrong == TOO_FAST and time <= r.times[0] > 0.0:
            problem += f', on the way from its reference, {r.state[0, i]:.6g}, to waypoint 0'
            remedy = 'begin nearer to the reference, or give waypoint 0 a later time'
    elif path:
        problem = (f'{name} cannot join the trajectory, {value:.4g} from its reference, within '
                   'its limits of position, velocity and acceleration')
        remedy = 'give the first waypoint a time after 0, or the motion more time'
    elif wrong == OUTSIDE:
        problem = f'position of {name} would be {value:.6g}, outside {within}'
        remedy = 'use a target further inside, or with less velocity'
    elif wrong == TOO_FAST and k == VELOCITIES:
        problem = f'the target velocity of {name} is {value:.6g}'
        remedy = f'use at most {within}'
    elif wrong == TOO_FAST:
        name, remedy = 'points', 'send it again a little later'
        problem = 'the reference accelerates too much to reach the target within the limits'
    return TrajectoryError(problem, name=name, value=value, remedy=remedy)


def interpolate(model: RobotModel, asked: Waypoints, position: ndarray, velocity: ndarray,
                start: float, serial: int) -> Points:
    """
    Return the trajectory through waypoints from a state, with the limits of a model.

    :param position, velocity: (nv,) [rad | m], [rad/s | m/s] at ``start`` [s].
    :raises TrajectoryError: naming the joint or the waypoint, and the remedy.
    """
    none = np.full(model.nv, np.inf)
    header: Any = np.zeros(1, HEADER)
    header[0] = start, 0
    coefficients = np.zeros((1, 6, model.nv))
    coefficients[0, :2] = position, velocity
    now = Points(header, np.array([0.0, 1.0]), coefficients, np.zeros((1, 2, model.nv)))
    limits = MotionLimits(model, none, none, none, np.zeros(1))
    return plan_motion(limits, asked, now, position, start, serial)[0]


def from_now_on(limits: MotionLimits, asked: Waypoints, position: ndarray) -> Waypoints:
    """
    Return waypoints that should have been under way for ``elapsed``, as they are followed now.

    With little delay, a stamp means "at once". An exception is a trajectory whose present point is
    nearer to the reference than its start, such as a window of MoveIt Servo, which begins in the
    past. A trajectory under way is joined, if that is within ``start_tolerance`` of the reference;
    else the next of its waypoints is the first one.

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


def check_efforts(limits: MotionLimits, asked: Waypoints) -> None:
    """
    Refuse efforts of waypoints that are not finite or beyond ``feedforward_limit``.

    :raises TrajectoryError: naming the joint and the waypoint, and the remedy.
    """
    efforts, names = np.asarray(asked.efforts, float), limits.model.joint_names
    most = np.array([limits.effort[names.index(name)] for name in asked.joint_names])
    if not (good := np.abs(efforts) <= most).all():             # nor is NaN
        w, i = np.argwhere(~good)[0]
        raise TrajectoryError(
            f'effort of {asked.joint_names[i]} at waypoint {w} is {efforts[w, i]:.6g}, and '
            f'trajectories may add {most[i]:.6g}', name=asked.joint_names[i],
            value=float(efforts[w, i]), remedy='send what the control law lacks, not all of the '
            'effort; the parameter feedforward_limit bounds it')


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
