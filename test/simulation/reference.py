# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A robot by Pinocchio, and accelerations of a plant to compare with it."""

import numpy as np
import pinocchio as pin
from robodyn_ros import RobotModel
from robodyn_ros.simulation.plant import Plant

STEP = 5e-7     # s; small enough to see an acceleration in a difference of velocities


class Reference:
    """
    All joints of a robot, without friction, projected on those that have a drive.

    Pinocchio knows no mimic joints here; arguments and results are in the order of ``model``.
    """

    def __init__(self, urdf: str, model: RobotModel, locked=None):
        self.pin, self.model = pin.buildModelFromXML(urdf), model
        if locked:
            ids = [self.pin.getJointId(joint) for joint in locked]
            self.pin = pin.buildReducedModel(self.pin, ids, self._q(locked))
        self.pin.gravity.linear[:] = model.gravity_vector
        self.data = self.pin.createData()
        joints = [self.pin.joints[self.pin.getJointId(n)] for n in model.body_joint_names]
        assert self.pin.nv == model.nb
        self.G = np.zeros((model.nb, model.nv))
        self.G[[joint.idx_v for joint in joints], model.driver] = model.ratio

    def _q(self, values):
        q = pin.neutral(self.pin)
        for name, value in values.items():
            joint = self.pin.joints[self.pin.getJointId(name)]
            q[joint.idx_q:joint.idx_q + joint.nq] = (
                [np.cos(value), np.sin(value)] if joint.nq == 2 else [value])
        return q

    def q(self, position):
        """Return the configuration of all joints."""
        m = self.model
        return self._q(dict(zip(m.body_joint_names, m.ratio * position[m.driver] + m.shift)))

    def gravity(self, position):
        """Return g(q) (nv,) [N·m | N]."""
        return self.G.T @ pin.computeGeneralizedGravity(self.pin, self.data, self.q(position))

    def acceleration(self, position, velocity, tau, link=None, force=(0, 0, 0)):
        """Return q̈ (nv,) under efforts, and a force [N] at the origin of a link, world axes."""
        q, v = self.q(position), self.G @ velocity
        M = pin.crba(self.pin, self.data, q)
        M = self.G.T @ (np.triu(M) + np.triu(M, 1).T) @ self.G + np.diag(self.model.armature)
        tau = tau - self.G.T @ pin.nonLinearEffects(self.pin, self.data, q, v)
        if link:
            jacobian = pin.computeFrameJacobian(self.pin, self.data, q, self.pin.getFrameId(link),
                                                pin.LOCAL_WORLD_ALIGNED)
            tau += self.G.T @ jacobian[:3].T @ force
        return np.linalg.solve(M, tau)


def measured_acceleration(make, position, velocity, tau, push=None):
    """
    Return q̈ (nv,) of a plant at an instant, extrapolated from two short periods.

    :param make: returns a plant with the given ``timestep`` and ``substeps``.
    """
    means = []
    for steps in (1, 2):
        plant: Plant = make(timestep=STEP / 2, substeps=steps)
        plant.reset(position, velocity)
        if push:
            plant.push(*push, 1.0)
        plant.step(tau)
        means.append((plant.state().velocity - velocity) / plant.period)
    return 2 * means[0] - means[1]
