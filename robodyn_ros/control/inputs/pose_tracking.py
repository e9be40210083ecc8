# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
References of the control cycle: polynomials planned outside of it, and their sampling.

They are joint positions between waypoints, or a pose; without one, the present pose is held.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray, record

from .task import Task
from ..rotations import angular_motion, exp, multiplied, rows
from ...dynamics import entry_points, numba_types
from ...dynamics.model_data import Matrix3, ModelData, Vector3, Workspace

HEADER = np.dtype([('start', float), ('serial', np.int64)])


class Points(NamedTuple):
    """
    Reference of S segments, quintic polynomials of the time since the start of their segment.

    ``header`` (1,) ``HEADER``: start [s] on the clock of references, and a serial number that is
    new for each trajectory; ``times`` (S + 1,) [s] since the start, before which the reference may
    be that of the trajectory before; ``coefficients`` (S, 6, nv)
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


def segment_of(times: ndarray, segment: int, t: float) -> int:
    """Return the segment in which ``t`` [s] is, sought from ``segment`` on."""
    if t < times[segment]:
        segment = 0
    while segment < times.shape[0] - 2 and t >= times[segment + 1]:
        segment += 1
    return segment


def evaluate(points: Points, segment: int, now: float, position: ndarray, velocity: ndarray,
             acceleration: ndarray, effort: ndarray) -> None:
    """
    Write a reference at a time into (nv,) arrays; before and after it, its end poses at rest.

    The polynomials are evaluated by Horner's scheme.

    :param segment: from :func:`segment_of`.
    :param now: time of the clock of references [s], see :mod:`.time_scaling`.
    """
    since, times = now - points.header[0].start, points.times
    end = times[times.shape[0] - 1]
    t = min(max(since, times[0]), end)
    c, x, added = points.coefficients[segment], t - times[segment], points.efforts[segment]
    for i in range(position.shape[0]):
        position[i] = c[0, i] + x * (c[1, i] + x * (c[2, i] + x * (
            c[3, i] + x * (c[4, i] + x * c[5, i]))))
        velocity[i] = c[1, i] + x * (2.0 * c[2, i] + x * (
            3.0 * c[3, i] + x * (4.0 * c[4, i] + x * 5.0 * c[5, i])))
        acceleration[i] = 2.0 * c[2, i] + x * (6.0 * c[3, i] + x * (
            12.0 * c[4, i] + x * 20.0 * c[5, i]))
        effort[i] = added[0, i] + x * added[1, i]
    if t >= end or since < times[0]:
        for i in range(position.shape[0]):
            velocity[i], acceleration[i], effort[i] = 0.0, 0.0, 0.0


def sample(points: Points, time: float) -> tuple[ndarray, ndarray]:
    """Return position and velocity (nv,) of a reference at a time on its clock [s]."""
    position, velocity, _ = sample_state(points, time)
    return position, velocity


def sample_state(points: Points, time: float) -> tuple[ndarray, ndarray, ndarray]:
    """Return position, velocity and acceleration (nv,) of a reference at a time [s]."""
    points = points._replace(header=points.header.view(np.recarray))
    out = np.zeros((4, points.coefficients.shape[2]))
    t = min(max(time - points.header[0].start, points.times[0]), points.times[-1])
    evaluate(points, segment_of(points.times, 0, t), time, *out)
    return out[0], out[1], out[2]


# Command that goes with a reference pose: indices of the wrench [N, N·m], of the time [s] until
# which it is exerted, of 1 where it is in the axes of the frame instead of the base, of the number
# of the law that a stiffness was judged for, without which it is that of the settings, and of its
# 36 elements [N/m, N, N·m/rad] by rows
WRENCH, WRENCH_END, WRENCH_IN_TOOL, STIFFNESS_LAW, STIFFNESS = 0, 6, 7, 8, 9
NO_LAW = -1.0
WRENCH_FADE = 0.1       # s

invoke: Any = numba_types.invoke

#: Fields of the controller state.
STATE = [
    ('pose_serial', np.int64),
    ('pose_segment', np.int64),
    ('pose_following', np.int64),
    ('pose_held', np.int64),        # 1: the reference pose below is valid
    ('pose_position', float, (3,)), # m, and rotation by rows: reference of the task
    ('pose_rotation', float, (9,)),
]


class PosePoints(NamedTuple):
    """
    Reference pose of S segments, quintic polynomials of the time since the start of their segment.

    ``header`` (1,) and ``times`` (S + 1,) [s] are as in :class:`.Points`; ``coefficients``
    (S, 6, 6) by ascending powers, of the position [m] and of a rotation vector φ [rad]: the
    orientation is exp(φ) R with the rotation R of the segment, ``bases`` (S, 3, 3). ``command``
    (45,) accompanies it, see WRENCH and the other indices.
    """

    header: ndarray
    times: ndarray
    coefficients: ndarray
    bases: ndarray
    command: ndarray

    @classmethod
    def none(cls) -> 'PosePoints':
        """Return the reference of no target: serial 0 is never followed."""
        return cls(np.zeros(1, HEADER), np.zeros(2), np.zeros((1, 6, 6)), np.eye(3)[None].copy(),
                   no_command())


def no_command() -> ndarray:
    """Return the command of no wrench and of the stiffness of the settings."""
    command = np.zeros(STIFFNESS + 36)
    command[STIFFNESS_LAW] = NO_LAW
    return command


def update_task(robot: ModelData, work: Workspace, q: ndarray, task: Task, points: PosePoints,
                m: record, now: float) -> None:
    """
    Compute pose and Jacobian of the frame, and its reference, which is first the present pose.

    :param m: record ``CONTROLLER_STATE``, which keeps the reference pose.
    :param now: time of the clock of references [s], see :mod:`.time_scaling`.
    """
    if task.kernel[0] != 0:
        invoke(task.kernel[0], (q, task.pose, task.jacobian))
    else:
        entry_points.pose_and_jacobian(robot, task.frame, q, work, task.pose, task.jacobian)
    if m.pose_held == 0:
        keep(m, (task.pose[0, 3], task.pose[1, 3], task.pose[2, 3]), rows(task.pose))
        m.pose_held = 1
    follow_pose(points, m, task.velocity, task.acceleration, now)
    for i in range(3):
        for j in range(3):
            task.target[i, j] = m.pose_rotation[3 * i + j]
        task.target[i, 3] = m.pose_position[i]
    take_command(points.command, task, m, now + m.lag)


def take_command(command: ndarray, task: Task, m: record, now: float) -> None:
    """
    Write wrench and stiffness that go with the reference in force, those of rest without.

    :param now: time of the cycle [s]: a wrench ends, however slow its reference is.
    """
    share = 0.0
    if m.pose_following == 1:
        share = min(1.0, max(0.0, 1.0 + (command[WRENCH_END] - now) / WRENCH_FADE))
    for i in range(6):
        task.wrench[i] = share * command[WRENCH + i]
    asked = m.pose_following == 1 and command[STIFFNESS_LAW] == m.law
    for i in range(6):
        for j in range(6):
            task.stiffness[i, j] = (command[STIFFNESS + 6 * i + j] if asked
                                    else task.settings[0].task_stiffness[6 * i + j])
    if command[WRENCH_IN_TOOL] == 1.0:
        T, w = task.pose, task.wrench
        for k in range(0, 6, 3):
            x, y, z = w[k], w[k + 1], w[k + 2]
            for i in range(3):
                w[k + i] = T[i, 0] * x + T[i, 1] * y + T[i, 2] * z


def follow_pose(points: PosePoints, m: record, velocity: ndarray, acceleration: ndarray,
                now: float) -> None:
    """
    Sample the reference pose in force; before and after it, its end poses at rest.

    A new serial number starts a new reference. Without one, the pose in ``m`` is held.

    :param velocity, acceleration: (6,) out.
    """
    header, times = points.header[0], points.times
    for i in range(6):
        velocity[i], acceleration[i] = 0.0, 0.0
    if header.serial != m.pose_serial:
        m.pose_serial, m.pose_following, m.pose_segment = header.serial, 1, 0
        m.held_by = 0
    if m.pose_following == 0:
        return
    t = min(max(now - header.start, times[0]), times[times.shape[0] - 1])
    m.pose_segment = segment = segment_of(times, m.pose_segment, t)
    c, x = points.coefficients[segment], t - times[segment]
    position, rate, second = polynomial(c, 0, x)
    phi, phi_rate, phi_second = polynomial(c, 3, x)
    keep(m, position, multiplied(exp(phi), rows(points.bases[segment])))
    if t >= times[times.shape[0] - 1] or now - header.start < times[0]:
        return
    angular, angular_rate = angular_motion(phi, phi_rate, phi_second)
    for i in range(3):
        velocity[i], acceleration[i] = rate[i], second[i]
        velocity[3 + i], acceleration[3 + i] = angular[i], angular_rate[i]


def polynomial(c: ndarray, first: int, x: float) -> tuple[Vector3, Vector3, Vector3]:
    """Return three coordinates from ``first`` on, and their derivatives, by Horner's scheme."""
    i, j, k = first, first + 1, first + 2
    return ((_value(c, i, x), _value(c, j, x), _value(c, k, x)),
            (_rate(c, i, x), _rate(c, j, x), _rate(c, k, x)),
            (_second(c, i, x), _second(c, j, x), _second(c, k, x)))


def _value(c: ndarray, i: int, x: float) -> float:
    return c[0, i] + x * (c[1, i] + x * (c[2, i] + x * (c[3, i] + x * (c[4, i] + x * c[5, i]))))


def _rate(c: ndarray, i: int, x: float) -> float:
    return c[1, i] + x * (2.0 * c[2, i] + x * (3.0 * c[3, i] + x * (
        4.0 * c[4, i] + x * 5.0 * c[5, i])))


def _second(c: ndarray, i: int, x: float) -> float:
    return 2.0 * c[2, i] + x * (6.0 * c[3, i] + x * (12.0 * c[4, i] + x * 20.0 * c[5, i]))


def keep(m: record, position: Vector3, rotation: Matrix3) -> None:
    """Write a pose into the controller state."""
    for i in range(3):
        m.pose_position[i] = position[i]
        for j in range(3):
            m.pose_rotation[3 * i + j] = rotation[i][j]
