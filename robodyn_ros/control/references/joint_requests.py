# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Requested references of the joints, see :mod:`.request`."""

from math import copysign, inf, isfinite, isnan

from numpy import ndarray

from . import paths
from .motions import (
    nearest_turn, plan_goal, plan_stop, plan_velocity, rate, second, value, write_phases)
from .request import (
    ACCELERATION, BOUNDED, CATCH_UP_SHARE, CATCH_UP_TIME, DEFAULT_TIME, JUMP, KIND, LIMIT_ROUNDING,
    LOWER, MIN_DURATION, NO_LIMITS, NOT_FINITE, OK, OUTSIDE, OVERDUE_FACTOR, PERIODIC, refused,
    Request, SHORT_SEGMENTS, start_time, STOP, STREAM_PERIODS, TARGET, TOLERANCE, TOO_FAST, UPPER,
    VELOCITY, WAYPOINT)
from ..inputs.pose_tracking import Points, segment_of
from ..steps.acceleration_limits import VELOCITY_SHARE
from ..steps.cycle_data import Cycle


def state_at(points: Points, time: float, out: ndarray) -> None:
    """Write position, velocity and acceleration of a reference at a time [s]."""
    times, since = points.times, time - points.header[0].start
    t = min(max(since, times[0]), times[times.shape[0] - 1])
    k = segment_of(times, 0, t)
    c, moves = points.coefficients[k], times[0] <= since and since < times[times.shape[0] - 1]
    for i in range(c.shape[1]):
        out[0, i] = value(c, i, t - times[k])
        out[1, i] = rate(c, i, t - times[k]) if moves else 0.0
        out[2, i] = second(c, i, t - times[k]) if moves else 0.0


def present_joints(c: Cycle, r: Request, time: float) -> None:
    """Write the reference of the joints at a time [s] to ``r.state``."""
    m, v = c.controller, c.vectors
    if m.following == 1 and c.points.header[0].serial == m.serial:
        state_at(c.points, time, r.state)
    else:
        for i in range(v.q.shape[0]):
            r.state[0, i], r.state[1, i], r.state[2, i] = v.target[i], 0.0, 0.0


def begin_points(c: Cycle, r: Request, time: float) -> None:
    """Give a reference of the joints its start and its serial number."""
    header = r.points.header[0]
    header.start, header.serial = time, c.points.header[0].serial + 1


def within(limits: ndarray, i: int, position: float) -> bool:
    """Return whether a position of joint i is within its limits."""
    return bool(limits[LOWER, i] - LIMIT_ROUNDING <= position
                <= limits[UPPER, i] + LIMIT_ROUNDING)


def write(r: Request) -> int:
    """Write the motion that is planned, without efforts."""
    points = r.points
    points.times[0] = 0.0
    r.result[2] = write_phases(r.state[:3], r.phases, 0, points.times, points.coefficients,
                               r.knots)
    paths.no_efforts(r, 0, r.result[2])
    return OK


def plan_stop_of_joints(r: Request) -> int:
    """Decelerate from ``r.state`` to rest, as soon as the limits of each joint allow."""
    plan_stop(r.state[:3], r.limits[r.settings[0]], r.phases, r.result)
    r.result[0] = r.result[1] = -1
    return write(r)


def asked_goal(r: Request, fastest: float) -> int:
    """
    Check position and velocity of ``r.asked``, and move continuous joints to the nearest turn.

    :param fastest: share of the velocity limits that is not refused.
    """
    limits, x, asked = r.limits[r.settings[0]], r.state, r.asked
    r.result[3] = -1
    for i in range(x.shape[1]):
        r.result[0] = i
        for k in range(2):
            r.result[3] = k
            r.found[0] = asked[k, i]
            if not isfinite(asked[k, i]):
                return NOT_FINITE
        if not abs(asked[1, i]) <= fastest * limits[VELOCITY, i]:
            return TOO_FAST
        if limits[PERIODIC, i] == 1.0:
            asked[0, i] += nearest_turn(asked[0, i], x[0, i])
        r.found[0] = asked[0, i]
        if not within(limits, i, asked[0, i]):
            return OUTSIDE
    r.result[0] = r.result[3] = -1
    return OK


def plan_target(r: Request) -> int:
    """
    Move to ``r.asked[0]`` in the shortest time within all limits; pass it at ``r.asked[1]``.

    With a velocity there, the reference decelerates behind the target.
    """
    wrong = asked_goal(r, 1.0)
    if wrong == OK:
        wrong = plan_goal(r.state[:3], r.asked[:2], r.limits[r.settings[0]], 0.0, r.phases,
                          r.result)
    return wrong if wrong != OK else write(r)


def plan_waypoint(r: Request) -> int:
    """
    Move toward the newest waypoint of a stream, ``r.asked``, due in ``r.span`` [s].

    Positions alone, or with velocities of zero: the time-optimal motion to them, in at least the
    time of the waypoint, and rest there. Velocities: the reference accelerates to them, corrected
    so that it reaches the positions within CATCH_UP_TIME, and decelerates to rest when the next
    waypoint is overdue; if that leaves the limits, it moves to the positions. If neither motion
    keeps the limits of position and velocity, it decelerates.
    """
    limits, x, asked, T, moves = r.limits[r.settings[0]], r.state, r.asked, r.span[0], False
    for i in range(x.shape[1]):
        moves = moves or asked[1, i] != 0.0
    wrong = asked_goal(r, 1.0 / VELOCITY_SHARE)
    if wrong != OK:
        return wrong
    if moves:
        for i in range(x.shape[1]):
            fastest = limits[VELOCITY, i]
            wanted = asked[1, i] + (asked[0, i] - x[0, i] - asked[1, i] * T) / CATCH_UP_TIME
            r.blend[0, i] = min(max(wanted, -fastest), fastest)
        wrong = plan_velocity(x[:3], r.blend[0], OVERDUE_FACTOR * T, limits, r.phases, r.result)
        if wrong == OK:
            return write(r)
        if wrong == NO_LIMITS:
            return wrong
    for i in range(x.shape[1]):
        asked[1, i] = 0.0
    wrong = plan_goal(x[:3], asked[:2], limits, T, r.phases, r.result)
    if wrong == NO_LIMITS:
        return wrong
    return write(r) if wrong == OK else plan_stop_of_joints(r)


def plan_joints(r: Request) -> int:
    """Plan the reference of the joints that ``r.counts`` asks for, from ``r.state`` on."""
    kind = r.counts[KIND]
    if kind == STOP:
        return plan_stop_of_joints(r)
    if kind == TARGET:
        return plan_target(r)
    if kind == WAYPOINT:
        return plan_waypoint(r)
    wrong = paths.prepare(r)
    return wrong if wrong != OK else paths.plan_path(r)


# --- In the cycle that begins ----------------------------------------------------------------


def begin_target(c: Cycle, r: Request, now: float) -> int:
    """Move to the positions ``r.asked[0]``, at rest there."""
    wrong = refused(c, r, 0)
    if wrong != OK:
        return wrong
    time = start_time(c, now)
    present_joints(c, r, time)
    for i in range(r.state.shape[1]):
        r.asked[1, i] = 0.0
    wrong = plan_target(r)
    begin_points(c, r, time)
    return wrong


def begin_stop(c: Cycle, r: Request, now: float) -> int:
    """Decelerate the reference of the joints to rest."""
    wrong = refused(c, r, 0)
    if wrong != OK:
        return wrong
    time = start_time(c, now)
    present_joints(c, r, time)
    wrong = plan_stop_of_joints(r)
    begin_points(c, r, time)
    return wrong


def prepare_path(c: Cycle, r: Request, now: float) -> int:
    """Check a trajectory, see :func:`.paths.prepare`; ``c`` and ``now`` are not read."""
    return paths.prepare(r)


def begin_path(c: Cycle, r: Request, now: float) -> int:
    """Follow a trajectory of :func:`prepare_path`, which the reference joins."""
    wrong = refused(c, r, 0)
    if wrong != OK:
        return wrong
    time = start_time(c, now)
    present_joints(c, r, time)
    wrong = paths.plan_path(r)
    begin_points(c, r, time)
    return wrong


def stream_joints(c: Cycle, r: Request, now: float) -> int:
    """Follow ``r.asked`` in the cycle that begins."""
    s, m = c.settings, c.controller
    wrong = refused(c, r, 0)
    if wrong != OK:
        return wrong
    if s.bounded == 1:          # which slows down what is planned ahead
        return BOUNDED
    time, limits, kept, x = start_time(c, now), r.limits[r.settings[0]], r.stream, r.state
    present_joints(c, r, time)
    since = now - r.streamed[1]
    joins = not (m.following == 1 and r.streamed[0] == c.points.header[0].serial
                 and 0.0 <= since <= STREAM_PERIODS * s.period)
    for i in range(x.shape[1]):
        r.result[0] = i
        position, velocity, acceleration = r.asked[0, i], r.asked[1, i], r.asked[2, i]
        velocity = 0.0 if isnan(velocity) else velocity
        acceleration = 0.0 if isnan(acceleration) else acceleration
        if isnan(position):
            position = (x[0, i] if joins else kept[0, i] + since * velocity)
            position = min(max(position, limits[LOWER, i]), limits[UPPER, i])
        if not (isfinite(position) and isfinite(velocity) and isfinite(acceleration)):
            return NOT_FINITE
        if limits[PERIODIC, i] == 1.0:
            position += nearest_turn(position, x[0, i])
        if not within(limits, i, position):
            return OUTSIDE
        if not (abs(velocity) <= limits[VELOCITY, i] * (1.0 + LIMIT_ROUNDING)
                and abs(acceleration) <= limits[ACCELERATION, i] * (1.0 + LIMIT_ROUNDING)):
            return TOO_FAST
        before = x[0, i] if joins else kept[0, i]
        allowed = limits[TOLERANCE, i] if joins else since * limits[VELOCITY, i]
        if not abs(position - before) <= allowed + LIMIT_ROUNDING:
            return JUMP
        kept[2, i] = position
        x[1, i], x[2, i] = velocity, acceleration
    r.result[0] = -1
    for i in range(x.shape[1]):
        kept[1, i] = approached(x[0, i] - kept[2, i] if joins else kept[1, i],
                                CATCH_UP_SHARE * limits[VELOCITY, i] * s.period)
        kept[0, i] = kept[2, i]
        x[0, i] = kept[0, i] + kept[1, i]
    points = r.points
    go_on_and_stop(x[:3], limits[LOWER], limits[UPPER], limits[ACCELERATION], s.period,
                   points.times, points.coefficients)
    begin_points(c, r, time)
    paths.no_efforts(r, 0, SHORT_SEGMENTS)
    r.result[2] = SHORT_SEGMENTS
    r.streamed[0], r.streamed[1] = points.header[0].serial, now
    return OK


def go_on_and_stop(x: ndarray, lower: ndarray, upper: ndarray, acceleration: ndarray,
                   period: float, times: ndarray, coefficients: ndarray) -> None:
    """
    Write a reference that goes on for STREAM_PERIODS from a state, and decelerates to rest.

    Position limits come first: near one the deceleration is as short as it has to be. All axes
    take the same time, so that the path stays straight.

    :param x: (3, n) position, velocity, acceleration, which falls to 0 before the deceleration.
    """
    n, first = x.shape[1], STREAM_PERIODS * period
    stop, room = MIN_DURATION, inf
    for i in range(n):
        a = x[2, i]
        c, d = coefficients[0], coefficients[1]
        for k in range(6):
            c[k, i] = d[k, i] = 0.0
        c[0, i], c[1, i], c[2, i], c[3, i] = x[0, i], x[1, i], 0.5 * a, -a / (6.0 * first)
        d[0, i] = x[0, i] + first * (x[1, i] + first * a / 3.0)
        d[1, i] = v = x[1, i] + 0.5 * first * a
        if v == 0.0:
            continue
        stop = max(stop, 1.5 * abs(v) / acceleration[i] if isfinite(acceleration[i])
                   else 1.5 * DEFAULT_TIME)
        left = upper[i] - d[0, i] if v > 0.0 else d[0, i] - lower[i]
        room = min(room, 2.0 * max(left, 0.0) / abs(v))
    stop = max(MIN_DURATION, min(stop, room))
    for i in range(n):      # velocity v (1 - 3 s² + 2 s³) with s = t / stop
        v = coefficients[1, 1, i]
        coefficients[1, 3, i], coefficients[1, 4, i] = (
            -v / stop / stop, 0.5 * v / stop / stop / stop)
    times[0], times[1], times[2] = 0.0, first, first + stop


def approached(offset: float, step: float) -> float:
    """Return an offset that has come nearer to 0 by a step."""
    return 0.0 if not abs(offset) > step else offset - copysign(step, offset)
