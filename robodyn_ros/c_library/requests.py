# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
References and payloads that the C library is asked for, planned by compiled functions.

What :class:`~robodyn_ros.control.controller.controller.Controller` plans in Python, with Ruckig
and splines, is planned here without allocations and within a bounded number of operations. The
functions take the data ``c`` of the control cycle, a request ``r`` and the time ``now`` [s] of the
cycle that begins, write the reference, and return 0 or what is wrong, one of :data:`ERRORS`. The
values of a refused request are in no reference.
"""

from math import copysign, inf, isfinite, isnan, pi
from typing import NamedTuple

import numpy as np
from numpy import ndarray

from ..control.algebra.rotations import exp, log, multiplied, multiplied_transposed, rows
from ..control.inputs.points import evaluate, HEADER, Points, segment_of
from ..control.inputs.pose_tracking import follow_pose, NO_LAW, PosePoints, STIFFNESS_LAW
from ..control.steps import guard
from ..control.steps.cycle_data import CONTROLLER_STATE, Cycle
from ..control.steps.robot_dynamics import gravity
from ..dynamics.model_data import BODY, FRAME
from ..dynamics.record_types import Matrix3

#: Names of the errors as in ``robodyn_controller.h``, in the order of their numbers.
ERRORS = (
    'OK', 'WRONG_VERSION', 'WRONG_JOINTS', 'WRONG_CPU', 'NO_MEMORY', 'PENDING', 'BUSY',
    'NOT_RUNNING', 'NOT_FOLLOWED', 'NOT_FINITE', 'OUTSIDE', 'TOO_FAST', 'JUMP', 'WRONG_TIMES',
    'MOVING_END', 'TOO_MANY', 'NOT_EXPORTED', 'WRONG_PAYLOAD', 'NOT_RECORDED', 'NOT_WRITTEN',
    'BOUNDED')
(OK, _, _, _, _, _, _, NOT_RUNNING, NOT_FOLLOWED, NOT_FINITE, OUTSIDE, TOO_FAST, JUMP, WRONG_TIMES,
 MOVING_END, _, NOT_EXPORTED, WRONG_PAYLOAD, _, _, BOUNDED) = range(len(ERRORS))

#: Most waypoints of a trajectory.
WAYPOINTS = 1000
SHORT = 2               # segments of all other references
PERIODS = 3.0           # that a reference of a stream goes on for without the next one
CATCH_UP = 0.1          # of the velocity limit, with which the first one of a stream is joined
POSE_TOLERANCE = 0.1    # s of the velocity limit, by which the first pose of one may be off
SHORTEST = 5e-3         # s, of a deceleration or motion
DEFAULT_TIME = 0.25     # s, in which joints without an acceleration limit come to rest
LONGER, ATTEMPTS = 1.25, 40     # a motion that is too fast is tried again so much longer
GRID = 16               # parts of a segment at whose ends the limits are checked
SLACK = 1e-9            # of these checks, by rounding, relative and absolute
REST = float(np.finfo(np.float32).eps)      # rad/s | m/s that count as rest
UNIT = 1e-3             # distance of the length of a quaternion from 1
GRAVITY_CHANGE = 0.1    # of the effort limits, see Controller

# Rows of `Request.limits`, and the first of `Request.pose_limits`
LOWER, UPPER, VELOCITY, ACCELERATION, JERK, TOLERANCE, PERIODIC = LIMITS = range(7)
# Elements of `Request.payload_limits`
MASS, DISTANCE = range(2)


class Request(NamedTuple):
    """
    One request and what it is judged by; K settings, nv joints, nb bodies.

    Joints are in rad | m; limits that there are not are infinite.
    """

    asked: ndarray          # (3, nv) position, velocity, acceleration; NaN where not given
    pose: ndarray           # (13,) position, quaternion x y z w, twist
    payload: ndarray        # (4,) mass [kg], center [m] in the axes of the frame
    times: ndarray          # (W,) of waypoints [s], of which the first `counts` tells are used
    waypoints: ndarray      # (W, 3, nv) their positions, velocities, accelerations
    counts: ndarray         # (2,) waypoints; 1 if they have accelerations
    settings: ndarray       # (1,) index of the settings in force
    limits: ndarray         # (K, 7, nv) LOWER, UPPER, ...
    pose_limits: ndarray    # (K, 3, 6) velocity, acceleration, jerk of the pose
    reach: ndarray          # (K, 4) a point [m], and the most that the frame is from it [m]
    frames: ndarray         # (K,) FRAME that holds the payload
    payload_limits: ndarray     # (2,) greatest mass [kg], and distance [m]
    points: Points          # receives the reference of the joints
    poses: PosePoints       # likewise of the pose
    bodies: ndarray         # (nb,) BODY, receives those with the payload
    result: ndarray         # (4,) joint or axis concerned, waypoint concerned, segments; -1: none
    stream: ndarray         # (3, nv) kept: last position of a stream, offset from it; workspace
    pose_stream: ndarray    # (6, 3) kept likewise: position, rotation; offsets from both
    streamed: ndarray       # (2,) kept: serial number and time [s] of the last one of a stream
    state: ndarray          # (4, nv) workspace: reference at the start, its feed-forward effort
    memory: ndarray         # (1,) CONTROLLER_STATE, workspace
    axes: ndarray           # (4, 6) workspace: state of a pose; its end
    rates: ndarray          # (2, 6) workspace


def request(nv: int, nb: int, settings: int, segments: int) -> Request:
    """Return an empty request, whose reference may have so many segments."""
    def points(count: int) -> Points:
        return Points(np.zeros(1, HEADER), np.zeros(count + 1), np.zeros((count, 6, nv)),
                      np.zeros((count, 2, nv)))
    poses = PosePoints.none()
    return Request(
        np.zeros((3, nv)), np.zeros(13), np.zeros(4), np.zeros(segments),
        np.zeros((segments, 3, nv)), np.zeros(2, np.int64), np.zeros(1, np.int64),
        np.full((settings, len(LIMITS), nv), np.inf), np.full((settings, 3, 6), np.inf),
        np.zeros((settings, 4)), np.zeros(settings, FRAME), np.zeros(2), points(segments),
        PosePoints(poses.header, np.zeros(SHORT + 1), np.zeros((SHORT, 6, 6)),
                   np.zeros((SHORT, 3, 3)), poses.command),
        np.zeros(nb, BODY), np.full(4, -1), np.zeros((3, nv)), np.zeros((6, 3)), np.zeros(2),
        np.zeros((4, nv)), np.zeros(1, CONTROLLER_STATE), np.zeros((4, 6)), np.zeros((2, 6)))


# --- What all references have in common ------------------------------------------------------


def refused(c: Cycle, r: Request, pose: int) -> int:
    """Return why no reference of a kind can be followed now, OK if one can."""
    s, m = c.settings, c.controller
    r.result[0] = r.result[1] = -1
    if m.phase != guard.RUNNING:
        return NOT_RUNNING
    if (s.mode != m.mode or s.basis != m.basis or m.guided == 1
            or (s.follows_pose if pose == 1 else s.follows) == 0):
        return NOT_FOLLOWED
    return OK


def start_time(c: Cycle, now: float) -> float:
    """Return the time that the clock of references will have in the cycle that begins [s]."""
    m = c.controller
    if m.slowing == 0.0:
        return float(now - m.lag)
    return float(now - (m.lag + m.slowing * max(0.0, now - m.time)) - SLACK)


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


def begin_points(c: Cycle, points: Points, time: float, segments: int, r: Request) -> None:
    """Give a reference of the joints, without efforts, its start and its serial number."""
    header = points.header[0]
    header.start, header.serial = time, c.points.header[0].serial + 1
    r.result[2] = segments
    for k in range(segments):
        for i in range(points.efforts.shape[2]):
            points.efforts[k, 0, i] = points.efforts[k, 1, i] = 0.0


def polynomial(x0: float, v0: float, a0: float, x1: float, v1: float, a1: float, T: float,
               out: ndarray, i: int) -> None:
    """Write the quintic from one state to another within T [s] to column ``i`` of ``out``."""
    d = (x1 - x0 - T * (v0 + 0.5 * T * a0)) / T**3
    e = (v1 - v0 - T * a0) / T**2
    f = (a1 - a0) / T
    out[0, i], out[1, i], out[2, i] = x0, v0, 0.5 * a0
    out[3, i] = 10.0 * d - 4.0 * e + 0.5 * f
    out[4, i] = (-15.0 * d + 7.0 * e - f) / T
    out[5, i] = (6.0 * d - 3.0 * e + 0.5 * f) / T**2


def faulty(coefficients: ndarray, i: int, T: float, lower: float, upper: float, velocity: float,
           acceleration: float) -> int:
    """Return what a polynomial of one joint exceeds on the grid: OUTSIDE, TOO_FAST or OK."""
    c = coefficients
    for k in range(GRID + 1):
        t = T * k / GRID
        x = c[0, i] + t * (c[1, i] + t * (c[2, i] + t * (c[3, i] + t * (c[4, i] + t * c[5, i]))))
        xd = c[1, i] + t * (2.0 * c[2, i] + t * (3.0 * c[3, i] + t * (
            4.0 * c[4, i] + t * 5.0 * c[5, i])))
        xdd = 2.0 * c[2, i] + t * (6.0 * c[3, i] + t * (12.0 * c[4, i] + t * 20.0 * c[5, i]))
        if not (isfinite(x) and isfinite(xd) and isfinite(xdd)):
            return NOT_FINITE
        if not lower - SLACK <= x <= upper + SLACK:
            return OUTSIDE
        if not (abs(xd) <= velocity * (1.0 + SLACK) + SLACK
                and abs(xdd) <= acceleration * (1.0 + SLACK) + SLACK):
            return TOO_FAST
    return OK


def go_on_and_stop(x: ndarray, lower: ndarray, upper: ndarray, acceleration: ndarray,
                   period: float, times: ndarray, coefficients: ndarray) -> None:
    """
    Write a reference that goes on for PERIODS from a state, and decelerates to rest.

    Position limits come first: near one the deceleration is as short as it has to be. All axes
    take the same time, so that the path stays straight.

    :param x: (3, n) position, velocity, acceleration, which falls to 0 before the deceleration.
    """
    n, first = x.shape[1], PERIODS * period
    stop, room = SHORTEST, inf
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
    stop = max(SHORTEST, min(stop, room))
    for i in range(n):      # velocity v (1 - 3 s² + 2 s³) with s = t / stop
        v = coefficients[1, 1, i]
        coefficients[1, 3, i], coefficients[1, 4, i] = -v / stop**2, 0.5 * v / stop**3
    times[0], times[1], times[2] = 0.0, first, first + stop


def move(x: ndarray, target: ndarray, lower: ndarray, upper: ndarray, velocity: ndarray,
         acceleration: ndarray, jerk: ndarray, out: ndarray) -> float:
    """
    Write quintics from a state to a target at rest; return their duration [s], or minus an error.

    It is about the shortest with which no axis exceeds its limits, or what it begins with.

    :param x: (3, n) position, velocity, acceleration.
    :param out: (6, n).
    """
    n, T = x.shape[1], SHORTEST
    for i in range(n):      # peaks of a motion from rest to rest
        d = abs(target[i] - x[0, i])
        fastest = velocity[i] if isfinite(velocity[i]) else 1.0
        most = acceleration[i] if isfinite(acceleration[i]) else fastest / DEFAULT_TIME
        T = max(T, 1.875 * d / fastest, (5.7736 * d / most)**0.5)
        if isfinite(jerk[i]):
            T = max(T, (60.0 * d / jerk[i])**(1.0 / 3.0))
        T = max(T, 1.5 * abs(x[1, i]) / most)
    wrong = OK
    for _ in range(ATTEMPTS):
        wrong = OK
        for i in range(n):
            polynomial(x[0, i], x[1, i], x[2, i], target[i], 0.0, 0.0, T, out, i)
            wrong = faulty(out, i, T, min(lower[i], x[0, i]), max(upper[i], x[0, i]),
                           max(velocity[i], abs(x[1, i])), max(acceleration[i], abs(x[2, i])))
            if wrong != OK:
                break
        if wrong == OK:
            return T
        T *= LONGER
    return -float(wrong)


# --- References of the joints ----------------------------------------------------------------


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
                 and 0.0 <= since <= PERIODS * s.period)
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
            position += 2.0 * pi * round((x[0, i] - position) / (2.0 * pi))
        if not limits[LOWER, i] - SLACK <= position <= limits[UPPER, i] + SLACK:
            return OUTSIDE
        if not (abs(velocity) <= limits[VELOCITY, i] * (1.0 + SLACK)
                and abs(acceleration) <= limits[ACCELERATION, i] * (1.0 + SLACK)):
            return TOO_FAST
        before = x[0, i] if joins else kept[0, i]
        allowed = limits[TOLERANCE, i] if joins else since * limits[VELOCITY, i]
        if not abs(position - before) <= allowed + SLACK:
            return JUMP
        kept[2, i] = position
        x[1, i], x[2, i] = velocity, acceleration
    r.result[0] = -1
    for i in range(x.shape[1]):
        kept[1, i] = approached(x[0, i] - kept[2, i] if joins else kept[1, i],
                                CATCH_UP * limits[VELOCITY, i] * s.period)
        kept[0, i] = kept[2, i]
        x[0, i] = kept[0, i] + kept[1, i]
    points = r.points
    go_on_and_stop(x[:3], limits[LOWER], limits[UPPER], limits[ACCELERATION], s.period,
                   points.times, points.coefficients)
    begin_points(c, points, time, SHORT, r)
    r.streamed[0], r.streamed[1] = points.header[0].serial, now
    return OK


def approached(offset: float, step: float) -> float:
    """Return an offset that has come nearer to 0 by a step."""
    return 0.0 if not abs(offset) > step else offset - copysign(step, offset)


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
        if limits[PERIODIC, i] == 1.0:
            target += 2.0 * pi * round((x[0, i] - target) / (2.0 * pi))
        if not limits[LOWER, i] - SLACK <= target <= limits[UPPER, i] + SLACK:
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
    begin_points(c, points, time, SHORT, r)
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
            if not limits[LOWER, i] - SLACK <= x[w, 0, i] <= limits[UPPER, i] + SLACK:
                return OUTSIDE
            if w == W - 1 and abs(x[w, 1, i]) > REST:
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
        turns = 0.0
        if limits[PERIODIC, i] == 1.0:
            turns = 2.0 * pi * round((x[0, i] - r.waypoints[0, 0, i]) / (2.0 * pi))
        if first == 1 and not (abs(r.waypoints[0, 0, i] + turns - x[0, i])
                               <= limits[TOLERANCE, i] + SLACK):
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


# --- References of a pose --------------------------------------------------------------------


def present_pose(c: Cycle, r: Request, time: float) -> Matrix3:
    """Write the reference pose at a time to ``r.axes``, with φ = 0; return its rotation."""
    m, x = r.memory[0], r.axes
    m.pose_serial, m.pose_following, m.pose_segment = c.controller.pose_serial, 0, 0
    if c.controller.pose_held == 0:
        for i in range(3):
            m.pose_position[i] = c.task.pose[i, 3]
            for j in range(3):
                m.pose_rotation[3 * i + j] = c.task.pose[i, j]
    else:
        for i in range(3):
            m.pose_position[i] = c.controller.pose_position[i]
        for i in range(9):
            m.pose_rotation[i] = c.controller.pose_rotation[i]
    m.pose_following = c.controller.pose_following
    follow_pose(c.poses, m, r.rates[0], r.rates[1], time)
    for i in range(6):
        x[0, i] = m.pose_position[i] if i < 3 else 0.0
        x[1, i], x[2, i] = r.rates[0, i], r.rates[1, i]
    R = m.pose_rotation
    return (R[0], R[1], R[2]), (R[3], R[4], R[5]), (R[6], R[7], R[8])


def asked_pose(r: Request) -> tuple[int, Matrix3]:
    """Return what is wrong with ``r.pose``, and its rotation."""
    x, y, z, w = r.pose[3], r.pose[4], r.pose[5], r.pose[6]
    size = x * x + y * y + z * z + w * w
    wrong = OK
    for i in range(13):
        if not isfinite(r.pose[i]):
            wrong = NOT_FINITE
    if not abs(size**0.5 - 1.0) <= UNIT:
        wrong, size = NOT_FINITE, 1.0
    k = 2.0 / size
    R = ((1.0 - k * (y * y + z * z), k * (x * y - w * z), k * (x * z + w * y)),
         (k * (x * y + w * z), 1.0 - k * (x * x + z * z), k * (y * z - w * x)),
         (k * (x * z - w * y), k * (y * z + w * x), 1.0 - k * (x * x + y * y)))
    reach, square = r.reach[r.settings[0]], 0.0
    for i in range(3):
        square += (r.pose[i] - reach[i])**2
    if wrong == OK and not square <= reach[3]**2:
        wrong = OUTSIDE
    return wrong, R


def begin_poses(c: Cycle, r: Request, time: float, segments: int, R: Matrix3) -> None:
    """Give a reference of the pose, whose rotation vectors begin at R, the same."""
    header, poses = r.poses.header[0], r.poses
    header.start, header.serial = time, c.poses.header[0].serial + 1
    r.result[2] = segments
    for i in range(poses.command.shape[0]):
        poses.command[i] = 0.0
    poses.command[STIFFNESS_LAW] = NO_LAW
    for k in range(segments):
        for i in range(3):
            for j in range(3):
                poses.bases[k, i, j] = R[i][j]


def begin_pose(c: Cycle, r: Request, now: float) -> int:
    """Move to the pose ``r.pose``, at rest there."""
    wrong = refused(c, r, 1)
    if wrong != OK:
        return wrong
    time, x, limits, poses = start_time(c, now), r.axes, r.pose_limits[r.settings[0]], r.poses
    R = present_pose(c, r, time)
    wrong, wanted = asked_pose(r)
    if wrong != OK:
        return wrong
    phi = log(multiplied_transposed(wanted, R))
    for i in range(3):
        x[3, i], x[3, 3 + i] = r.pose[i], phi[i]
    for i in range(6):
        r.rates[0, i], r.rates[1, i] = -inf, inf
    T = move(x[:3], x[3], r.rates[0], r.rates[1], limits[0], limits[1], limits[2],
             poses.coefficients[0])
    if T < 0.0:
        return int(-T)
    poses.times[0], poses.times[1] = 0.0, T
    begin_poses(c, r, time, 1, R)
    return OK


def stream_pose(c: Cycle, r: Request, now: float) -> int:
    """Follow the pose and twist ``r.pose`` in the cycle that begins."""
    s, m = c.settings, c.controller
    wrong = refused(c, r, 1)
    if wrong != OK:
        return wrong
    if s.bounded == 1:
        return BOUNDED
    time, x, limits = start_time(c, now), r.axes, r.pose_limits[r.settings[0]]
    kept, poses = r.pose_stream, r.poses
    R = present_pose(c, r, time)
    wrong, wanted = asked_pose(r)
    if wrong != OK:
        return wrong
    since = now - r.streamed[1]
    joins = not (m.pose_following == 1 and r.streamed[0] == c.poses.header[0].serial
                 and 0.0 <= since <= PERIODS * s.period)
    Q = R if joins else rows(kept[1:4])
    phi = log(multiplied_transposed(wanted, Q))
    for i in range(6):
        r.result[0] = i
        before = r.axes[0, i] if joins else kept[0, i] if i < 3 else 0.0
        apart = r.pose[i] - before if i < 3 else phi[i - 3]
        if not abs(r.pose[7 + i]) <= limits[0, i] * (1.0 + SLACK):
            return TOO_FAST
        if not abs(apart) <= (POSE_TOLERANCE if joins else since) * limits[0, i] + SLACK:
            return JUMP
    r.result[0] = -1
    if joins:
        offset = log(multiplied_transposed(R, wanted))
        for i in range(3):
            kept[4, i], kept[5, i] = x[0, i] - r.pose[i], offset[i]
    for i in range(3):
        kept[0, i] = r.pose[i]
        for j in range(3):
            kept[1 + i, j] = wanted[i][j]
        for k in range(2):
            kept[4 + k, i] = approached(kept[4 + k, i], CATCH_UP * limits[0, 3 * k + i] * s.period)
        x[0, i], x[0, 3 + i] = kept[0, i] + kept[4, i], 0.0
    for i in range(6):
        x[1, i], x[2, i] = r.pose[7 + i], 0.0
        r.rates[0, i], r.rates[1, i] = -inf, inf
    go_on_and_stop(x[:3], r.rates[0], r.rates[1], limits[1], s.period, poses.times,
                   poses.coefficients)
    begin_poses(c, r, time, SHORT, multiplied(exp((kept[5, 0], kept[5, 1], kept[5, 2])), wanted))
    r.streamed[0], r.streamed[1] = poses.header[0].serial, now
    return OK


# --- Payload ---------------------------------------------------------------------------------


def load_payload(c: Cycle, r: Request, now: float) -> int:
    """Write the bodies of the settings with a point mass ``r.payload`` to ``r.bodies``."""
    mass, frame, b = r.payload[0], r.frames[r.settings[0]], c.settings.payload_body
    x, y, z = r.payload[1], r.payload[2], r.payload[3]
    R, o = frame.rotation, frame.origin
    if not (isfinite(mass) and isfinite(x) and isfinite(y) and isfinite(z)):
        return NOT_FINITE
    if not (0.0 <= mass <= r.payload_limits[MASS]
            and x * x + y * y + z * z <= r.payload_limits[DISTANCE]**2):
        return NOT_EXPORTED
    for i in range(r.bodies.shape[0]):
        r.bodies[i] = c.robot.bodies[i]
    p = (R[0] * x + R[1] * y + R[2] * z + o[0], R[3] * x + R[4] * y + R[5] * z + o[1],
         R[6] * x + R[7] * y + R[8] * z + o[2])
    body = r.bodies[b]
    body.mass += mass
    for i in range(3):
        body.first[i] += mass * p[i]
        body.second[i] += mass * p[i] * p[i]
    body.second[3] += mass * p[0] * p[1]
    body.second[4] += mass * p[0] * p[2]
    body.second[5] += mass * p[1] * p[2]
    return OK


def check_payload(c: Cycle, r: Request, now: float) -> int:
    """
    Refuse dynamics with which an arm that is driven could not be armed, as ``Controller.use``.

    :param c: with the new dynamics and settings.
    """
    s, m, v, tau = c.settings, c.controller, c.vectors, r.state[0]
    r.result[0] = r.result[1] = -1
    if m.publishing == 0:
        armed = m.arming == 1 or c.cycle_input.request == guard.ARM
        return WRONG_PAYLOAD if armed else OK
    gravity(c.robot, v.q, c.workspace, tau)
    for i in range(v.q.shape[0]):
        known = v.measured[i] if isfinite(v.measured[i]) else v.gravity[i]
        allowed = 0.0 if m.phase == guard.FAULT else (
            min(s.arming_effort, GRAVITY_CHANGE) * c.joints[i].effort_limit)
        if not abs(tau[i] - known) <= allowed:
            r.result[0] = i
            return WRONG_PAYLOAD
    return OK


#: Functions of the requests: those of the step, and the check of a trajectory by another thread.
FUNCTIONS = (stream_joints, begin_target, begin_stop, prepare_path, begin_path, begin_pose,
             stream_pose, load_payload, check_payload)
