# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Friction of the joints that a URDF for MuJoCo cannot express."""

import mujoco
import numpy as np
from numpy import ndarray

from ..dynamics.friction import advance_presliding, loaded_friction
from ..dynamics.model_data import friction_parameters
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
        self._mj, self._offset = mj, offset
        self._joints = joints = moving[model.leaders]
        self._parameters = friction_parameters(model)
        self._elastic = self._parameters[8] > 0.0
        # A contact that is stiffer than a step can follow is as stiff as one can
        dry = self._parameters[[1, 2, 4, 5]].max(0)
        inertia = 1.0 / np.maximum(mj.dof_invweight0[joints], 1e-12)
        shortest = dry * mj.opt.timestep**2 / (STIFF * inertia)
        self._parameters[8] = np.where(self._elastic,
                                       np.maximum(self._parameters[8], shortest), 0.0)
        self._share, self._moved, self._effort, self._smooth = np.zeros((4, len(joints)))
        mj.dof_damping[moving] = mj.dof_frictionloss[moving] = 0.0
        self.reset()

    def reset(self) -> None:
        """Relax the contacts."""
        self._share[:] = 0.0

    def apply(self, data: mujoco.MjData) -> None:
        """Set the friction of the next step for the state in ``data``."""
        velocity = data.qvel[self._joints]
        load = data.qfrc_bias[self._joints]
        self._moved[:] = velocity * self._mj.opt.timestep
        advance_presliding(self._parameters, self._moved, self._share)
        share = np.where(self._elastic, self._share, 0.0)
        loaded_friction(self._parameters, velocity, load, share, self._effort)
        dry = self._dry(velocity, load)
        smooth = dry * np.tanh(velocity / self._parameters[6])
        # Without the smooth sign, for which the constraint stands
        data.qfrc_applied[self._joints] = (np.where(self._elastic, 0.0, smooth) - self._effort
                                           - self._offset)
        self._mj.dof_frictionloss[self._joints] = np.where(self._elastic, 0.0, dry)

    def _dry(self, velocity: ndarray, load: ndarray) -> ndarray:
        """Return the size (nv,) of dry friction."""
        p = self._parameters
        forward = velocity >= 0.0
        coulomb, static = np.where(forward, p[1], p[4]), np.where(forward, p[2], p[5])
        return (coulomb + (static - coulomb) * np.exp(-(velocity / p[7])**2)
                + p[9] * np.abs(load))
