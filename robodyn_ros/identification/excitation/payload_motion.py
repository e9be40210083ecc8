# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Motions about the present pose that show a payload, or gravity and friction."""

from dataclasses import dataclass

import numpy as np
from numpy import ndarray

from .trajectory_file import JointTrajectory
from ..estimation.payload import load_columns
from ...dynamics import Batch
from ...errors import IdentificationError
from ...model.robot import RobotModel

WAYPOINT_INTERVAL = 0.05    # s
MIN_AMPLITUDE = 0.02    # [rad | m] of a joint that moves at all
# Of velocity limit, free range, effort limit
VELOCITY_SHARE, RANGE_SHARE, EFFORT_SHARE = 0.3, 0.9, 0.6
# Assumed noise of efforts, in effort limits, with as many independent samples per second
EFFORT_NOISE, SAMPLES_PER_SECOND = 0.01, 10.0
# Standard errors that are small enough, so that no further joint has to move
SMALL_MASS_ERROR, SMALL_MOMENT_ERROR = 0.02, 0.004      # kg, kg·m
FLOAT_EFFORT_SHARE = 0.8    # of the effort limits
MIN_FLOAT_AMPLITUDE = 0.1    # [rad | m] to either side that each joint needs


@dataclass(frozen=True, eq=False)
class PayloadMotion:
    """
    Motion that begins and ends at rest at the same pose.

    :param amplitude: (nv,) [rad | m] farthest from that pose; 0: the joint does not move.
    :param mass_error: expected standard error of the mass [kg], ``moment_error`` of mass times
        center of mass [kg·m], for effort noise of EFFORT_NOISE effort limits.
    """

    trajectory: JointTrajectory
    amplitude: ndarray
    mass_error: float
    moment_error: float


def payload_motion(model: RobotModel, frame: str, pose: ndarray, *, amplitude: float = 0.35,
                   duration: float = 10.0) -> PayloadMotion:
    """
    Return a motion of the joints nearest to a frame, of no more of them than are needed.

    Each moves along a different multiple of one frequency, sin²(πt/T) sin(2πkt/T), so that both
    directions pass every position and friction, odd in the velocity, does not look like gravity.

    :param pose: (nv,) [rad | m].
    :param amplitude: farthest from the pose [rad | m]; less where limits demand it.
    :param duration: T [s].
    :raises IdentificationError: no joint that carries the frame may move, or none determines its
        load.
    """
    joints = _carrying(model, frame)
    room = np.minimum(model.position_upper - pose, pose - model.position_lower)
    best: PayloadMotion | None = None
    for count in range(1, len(joints) + 1):
        most = np.zeros(model.nv)
        cycles = np.zeros(model.nv)
        for k, i in enumerate(reversed(joints[:count])):
            cycles[i] = k + 2
            most[i] = min(
                amplitude, RANGE_SHARE * max(room[i], 0.0),
                VELOCITY_SHARE * model.velocity_limit[i] * duration / (2 * np.pi * cycles[i]))
        most[most < MIN_AMPLITUDE] = 0.0
        found = _motion(model, frame, pose, most, cycles, duration)
        if best is None or _shortfall(found) < _shortfall(best):
            best = found
        if _shortfall(best) <= 1.0:
            break
    if best is None or not np.isfinite(_shortfall(best)):
        raise IdentificationError(
            f'no small motion about this pose determines a load at {frame}', name=frame,
            remedy='go to a pose away from joint limits, in which the last joints are not '
                   'parallel to gravity')
    return best


def _carrying(model: RobotModel, frame: str) -> list[int]:
    """Return the joints that move a frame, the nearest one first."""
    body, joints = model.frame(frame).body, []
    while body >= 0:
        if (joint := int(model.driver[body])) not in joints:
            joints.append(joint)
        body = int(model.parent[body])
    return joints


def _motion(model: RobotModel, frame: str, pose: ndarray, amplitude: ndarray, cycles: ndarray,
            duration: float) -> PayloadMotion:
    """
    Return the motion of these amplitudes, smaller ones where efforts would be too large.

    Its errors are infinite where hardly any motion is left.
    """
    t = np.linspace(0.0, duration, round(duration / WAYPOINT_INTERVAL) + 1)
    for _ in range(4):
        x, xd, xdd = windowed_sines(t, amplitude, cycles, duration)
        efforts = Batch(model).inverse_dynamics(pose + x, xd, xdd)
        accelerating = efforts - Batch(model).gravity(pose + x)
        if ((np.abs(accelerating) <= EFFORT_SHARE * model.effort_limit)
                & (np.abs(efforts) <= model.effort_limit)).all():
            break
        amplitude = amplitude / 2
    else:
        amplitude = np.zeros(model.nv)
    columns = load_columns(model, frame, pose + x, xd, xdd)[:, amplitude > 0.0, :4]
    sigma = EFFORT_NOISE * model.effort_limit[amplitude > 0.0]
    errors = _standard_errors(columns / sigma[:, None], duration * SAMPLES_PER_SECOND / len(t))
    return PayloadMotion(JointTrajectory(model.joint_names, t[1:], pose + x[1:], xd[1:], xdd[1:]),
                         amplitude, float(errors[0]), float(errors[1:].max()))


def windowed_sines(t: ndarray, amplitude: ndarray, cycles: ndarray,
                   duration: float) -> tuple[ndarray, ndarray, ndarray]:
    """
    Return displacements, velocities and accelerations (N, nv) of sin²(πt/T) sin(2πkt/T).

    :param t: (N,) [s] from 0 to T, where all of them are at rest.
    :param amplitude: (nv,) [rad | m]; ``cycles``: (nv,) k, whole numbers.
    :param duration: T [s].
    """
    a, w = (np.pi / duration * t)[:, None], np.pi / duration
    b, u = 2.0 * cycles * a, 2.0 * cycles * w
    window = np.sin(a)**2, w * np.sin(2 * a), 2.0 * w**2 * np.cos(2 * a)
    wave = np.sin(b), u * np.cos(b), -u**2 * np.sin(b)
    out = (amplitude * window[0] * wave[0],
           amplitude * (window[1] * wave[0] + window[0] * wave[1]),
           amplitude * (window[2] * wave[0] + 2.0 * window[1] * wave[1] + window[0] * wave[2]))
    for array in out:
        array[-1] = 0.0         # exactly at rest, which the controller asks for
    return out


def _standard_errors(columns: ndarray, samples: float) -> ndarray:
    """Return standard errors (4,) from weighted columns (N, joints, 4), infinite without rank."""
    rows = columns.reshape(-1, 4)
    information = samples * rows.T @ rows
    if not len(rows) or np.linalg.cond(information) > 1e12:
        return np.full(4, np.inf)
    return np.sqrt(np.diag(np.linalg.inv(information)))


def _shortfall(motion: PayloadMotion) -> float:
    return max(motion.mass_error / SMALL_MASS_ERROR, motion.moment_error / SMALL_MOMENT_ERROR)


def float_motion(model: RobotModel, pose: ndarray, *, amplitude: float = 0.6,
                 duration: float = 30.0) -> JointTrajectory:
    """
    Return a motion that begins and ends at rest at a pose and moves each joint to either side.

    Joints move along different multiples of one frequency, the last joint slowest, and pass every
    position in both directions: friction, odd in the velocity, does not look like gravity.

    :param pose: (nv,) [rad | m].
    :param amplitude: farthest from the pose [rad | m]; less where limits demand it.
    :param duration: [s].
    :raises IdentificationError: a joint is too near its limits, or too weak, to move by
        MIN_FLOAT_AMPLITUDE.
    """
    t = np.linspace(0.0, duration, round(duration / WAYPOINT_INTERVAL) + 1)
    cycles = np.arange(model.nv)[::-1] + 2.0
    room = np.minimum(model.position_upper - pose, pose - model.position_lower)
    most = np.minimum.reduce([
        np.full(model.nv, amplitude), RANGE_SHARE * room,
        VELOCITY_SHARE * model.velocity_limit * duration / (2 * np.pi * cycles)])
    while not (small := most < MIN_FLOAT_AMPLITUDE).any():
        x, xd, xdd = windowed_sines(t, most, cycles, duration)
        efforts = Batch(model).inverse_dynamics(pose + x, xd, xdd)
        if (abs(efforts) <= FLOAT_EFFORT_SHARE * model.effort_limit).all():
            break
        most = 0.8 * most
    if small.any():
        name = model.joint_names[int(np.argmax(small))]
        raise IdentificationError(
            f'joint {name} has no room to move by {MIN_FLOAT_AMPLITUDE} rad or m to either side',
            name=name, value=float(most[int(np.argmax(small))]),
            remedy='go to a pose in the middle of the ranges that does not load the joints much')
    return JointTrajectory(model.joint_names, t[1:], pose + x[1:], xd[1:], xdd[1:])
