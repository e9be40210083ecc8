# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Reference of the joints: the pose that is held, the trajectory in force, or the hand that guides.

Waypoints may have efforts, as in trajectory_msgs/JointTrajectoryPoint and ros2_controllers: what
the law lacks along this trajectory, for instance learned from its error. They are added to the
effort of any law that follows it, and end with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy import ndarray, record

from .acceleration_limits import RETURN_VELOCITY_SHARE
from .guard import GRAVITY_COMPENSATION
from .motion_checks import forget_changes
from ..declare import number, SETTINGS_RECORD
from ..inputs.pose_tracking import evaluate, Points, segment_of

if TYPE_CHECKING:
    from .cycle_data import Cycle, Vectors

# s in which the added effort changes by one effort limit at most: it fades where a trajectory is
# replaced or ends with an effort, and follows faster changes late
FADE_TIME = 0.1
#: Fields of the controller state.
STATE = [
    ('serial', np.int64),
    ('segment', np.int64),
    ('following', np.int64),
    ('guided', np.int64),           # 1: the arm is guided by hand
]


@dataclass(frozen=True)
class Parameters:
    """Enabling signal."""

    guiding_timeout: float = number(
        0.2, 's', 0.01, 2.0, 'Time for which a *true* on `~/guiding` lets the arm be moved.',
        record=SETTINGS_RECORD)


def hold_here(m: record, v: Vectors) -> None:
    """Make the present pose the reference, at rest and without efforts of a trajectory."""
    m.following, m.pose_following, m.pose_held, m.slowing = 0, 0, 0, 0.0
    for i in range(v.q.shape[0]):
        v.target[i], v.target_qd[i], v.target_qdd[i] = v.q[i], 0.0, 0.0
        v.target_effort[i] = v.feedforward[i] = 0.0


def return_inside(joints: ndarray, m: record, v: Vectors, dt: float) -> None:
    """
    Move a held reference that is outside the position limits back to them.

    It moves with RETURN_VELOCITY, as the limits let the arm, so that the law does not resist them.
    """
    if m.following == 1:
        return
    for i in range(v.q.shape[0]):
        j, slow = joints[i], RETURN_VELOCITY_SHARE * v.speed_limit[i]
        outside = v.target[i] - min(max(v.target[i], j.position_lower), j.position_upper)
        if outside == 0.0:
            continue
        if abs(outside) <= slow * dt:
            v.target[i], v.target_qd[i] = v.target[i] - outside, 0.0
        else:
            v.target_qd[i] = -slow if outside > 0.0 else slow
            v.target[i] += v.target_qd[i] * dt


def follow(points: Points, m: record, v: Vectors, now: float) -> None:
    """
    Sample the trajectory in force into the targets of ``v``; before and after it, its end poses.

    A new serial number starts a new trajectory.

    :param m: record ``CONTROLLER_STATE``, which keeps the segment.
    :param now: time of the clock of references [s], see :mod:`.time_scaling`.
    """
    header, times = points.header[0], points.times
    if header.serial != m.serial:
        m.serial, m.following, m.segment, m.held_by = header.serial, 1, 0, 0
    if m.following == 0:
        return
    t = min(max(now - header.start, times[0]), times[times.shape[0] - 1])
    m.segment = segment_of(times, m.segment, t)
    evaluate(points, m.segment, now, v.target, v.target_qd, v.target_qdd, v.target_effort)


def add_feedforward(joints: ndarray, v: Vectors, dt: float, tau: ndarray) -> None:
    """
    Add the effort of the trajectory to ``tau`` (nv,) [N·m | N].

    :param joints: (nv,) records ``JOINT``; ``dt`` duration of the cycle [s].
    """
    for i in range(tau.shape[0]):
        step = joints[i].effort_limit * dt / FADE_TIME
        change = v.target_effort[i] - v.feedforward[i]
        v.feedforward[i] += min(max(change, -step), step)
        tau[i] += v.feedforward[i]


def allowed(cycle_input: record, s: record, now: float) -> bool:
    """
    Return whether the arm may be guided now.

    The permission ends by itself: with silence, with the thread that receives it, and where time
    jumps back to long before its end.
    """
    return s.guided == 1 and 0.0 < cycle_input.guiding_until - now <= s.guiding_timeout


def guide(c: Cycle, law: bool, now: float) -> bool:
    """
    Return whether a hand guides the arm in this cycle; then its reference is the present pose.

    At release the reference is the pose of the last cycle, so that the springs of the law begin
    without a force, and the motion checks forget the motion by hand. Trajectories that came
    meanwhile are not followed afterwards.

    :param law: whether the law of the settings is in force, not gravity compensation alone.
    """
    cycle_input, s, m, v, points = c.cycle_input, c.settings, c.controller, c.vectors, c.points
    guided = m.guided == 1
    m.guided = 1 if law and allowed(cycle_input, s, now) else 0
    if guided and m.guided == 0:
        forget_changes(v)
    if m.guided == 1:
        hold_here(m, v)
        m.serial = points.header[0].serial
    return m.guided == 1


def yields(m: record) -> bool:
    """Return whether the arm is meant to be pushed, so that nothing is a collision."""
    return m.mode == GRAVITY_COMPENSATION or m.guided == 1


def velocity_of_friction(c: Cycle) -> ndarray:
    """Return the velocity (nv,) [rad/s | m/s] at which friction is compensated."""
    s, m, v = c.settings, c.controller, c.vectors
    return v.qd if s.follows == 0 or m.guided == 1 else v.target_qd
