# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Task of a control law: a frame of the robot, and the pose that it is to have."""

from typing import NamedTuple

import numpy as np
from numpy import ndarray

# Choices of parameters as the numbers that their record has
BASE_AXES, TOOL_AXES = range(2)
DYNAMIC, KINEMATIC, UNPROJECTED = range(3)
MODES, UNIT_INERTIA, GIVEN = range(3)


class Task(NamedTuple):
    """
    Task as the laws read it; poses, velocities and accelerations are in the axes of the base.

    Velocities and accelerations are those of the origin of the frame [m/s] and angular ones
    [rad/s], (6,).
    """

    settings: ndarray       # (1,) TASK
    frame: ndarray          # (1,) FRAME that is controlled
    pose: ndarray           # (4, 4) of the frame
    jacobian: ndarray       # (6, nv) likewise
    target: ndarray         # (4, 4) its reference, with the velocity and acceleration below
    velocity: ndarray
    acceleration: ndarray
    wrench: ndarray         # (6,) [N, N·m] that the frame is to exert, in the axes of the base
    stiffness: ndarray      # (6, 6) that is asked for, in the axes of the settings
    scratch: ndarray        # (4, 6, 6) workspace of the laws
    vector: ndarray         # (4, 6) likewise
    columns: ndarray        # (nv, 6) likewise
    effort: ndarray         # (nv,) likewise
    # (1,) int64, address of the kernel of pose and Jacobian of the frame, or 0
    kernel: ndarray

    @classmethod
    def of(cls, settings: ndarray, frame: ndarray, nv: int) -> 'Task':
        """Return a task of these settings, its arrays zero."""
        return cls(settings, frame, np.eye(4), np.zeros((6, nv)), np.eye(4), np.zeros(6),
                   np.zeros(6), np.zeros(6), np.zeros((6, 6)), np.zeros((4, 6, 6)),
                   np.zeros((4, 6)), np.zeros((nv, 6)), np.zeros(nv), np.zeros(1, np.int64))
