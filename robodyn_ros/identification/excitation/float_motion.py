# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Slow motion of all joints about the present pose, which tells gravity and friction apart."""

import numpy as np
from numpy import ndarray

from .payload_motion import RANGE_SHARE, VELOCITY_SHARE, WAYPOINT_INTERVAL, windowed_sines
from .trajectory_file import JointTrajectory
from ...dynamics import Batch
from ...errors import IdentificationError
from ...model.robot import RobotModel

EFFORT_SHARE = 0.8    # of the effort limits
MIN_AMPLITUDE = 0.1    # [rad | m] to either side that each joint needs


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
        MIN_AMPLITUDE.
    """
    t = np.linspace(0.0, duration, round(duration / WAYPOINT_INTERVAL) + 1)
    cycles = np.arange(model.nv)[::-1] + 2.0
    room = np.minimum(model.position_upper - pose, pose - model.position_lower)
    most = np.minimum.reduce([
        np.full(model.nv, amplitude), RANGE_SHARE * room,
        VELOCITY_SHARE * model.velocity_limit * duration / (2 * np.pi * cycles)])
    while not (small := most < MIN_AMPLITUDE).any():
        x, xd, xdd = windowed_sines(t, most, cycles, duration)
        efforts = Batch(model).inverse_dynamics(pose + x, xd, xdd)
        if (abs(efforts) <= EFFORT_SHARE * model.effort_limit).all():
            break
        most = 0.8 * most
    if small.any():
        name = model.joint_names[int(np.argmax(small))]
        raise IdentificationError(
            f'joint {name} has no room to move by {MIN_AMPLITUDE} rad or m to either side',
            name=name, value=float(most[int(np.argmax(small))]),
            remedy='go to a pose in the middle of the ranges that does not load the joints much')
    return JointTrajectory(model.joint_names, t[1:], pose + x[1:], xd[1:], xdd[1:])
