# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Requested references of the joints, see :mod:`.request`."""

from math import inf, isfinite, isnan, pi

from numpy import ndarray

from .request import (
    ACCELERATION,
    BOUNDED,
    CATCH_UP_SHARE,
    JERK,
    JUMP,
    LIMIT_ROUNDING,
    LOWER,
    MAX_REST_VELOCITY,
    MOVING_END,
    NOT_FINITE,
    OK,
    OUTSIDE,
    PERIODIC,
    refused,
    Request,
    SHORT_SEGMENTS,
    start_time,
    STREAM_PERIODS,
    TOLERANCE,
    TOO_FAST,
    UPPER,
    VELOCITY,
    WRONG_TIMES,
)
from .request_polynomials import approached, faulty, go_on_and_stop, move, polynomial
from ..control.inputs.points import evaluate, Points, segment_of
from ..control.steps.cycle_data import Cycle


def present_joints(c: Cycle, r: Request, time: float) -> None:
    """Write position, velocity and acceleration of the reference of the joints to ``r.state``."""
    m, v, points, out = c.controller, c.vectors, c.points, r.state
    if m.following == 1 and points.header[0].serial == m.serial:
        end = points.times[points.times.shape[0] - 1]
        t = min(max(time - points.header[0].start, 0.0), end)
        evaluate(points, segment_of(points.times, 0, t), time, out[0], out[1], out[2], out[3])
    else:
        for i in range(v.q.shape[0]):
            out[0, i], out[1, i], out[2, i] = v.target[i], 0.0, 0.0


def turns_between(limits: ndarray, i: int, start: float, end: float) -> float:
    """Return whole turns from one position of joint i to another [rad], 0 if it has limits."""
    if limits[PERIODIC, i] == 1.0:
        return 2.0 * pi * round((end - start) / (2.0 * pi))
    return 0.0


def within(limits: ndarray, i: int, position: float) -> bool:
    """Return whether a position of joint i is within its limits."""
    return bool(limits[LOWER, i] - LIMIT_ROUNDING <= position
                <= limits[UPPER, i] + LIMIT_ROUNDING)


def begin_points(c: Cycle, points: Points, time: float, segments: int, r: Request) -> None:
    """Give a reference of the joints, without efforts, its start and its serial number."""
    header = points.header[0]
    header.start, header.serial = time, c.points.header[0].serial + 1
    r.result[2] = segments
    for k in range(segments):
        for i in range(points.efforts.shape[2]):
            points.efforts[k, 0, i] = points.efforts[k, 1, i] = 0.0


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
        position += turns_between(limits, i, position, x[0, i])
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
    begin_points(c, points, time, SHORT_SEGMENTS, r)
    r.streamed[0], r.streamed[1] = points.header[0].serial, now
    return OK


def begin_target(c: Cycle, r: Request, now: float) -> int:
    """Move to the positions ``r.asked[0]``, at rest there."""
    wrong = refused(c, r, 0)
    if wrong != OK:
        return wrong
    time, limits, x, points = start_time(c, now), r.limits[r.settings[0]], r.state, r.points
    present_joints(c, r, time)
    for i in range(x.shape[1]):
        r.result[0] = i
        target = r.asked[0, i]
        if not isfinite(target):
            return NOT_FINITE
        target += turns_between(limits, i, target, x[0, i])
        if not within(limits, i, target):
            return OUTSIDE
        r.stream[2, i] = target
    r.result[0] = -1
    T = move(x[:3], r.stream[2], limits[LOWER], limits[UPPER], limits[VELOCITY],
             limits[ACCELERATION], limits[JERK], points.coefficients[0])
    if T < 0.0:
        return int(-T)
    points.times[0], points.times[1] = 0.0, T
    begin_points(c, points, time, 1, r)
    return OK


def begin_stop(c: Cycle, r: Request, now: float) -> int:
    """Decelerate the reference of the joints to rest."""
    wrong = refused(c, r, 0)
    if wrong != OK:
        return wrong
    time, limits, x, points = start_time(c, now), r.limits[r.settings[0]], r.state, r.points
    present_joints(c, r, time)
    go_on_and_stop(x[:3], limits[LOWER], limits[UPPER], limits[ACCELERATION], c.settings.period,
                   points.times, points.coefficients)
    begin_points(c, points, time, SHORT_SEGMENTS, r)
    return OK


def prepare_path(c: Cycle, r: Request, now: float) -> int:
    """
    Check the waypoints and write the polynomials between them; ``c`` and ``now`` are not read.

    The first segment is that of :func:`begin_path`. It ends at the waypoint of index 1 if the
    first one is at time 0.
    """
    W, n, x, points = r.counts[0], r.stream.shape[1], r.waypoints, r.points
    limits, quintic = r.limits[r.settings[0]], r.counts[1] == 1
    r.result[0] = r.result[1] = -1
    for w in range(W):
        r.result[1] = w
        t = r.times[w]
        if not (isfinite(t) and (t >= 0.0 if w == 0 else t > r.times[w - 1])):
            return WRONG_TIMES
        for i in range(n):
            r.result[0] = i
            if not (isfinite(x[w, 0, i]) and isfinite(x[w, 1, i])
                    and (not quintic or isfinite(x[w, 2, i]))):
                return NOT_FINITE
            if not within(limits, i, x[w, 0, i]):
                return OUTSIDE
            if w == W - 1 and abs(x[w, 1, i]) > MAX_REST_VELOCITY:
                return MOVING_END
        r.result[0] = -1
    first = 1 if r.times[0] == 0.0 else 0
    if W <= first:
        return WRONG_TIMES
    points.times[0] = 0.0
    for w in range(first, W):
        k = w - first + 1                   # segment that begins at the waypoint
        points.times[k] = r.times[w]
        if w == W - 1:
            break
        T, out = r.times[w + 1] - r.times[w], points.coefficients[k]
        for i in range(n):
            v1 = x[w + 1, 1, i] if w + 1 < W - 1 else 0.0
            if quintic:
                polynomial(x[w, 0, i], x[w, 1, i], x[w, 2, i], x[w + 1, 0, i], v1,
                           x[w + 1, 2, i], T, out, i)
            else:
                slope = (x[w + 1, 0, i] - x[w, 0, i]) / T
                out[0, i], out[1, i], out[4, i], out[5, i] = x[w, 0, i], x[w, 1, i], 0.0, 0.0
                out[2, i] = (3.0 * slope - 2.0 * x[w, 1, i] - v1) / T
                out[3, i] = (x[w, 1, i] + v1 - 2.0 * slope) / T**2
            r.result[0], r.result[1] = i, w
            wrong = faulty(out, i, T, limits[LOWER, i], limits[UPPER, i],
                           limits[VELOCITY, i], inf)
            if wrong != OK:
                return wrong
    r.result[0], r.result[1], r.result[2] = -1, -1, W - first
    return OK


def begin_path(c: Cycle, r: Request, now: float) -> int:
    """Follow a trajectory of :func:`prepare_path`, which the reference joins."""
    segments = r.result[2]
    wrong = refused(c, r, 0)
    if wrong != OK:
        return wrong
    time, limits, x, points = start_time(c, now), r.limits[r.settings[0]], r.state, r.points
    present_joints(c, r, time)
    first, out = (1 if r.times[0] == 0.0 else 0), points.coefficients
    T, last = r.times[first], segments == 1
    for i in range(x.shape[1]):
        r.result[0] = i
        turns = turns_between(limits, i, r.waypoints[0, 0, i], x[0, i])
        if first == 1 and not (abs(r.waypoints[0, 0, i] + turns - x[0, i])
                               <= limits[TOLERANCE, i] + LIMIT_ROUNDING):
            return JUMP
        for k in range(1, segments):
            out[k, 0, i] += turns
        quintic = r.counts[1] == 1
        acceleration = r.waypoints[first, 2, i] if quintic else 0.0
        if not last and not quintic:
            acceleration = 2.0 * out[1, 2, i]
        polynomial(x[0, i], x[1, i], x[2, i], r.waypoints[first, 0, i] + turns,
                   0.0 if last else r.waypoints[first, 1, i], acceleration, T, out[0], i)
        wrong = faulty(out[0], i, T, min(limits[LOWER, i], x[0, i]),
                       max(limits[UPPER, i], x[0, i]),
                       max(limits[VELOCITY, i], abs(x[1, i])), inf)
        if wrong != OK:
            return wrong
    r.result[0] = -1
    begin_points(c, points, time, segments, r)
    return OK
