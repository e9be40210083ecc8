# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Requested references of a pose, see :mod:`.request`."""

from math import inf, isfinite

from .joint_requests import approached, go_on_and_stop
from .motions import plan_goal, plan_velocity, write_phases
from .request import (
    ACCELERATION, BOUNDED, CATCH_UP_SHARE, JUMP, KIND, LIMIT_ROUNDING, NOT_FINITE, OK, OUTSIDE,
    POSE_TOLERANCE_TIME, QUATERNION_TOLERANCE, refused, Request, SHORT_SEGMENTS, start_time,
    STREAM_PERIODS, TOO_FAST, TWIST, VELOCITY)
from ..inputs.pose_tracking import follow_pose, NO_LAW, PosePoints, STIFFNESS_LAW
from ..rotations import exp, log, multiplied, multiplied_transposed, rows
from ..steps.cycle_data import Cycle
from ...dynamics.model_data import Matrix3


def present_pose(c: Cycle, r: Request, time: float) -> Matrix3:
    """Write the reference pose at a time to ``r.axes``, with φ = 0; return its rotation."""
    m = r.memory[0]
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
    take_pose(c.poses, r, time)
    return rotation_of(r)


def take_pose(poses: PosePoints, r: Request, time: float) -> None:
    """Write a reference pose at a time to ``r.memory``, and to ``r.axes`` with φ = 0."""
    m, x = r.memory[0], r.axes
    follow_pose(poses, m, r.rates[0], r.rates[1], time)
    for i in range(6):
        x[0, i] = m.pose_position[i] if i < 3 else 0.0
        x[1, i], x[2, i] = r.rates[0, i], r.rates[1, i]


def sample_poses(r: Request) -> int:
    """Sample the reference ``r.poses`` at the time ``r.span``, see :func:`take_pose`."""
    take_pose(r.poses, r, r.span[0])
    return OK


def asked_pose(r: Request) -> tuple[int, Matrix3]:
    """Return what is wrong with ``r.pose``, and its rotation."""
    x, y, z, w = r.pose[3], r.pose[4], r.pose[5], r.pose[6]
    size = x * x + y * y + z * z + w * w
    wrong = OK
    for i in range(13):
        if not isfinite(r.pose[i]):
            wrong = NOT_FINITE
    if not abs(size**0.5 - 1.0) <= QUATERNION_TOLERANCE:
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


def write(r: Request, R: Matrix3) -> None:
    """Write the motion of all axes that is planned."""
    r.poses.times[0] = 0.0
    r.result[2] = write_phases(r.axes[:3], r.phases, 0, r.poses.times, r.poses.coefficients,
                               r.knots)
    for k in range(r.result[2]):
        for i in range(3):
            for j in range(3):
                r.poses.bases[k, i, j] = R[i][j]


def rotation_of(r: Request) -> Matrix3:
    """Return the rotation of the reference in ``r.memory``."""
    R = r.memory[0].pose_rotation
    return (R[0], R[1], R[2]), (R[3], R[4], R[5]), (R[6], R[7], R[8])


def plan_pose(r: Request) -> int:
    """
    Move to the pose ``r.pose``, at rest there, in the shortest time within all limits.

    The reference begins with the rotation in ``r.memory``, and with the state ``r.axes``.
    """
    R, x = rotation_of(r), r.axes
    wrong, wanted = asked_pose(r)
    if wrong != OK:
        return wrong
    phi = log(multiplied_transposed(wanted, R))
    for i in range(3):
        x[3, i], x[3, 3 + i] = r.pose[i], phi[i]
    for i in range(6):
        x[4, i] = 0.0
    wrong = plan_goal(x[:3], x[3:5], r.pose_limits[r.settings[0]], 0.0, r.phases, r.result)
    if wrong == OK:
        write(r, R)
    return wrong


def plan_twist(r: Request) -> int:
    """
    Move at the twist ``r.pose[7:]`` until ``r.span`` [s], and decelerate to rest.

    The reference begins as that of :func:`plan_pose`.
    """
    limits = r.pose_limits[r.settings[0]]
    for i in range(6):
        r.result[0], r.found[0] = i, r.pose[7 + i]
        if not abs(r.pose[7 + i]) <= limits[VELOCITY, i] * (1.0 + LIMIT_ROUNDING):
            return TOO_FAST
    r.result[0] = -1
    wrong = plan_velocity(r.axes[:3], r.pose[7:], r.span[0], limits, r.phases, r.result)
    if wrong == OK:
        write(r, rotation_of(r))
    return wrong


def plan_poses(r: Request) -> int:
    """Plan the reference of the pose that ``r.counts`` asks for, from ``r.axes`` on."""
    return plan_twist(r) if r.counts[KIND] == TWIST else plan_pose(r)


def begin_pose(c: Cycle, r: Request, now: float) -> int:
    """Move to the pose ``r.pose``, at rest there."""
    wrong = refused(c, r, 1)
    if wrong != OK:
        return wrong
    time = start_time(c, now)
    R = present_pose(c, r, time)
    wrong = plan_pose(r)
    if wrong == OK:
        begin_poses(c, r, time, r.result[2], R)
    return wrong


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
                 and 0.0 <= since <= STREAM_PERIODS * s.period)
    Q = R if joins else rows(kept[1:4])
    phi = log(multiplied_transposed(wanted, Q))
    for i in range(6):
        r.result[0] = i
        before = r.axes[0, i] if joins else kept[0, i] if i < 3 else 0.0
        apart = r.pose[i] - before if i < 3 else phi[i - 3]
        if not abs(r.pose[7 + i]) <= limits[VELOCITY, i] * (1.0 + LIMIT_ROUNDING):
            return TOO_FAST
        allowed = (POSE_TOLERANCE_TIME if joins else since) * limits[VELOCITY, i]
        if not abs(apart) <= allowed + LIMIT_ROUNDING:
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
            kept[4 + k, i] = approached(kept[4 + k, i],
                                        CATCH_UP_SHARE * limits[VELOCITY, 3 * k + i] * s.period)
        x[0, i], x[0, 3 + i] = kept[0, i] + kept[4, i], 0.0
    for i in range(6):
        x[1, i], x[2, i] = r.pose[7 + i], 0.0
        r.rates[0, i], r.rates[1, i] = -inf, inf
    go_on_and_stop(x[:3], r.rates[0], r.rates[1], limits[ACCELERATION], s.period, poses.times,
                   poses.coefficients)
    begin_poses(c, r, time, SHORT_SEGMENTS,
                multiplied(exp((kept[5, 0], kept[5, 1], kept[5, 2])), wanted))
    r.streamed[0], r.streamed[1] = poses.header[0].serial, now
    return OK
