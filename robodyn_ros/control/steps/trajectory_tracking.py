# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Reference of the joints: the pose that is held, or the trajectory in force."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy import ndarray, record

from .acceleration_limits import RETURN_VELOCITY_SHARE
from ..inputs.pose_tracking import evaluate, Points, segment_of

if TYPE_CHECKING:
    from .cycle_data import Vectors
#: Fields of the controller state.
STATE = [
    ('serial', np.int64),
    ('segment', np.int64),
    ('following', np.int64),
]


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
