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

from .reference_stream import deceleration
from .time_optimal import time_optimal
from .trajectory import points_through
from ..algebra import rotations
from ..declare.semidefinite import (
    as_matrix,
    direction,
    ELEMENT_ROUNDING,
    negative_direction,
    refusal,
)
from ..inputs.pose_tracking import follow_pose, no_command, PosePoints
from ..settings.motion_limits import MotionLimits
from ..settings.settings import Settings
from ..steps.cycle_data import CONTROLLER_STATE
from ...errors import TrajectoryError
from ...model import quaternions

AXIS_NAMES = ('x', 'y', 'z', 'rotation about x', 'rotation about y', 'rotation about z')
QUATERNION_TOLERANCE = 1e-3    # of the length
TWIST_ROUNDING = 1e-9
MAX_SHOWN_NUMBERS = 12    # of a message that an error repeats
REST_DURATION = 1e-3    # s, of a reference at rest


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
    m = np.zeros(1, CONTROLLER_STATE).view(np.recarray)[0]
    velocity, acceleration = np.zeros(6), np.zeros(6)
    follow_pose(points._replace(header=points.header.view(np.recarray)), m, velocity,
                acceleration, time)
    return PoseState(np.array(m.pose_position), np.array(m.pose_rotation).reshape(3, 3), velocity,
                     acceleration)


def checked_pose(position: ArrayLike, quaternion: ArrayLike, center: ndarray,
                 longest: float) -> tuple[ndarray, ndarray]:
    """
    Return a target as a position (3,) [m] and a rotation (3, 3).

    :param quaternion: (4,) x, y, z, w, of length 1.
    :param center, longest: no target is further from this point (3,) [m] than that [m].
    :raises TrajectoryError: a number is not finite, the quaternion is no rotation, or the target
        is out of reach.
    """
    p, o = np.array(position, float), np.array(quaternion, float)
    for name, a, size in (('position', p, 3), ('orientation', o, 4)):
        if a.shape != (size,) or not np.isfinite(a).all():
            raise TrajectoryError(f'{name} of the target pose is {a.tolist()}', name=name,
                                  remedy=f'give {size} finite numbers')
    if not abs(np.linalg.norm(o) - 1.0) <= QUATERNION_TOLERANCE:
        raise TrajectoryError(f'the quaternion {o.tolist()} has length {np.linalg.norm(o):.6g}',
                              name='orientation', remedy='normalize it: x, y, z, w')
    if (distance := np.linalg.norm(p - center)) > longest:
        raise TrajectoryError(f'the target is {distance:.4g} m from the first joint',
                              name='position', value=float(distance),
                              remedy=f'give one within reach, {longest:.4g} m at most')
    return p, quaternions.matrix(o)


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
                                  value=size, remedy=f'give at most {limit:g}, or raise '
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
                              remedy=f'give 0 to {most[i, i]:.6g}, or raise task_stiffness')
    problem, remedy = refusal(given, 6)
    if problem:
        raise TrajectoryError(f'the stiffness {problem}', name='stiffness', remedy=remedy)
    if (along := negative_direction((1.0 + ELEMENT_ROUNDING) * most - K)) is not None:
        raise TrajectoryError(f'the stiffness is above task_stiffness along ({direction(along)})',
                              name='stiffness', remedy='give less, or raise task_stiffness')
    return K


def _finite(values: ArrayLike, name: str, *shapes: tuple[int, ...]) -> ndarray:
    """Return finite numbers of one of these shapes, or raise :class:`TrajectoryError`."""
    numbers = np.array(values, float)
    if numbers.shape not in shapes or not np.isfinite(numbers).all():
        shown = (numbers.tolist() if numbers.size <= MAX_SHOWN_NUMBERS
                 else f'of {numbers.size} numbers')
        counts = ' or '.join(dict.fromkeys(str(prod(shape)) for shape in shapes))
        raise TrajectoryError(f'the {name} is {shown}', name=name,
                              remedy=f'give {counts} finite numbers')
    return numbers


def to_pose(limits: MotionLimits, now: PoseState, position: ndarray, rotation: ndarray,
            start: float, serial: int) -> PosePoints:
    """
    Return the time-optimal motion to a pose; see :func:`.reference_stream.reach`.

    :param now: the reference at ``start`` [s].
    :param rotation: (3, 3) of the pose.
    :param serial: number of the new reference.
    :raises TrajectoryError: no motion leads there; without Ruckig.
    """
    phi = rotations.log(rotations.rows(rotation @ now.rotation.T))
    target = np.concatenate([position, phi])
    times, x, xd, xdd = time_optimal(limits, _present(now), (target, np.zeros(6)))
    x[-1], xd[-1], xdd[-1] = target, 0.0, 0.0
    return _pose_points(now, (times, x, xd, xdd), start, serial)


def at_twist(limits: MotionLimits, now: PoseState, twist: ArrayLike, duration: float, start: float,
             serial: int) -> PosePoints:
    """
    Return a motion that takes on a twist, keeps it, and decelerates to rest after a duration.

    So it ends by itself, whatever becomes of the one who jogs.

    :param twist: (6,) [m/s, rad/s] in the axes of the base.
    :param duration: [s] from ``start`` to the deceleration.
    :raises TrajectoryError: the twist is not finite, or above ``task_velocity_limit``.
    """
    v = _finite(twist, 'twist', (6,))
    most = limits.model.velocity_limit
    if (above := np.abs(v) > most + TWIST_ROUNDING).any():
        i = int(np.argmax(above))
        raise TrajectoryError(f'the velocity of {AXIS_NAMES[i]} is {v[i]:.6g}', name='twist',
                              value=float(v[i]), remedy=f'give at most {most[i]:.6g}')
    parts = [_to_velocity(limits, _present(now), v)]
    if parts[0][0][-1] < duration:
        parts.append(_at_constant_velocity(parts[0], duration))
    times, x, xd, xdd = map(np.concatenate, zip(*parts))
    end = x[-1], xd[-1], xdd[-1]
    rest = deceleration(limits, *end)
    return _pose_points(now, (np.concatenate([times, times[-1] + rest[0][1:]]), *(
        np.vstack([a, b[1:]]) for a, b in zip((x, xd, xdd), rest[1:], strict=True))), start,
        serial)


def _to_velocity(limits: MotionLimits, present: tuple, velocity: ndarray) -> tuple:
    """Return times and states of a motion to a velocity, which each axis reaches on its own."""
    x, v, a = present
    change = np.abs(velocity - v)
    longest = max(1e-3, float(np.max(2.0 * change / limits.acceleration)),
                  float(np.max(np.sqrt(6.0 * change / limits.jerk))),
                  float(np.max(4.0 * np.abs(a) / limits.jerk)))
    return _blend(x, v, a, velocity, longest, np.array([0.0, 1.0]))


def _blend(x: ndarray, v: ndarray, a: ndarray, target: ndarray, T: float, s: ndarray) -> tuple:
    """Return the cubic of velocity from (v, a) to (target, 0) within T [s], at shares ``s``."""
    d = target - v
    c2, c3 = 3.0 * d - 2.0 * a * T, a * T - 2.0 * d
    s = s[:, None]
    speed = v + a * T * s + c2 * s**2 + c3 * s**3
    return (T * s[:, 0], x + T * (v * s + a * T * s**2 / 2 + c2 * s**3 / 3 + c3 * s**4 / 4), speed,
            (a * T + 2 * c2 * s + 3 * c3 * s**2) / T)


def _at_constant_velocity(before: tuple, until: float) -> tuple:
    """Return the state at the end of a motion without acceleration, at time ``until`` [s]."""
    times, x, xd, _ = before
    return (np.array([until]), (x[-1] + (until - times[-1]) * xd[-1])[None], xd[-1:],
            np.zeros((1, 6)))


def _present(now: PoseState) -> tuple[ndarray, ndarray, ndarray]:
    return np.concatenate([now.position, np.zeros(3)]), now.velocity, now.acceleration


def _pose_points(now: PoseState, states: tuple, start: float, serial: int) -> PosePoints:
    times, x, xd, xdd = states
    header, times, coefficients, _ = points_through(times, x, xd, xdd, start, serial)
    return PosePoints(header, times, coefficients,
                      np.repeat(now.rotation[None], len(coefficients), 0), no_command())


def at_rest(now: PoseState, start: float, serial: int) -> PosePoints:
    """Return the reference of a pose that is held from ``start`` on [s]."""
    x = np.concatenate([now.position, np.zeros(3)])
    return _pose_points(now, (np.array([0.0, REST_DURATION]), np.array([x, x]), np.zeros((2, 6)),
                              np.zeros((2, 6))), start, serial)


def splice_poses(old: PosePoints, new: PosePoints, now: float) -> PosePoints:
    """Return ``old`` until ``new`` starts, then ``new``, as :func:`.trajectory.splice` does."""
    begin = old.header['start'][0]
    start, end, present = new.header['start'][0] - begin, old.times[-1], now - begin
    if present >= end or start <= 0.0:
        return new
    times, coefficients, bases = old.times, old.coefficients, old.bases
    if start > end:                     # rest at the end of the old one
        hold = np.zeros_like(coefficients[:1])
        last = sample_pose(old, np.inf)
        hold[0, 0, :3] = last.position
        times, coefficients = np.append(times, start), np.concatenate([coefficients, hold])
        bases = np.concatenate([bases, last.rotation[None]])
    first = max(int(np.searchsorted(times, present, side='right')) - 1, 0)
    kept = int(np.searchsorted(times, start))
    header = new.header.copy()
    header['start'] = begin
    return PosePoints(header, np.concatenate([times[first:kept], start + new.times]),
                      np.concatenate([coefficients[first:kept], new.coefficients]),
                      np.concatenate([bases[first:kept], new.bases]), new.command)
