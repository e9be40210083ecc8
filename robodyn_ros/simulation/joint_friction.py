# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Friction of the joints that a URDF for MuJoCo cannot express."""

from functools import cache
from typing import Any

import mujoco
from numba import types
import numpy as np
from numpy import ndarray

from ..compiler.jit import compile_function, jitable
from ..dynamics import friction as model_friction
from ..dynamics.friction import advance_presliding, loaded_friction
from ..dynamics.model_data import friction_parameters
from ..dynamics.numba_types import MATRIX, VECTOR
from ..model.robot import RobotModel

STIFF = 0.5     # of the squared angular frequency of the elastic contact times that of the steps


def is_beyond_mujoco(model: RobotModel) -> bool:
    """Return whether friction is more than damping and a constant Coulomb friction."""
    forward = np.array([model.viscous_friction, model.coulomb_friction, model.static_friction])
    return bool((model.static_friction != model.coulomb_friction).any()
                or (model.backward_friction != forward).any() or model.presliding_distance.any()
                or model.load_friction.any() or model.coupled_friction[0].any())


class JointFriction:
    """
    Friction of :mod:`robodyn_ros.dynamics.friction`, applied step by step.

    Joints with a presliding distance feel the elastic contact, which holds them at rest. Dry
    friction of the others is that of MuJoCo, a constraint that sticks, whose size is set in each
    step for the velocity and the load of the moment.

    :param mj: compiled model, whose damping and dry friction are replaced.
    :param moving: (nb,) indices of its degrees of freedom; the friction of mimic joints is that of
        their drivers.
    :param offset: constant efforts in addition [N·m | N].
    """

    def __init__(self, mj: mujoco.MjModel, model: RobotModel, moving: ndarray, offset: ndarray):
        self._mj = mj
        self._joints = joints = moving[model.leaders].astype(np.int64)
        self._offset = np.array(np.broadcast_to(offset, len(joints)))
        self._parameters = friction_parameters(model)
        # A contact that is stiffer than a step can follow is as stiff as one can
        dry = self._parameters[[1, 2, 4, 5]].max(0)
        inertia = 1.0 / np.maximum(mj.dof_invweight0[joints], 1e-12)
        shortest = dry * mj.opt.timestep**2 / (STIFF * inertia)
        self._parameters[8] = np.where(self._parameters[8] > 0.0,
                                       np.maximum(self._parameters[8], shortest), 0.0)
        self._share, self._scratch = np.zeros(len(joints)), np.zeros((4, len(joints)))
        self._run = _compiled()
        mj.dof_damping[moving] = mj.dof_frictionloss[moving] = 0.0
        self.reset()

    def reset(self) -> None:
        """Relax the contacts."""
        self._share[:] = 0.0

    def apply(self, data: mujoco.MjData) -> None:
        """Set the friction of the next step for the state in ``data``."""
        self._run(self._parameters, self._joints, self._offset, self._mj.opt.timestep, data.qvel,
                  data.qfrc_bias, self._share, self._scratch, data.qfrc_applied,
                  self._mj.dof_frictionloss)


def step_friction(parameters: ndarray, joints: ndarray, offset: ndarray, timestep: float,
                  qvel: ndarray, bias: ndarray, share: ndarray, scratch: ndarray, applied: ndarray,
                  dry_friction: ndarray) -> None:
    """
    Write what MuJoCo takes as the friction of the next step.

    :param parameters: (13, nv), see :func:`robodyn_ros.dynamics.friction.friction`.
    :param joints: (nv,) indices in the arrays of MuJoCo.
    :param offset: (nv,) [N·m | N].
    :param timestep: [s].
    :param qvel, bias: velocities and bias efforts of MuJoCo.
    :param share: (nv,) states of the elastic contacts, in and out.
    :param scratch: (4, nv).
    :param applied: efforts of MuJoCo [N·m | N], out.
    :param dry_friction: sizes of the constraints of MuJoCo [N·m | N], out.
    """
    velocity, load, moved, effort = scratch[0], scratch[1], scratch[2], scratch[3]
    for i in range(joints.shape[0]):
        velocity[i], load[i] = qvel[joints[i]], bias[joints[i]]
        moved[i] = velocity[i] * timestep
    advance_presliding(parameters, moved, share)
    loaded_friction(parameters, velocity, load, share, effort)
    for i in range(joints.shape[0]):
        v, at = velocity[i], joints[i]
        applied[at] = -effort[i] - offset[i]
        dry_friction[at] = 0.0
        if not parameters[8, i] > 0.0:
            # Without the smooth sign, which the constraint replaces
            k = 0 if v >= 0.0 else 3
            coulomb, static = parameters[k + 1, i], parameters[k + 2, i]
            dry_friction[at] = (coulomb + (static - coulomb) * np.exp(-(v / parameters[7, i])**2)
                                + parameters[9, i] * abs(load[i]))
            applied[at] += dry_friction[at] * np.tanh(v / parameters[6, i])


_SIGNATURE = types.void(MATRIX, types.int64[::1], VECTOR, types.float64, VECTOR, VECTOR, VECTOR,
                        MATRIX, VECTOR, VECTOR)


@cache
def _compiled() -> Any:
    return compile_function('joint_friction', step_friction, _SIGNATURE,
                            (jitable(model_friction),))
