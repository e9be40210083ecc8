# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Reference of the control cycle: piecewise polynomials between waypoints, and their sampling."""

from typing import NamedTuple

import numpy as np
from numpy import ndarray, record

from ..declare.dtypes import CONTROLLER_STATE, Vectors

HEADER = np.dtype([('start', float), ('serial', np.int64)])
# Fraction of the velocity limit with which a joint outside its position limits may return.
RETURN_VELOCITY = 0.1


class Points(NamedTuple):
    """
    Reference of S segments, quintic polynomials of the time since the start of their segment.

    ``header`` (1,) ``HEADER``: start [s] on the clock of references, and a serial number that is
    new for each trajectory; ``times`` (S + 1,) [s] since the start; ``coefficients`` (S, 6, nv)
    [rad | m, per s to the power], by ascending powers; ``efforts`` (S, 2, nv) [N·m | N, per s]
    feed-forward, at the start of the segment and its slope.
    """

    header: ndarray
    times: ndarray
    coefficients: ndarray
    efforts: ndarray

    @classmethod
    def none(cls, nv: int) -> 'Points':
        """Return the reference of no trajectory: serial 0 is never followed."""
        return cls(np.zeros(1, HEADER), np.zeros(2), np.zeros((1, 6, nv)), np.zeros((1, 2, nv)))


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
        j, slow = joints[i], RETURN_VELOCITY * v.speed_limit[i]
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

    The polynomials are evaluated by Horner's scheme. A new serial number starts a new trajectory.

    :param m: record ``CONTROLLER_STATE``, which keeps the segment.
    :param now: time of the clock of references [s], see :mod:`.time_scaling`.
    """
    header, times, coefficients = points.header[0], points.times, points.coefficients
    if header.serial != m.serial:
        m.serial, m.following, m.segment, m.held_by = header.serial, 1, 0, 0
    if m.following == 0:
        return
    last = coefficients.shape[0] - 1
    t = min(max(now - header.start, 0.0), times[last + 1])
    m.segment = segment_of(times, m.segment, t)
    c, x, effort = coefficients[m.segment], t - times[m.segment], points.efforts[m.segment]
    for i in range(v.q.shape[0]):
        v.target[i] = c[0, i] + x * (c[1, i] + x * (c[2, i] + x * (
            c[3, i] + x * (c[4, i] + x * c[5, i]))))
        v.target_qd[i] = c[1, i] + x * (2.0 * c[2, i] + x * (
            3.0 * c[3, i] + x * (4.0 * c[4, i] + x * 5.0 * c[5, i])))
        v.target_qdd[i] = 2.0 * c[2, i] + x * (6.0 * c[3, i] + x * (
            12.0 * c[4, i] + x * 20.0 * c[5, i]))
        v.target_effort[i] = effort[0, i] + x * effort[1, i]
    if t >= times[last + 1] or now < header.start:
        for i in range(v.q.shape[0]):
            v.target_qd[i], v.target_qdd[i], v.target_effort[i] = 0.0, 0.0, 0.0


def segment_of(times: ndarray, segment: int, t: float) -> int:
    """Return the segment in which ``t`` [s] is, sought from ``segment`` on."""
    if t < times[segment]:
        segment = 0
    while segment < times.shape[0] - 2 and t >= times[segment + 1]:
        segment += 1
    return segment


def sample(points: Points, time: float) -> tuple[ndarray, ndarray]:
    """Return position and velocity (nv,) of a reference at a time on its clock [s]."""
    position, velocity, _ = sample_state(points, time)
    return position, velocity


def sample_state(points: Points, time: float) -> tuple[ndarray, ndarray, ndarray]:
    """Return position, velocity and acceleration (nv,) of a reference at a time [s]."""
    m = np.zeros(1, CONTROLLER_STATE).view(np.recarray)[0]
    v = Vectors.zeros(points.coefficients.shape[2])
    follow(points._replace(header=points.header.view(np.recarray)), m, v, time)
    return v.target, v.target_qd, v.target_qdd
