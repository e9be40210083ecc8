# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""External wrenches in the three references, and how they change with the pose in body axes."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from ..model.robot import RobotModel
from .arguments import finite_array

Wrenches = ArrayLike | Mapping[str, ArrayLike]


def link_wrenches(model: RobotModel, wrenches: Wrenches,
                  poses: Mapping[str, ndarray], reference: str, count: int | None = None,
                  ) -> ndarray:
    """
    Return external wrenches (..., nb, 6) at each body's origin, in its axes.

    :param wrenches: (nb, 6), force [N] and moment [N·m] on each body, or a mapping from frames'
        names to (6,); with N states they may have N as their first dimension. On the base they
        have no effect.
    :param poses: (..., 4, 4) of the frames that are named, or of all links, unless ``reference``
        is 'body'.
    :param count: N where the states are many, None where there is one.
    :raises ArgumentError: for a wrong shape or a number that is not finite.
    :raises UnknownNameError: for a frame that the model does not have.
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
    """Turn a wrench in axes of the base into the frame's own axes, at its origin."""
    force, moment = wrench[..., :3], wrench[..., 3:]
    if reference == 'world':
        moment = moment - np.cross(pose[..., :3, 3], force)
    into = np.swapaxes(pose[..., :3, :3], -1, -2)
    force, moment = ((into @ v[..., None])[..., 0] for v in (force, moment))
    return np.concatenate([force, moment], -1)


def effort_slopes(jacobian: ndarray, wrench: ndarray, reference: str) -> ndarray:
    """
    Return what keeping a wrench in ``reference`` adds to ∂τ/∂q of keeping it in body axes.

    Efforts τ = ... - Jᵀ w, J and w in the frame's own axes ('body'). While joint k moves at unit
    rate the frame turns by ω and its origin moves by v, columns k of J, and the entries of a
    wrench that stays in the axes of the base change by -ω × f and -ω × n, those of one that stays
    at the origin of the base by -v × f more. ∂τ/∂q gets -Jᵀ of that.

    :param jacobian: (..., 6, nv) of the frame, 'body'.
    :param wrench: (..., 6) on the frame, 'body'.
    :param reference: 'body', 'aligned' or 'world': what stays as it is while q changes.
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
