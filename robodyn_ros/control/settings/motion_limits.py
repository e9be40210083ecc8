# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Limits of position, velocity, acceleration and jerk that references are planned within."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy import ndarray

from .settings import Settings
from ...model.robot import RobotModel

# s in which the acceleration limit is reached where no jerk limit is set
ACCELERATION_TIME = 0.1


class MotionLimits(NamedTuple):
    """
    Limits of a reference.

    ``model`` has the limits of position and velocity in force; ``acceleration`` and ``jerk`` (nv,)
    [rad/s² | m/s², rad/s³ | m/s³] are infinite for joints that have no velocity limit either;
    ``effort`` (nv,) [N·m | N] bounds the efforts of waypoints; ``start_tolerance`` (nv,) [rad | m]
    the distance of the start of a trajectory from the reference; ``moving_end``: whether a
    trajectory may end with a velocity other than 0, behind which the reference decelerates.
    """

    model: RobotModel
    acceleration: ndarray
    jerk: ndarray
    effort: ndarray
    start_tolerance: ndarray = np.array([0.05])
    moving_end: bool = False


def motion_limits(model: RobotModel, settings: Settings, velocity_limit: ndarray,
                  effort_limit: ndarray | None = None) -> MotionLimits:
    """
    Return the limits in force: those of the settings, else those that the velocity limit implies.

    :param velocity_limit: (nv,) [rad/s | m/s].
    :param effort_limit: (nv,) [N·m | N]; None: that of the model.
    :raises ParameterError: acceleration_limit, jerk_limit or trajectory_start_tolerance has the
        wrong length.
    """
    acceleration = settings.acceleration(model, velocity_limit)
    jerk = (settings.per_joint(model, 'jerk_limit') if np.size(settings.jerk_limit)
            else acceleration / ACCELERATION_TIME)
    return MotionLimits(replace(model, velocity_limit=velocity_limit), acceleration, jerk,
                        settings.feedforward_limit * (model.effort_limit if effort_limit is None
                                                      else effort_limit),
                        settings.per_joint(model, 'trajectory_start_tolerance'),
                        settings.allow_nonzero_velocity_at_trajectory_end)


def limit_rows(limits: MotionLimits) -> ndarray:
    """Return rows (7, nv), as the planner reads them: LOWER, UPPER, ... of :mod:`.request`."""
    model = limits.model
    return np.array([model.position_lower, model.position_upper, model.velocity_limit,
                     limits.acceleration, limits.jerk,
                     np.broadcast_to(limits.start_tolerance, model.nv), model.periodic], float)
