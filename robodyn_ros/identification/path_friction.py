# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Friction along a motion, with the state that presliding has."""

from functools import cache
from typing import Any

from numba import types
import numpy as np
from numpy import ndarray

from .motion import Motion
from ..compiler.jit import compile_function, jitable
from ..dynamics import friction as model_friction
from ..dynamics.friction import advance_presliding, loaded_friction
from ..dynamics.model_data import friction_parameters
from ..model.robot import RobotModel

_MATRIX = types.Array(types.float64, 2, 'C')
_READ_ONLY = types.Array(types.float64, 2, 'A', readonly=True)
KERNEL_SIGNATURE = types.void(_MATRIX, _READ_ONLY, _READ_ONLY, _READ_ONLY, types.int64,
                              types.int64, _MATRIX)


def path_friction(model: RobotModel, motion: Motion, load: ndarray | None = None) -> ndarray:
    """
    Return the friction (N, nv) [N·m | N] of a motion.

    A joint with a presliding distance is assumed to slide at the first sample of a segment, in its
    direction of motion.

    :param load: (N, nv) efforts of gravity [N·m | N], which load-dependent friction grows with;
        None: that friction is left out.
    """
    found = np.zeros_like(motion.velocity)
    carried = np.zeros_like(found) if load is None else load
    parameters = friction_parameters(model)
    if not any(a.any() for a in (model.viscous_friction, model.coulomb_friction,
                                 model.static_friction, model.backward_friction,
                                 model.load_friction, model.coupled_friction)):
        return found
    for begin, end in motion.segments:
        _compiled()(parameters, motion.position, motion.velocity, carried, begin, end, found)
    return found


def along(parameters: ndarray, q: ndarray, qd: ndarray, load: ndarray, begin: int, end: int,
          tau: ndarray) -> None:
    """
    Write into ``tau`` (N, nv) the friction of the samples ``begin`` to ``end``.

    :param parameters: (13, nv), see :func:`robodyn_ros.dynamics.friction.friction`.
    :param q: (N, nv) [rad | m], with ``qd`` (N, nv) and ``load`` (N, nv) g(q).
    """
    nv = q.shape[1]
    share, moved = np.zeros(nv), np.zeros(nv)
    for i in range(nv):
        for n in range(begin + 1, end):
            if q[n, i] != q[n - 1, i]:
                share[i] = 1.0 if q[n, i] > q[n - 1, i] else -1.0
                break
    for n in range(begin, end):
        for i in range(nv):
            moved[i] = q[n, i] - q[n - 1, i] if n > begin else 0.0
        advance_presliding(parameters, moved, share)
        loaded_friction(parameters, qd[n], load[n], share, tau[n])


@cache
def _compiled() -> Any:
    return compile_function('path_friction', along, KERNEL_SIGNATURE, (jitable(model_friction),))
