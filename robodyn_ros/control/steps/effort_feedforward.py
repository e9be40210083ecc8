# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Effort of a trajectory, added to the effort of any control law that follows it.

Waypoints may have efforts, as in trajectory_msgs/JointTrajectoryPoint and ros2_controllers: the
effort that the law lacks along this trajectory, for instance learned from its error. It ends with
the trajectory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from numpy import ndarray

if TYPE_CHECKING:
    from .cycle_data import Vectors


# s in which the added effort changes by one effort limit at most: it fades where a trajectory is
# replaced or ends with an effort, and follows faster changes late
FADE_TIME = 0.1


def add_feedforward(joints: ndarray, v: Vectors, dt: float, tau: ndarray) -> None:
    """
    Add the effort of the trajectory to ``tau`` (nv,) [N·m | N].

    :param joints: (nv,) records ``JOINT``; ``dt`` duration of the cycle [s].
    """
    for i in range(tau.shape[0]):
        step = joints[i].effort_limit * dt / FADE_TIME
        change = v.target_effort[i] - v.feedforward[i]
        v.feedforward[i] += min(max(change, -step), step)
        tau[i] += v.feedforward[i]
