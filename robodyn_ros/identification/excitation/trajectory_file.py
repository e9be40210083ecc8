# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Trajectory files: trajectory_msgs/JointTrajectory as YAML, for `ros2 topic pub`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy import ndarray
import yaml

from ...errors import reading, TrajectoryError

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
                'give a lower rate, a shorter period or fewer repetitions')
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
        _refuse(path, f'cannot be written ({error})', 'give another path')


def read(path: Path) -> JointTrajectory:
    """
    Read such a file back; it may have a header as ROS writes it.

    :raises TrajectoryError: an entry is missing, unknown, of another length or not numeric.
    """
    with reading(path, TrajectoryError, str(path), 'give a YAML file of a JointTrajectory'):
        return _read(path)


def _read(path: Path) -> JointTrajectory:
    content = yaml.load(path.read_text(encoding='utf-8'), YAML_LOADER)
    content = _mapping(path, 'it', content, ('joint_names', 'points'), ('header',))
    names, points = content['joint_names'], content['points']
    if not isinstance(names, list) or not names or not all(isinstance(n, str) for n in names) \
            or len(set(names)) < len(names):
        _refuse(path, f'has the joint_names {names!r}', 'list different names')
    if not isinstance(points, list) or not 1 <= len(points) <= MAX_POINTS:
        _refuse(path, 'has no list of points', f'give 1 to {MAX_POINTS}')
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
                    f'give whole numbers, of nanoseconds less than {NS_PER_S}')
        times.append(sec + 1e-9 * nanosec)
        if k and times[-1] <= times[-2]:
            _refuse(path, f'has point {k} at {times[-1]:.9g} s, not after the one before it',
                    'give times that increase')
        for field in POINT_FIELDS:
            rows[field].append(_row(path, f'{field} of point {k}', point[field], len(names)))
    return JointTrajectory(tuple(names), np.array(times),
                           *(np.array(rows[field]) for field in POINT_FIELDS))


def _mapping(path: Path, what: str, found: Any, needed: tuple[str, ...],
             more: tuple[str, ...] = ()) -> dict[str, Any]:
    if not isinstance(found, dict):
        _refuse(path, f'{what} is no mapping', f'give it {", ".join(needed)}')
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
        _refuse(path, f'has {what} that cannot be used', f'give {count} finite numbers')
    return found


def _refuse(path: Path, problem: str, remedy: str) -> NoReturn:
    raise TrajectoryError(f'{path}: {problem}', name=str(path), remedy=remedy)
