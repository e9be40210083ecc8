# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Default poses of a robot within its position limits."""

from collections.abc import Sequence

import numpy as np
from numpy import ndarray

from .robot import RobotModel
from ..errors import ParameterError

MIN_MARGIN = 0.1    # distance to a limit, relative to the range, of a pose with room to move
MAX_LIMIT = 10.    # [rad | m]; larger limits count as absent


def initial_position(model: RobotModel, given: Sequence[float] = ()) -> ndarray:
    """
    Return the initial pose (nv,) [rad | m].

    The default of a joint is zero, or the middle of its limits if these exclude zero; of a range
    wider than twice ``MAX_LIMIT``, it is at that distance from the nearer limit.

    :param given: pose to check and return instead, empty for the default.
    :raises ParameterError: ``given`` has the wrong length or is outside the limits.
    """
    lower, upper = model.position_lower, model.position_upper
    if not len(given):
        half = np.minimum(upper / 2 - lower / 2, MAX_LIMIT)
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


def roomy_position(model: RobotModel) -> ndarray:
    """
    Return a pose (nv,) [rad | m] from which every joint can move in both directions.

    It is that of :func:`initial_position`, or the middle of the range for a joint that would be
    nearer to a limit than ``MIN_MARGIN`` times the range.
    """
    pose = initial_position(model)
    lower = np.maximum(model.position_lower, pose - MAX_LIMIT)
    upper = np.minimum(model.position_upper, pose + MAX_LIMIT)
    tight = np.minimum(pose - lower, upper - pose) < MIN_MARGIN * (upper - lower)
    return np.where(tight, (lower + upper) / 2, pose)


def spread(model: RobotModel, count: int) -> ndarray:
    """
    Return poses (count, nv) [rad | m] spread over the position limits, the first the initial one.

    Joints without limits are within ±π. The poses are always the same: the additive recurrence of
    Roberts (2018), whose steps are the powers of 1/φ with φ^(nv + 1) = φ + 1.
    """
    lower = np.maximum(model.position_lower, -np.pi)
    upper = np.maximum(np.minimum(model.position_upper, np.pi), lower)
    phi = 2.0
    for _ in range(40):
        phi = (1.0 + phi)**(1.0 / (model.nv + 1))
    share = (0.5 + np.outer(np.arange(count), phi**-np.arange(1.0, model.nv + 1.0))) % 1.0
    poses = lower + (upper - lower) * share
    poses[0] = initial_position(model)
    return poses
