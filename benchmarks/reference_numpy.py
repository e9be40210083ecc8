# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Inverse dynamics as one writes them first: the textbook's recursion over NumPy's vectors."""

import numpy as np
from numpy import ndarray
from robodyn_ros import RobotModel
from scipy.spatial.transform import Rotation


def inverse_dynamics(model: RobotModel, q: ndarray, qd: ndarray, qdd: ndarray) -> ndarray:
    """
    Return the efforts (nv,) [N·m | N] of a robot without joints that mimic others.

    Recursive Newton-Euler in the frames of the links (Craig, Introduction to Robotics, eq. 6.45
    to 6.53); gravity is an upward acceleration of the base.
    """
    nb, cross = model.nb, np.cross
    base = np.zeros(3), np.zeros(3), -model.gravity_vector
    turns, origins, motions, forces, moments = [], [], [], [], []
    for i in range(nb):
        axis, origin, R = model.joint_axis[i], model.joint_origin[i], model.joint_rotation[i]
        slides = model.body_joint_types[i] == 'prismatic'
        if slides:
            origin = origin + R @ axis * q[i]
        else:
            R = R @ Rotation.from_rotvec(axis * q[i]).as_matrix()
        w, dw, a = motions[model.parent[i]] if model.parent[i] >= 0 else base
        a = R.T @ (a + cross(dw, origin) + cross(w, cross(w, origin)))
        w, dw = R.T @ w, R.T @ dw
        if slides:
            a = a + axis * qdd[i] + 2.0 * cross(w, axis * qd[i])
        else:
            dw = dw + axis * qdd[i] + cross(w, axis * qd[i])
            w = w + axis * qd[i]
        com, inertia = model.com[i], model.inertia[i]
        force = model.mass[i] * (a + cross(dw, com) + cross(w, cross(w, com)))
        turns.append(R)
        origins.append(origin)
        motions.append((w, dw, a))
        forces.append(force)
        moments.append(inertia @ dw + cross(w, inertia @ w) + cross(com, force))
    tau = np.empty(nb)
    for i in reversed(range(nb)):
        pushes = forces[i] if model.body_joint_types[i] == 'prismatic' else moments[i]
        tau[i] = model.joint_axis[i] @ pushes + model.armature[i] * qdd[i]
        if (p := model.parent[i]) >= 0:
            force = turns[i] @ forces[i]
            forces[p] = forces[p] + force
            moments[p] = moments[p] + turns[i] @ moments[i] + cross(origins[i], force)
    return tau
