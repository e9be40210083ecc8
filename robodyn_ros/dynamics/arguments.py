# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What checked calls accept: finite array-likes of the right shape, wrenches by frame name."""

from collections.abc import Mapping
from math import isfinite
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from ..errors import ArgumentError
from ..model.robot import RobotModel


def joint_vector(model: RobotModel, name: str, value: ArrayLike) -> ndarray:
    """
    Return ``value`` as a new float64 array (nv,).

    :raises ArgumentError: if it has another shape or an element that is not a finite number.
    """
    array = _array(name, value, (model.nv,), 'one number per joint, in the order of joint_names')
    # For the few numbers of a robot several times faster than NumPy's isfinite
    if not all(map(isfinite, array.tolist())):
        i = int(np.argmin(np.isfinite(array)))
        raise ArgumentError(f'{name}[{i}], of joint {model.joint_names[i]!r}, is {array[i]}',
                            name=name, value=array[i], remedy='give finite numbers')
    return array


def link_wrenches(model: RobotModel, wrenches: ArrayLike | Mapping[str, ArrayLike]) -> ndarray:
    """
    Return external wrenches (nv, 6): force [N], moment [N·m] at each body's origin, in its axes.

    :param wrenches: such an array, or a mapping from frame names to (6,) force and moment at the
        origin and in the axes of that frame; on the base they have no effect.
    :raises ArgumentError: for a wrong shape or a number that is not finite.
    :raises UnknownNameError: for a frame that the model does not have.
    """
    if not isinstance(wrenches, Mapping):
        array = _array('wrenches', wrenches, (model.nv, 6), 'force and moment on each moving body')
        for row, link in zip(array, model.link_names):
            _check_wrench(row, link)
        return array

    total = np.zeros((model.nv, 6))
    for name, value in wrenches.items():
        frame = model.frame(name)
        wrench = _array(f'wrenches[{name!r}]', value, (6,), 'force (3) and moment (3)')
        _check_wrench(wrench, name)
        if frame.body >= 0:
            force = frame.rotation @ wrench[:3]
            moment = frame.rotation @ wrench[3:] + np.cross(frame.origin, force)
            total[frame.body] += (*force, *moment)
    return total


def _array(name: str, value: Any, shape: tuple[int, ...], meaning: str) -> ndarray:
    remedy = f'give an array of shape {shape}: {meaning}'
    try:
        array = np.array(value, np.float64, order='C')
    except (TypeError, ValueError) as error:
        raise ArgumentError(f'{name} is not an array of numbers', name=name, value=value,
                            remedy=remedy) from error
    if array.shape != shape:
        raise ArgumentError(f'{name} has shape {array.shape}', name=name, value=array.shape,
                            remedy=remedy)
    return array


def _check_wrench(wrench: ndarray, frame: str) -> None:
    if not np.isfinite(wrench).all():
        raise ArgumentError(f'the wrench on {frame!r} is {wrench}', name='wrenches', value=wrench,
                            remedy='give finite numbers')
