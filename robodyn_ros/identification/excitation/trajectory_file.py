# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Trajectory files: trajectory_msgs/JointTrajectory as YAML, for `ros2 topic pub`."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike
from scipy.interpolate import BSpline
from scipy.linalg import null_space
from scipy.sparse.linalg import spsolve
import yaml

from ...errors import IdentificationError, reading, TrajectoryError


@dataclass(frozen=True)
class Fourier:
    """
    Periodic motions of a joint, of which position, velocity and acceleration are linear.

    q̇ = Σ a_k cos kωt + b_k sin kωt with k = 1 ... ``harmonics`` and ω = 2π / ``period``: Swevers
    et al. 1997, eq. 10. At t = 0, and so at every multiple of the period, velocity and
    acceleration are zero where Σ a_k = 0 and Σ k b_k = 0, and the constant of q makes it the pose
    there. The ``size`` coefficients that remain are coordinates in an orthonormal basis of those
    (a, b), hence in rad/s or m/s.

    By Bernstein's inequality no |q̈| exceeds ``harmonics`` ω times the largest |q̇|.

    :param harmonics: at least 2: one wave alone cannot begin at rest.
    :param period: [s].
    :raises IdentificationError: if there are fewer harmonics, or no such period.
    """

    harmonics: int
    period: float

    def __post_init__(self):
        if self.harmonics < 2:
            raise IdentificationError(
                f'{self.harmonics} harmonics', name='harmonics', value=self.harmonics,
                remedy='use at least 2: a single wave does not begin at rest')
        if not 0.0 < self.period < np.inf:
            raise IdentificationError(f'a period of {self.period:g} s', name='period',
                                      value=self.period, remedy='use a time above 0')

    @property
    def size(self) -> int:
        """Return the number of coefficients of a joint that are free."""
        return 2 * self.harmonics - 2

    @property
    def highest_frequency(self) -> float:
        """Angular frequency of the last harmonic [rad/s]."""
        return 2.0 * np.pi * self.harmonics / self.period

    def grid(self, per_wave: int) -> ndarray:
        """
        Return equidistant times of one period, ``per_wave`` for each wave of the last harmonic.

        On them no |q - q(0)|, |q̇| or |q̈| looks smaller than it is by more than the factor
        cos(π / ``per_wave``) (Ehlich and Zeller 1964).
        """
        return self.period * np.arange(per_wave * self.harmonics) / (per_wave * self.harmonics)

    def basis(self, times: ArrayLike) -> tuple[ndarray, ndarray, ndarray]:
        """Return the matrices (T, size) that make q - q(0), q̇ and q̈ of coefficients (size,)."""
        k = np.arange(1, self.harmonics + 1)
        rate = 2.0 * np.pi / self.period * k
        angle = rate * np.asarray(times, float)[:, None]
        cos, sin, space = np.cos(angle), np.sin(angle), self._space()
        return (np.hstack([sin / rate, (1.0 - cos) / rate]) @ space,
                np.hstack([cos, sin]) @ space,
                np.hstack([-rate * sin, rate * cos]) @ space)

    def motion(self, times: ArrayLike, coefficients: ndarray, pose: ndarray
               ) -> tuple[ndarray, ndarray, ndarray]:
        """Return q, q̇, q̈ (T, nv) of coefficients (nv, size) around a start at ``pose`` (nv,)."""
        shift, velocity, acceleration = (b @ coefficients.T for b in self.basis(times))
        return pose + shift, velocity, acceleration

    def _space(self) -> ndarray:
        n = self.harmonics
        k = np.arange(1.0, n + 1.0)
        return null_space(np.array([[*np.ones(n), *np.zeros(n)], [*np.zeros(n), *k]]))


NS_PER_S = 1_000_000_000
POINT_FIELDS = ('positions', 'velocities', 'accelerations')
DECIMALS = 9    # nm, nrad: finer than the tolerance of the controller
MAX_POINTS = 20_000    # that the controller accepts
YAML_LOADER = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)


@dataclass(frozen=True)
class JointTrajectory:
    """
    Waypoints of joints.

    :param times: (W,) [s] from the start, increasing.
    :param positions: (W, nv) [rad | m]; velocities [1/s], accelerations [1/s²].
    """

    joint_names: tuple[str, ...]
    times: ndarray
    positions: ndarray
    velocities: ndarray
    accelerations: ndarray


def write(path: Path, trajectory: JointTrajectory) -> None:
    """
    Write a file; numbers are rounded to nine decimals, times to nanoseconds.

    :raises TrajectoryError: there are more points than a controller accepts, or the file cannot be
        written.
    """
    if (count := len(trajectory.times)) > MAX_POINTS:
        _refuse(path, f'would have {count} points', f'at most {MAX_POINTS} can be followed: '
                'use a lower rate, a shorter period or fewer repetitions')
    names = yaml.safe_dump(list(trajectory.joint_names), default_flow_style=True,
                           allow_unicode=True, width=np.inf)
    lines = [f'joint_names: {names.strip()}', 'points:']
    arrays = [np.round(getattr(trajectory, field), DECIMALS) + 0.0 for field in POINT_FIELDS]
    for time, *rows in zip(np.round(trajectory.times * NS_PER_S).astype(int).tolist(), *arrays):
        lines += [f'{"- " if field == POINT_FIELDS[0] else "  "}{field}: '
                  f'[{", ".join(f"{v:.{DECIMALS}f}" for v in row)}]'
                  for field, row in zip(POINT_FIELDS, rows)]
        lines.append(f'  time_from_start: {{sec: {time // NS_PER_S}, '
                     f'nanosec: {time % NS_PER_S}}}')
    try:
        path.write_text('\n'.join(lines) + '\n', encoding='utf-8')
    except OSError as error:
        _refuse(path, f'cannot be written ({error})', 'choose another path')


def read(path: Path) -> JointTrajectory:
    """
    Read such a file back; it may have a header as ROS writes it.

    :raises TrajectoryError: an entry is missing, unknown, of another length or not numeric.
    """
    with reading(path, TrajectoryError, str(path), 'pass a YAML file of a JointTrajectory'):
        return _read(path)


def _read(path: Path) -> JointTrajectory:
    content = yaml.load(path.read_text(encoding='utf-8'), YAML_LOADER)
    content = _mapping(path, 'it', content, ('joint_names', 'points'), ('header',))
    names, points = content['joint_names'], content['points']
    if not isinstance(names, list) or not names or not all(isinstance(n, str) for n in names) \
            or len(set(names)) < len(names):
        _refuse(path, f'has the joint_names {names!r}', 'list different names')
    if not isinstance(points, list) or not 1 <= len(points) <= MAX_POINTS:
        _refuse(path, 'has no list of points', f'use 1 to {MAX_POINTS}')
    rows: dict[str, list[list[float]]] = {field: [] for field in POINT_FIELDS}
    times = []
    for k, point in enumerate(points):
        point = _mapping(path, f'point {k}', point, (*POINT_FIELDS, 'time_from_start'),
                         ('effort',))
        if point.get('effort'):
            _refuse(path, f'has efforts in point {k}', 'leave them empty')
        time = _mapping(path, f'time_from_start of point {k}', point['time_from_start'],
                        ('sec', 'nanosec'))
        sec, nanosec = time['sec'], time['nanosec']
        if not (_whole(sec) and _whole(nanosec) and 0 <= sec and 0 <= nanosec < NS_PER_S):
            _refuse(path, f'has point {k} at {sec!r} s and {nanosec!r} ns',
                    f'use whole numbers, of nanoseconds less than {NS_PER_S}')
        times.append(sec + 1e-9 * nanosec)
        if k and times[-1] <= times[-2]:
            _refuse(path, f'has point {k} at {times[-1]:.9g} s, not after the one before it',
                    'use times that increase')
        for field in POINT_FIELDS:
            rows[field].append(_row(path, f'{field} of point {k}', point[field], len(names)))
    return JointTrajectory(tuple(names), np.array(times),
                           *(np.array(rows[field]) for field in POINT_FIELDS))


def _mapping(path: Path, what: str, found: Any, needed: tuple[str, ...],
             more: tuple[str, ...] = ()) -> dict[str, Any]:
    if not isinstance(found, dict):
        _refuse(path, f'{what} is not a mapping', f'give it {", ".join(needed)}')
    for name in needed:
        if name not in found:
            _refuse(path, f'{what} has no {name}', f'give it {", ".join(needed)}')
    for name in found:
        if name not in needed + more:
            _refuse(path, f'{what} has {name!r}', f'it may have {", ".join(needed + more)}')
    return found


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _row(path: Path, what: str, found: Any, count: int) -> list[float]:
    good = isinstance(found, list) and len(found) == count and all(
        isinstance(v, float) or _whole(v) for v in found)
    if not good or not np.isfinite(np.array(found, float)).all():
        _refuse(path, f'has {what} that cannot be used', f'use {count} finite numbers')
    return found


def _refuse(path: Path, problem: str, remedy: str) -> NoReturn:
    raise TrajectoryError(f'{path}: {problem}', name=str(path), remedy=remedy)


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
    :param acceleration_limit: (nv,) [rad/s² | m/s²].
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
    :param spacing: [s]; details shorter than about twice of it are lost.
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
                              remedy='move the arm between start and end of the recording')
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
