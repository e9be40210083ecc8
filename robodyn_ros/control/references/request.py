# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Requests of references, which plain functions plan without allocations, and their results.

A :class:`Request` holds what is asked for, the limits, and the reference that is planned. The
functions of :mod:`.joint_requests` and :mod:`.pose_requests` write it in a bounded number of
operations, for :class:`~robodyn_ros.control.controller.controller.Controller`, the node and the C
library alike. They return 0 or what is wrong, one of :data:`ERRORS`. The values of a refused
request are in no reference.
"""

from typing import NamedTuple

import numpy as np
from numpy import ndarray

from ..inputs.pose_tracking import HEADER, Points, PosePoints
from ..steps import guard
from ..steps.cycle_data import CONTROLLER_STATE, Cycle
from ...dynamics.model_data import BODY, FRAME

#: Names of the errors as in ``robodyn_controller.h``, in the order of their numbers.
ERRORS = (
    'OK', 'WRONG_VERSION', 'WRONG_JOINTS', 'WRONG_CPU', 'NO_MEMORY', 'PENDING', 'BUSY',
    'NOT_RUNNING', 'NOT_FOLLOWED', 'NOT_FINITE', 'OUTSIDE', 'TOO_FAST', 'JUMP', 'WRONG_TIMES',
    'MOVING_END', 'TOO_MANY', 'NOT_EXPORTED', 'WRONG_PAYLOAD', 'NOT_RECORDED', 'NOT_WRITTEN',
    'BOUNDED', 'NO_LIMITS', 'UNREACHABLE')
(OK, _, _, _, _, _, _, NOT_RUNNING, NOT_FOLLOWED, NOT_FINITE, OUTSIDE, TOO_FAST, JUMP, WRONG_TIMES,
 MOVING_END, _, NOT_EXPORTED, WRONG_PAYLOAD, _, _, BOUNDED, NO_LIMITS,
 UNREACHABLE) = range(len(ERRORS))

#: Most waypoints of a trajectory of the C library.
MAX_WAYPOINTS = 1000
SHORT_SEGMENTS = 2    # segments of a reference of a stream that has a sample in each cycle
PHASES = 10    # of constant jerk: most of a motion of one axis
MAX_EXTRA_SEGMENTS = 4    # of a trajectory, beside those between waypoints and a deceleration
STREAM_PERIODS = 3.0    # that a reference of a stream goes on for without the next one
CATCH_UP_SHARE = 0.1    # of the velocity limit, with which the first one of a stream is joined
CATCH_UP_TIME = 0.2    # s in which a stream with velocities sets off the distance from positions
OVERDUE_FACTOR = 1.5    # times of a waypoint, after which the next one of a stream is missing
POSE_TOLERANCE_TIME = 0.1    # s of the velocity limit, by which the first pose of one may be off
MIN_DURATION = 5e-3    # s, of a deceleration or motion
DEFAULT_TIME = 0.25    # s, in which joints without an acceleration limit come to rest
CHECKED_PARTS = 16    # parts of a segment at whose ends the limits are checked
LIMIT_ROUNDING = 1e-9    # of these checks, by rounding, relative and absolute
# Greatest position, velocity or acceleration [1, 1/s, 1/s²] of joints without limits
MAX_MAGNITUDE = 1e9
MAX_REST_VELOCITY = float(np.finfo(np.float32).eps)    # rad/s | m/s that count as rest
QUATERNION_TOLERANCE = 1e-3    # distance of the length of a quaternion from 1
GRAVITY_CHANGE = 0.1    # of the effort limits, see Controller

# Rows of `Request.limits` and, but for the last two, of `Request.pose_limits`
LOWER, UPPER, VELOCITY, ACCELERATION, JERK, TOLERANCE, PERIODIC = LIMITS = range(7)
NO_POSE_LIMITS = np.full((JERK + 1, 6), np.inf)
NO_POSE_LIMITS[LOWER] = -np.inf
# Elements of `Request.payload_limits`
MASS, DISTANCE = range(2)
# Elements of `Request.counts`: waypoints, their highest derivative, 1: the last one may move, what
# is to be planned
WAYPOINTS, DERIVATIVES, MAY_END_MOVING, KIND = range(4)
STOP, TARGET, WAYPOINT, PATH, POSE, TWIST = range(6)
# Rows of a waypoint
POSITIONS, VELOCITIES, ACCELERATIONS, EFFORTS = range(4)


class Request(NamedTuple):
    """
    One request, its limits and its result; K settings, nv joints, nb bodies.

    Joints are in rad | m; limits that there are not are infinite.
    """

    asked: ndarray          # (3, nv) position, velocity, acceleration; NaN where not given
    pose: ndarray           # (13,) position, quaternion x y z w, twist
    payload: ndarray        # (4,) mass [kg], center [m] in the axes of the frame
    times: ndarray          # (W,) of waypoints [s]; `counts` states how many are used
    waypoints: ndarray      # (W, 4, nv) their positions, velocities, accelerations, efforts
    counts: ndarray         # (4,) WAYPOINTS, ...
    span: ndarray           # (1,) [s] time of a waypoint of a stream, or duration of a twist; time
                            # for which a trajectory should have been under way
    settings: ndarray       # (1,) index of the settings in force
    limits: ndarray         # (K, 7, nv) LOWER, UPPER, ...
    pose_limits: ndarray    # (K, 5, 6) likewise of the pose
    reach: ndarray          # (K, 4) a point [m], and the most that the frame is from it [m]
    frames: ndarray         # (K,) FRAME that holds the payload
    payload_limits: ndarray     # (2,) greatest mass [kg], and distance [m]
    points: Points          # receives the reference of the joints
    poses: PosePoints       # likewise of the pose
    bodies: ndarray         # (nb,) BODY, receives those with the payload
    result: ndarray         # (4,) joint or axis, waypoint, segments, derivative; -1: none
    found: ndarray          # (2,) value that is refused, and when it would be reached [s]
    stream: ndarray         # (3, nv) kept: last position of a stream, offset from it; workspace
    pose_stream: ndarray    # (6, 3) kept likewise: position, rotation; offsets from both
    streamed: ndarray       # (2,) kept: serial number and time [s] of the last one of a stream
    state: ndarray          # (4, nv) position, velocity, acceleration at the start; workspace
    memory: ndarray         # (1,) CONTROLLER_STATE, workspace
    axes: ndarray           # (5, 6) workspace: state of a pose; position and velocity at its end
    rates: ndarray          # (2, 6) workspace
    phases: ndarray         # (2, PHASES, n) workspace: durations and jerks; n: nv, at least 6
    knots: ndarray          # (PHASES n + 1,) workspace
    blend: ndarray          # (6, nv) workspace: polynomials by which a trajectory is joined


def request(nv: int, nb: int, settings: int, segments: int, waypoints: int = 1) -> Request:
    """Return an empty request, whose reference may have so many segments."""
    points = Points(np.zeros(1, HEADER), np.zeros(segments + 1), np.zeros((segments, 6, nv)),
                    np.zeros((segments, 2, nv)))
    poses, most = PosePoints.none(), segments_of(6)
    return Request(
        np.zeros((3, nv)), np.zeros(13), np.zeros(4), np.zeros(waypoints),
        np.zeros((waypoints, 4, nv)), np.zeros(4, np.int64), np.zeros(1),
        np.zeros(1, np.int64), np.full((settings, len(LIMITS), nv), np.inf),
        np.tile(NO_POSE_LIMITS, (settings, 1, 1)), np.zeros((settings, 4)),
        np.zeros(settings, FRAME), np.zeros(2), points,
        PosePoints(poses.header, np.zeros(most + 1), np.zeros((most, 6, 6)),
                   np.zeros((most, 3, 3)), poses.command),
        np.zeros(nb, BODY), np.full(4, -1), np.zeros(2), np.zeros((3, nv)), np.zeros((6, 3)),
        np.zeros(2), np.zeros((4, nv)), np.zeros(1, CONTROLLER_STATE), np.zeros((5, 6)),
        np.zeros((2, 6)), np.zeros((2, PHASES, max(nv, 6))), np.zeros(segments_of(max(nv, 6))),
        np.zeros((6, nv)))


def segments_of(axes: int, waypoints: int = 0) -> int:
    """Return the most segments of a reference of so many axes through so many waypoints."""
    return waypoints + PHASES * axes + MAX_EXTRA_SEGMENTS


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
    return float(now - (m.lag + m.slowing * max(0.0, now - m.time)) - LIMIT_ROUNDING)
