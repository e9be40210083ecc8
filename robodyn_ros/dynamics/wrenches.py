# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""External wrenches: conversion between references, and derivatives with respect to the pose."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from .arguments import finite_array
from ..model.robot import RobotModel

Wrenches = ArrayLike | Mapping[str, ArrayLike]


def link_wrenches(model: RobotModel, wrenches: Wrenches,
                  poses: Mapping[str, ndarray], reference: str, count: int | None = None,
                  ) -> ndarray:
    """
    Return external wrenches (..., nb, 6) at the origin of each body, in its axes.

    :param wrenches: (nb, 6), force [N] and moment [N·m] on each body, or a mapping from names of
        frames to (6,); with N states, N may be the leading dimension. Wrenches on the base have no
        effect.
    :param poses: (..., 4, 4) of the named frames, or of all links, unless ``reference`` is 'body'.
    :param reference: 'aligned', 'body' or 'world', point and axes of the given wrenches.
    :param count: number of states of a batch, None for a single state.
    :raises ArgumentError: wrong shape, or a number that is not finite.
    :raises UnknownNameError: the model has no such frame.
    """
    if not isinstance(wrenches, Mapping):
        array = finite_array('wrenches', wrenches, (model.nb, 6), count,
                             'force and moment on each moving body', model.link_names)
        if reference == 'body':
            return array
        return np.stack([in_frame(array[..., i, :], reference, poses[name])
                         for i, name in enumerate(model.link_names)], -2)
    total: list[Any] = [np.zeros(6)] * model.nb
    for name, value in wrenches.items():
        frame = model.frame(name)
        wrench = finite_array(f'wrenches[{name!r}]', value, (6,), count,
                              'force (3) and moment (3)')
        if frame.body < 0:
            continue
        if reference != 'body':
            wrench = in_frame(wrench, reference, poses[name])
        force = wrench[..., :3] @ frame.rotation.T
        moment = wrench[..., 3:] @ frame.rotation.T + np.cross(frame.origin, force)
        total[frame.body] = total[frame.body] + np.concatenate([force, moment], -1)
    return np.stack(np.broadcast_arrays(*total), -2)


def in_frame(wrench: ndarray, reference: str, pose: ndarray) -> ndarray:
    """Return a wrench at the origin and in the axes of a frame, given in axes of the base."""
    force, moment = wrench[..., :3], wrench[..., 3:]
    if reference == 'world':
        moment = moment - np.cross(pose[..., :3, 3], force)
    into = np.swapaxes(pose[..., :3, :3], -1, -2)
    force, moment = ((into @ v[..., None])[..., 0] for v in (force, moment))
    return np.concatenate([force, moment], -1)


def effort_slopes(jacobian: ndarray, wrench: ndarray, reference: str) -> ndarray:
    """
    Return the difference of ∂τ/∂q between constant wrenches in ``reference`` and in body axes.

    The efforts are τ = ... - Jᵀ w, with J and w in the axes of the frame ('body'). At unit rate of
    joint k, the frame rotates at ω and its origin moves at v, the columns k of J. The components
    of a wrench that is constant in the axes of the base then change at -ω × f and -ω × n; the
    moment of one at the origin of the base changes at -v × f in addition. -Jᵀ times these rates is
    added to ∂τ/∂q.

    :param jacobian: (..., 6, nv) of the frame, 'body'.
    :param wrench: (..., 6) on the frame, 'body'.
    :param reference: 'body', 'aligned' or 'world', in which the wrench is constant.
    :return: (..., nv, nv).
    """
    v, w = jacobian[..., :3, :], jacobian[..., 3:, :]
    f, n = wrench[..., :3, None], wrench[..., 3:, None]
    if reference == 'body':
        return np.zeros((*jacobian.shape[:-2], *2 * jacobian.shape[-1:]))
    turned = np.cross(w, n, axis=-2)
    if reference == 'world':
        turned = turned + np.cross(v, f, axis=-2)
    return np.swapaxes(jacobian, -1, -2) @ np.concatenate([np.cross(w, f, axis=-2), turned], -2)
