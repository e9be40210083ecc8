# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Effort of a trajectory, added to the effort of any control law that follows it.

Waypoints may have efforts, as in trajectory_msgs/JointTrajectoryPoint and ros2_controllers: what
is known to be missing in the effort of the law along this trajectory, for instance learned by
:mod:`.iterative_learning`. It ends with the trajectory.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy import ndarray

from .dtypes import Vectors
from ..errors import TrajectoryError

if TYPE_CHECKING:
    from .motion_limits import MotionLimits
    from .trajectory import Waypoints

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


def check_efforts(limits: 'MotionLimits', asked: 'Waypoints') -> None:
    """
    Refuse efforts of waypoints that are not finite or beyond ``feedforward_limit``.

    :raises TrajectoryError: naming the joint and the waypoint, and the remedy.
    """
    if asked.efforts is None:
        return
    efforts, shape = np.asarray(asked.efforts, float), (len(asked.times), len(asked.joint_names))
    if efforts.shape != shape:
        raise TrajectoryError(f'efforts have shape {efforts.shape}', name='efforts',
                              remedy=f'give one value a joint and waypoint: {shape}')
    if len(asked.times) == 1 and asked.times[0] == 0.0 and efforts.any():
        raise TrajectoryError('the target has efforts', name='efforts',
                              remedy='leave them empty, or give the waypoint a time after 0')
    names = limits.model.joint_names
    most = np.array([limits.effort[names.index(name)] for name in asked.joint_names])
    if not (good := np.abs(efforts) <= most).all():             # nor is NaN
        w, i = np.argwhere(~good)[0]
        raise TrajectoryError(
            f'effort of {asked.joint_names[i]} at waypoint {w} is {efforts[w, i]:.6g}, and '
            f'trajectories may add {most[i]:.6g}', name=asked.joint_names[i],
            value=float(efforts[w, i]), remedy='give what the control law lacks, not all of the '
            'effort; the parameter feedforward_limit bounds it')
