# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The pose a robot is in when nobody has said where it is."""

from collections.abc import Sequence

import numpy as np
from numpy import ndarray
from scipy.stats import qmc

from ..errors import ParameterError
from .robot import RobotModel

FAR = 10.           # [rad | m] limits beyond say that there are none


def initial_position(model: RobotModel, given: Sequence[float] = ()) -> ndarray:
    """
    Return the pose at the start (nv,): the given one, else zero or, outside limits, their middle.

    Of a range wider than twice ``FAR``, it is what is that far inside.

    :raises ParameterError: if the given one has another length or leaves the limits.
    """
    lower, upper = model.position_lower, model.position_upper
    if not len(given):
        half = np.minimum(upper / 2 - lower / 2, FAR)
        return np.where(lower > 0, lower + half, np.where(upper < 0, upper - half, 0))
    pose = np.array(given, float)
    if pose.shape != (model.nv,):
        raise ParameterError(f'the initial position has {len(pose)} elements',
                             name='initial_position', value=given, remedy='give one for each of '
                             f'{", ".join(model.joint_names)}')
    for name, low, q, high in zip(model.joint_names, lower, pose, upper):
        if not low <= q <= high:
            raise ParameterError(f'the initial position of joint {name} is {q:g}', name=name,
                                 value=q, remedy=f'choose one in its limits [{low:g}, {high:g}]')
    return pose


def spread(model: RobotModel, count: int) -> ndarray:
    """
    Poses (count, nv) all over the workspace, the same each time: zero, then a Sobol sequence.

    Where a joint has no limits, from -π to π.
    """
    lower = np.maximum(model.position_lower, -np.pi)
    upper = np.maximum(np.minimum(model.position_upper, np.pi), lower)
    points = qmc.Sobol(model.nv, scramble=False).random(count)
    points[0] = np.divide(initial_position(model) - lower, upper - lower,
                          out=np.zeros(model.nv), where=upper > lower)
    return lower + (upper - lower) * points
