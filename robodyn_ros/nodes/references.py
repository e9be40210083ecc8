# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""References as messages carry them."""

import numpy as np
from trajectory_msgs.msg import JointTrajectory

from ..control.trajectory import Waypoints
from ..errors import TrajectoryError


def waypoints(message: JointTrajectory) -> Waypoints:
    """Return the arrays of a trajectory message; every point must fill the same fields."""
    def field(name):
        rows = [getattr(point, name) for point in message.points]
        if not any(len(row) for row in rows):
            return None
        if any(len(row) != len(message.joint_names) for row in rows):
            raise TrajectoryError(f'{name} do not have one value a joint in every point',
                                  name=name, remedy=f'give {len(message.joint_names)} in each, '
                                                    'or none at all')
        return np.array(rows, float)
    times = np.array([p.time_from_start.sec + p.time_from_start.nanosec * 1e-9
                      for p in message.points], float)
    return Waypoints(tuple(message.joint_names), times, field('positions'), field('velocities'),
                     field('accelerations'))
