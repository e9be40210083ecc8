# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Trajectories through poses, or along motions, that were shown to a robot by hand."""

from collections.abc import Sequence

import numpy as np
from numpy import ndarray
from scipy.interpolate import BSpline
from scipy.sparse.linalg import spsolve

from .trajectory_file import JointTrajectory
from ...errors import TrajectoryError

SPLINE_DEGREE = 5    # the jerk is continuous
END_COEFFICIENTS = 3    # that give position, velocity and acceleration of an end
WAYPOINT_INTERVAL = 0.02    # s
REST_DISTANCE = 1e-3    # rad or m from the first or last position, within which the arm rests
MIN_SAMPLES = 10    # of a motion
# Peaks of the quintic from rest to rest over one unit in one second: 15/8 and 10/√3
# (Biagiotti and Melchiorri, Trajectory Planning for Automatic Machines and Robots, 2008, 2.1.7)
QUINTIC_VELOCITY, QUINTIC_ACCELERATION = 15.0 / 8.0, 10.0 / np.sqrt(3.0)


def through_poses(joint_names: Sequence[str], poses: ndarray, velocity_limit: ndarray,
                  acceleration_limit: ndarray) -> JointTrajectory:
    """
    Return the trajectory that rests in each pose, with quintic polynomials between them.

    :param poses: (P, nv) [rad | m]; of equal ones in a row one is kept.
    :param velocity_limit: (nv,) [rad/s | m/s], reached by one joint between two poses at most.
    :param acceleration_limit: (nv,) [rad/s² | m/s²], likewise.
    :raises TrajectoryError: there are fewer than two poses, or a joint has no limit.
    """
    _check_limits(joint_names, velocity_limit, acceleration_limit)
    kept = np.array([pose for k, pose in enumerate(poses)
                     if k == 0 or (np.abs(pose - poses[k - 1]) > REST_DISTANCE).any()], float)
    if len(kept) < 2:
        raise TrajectoryError(f'{len(kept)} different poses are no motion', name='poses',
                              remedy='keep two poses at least')
    way = np.abs(np.diff(kept, axis=0))
    durations = np.maximum(QUINTIC_VELOCITY * way / velocity_limit,
                           np.sqrt(QUINTIC_ACCELERATION * way / acceleration_limit)).max(axis=1)
    rest = np.zeros_like(kept)
    return JointTrajectory(tuple(joint_names), np.concatenate(([0.0], np.cumsum(durations))),
                           kept, rest, rest)


def smoothed(joint_names: Sequence[str], time: ndarray, position: ndarray,
             velocity_limit: ndarray, acceleration_limit: ndarray, spacing: float
             ) -> JointTrajectory:
    """
    Return a shown motion without its tremor, from rest to rest, not faster than the limits allow.

    The quintic spline with knots at a regular spacing is fitted to the samples by least squares
    (de Boor, A Practical Guide to Splines, 1978, chapter XIV). Time at rest before and after the
    motion is left out. Where a limit demands it, the whole motion is slowed by one factor.

    :param time: (N,) [s], increasing; ``position``: (N, nv) [rad | m].
    :param velocity_limit: (nv,) [rad/s | m/s]; ``acceleration_limit``: (nv,) [rad/s² | m/s²].
    :param spacing: [s]; what is shorter than about twice of it is smoothed away.
    :raises TrajectoryError: the arm has not been moved, samples are missing for longer than the
        spacing, or a joint has no limit.
    """
    _check_limits(joint_names, velocity_limit, acceleration_limit)
    time, position = _of_motion(np.asarray(time, float), np.asarray(position, float))
    if (gap := float(np.diff(time).max())) > spacing:
        raise TrajectoryError(f'no sample came for {gap:.2f} s', name='samples', value=gap,
                              remedy='record at a higher rate, or smooth more')
    spline = _fit(time, position, spacing)
    begin, end = spline.t[0], spline.t[-1]
    at = np.linspace(begin, end, 1 + round((end - begin) / WAYPOINT_INTERVAL))
    q, qd, qdd = (spline(at, nu=order) for order in range(3))
    slower = max(1.0, float((np.abs(qd) / velocity_limit).max()),
                 float(np.sqrt((np.abs(qdd) / acceleration_limit).max())))
    qd, qdd = qd / slower, qdd / slower**2
    for k in (0, -1):           # within rounding of zero there
        qd[k], qdd[k] = 0.0, 0.0
    return JointTrajectory(tuple(joint_names), (at - begin) * slower, q, qd, qdd)


def _fit(time: ndarray, position: ndarray, spacing: float) -> BSpline:
    """Return the spline of the samples, from rest to rest, with twice the spacing around it."""
    around = 2.0 * spacing
    count = int(np.ceil((time[-1] - time[0] + 2.0 * around) / spacing))
    grid = np.linspace(time[0] - around, time[-1] + around, count + 1)
    knots = np.concatenate(([grid[0]] * SPLINE_DEGREE, grid, [grid[-1]] * SPLINE_DEGREE))
    before = np.arange(grid[0], time[0], WAYPOINT_INTERVAL)
    after = np.arange(grid[-1], time[-1], -WAYPOINT_INTERVAL)
    x = np.concatenate((before, time, after[::-1]))
    y = np.vstack((np.tile(position[0], (len(before), 1)), position,
                   np.tile(position[-1], (len(after), 1))))
    A = BSpline.design_matrix(x, knots, SPLINE_DEGREE).tocsc()
    # Equal coefficients at an end: position, and no velocity and no acceleration
    c = np.zeros((A.shape[1], position.shape[1]))
    c[:END_COEFFICIENTS], c[-END_COEFFICIENTS:] = position[0], position[-1]
    inner = slice(END_COEFFICIENTS, -END_COEFFICIENTS)
    free = A[:, inner]
    c[inner] = spsolve((free.T @ free).tocsc(), free.T @ (y - A @ c)).reshape(-1, c.shape[1])
    return BSpline(knots, c, SPLINE_DEGREE)


def _of_motion(time: ndarray, position: ndarray) -> tuple[ndarray, ndarray]:
    """Return the samples from the last one at the first pose to the first one at the last pose."""
    moved = np.zeros(0)
    if len(time):
        moved = (np.abs(position - position[0]) > REST_DISTANCE).any(axis=1)
    if not moved.any() or len(time) < MIN_SAMPLES:
        raise TrajectoryError('the arm has not been moved', name='samples', value=len(time),
                              remedy='show a motion between its beginning and its end')
    first = max(0, int(np.argmax(moved)) - 1)
    away = (np.abs(position - position[-1]) > REST_DISTANCE).any(axis=1)
    last = len(time) - int(np.argmax(away[::-1])) + 1 if away.any() else len(time)
    return time[first:last], position[first:last]


def _check_limits(joint_names: Sequence[str], velocity_limit: ndarray,
                  acceleration_limit: ndarray) -> None:
    usable = np.isfinite(velocity_limit) & (velocity_limit > 0.0) & np.isfinite(
        acceleration_limit) & (acceleration_limit > 0.0)
    if not usable.all():
        name = joint_names[int(np.argmin(usable))]
        raise TrajectoryError(f'{name} has no limit of velocity', name=name,
                              remedy='add velocity to its <limit> in the URDF')
