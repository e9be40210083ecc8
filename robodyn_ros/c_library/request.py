# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
References and payloads that a program requests of the C library, planned by compiled functions.

What :class:`~robodyn_ros.control.controller.controller.Controller` plans in Python, with Ruckig
and splines, is planned here without allocations and within a bounded number of operations. The
functions take the data ``c`` of the control cycle, a request ``r`` and the time ``now`` [s] of the
cycle that begins, write the reference, and return 0 or what is wrong, one of :data:`ERRORS`. The
values of a refused request are in no reference.
"""

from typing import NamedTuple

import numpy as np
from numpy import ndarray

from ..control.inputs.points import HEADER, Points
from ..control.inputs.pose_tracking import PosePoints
from ..control.steps import guard
from ..control.steps.cycle_data import CONTROLLER_STATE, Cycle
from ..dynamics.model_data import BODY, FRAME

#: Names of the errors as in ``robodyn_controller.h``, in the order of their numbers.
ERRORS = (
    'OK', 'WRONG_VERSION', 'WRONG_JOINTS', 'WRONG_CPU', 'NO_MEMORY', 'PENDING', 'BUSY',
    'NOT_RUNNING', 'NOT_FOLLOWED', 'NOT_FINITE', 'OUTSIDE', 'TOO_FAST', 'JUMP', 'WRONG_TIMES',
    'MOVING_END', 'TOO_MANY', 'NOT_EXPORTED', 'WRONG_PAYLOAD', 'NOT_RECORDED', 'NOT_WRITTEN',
    'BOUNDED')
(OK, _, _, _, _, _, _, NOT_RUNNING, NOT_FOLLOWED, NOT_FINITE, OUTSIDE, TOO_FAST, JUMP, WRONG_TIMES,
 MOVING_END, _, NOT_EXPORTED, WRONG_PAYLOAD, _, _, BOUNDED) = range(len(ERRORS))

#: Most waypoints of a trajectory.
MAX_WAYPOINTS = 1000
SHORT_SEGMENTS = 2    # segments of all other references
STREAM_PERIODS = 3.0    # that a reference of a stream goes on for without the next one
CATCH_UP_SHARE = 0.1    # of the velocity limit, with which the first one of a stream is joined
POSE_TOLERANCE_TIME = 0.1    # s of the velocity limit, by which the first pose of one may be off
MIN_DURATION = 5e-3    # s, of a deceleration or motion
DEFAULT_TIME = 0.25    # s, in which joints without an acceleration limit come to rest
RETRY_FACTOR, MAX_ATTEMPTS = 1.25, 40    # a motion that is too fast is tried again so much longer
CHECKED_PARTS = 16    # parts of a segment at whose ends the limits are checked
LIMIT_ROUNDING = 1e-9    # of these checks, by rounding, relative and absolute
MAX_REST_VELOCITY = float(np.finfo(np.float32).eps)    # rad/s | m/s that count as rest
QUATERNION_TOLERANCE = 1e-3    # distance of the length of a quaternion from 1
GRAVITY_CHANGE = 0.1    # of the effort limits, see Controller

# Rows of `Request.limits`, and the first of `Request.pose_limits`
LOWER, UPPER, VELOCITY, ACCELERATION, JERK, TOLERANCE, PERIODIC = LIMITS = range(7)
# Elements of `Request.payload_limits`
MASS, DISTANCE = range(2)


class Request(NamedTuple):
    """
    One request, its limits and its result; K settings, nv joints, nb bodies.

    Joints are in rad | m; limits that there are not are infinite.
    """

    asked: ndarray          # (3, nv) position, velocity, acceleration; NaN where not given
    pose: ndarray           # (13,) position, quaternion x y z w, twist
    payload: ndarray        # (4,) mass [kg], center [m] in the axes of the frame
    times: ndarray          # (W,) of waypoints [s]; `counts` states how many are used
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
        PosePoints(poses.header, np.zeros(SHORT_SEGMENTS + 1), np.zeros((SHORT_SEGMENTS, 6, 6)),
                   np.zeros((SHORT_SEGMENTS, 3, 3)), poses.command),
        np.zeros(nb, BODY), np.full(4, -1), np.zeros((3, nv)), np.zeros((6, 3)), np.zeros(2),
        np.zeros((4, nv)), np.zeros(1, CONTROLLER_STATE), np.zeros((4, 6)), np.zeros((2, 6)))


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
