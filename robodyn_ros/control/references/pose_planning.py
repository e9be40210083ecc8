# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Planning of reference poses: motions to a target, and jogging at a twist, from any state.

Position and orientation are six axes, of which each keeps its limits of velocity, acceleration and
jerk. The orientation is exp(φ) R, with R that at the start: there φ is 0, φ̇ the angular
velocity and φ̈ its derivative, and elsewhere |ω| ≤ |φ̇|, so that limits of φ̇ are limits of ω.
"""

from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from .compile_planner import plan
from .pose_requests import plan_poses, sample_poses
from .request import (
    JERK, KIND, MIN_DURATION, OK, POSE, QUATERNION_TOLERANCE, Request, request, TOO_FAST, TWIST,
    VELOCITY)
from .trajectory import splice
from ..declare import as_matrix, direction, ELEMENT_ROUNDING, negative_direction, refusal
from ..inputs.pose_tracking import HEADER, no_command, PosePoints
from ..settings.motion_limits import limit_rows, MotionLimits
from ..settings.settings import Settings
from ...errors import TrajectoryError

AXIS_NAMES = ('x', 'y', 'z', 'rotation about x', 'rotation about y', 'rotation about z')
MAX_SHOWN_NUMBERS = 12    # of a message that an error repeats


class SixAxes(NamedTuple):
    """Axes of a pose, in place of the joints of a model."""

    velocity_limit: ndarray
    nv: int = 6
    joint_names: tuple[str, ...] = AXIS_NAMES
    position_lower: ndarray = np.full(6, -np.inf)
    position_upper: ndarray = np.full(6, np.inf)
    periodic: ndarray = np.zeros(6, bool)


class PoseState(NamedTuple):
    """Reference at a time: position (3,), rotation (3, 3), velocity and acceleration (6,)."""

    position: ndarray
    rotation: ndarray
    velocity: ndarray
    acceleration: ndarray


def pose_limits(settings: Settings) -> MotionLimits:
    """Return the limits of each axis; ``velocity_scale`` reduces that of the velocity."""
    velocity, acceleration, jerk = (
        np.repeat(np.asarray(values, float), 3) for values in (
            settings.task_velocity_limit, settings.task_acceleration_limit,
            settings.task_jerk_limit))
    model: Any = SixAxes(settings.velocity_scale * velocity)
    return MotionLimits(model, acceleration, jerk, np.zeros(6))


def sample_pose(points: PosePoints, time: float) -> PoseState:
    """Return a reference at a time on its clock [s]."""
    r = request(1, 0, 1, 1)._replace(poses=points)
    r.span[0] = time
    plan(sample_poses, r)
    return PoseState(r.memory['pose_position'][0].copy(),
                     r.memory['pose_rotation'][0].reshape(3, 3).copy(), r.axes[1].copy(),
                     r.axes[2].copy())


def checked_pose(position: ArrayLike, quaternion: ArrayLike, center: ndarray,
                 longest: float) -> tuple[ndarray, ndarray]:
    """
    Return a target as a position (3,) [m] and a quaternion (4,).

    :param quaternion: (4,) x, y, z, w, of length 1.
    :param center, longest: no target is further from this point (3,) [m] than that [m].
    :raises TrajectoryError: a number is not finite, the quaternion is no rotation, or the target
        is out of reach.
    """
    p, o = np.array(position, float), np.array(quaternion, float)
    for name, a, size in (('position', p, 3), ('orientation', o, 4)):
        if a.shape != (size,) or not np.isfinite(a).all():
            raise TrajectoryError(f'{name} of the target pose is {a.tolist()}', name=name,
                                  remedy=f'use {size} finite numbers')
    if not abs(np.linalg.norm(o) - 1.0) <= QUATERNION_TOLERANCE:
        raise TrajectoryError(f'the quaternion {o.tolist()} has length {np.linalg.norm(o):.6g}',
                              name='orientation', remedy='normalize it: x, y, z, w')
    if (distance := np.linalg.norm(p - center)) > longest:
        raise TrajectoryError(f'the target is {distance:.4g} m from the first joint',
                              name='position', value=float(distance),
                              remedy=f'use one within reach, {longest:.4g} m at most')
    return p, o


def checked_wrench(wrench: ArrayLike, most: tuple[float, float]) -> ndarray:
    """
    Return a wrench (6,) [N, N·m].

    :param most: largest force and torque.
    :raises TrajectoryError: a number is not finite, or the force or the torque is above it.
    """
    w = _finite(wrench, 'wrench', (6,))
    for name, part, limit, unit in (('force', w[:3], most[0], 'N'),
                                    ('torque', w[3:], most[1], 'N·m')):
        if (size := float(np.linalg.norm(part))) > limit:
            raise TrajectoryError(f'the {name} of the wrench is {size:.4g} {unit}', name='wrench',
                                  value=size, remedy=f'use at most {limit:g}, or raise '
                                  'task_wrench_limit')
    return w


def checked_stiffness(stiffness: ArrayLike, most: ndarray) -> ndarray:
    """
    Return a stiffness (6, 6) [N/m, N, N·m/rad].

    :param stiffness: (6,) its diagonal, or all elements, (6, 6) or (36,).
    :param most: (6, 6) that in no direction it may be above.
    :raises TrajectoryError: a number is not finite, the matrix is not symmetric or not positive
        semi-definite, or it is above ``most``.
    """
    given = _finite(stiffness, 'stiffness', (6,), (36,), (6, 6)).ravel()
    K = as_matrix(given, 6)
    diagonal, highest = K.diagonal(), (1.0 + ELEMENT_ROUNDING) * most.diagonal()
    if (wrong := (diagonal < 0.0) | (diagonal > highest)).any():
        i = int(wrong.argmax())
        raise TrajectoryError(f'the stiffness of {AXIS_NAMES[i]} is {diagonal[i]:.6g}',
                              name='stiffness', value=float(diagonal[i]),
                              remedy=f'use 0 to {most[i, i]:.6g}, or raise task_stiffness')
    problem, remedy = refusal(given, 6)
    if problem:
        raise TrajectoryError(f'the stiffness {problem}', name='stiffness', remedy=remedy)
    if (along := negative_direction((1.0 + ELEMENT_ROUNDING) * most - K)) is not None:
        raise TrajectoryError(f'the stiffness is above task_stiffness along ({direction(along)})',
                              name='stiffness', remedy='use less, or raise task_stiffness')
    return K


def _finite(values: ArrayLike, name: str, *shapes: tuple[int, ...]) -> ndarray:
    """Return finite numbers of one of these shapes, or raise :class:`TrajectoryError`."""
    numbers = np.array(values, float)
    if numbers.shape not in shapes or not np.isfinite(numbers).all():
        shown = (numbers.tolist() if numbers.size <= MAX_SHOWN_NUMBERS
                 else f'of {numbers.size} numbers')
        counts = ' or '.join(dict.fromkeys(str(prod(shape)) for shape in shapes))
        raise TrajectoryError(f'the {name} is {shown}', name=name,
                              remedy=f'use {counts} finite numbers')
    return numbers


def to_pose(limits: MotionLimits, now: PoseState, position: ndarray, quaternion: ArrayLike,
            start: float, serial: int) -> PosePoints:
    """
    Return the time-optimal motion to a pose; see :func:`.pose_requests.plan_pose`.

    :param now: the reference at ``start`` [s].
    :param quaternion: (4,) x, y, z, w of the pose.
    :param serial: number of the new reference.
    :raises TrajectoryError: no motion leads there.
    """
    r = _request(limits, now, POSE)
    r.pose[:3], r.pose[3:7] = position, quaternion
    return _planned(r, start, serial)


def at_twist(limits: MotionLimits, now: PoseState, twist: ArrayLike, duration: float, start: float,
             serial: int) -> PosePoints:
    """
    Return a motion that takes on a twist, keeps it, and decelerates to rest after a duration.

    It ends by itself, even if the sender disappears.

    :param twist: (6,) [m/s, rad/s] in the axes of the base.
    :param duration: [s] from ``start`` to the deceleration.
    :raises TrajectoryError: the twist is not finite, or above ``task_velocity_limit``.
    """
    r = _request(limits, now, TWIST)
    r.pose[7:], r.span[0] = _finite(twist, 'twist', (6,)), duration
    return _planned(r, start, serial)


def _request(limits: MotionLimits, now: PoseState, kind: int) -> Request:
    """Return a request for a motion that begins in a state."""
    r = request(1, 0, 1, 1)
    r.counts[KIND], r.reach[0, 3] = kind, np.inf
    r.pose_limits[0] = limit_rows(limits)[:JERK + 1]
    r.axes[0, :3], r.axes[1], r.axes[2] = now.position, now.velocity, now.acceleration
    r.memory['pose_rotation'] = now.rotation.ravel()
    return r


def _planned(r: Request, start: float, serial: int) -> PosePoints:
    """Return the planned reference, or raise :class:`TrajectoryError`."""
    if (wrong := plan(plan_poses, r)) == TOO_FAST and r.counts[KIND] == TWIST:
        i = int(r.result[0])
        raise TrajectoryError(f'the velocity of {AXIS_NAMES[i]} is {r.found[0]:.6g}', name='twist',
                              value=float(r.found[0]),
                              remedy=f'use at most {r.pose_limits[0, VELOCITY, i]:.6g}')
    if wrong != OK:
        raise TrajectoryError('no motion leads to the target', name='points',
                              remedy='use a target that is nearer, or send it a little later')
    n = int(r.result[2])
    header = r.poses.header.copy()
    header[0] = start, serial
    return PosePoints(header, r.poses.times[:n + 1].copy(), r.poses.coefficients[:n].copy(),
                      r.poses.bases[:n].copy(), no_command())


def at_rest(now: PoseState, start: float, serial: int) -> PosePoints:
    """Return the reference of a pose that is held from ``start`` on [s]."""
    header, coefficients = np.zeros(1, HEADER), np.zeros((1, 6, 6))
    header[0], coefficients[0, 0, :3] = (start, serial), now.position
    return PosePoints(header, np.array([0.0, MIN_DURATION]), coefficients,
                      now.rotation[None].copy(), no_command())


def splice_poses(old: PosePoints, new: PosePoints, now: float) -> PosePoints:
    """Return ``old`` until ``new`` starts, then ``new``, as :func:`.trajectory.splice` does."""
    return splice(old, new, now, lambda old: at_rest(sample_pose(old, np.inf), 0.0, 0))
