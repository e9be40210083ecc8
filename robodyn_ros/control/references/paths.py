# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Trajectories through waypoints, as polynomials, and how the reference joins them."""

from math import isfinite, sqrt

from numpy import ndarray

from .motions import faulty, nearest_turn, plan_stop, rate, second, shift, value, write_phases
from .request import (
    ACCELERATION, ACCELERATIONS, CHECKED_PARTS, DEFAULT_TIME, DERIVATIVES, EFFORTS, JERK, JUMP,
    LIMIT_ROUNDING, LOWER, MAX_REST_VELOCITY, MAY_END_MOVING, MIN_DURATION, MOVING_END, NOT_FINITE,
    OK, PERIODIC, POSITIONS, Request, TOLERANCE, UNREACHABLE, UPPER, VELOCITIES, VELOCITY,
    WAYPOINTS, WRONG_TIMES)

# rad | m and rad/s | m/s by which a path may be elsewhere than the reference without being joined
SAME_STATE = 1e-9
# Peaks of the quintic that brings a distance d to rest in T: of acceleration d/T², of jerk d/T³
PEAK_ACCELERATION, PEAK_JERK = 5.78, 60.0
# A transition that is too fast is tried again, longer by this factor, up to a duration [s]
LONGER, MAX_JOINING_TIME = 1.15, 100.0


def hermite(x0: float, v0: float, a0: float, x1: float, v1: float, a1: float, T: float,
            quintic: bool, out: ndarray, i: int) -> None:
    """Write the polynomial from one state to another within T [s] to column ``i`` of ``out``."""
    out[0, i], out[1, i] = x0, v0
    if not quintic:
        slope = (x1 - x0) / T
        out[2, i] = (3.0 * slope - 2.0 * v0 - v1) / T
        out[3, i] = (v0 + v1 - 2.0 * slope) / T / T
        out[4, i] = out[5, i] = 0.0
        return
    d = (x1 - x0 - T * (v0 + 0.5 * T * a0)) / T / T / T
    e = (v1 - v0 - T * a0) / T / T
    f = (a1 - a0) / T
    out[2, i] = 0.5 * a0
    out[3, i] = 10.0 * d - 4.0 * e + 0.5 * f
    out[4, i] = (-15.0 * d + 7.0 * e - f) / T
    out[5, i] = (6.0 * d - 3.0 * e + 0.5 * f) / T / T


def prepare(r: Request) -> int:
    """
    Check the waypoints, and write the polynomials between them where they have velocities.

    The first segment leads to the first waypoint if that is later than 0, see :func:`plan_path`.
    """
    W, n, x, highest = r.counts[WAYPOINTS], r.state.shape[1], r.waypoints, r.counts[DERIVATIVES]
    limits = r.limits[r.settings[0]]
    r.result[0] = r.result[1] = -1
    for w in range(W):
        r.result[1] = w
        t = r.times[w]
        if not (isfinite(t) and (t >= 0.0 if w == 0 else t > r.times[w - 1])):
            return WRONG_TIMES
        for i in range(n):
            r.result[0] = i
            for k in range(highest + 1):
                if not isfinite(x[w, k, i]):
                    r.result[3], r.found[0] = k, x[w, k, i]
                    return NOT_FINITE
            if w == 0:              # the measured pose of an arm that has sunk below a limit
                inside = min(max(x[0, 0, i], limits[LOWER, i]), limits[UPPER, i])
                if abs(inside - x[0, 0, i]) <= limits[TOLERANCE, i] + SAME_STATE:
                    x[0, 0, i] = inside
            if w == W - 1 and highest >= VELOCITIES and r.counts[MAY_END_MOVING] == 0:
                if abs(x[w, VELOCITIES, i]) > MAX_REST_VELOCITY:
                    r.found[0] = x[w, VELOCITIES, i]
                    return MOVING_END
                x[w, VELOCITIES, i] = 0.0
        r.result[0] = -1
    if W == 0 or r.times[W - 1] <= 0.0:
        r.result[1] = -1
        return WRONG_TIMES
    r.result[2] = W - 1 if r.times[0] == 0.0 else W
    return OK if highest == POSITIONS else connect(r)


def connect(r: Request) -> int:
    """Write and check the polynomials between the waypoints."""
    W, n, x, points = r.counts[WAYPOINTS], r.state.shape[1], r.waypoints, r.points
    limits, quintic = r.limits[r.settings[0]], r.counts[DERIVATIVES] == ACCELERATIONS
    begin = 0 if r.times[0] == 0.0 else 1
    points.times[0], points.times[1] = 0.0, r.times[0]
    for w in range(W - 1):
        k = begin + w                       # segment that begins at the waypoint
        T, out = r.times[w + 1] - r.times[w], points.coefficients[k]
        points.times[k + 1] = r.times[w + 1]
        for i in range(n):
            hermite(x[w, 0, i], x[w, 1, i], x[w, 2, i], x[w + 1, 0, i], x[w + 1, 1, i],
                    x[w + 1, 2, i], T, quintic, out, i)
            add_efforts(r, k, x[w, EFFORTS, i], x[w + 1, EFFORTS, i], T, i)
            wrong = faulty(out, i, T, CHECKED_PARTS, limits[LOWER, i], limits[UPPER, i],
                           limits[VELOCITY, i], r.found)
            if wrong != OK:
                r.result[0], r.result[1] = i, w
                r.found[1] += r.times[w]
                return wrong
    r.result[0] = r.result[1] = -1
    return OK


def add_efforts(r: Request, k: int, start: float, end: float, T: float, i: int) -> None:
    """Write the feed-forward effort of a segment, which is linear."""
    r.points.efforts[k, 0, i], r.points.efforts[k, 1, i] = start, (end - start) / T


def spline(r: Request, held: bool) -> None:
    """
    Write the velocities at the waypoints of the C² cubic spline from ``r.state`` to rest.

    They solve a tridiagonal system (de Boor, A Practical Guide to Splines, 1978, chapter IV),
    which needs no pivoting: it is diagonally dominant. The row of accelerations, which cubic
    polynomials do not have, is workspace.

    :param held: whether the reference rests at the first waypoint until its time.
    """
    W, n, x, t, s = r.counts[WAYPOINTS], r.state.shape[1], r.waypoints, r.times, r.state
    first = 1 if held or t[0] == 0.0 else 0
    for i in range(n):
        before, at, v, above = 0.0, s[0, i], s[1, i], 0.0
        if first == 1:
            v = 0.0 if held else v
            before, at, x[0, 1, i] = t[0], x[0, 0, i], v
        # Eliminated rows: v[w] + above[w] v[w + 1] = right side, kept in the next two rows
        for w in range(first, W - 1):
            h, g = t[w] - before, t[w + 1] - t[w]
            slope, next_slope = (x[w, 0, i] - at) / h, (x[w + 1, 0, i] - x[w, 0, i]) / g
            pivot = 2.0 * (h + g) - g * above
            v = (3.0 * (g * slope + h * next_slope) - g * v) / pivot
            above = h / pivot
            x[w, 1, i], x[w, 2, i] = v, above
            before, at = t[w], x[w, 0, i]
        x[W - 1, 1, i] = 0.0
        for w in range(W - 2, first - 1, -1):
            x[w, 1, i] -= x[w, 2, i] * x[w + 1, 1, i]


def plan_path(r: Request) -> int:
    """
    Write the reference that begins in ``r.state`` and follows a trajectory of :func:`prepare`.

    A first waypoint later than 0 is reached from the present reference, continuous joints by the
    shortest way. One that is so near, and so soon, that the reference would jump to it is taken to
    begin at once. A trajectory that begins elsewhere is joined, see :func:`join`.
    """
    segments = r.result[2]
    turn(r, segments if r.counts[DERIVATIVES] >= VELOCITIES else 0)
    held = at_once(r)
    if r.counts[DERIVATIVES] == POSITIONS:
        spline(r, held)
        wrong = connect(r)
        if wrong != OK:
            return wrong
    wrong = begin_segment(r, held)
    if wrong != OK:
        return wrong
    if r.counts[MAY_END_MOVING] == 1 and r.counts[DERIVATIVES] >= VELOCITIES:
        wrong = come_to_rest(r, segments)
        if wrong != OK:
            return wrong
        segments = r.result[2]
    if r.span[0] > 0.0:
        segments = cut(r, segments, r.span[0])
    r.result[2] = segments
    return join(r)


def begin_segment(r: Request, held: bool) -> int:
    """Write and check the segment that leads to a first waypoint later than 0."""
    T, out, x, s = r.times[0], r.points.coefficients[0], r.waypoints, r.state
    limits, quintic = r.limits[r.settings[0]], r.counts[DERIVATIVES] == ACCELERATIONS
    if T == 0.0:
        return OK
    for i in range(s.shape[1]):
        if held:
            hermite(x[0, 0, i], 0.0, 0.0, x[0, 0, i], 0.0, 0.0, T, False, out, i)
        else:
            hermite(s[0, i], s[1, i], s[2, i], x[0, 0, i], x[0, 1, i], x[0, 2, i], T, quintic,
                    out, i)
        add_efforts(r, 0, x[0, EFFORTS, i] if held else 0.0, x[0, EFFORTS, i], T, i)
        wrong = faulty(out, i, T, CHECKED_PARTS, min(limits[LOWER, i], s[0, i]),
                       max(limits[UPPER, i], s[0, i]), max(limits[VELOCITY, i], abs(s[1, i])),
                       r.found)
        if wrong != OK:
            r.result[0], r.result[1] = i, 0
            return wrong
    return OK


def come_to_rest(r: Request, segments: int) -> int:
    """Let the reference decelerate behind the last waypoint."""
    points, last, moves = r.points, segments - 1, False
    T, limits = points.times[segments] - points.times[last], r.limits[r.settings[0]]
    for i in range(r.state.shape[1]):
        c, most = points.coefficients[last], limits[ACCELERATION, i]
        r.blend[0, i], r.blend[1, i] = value(c, i, T), rate(c, i, T)
        r.blend[2, i] = min(max(second(c, i, T), -most), most)
        moves = moves or abs(r.blend[1, i]) > MAX_REST_VELOCITY
    if not moves:
        return OK
    wrong = plan_stop(r.blend[:3], limits, r.phases, r.result)
    if wrong != OK:
        r.found[0], r.found[1] = r.blend[0, r.result[0]], points.times[segments]
        return wrong
    r.result[2] = write_phases(r.blend[:3], r.phases, segments, points.times,
                               points.coefficients, r.knots)
    no_efforts(r, segments, r.result[2])
    return OK


def no_efforts(r: Request, first: int, last: int) -> None:
    """Clear the feed-forward efforts of segments."""
    for k in range(first, last):
        for i in range(r.state.shape[1]):
            r.points.efforts[k, 0, i] = r.points.efforts[k, 1, i] = 0.0


def turn(r: Request, segments: int) -> None:
    """Move waypoints, and segments but for the first one to them, to the nearest turn."""
    W, limits = r.counts[WAYPOINTS], r.limits[r.settings[0]]
    for i in range(r.state.shape[1]):
        if limits[PERIODIC, i] != 1.0:
            continue
        turns = nearest_turn(r.waypoints[0, 0, i], r.state[0, i])
        for w in range(W):
            r.waypoints[w, 0, i] += turns
        for k in range(0 if r.times[0] == 0.0 else 1, segments):
            r.points.coefficients[k, 0, i] += turns


def at_once(r: Request) -> bool:
    """Return whether the first waypoint is too soon, and near enough to be joined."""
    limits, soon, T = r.limits[r.settings[0]], False, r.times[0]
    if r.counts[WAYPOINTS] < 2:
        return False
    for i in range(r.state.shape[1]):
        far = abs(r.waypoints[0, 0, i] - r.state[0, i])
        if far > limits[TOLERANCE, i]:
            return False
        if r.counts[DERIVATIVES] >= VELOCITIES and r.waypoints[0, 1, i] != 0.0:
            return False
        soon = soon or 6.0 * far > limits[ACCELERATION, i] * T * T
    return soon


def cut(r: Request, segments: int, elapsed: float) -> int:
    """Let the reference begin later [s]; return the number of segments that are left."""
    points, k = r.points, 0
    elapsed = min(elapsed, points.times[segments] - LIMIT_ROUNDING)
    while points.times[k + 1] <= elapsed:
        k += 1
    for i in range(r.state.shape[1]):
        points.efforts[k, 0, i] += (elapsed - points.times[k]) * points.efforts[k, 1, i]
        shift(points.coefficients[k], i, elapsed - points.times[k])
    for to in range(segments - k):
        copy_segment(r, k + to, to)
        points.times[to + 1] = points.times[k + to + 1] - elapsed
    return segments - k


def copy_segment(r: Request, k: int, to: int) -> None:
    """Copy the polynomials of a segment."""
    for i in range(r.state.shape[1]):
        for j in range(6):
            r.points.coefficients[to, j, i] = r.points.coefficients[k, j, i]
        for j in range(2):
            r.points.efforts[to, j, i] = r.points.efforts[k, j, i]


def join(r: Request) -> int:
    """
    Let the reference begin in ``r.state``, and be on the path as soon as the limits allow.

    Each joint that is elsewhere follows a quintic from the state to the path, with the position,
    velocity and acceleration that the path has there, within the limits of velocity and
    acceleration; the distance is set off within that of jerk, too. All take the same time. Joints
    that are on the path follow it.
    """
    points, state, n, slowest, T = r.points, r.state, r.state.shape[1], -1, MIN_DURATION
    c, limits, worst = points.coefficients[0], r.limits[r.settings[0]], SAME_STATE
    segments = r.result[2]
    r.result[0] = r.result[1] = -1
    for i in range(n):
        far, change = abs(state[0, i] - c[0, i]), abs(state[1, i] - c[1, i])
        if far - limits[TOLERANCE, i] > worst:
            worst, r.result[0], r.found[0] = far - limits[TOLERANCE, i], i, far
        state[3, i] = 1.0 if far > SAME_STATE or change > SAME_STATE else 0.0
        if state[3, i] == 1.0:
            needed = max(T, (PEAK_JERK * far / limits[JERK, i])**(1.0 / 3.0),
                         sqrt(PEAK_ACCELERATION * far / most_of(r, i)))
            if needed > T or slowest < 0:
                slowest, T = i, needed
    if r.result[0] >= 0:
        return JUMP
    if slowest < 0:
        return OK
    while True:
        if T > MAX_JOINING_TIME:
            r.result[0], r.found[0] = slowest, c[0, slowest] - state[0, slowest]
            return UNREACHABLE
        late = leaves_while_joining(r, segments, T)
        if late < 0:
            break
        slowest = late
        T *= LONGER
    if points.times[segments] < T - LIMIT_ROUNDING:         # the path is over before
        hold_end(r, segments, T)
        segments += 1
    k = 0
    while points.times[k + 1] < T - LIMIT_ROUNDING:
        k += 1
    if points.times[k + 1] > T + LIMIT_ROUNDING:            # a segment is divided
        for j in range(segments, k, -1):
            copy_segment(r, j - 1, j)
            points.times[j + 1] = points.times[j]
        points.times[k + 1] = T
        for i in range(n):
            points.efforts[k + 1, 0, i] += (T - points.times[k]) * points.efforts[k, 1, i]
            shift(points.coefficients[k + 1], i, T - points.times[k])
        segments += 1
    for j in range(k + 1):
        for i in range(n):
            if state[3, i] == 1.0:
                for p in range(6):
                    points.coefficients[j, p, i] = r.blend[p, i]
                shift(r.blend, i, points.times[j + 1] - points.times[j])
    r.result[2] = segments
    return OK


def most_of(r: Request, i: int) -> float:
    """Return the acceleration with which a joint sets off its distance from the path."""
    limits, c = r.limits[r.settings[0]], r.points.coefficients[0]
    if isfinite(limits[ACCELERATION, i]):
        return float(limits[ACCELERATION, i])
    far, change = abs(r.state[0, i] - c[0, i]), abs(r.state[1, i] - c[1, i])
    return max((far / DEFAULT_TIME + change) / DEFAULT_TIME, LIMIT_ROUNDING)


def leaves_while_joining(r: Request, segments: int, T: float) -> int:
    """
    Write the quintics to the path at a time [s] to ``r.blend``.

    Return a joint that leaves its limits on them, -1 if none does. It may be as fast and
    accelerate as much as at its begin, and accelerate as the path does.
    """
    points, limits, s = r.points, r.limits[r.settings[0]], r.state
    end, there = points.times[segments], 0
    while there < segments - 1 and T >= points.times[there + 1]:
        there += 1
    moves, at = 1.0 if T < end else 0.0, min(T, end) - points.times[there]
    for i in range(s.shape[1]):
        if s[3, i] == 0.0:
            continue
        c = points.coefficients[there]
        hermite(s[0, i], s[1, i], s[2, i], value(c, i, at), moves * rate(c, i, at),
                moves * second(c, i, at), T, True, r.blend, i)
        if faulty(r.blend, i, T, CHECKED_PARTS, min(limits[LOWER, i], s[0, i]),
                  max(limits[UPPER, i], s[0, i]), max(limits[VELOCITY, i], abs(s[1, i])),
                  r.found) != OK:
            return i
        k, allowed, most = 0, max(most_of(r, i), abs(s[2, i])), 0.0
        for part in range(CHECKED_PARTS + 1):
            t = T * part / CHECKED_PARTS
            while k < segments - 1 and t >= points.times[k + 1]:
                k += 1
            if t < end:
                allowed = max(allowed, abs(second(points.coefficients[k], i,
                                                  t - points.times[k])))
            most = max(most, abs(second(r.blend, i, t)))
        if not most <= allowed + LIMIT_ROUNDING:
            return i
    return -1


def hold_end(r: Request, segments: int, until: float) -> None:
    """Add a segment at the end of a reference, at rest."""
    points, last = r.points, segments - 1
    T = points.times[segments] - points.times[last]
    for i in range(r.state.shape[1]):
        c = points.coefficients[segments]
        c[0, i] = value(points.coefficients[last], i, T)
        for j in range(1, 6):
            c[j, i] = 0.0
    no_efforts(r, segments, segments + 1)
    points.times[segments + 1] = until
