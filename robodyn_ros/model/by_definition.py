# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Mass matrix and gravity by definition, sums over the bodies, for the checks of a model.

M(q) = Σ m JᵥᵀJᵥ + JωᵀI Jω; the efficient algorithms are in :mod:`robodyn_ros.dynamics`.
"""

import numpy as np
from numpy import ndarray

from .pose import initial_position, MAX_LIMIT
from .rigid_body import axis_rotation
from .robot import RobotModel


def sample_poses(model: RobotModel) -> ndarray:
    """Return the initial pose, the middle of the limits and three poses between, (5, nv)."""
    lower = model.position_lower.clip(-MAX_LIMIT, MAX_LIMIT)
    upper = model.position_upper.clip(-MAX_LIMIT, MAX_LIMIT)
    share = np.random.default_rng(0).uniform(size=(3, model.nv))
    return np.vstack([initial_position(model), (lower + upper) / 2,
                      lower + share * (upper - lower)])


def mass_matrix(model: RobotModel, q: ndarray) -> tuple[ndarray, ndarray]:
    """
    Return M(q) (nv, nv) by definition, and an upper bound of its diagonal (nv,).

    The bound is the inertia of all mass beyond a joint at its distance from the origin of the
    joint, with the contributions of mimic joints added in magnitude.
    """
    n, rotation, origin, axis = model.nb, *_frames(model, q)
    m, most = np.zeros((n, n)), np.zeros(n)
    turns = ~model.body_slides
    for i in range(n):
        path, linear, reach = _motion(model, i, rotation, origin, axis)
        angular = axis[path] * turns[path, None]
        inertia = rotation[i] @ model.inertia[i] @ rotation[i].T
        m[np.ix_(path, path)] += (model.mass[i] * linear @ linear.T
                                  + angular @ inertia @ angular.T)
        most[path] += np.where(turns[path], np.trace(inertia) + model.mass[i]
                               * (reach * reach).sum(1), model.mass[i])
    G = _projection(model)
    return G.T @ m @ G, (np.sqrt(most) @ abs(G))**2


def gravity_effort(model: RobotModel, q: ndarray) -> ndarray:
    """Return g(q) (nv,) [N·m | N] by definition: -Σ m Jᵥᵀ g over the bodies."""
    effort, frames = np.zeros(model.nb), _frames(model, q)
    for i in range(model.nb):
        path, linear, _ = _motion(model, i, *frames)
        effort[path] -= model.mass[i] * linear @ model.gravity_vector
    return _projection(model).T @ effort


def _frames(model: RobotModel, q: ndarray) -> tuple[ndarray, ndarray, ndarray]:
    """Return rotations (nb, 3, 3), origins (nb, 3) and joint axes (nb, 3) of the bodies."""
    n, at_body = model.nb, model.ratio * q[model.driver] + model.shift
    rotation, origin, axis = np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 3))
    slides = model.body_slides
    for i, parent in enumerate(model.parent):
        at, here = (np.eye(3), np.zeros(3)) if parent < 0 else (rotation[parent], origin[parent])
        rotation[i] = at @ model.joint_rotation[i]
        origin[i] = here + at @ model.joint_origin[i]
        axis[i] = rotation[i] @ model.joint_axis[i]
        if slides[i]:
            origin[i] += axis[i] * at_body[i]
        else:
            rotation[i] = rotation[i] @ axis_rotation(model.joint_axis[i], at_body[i])
    return rotation, origin, axis


def _motion(model: RobotModel, i: int, rotation: ndarray, origin: ndarray, axis: ndarray
            ) -> tuple[list[int], ndarray, ndarray]:
    """
    Return the joints that move body i, and what each does to its center of mass.

    :return: indices of the n joints; velocities (n, 3) [m/rad | 1] of the center of mass; its
        position (n, 3) [m] relative to each joint.
    """
    path = [i]
    while model.parent[path[-1]] >= 0:
        path.append(model.parent[path[-1]])
    reach = origin[i] + rotation[i] @ model.com[i] - origin[path]
    turns = ~model.body_slides[path, None]
    return path, np.where(turns, np.cross(axis[path], reach), axis[path]), reach


def _projection(model: RobotModel) -> ndarray:
    """Return G (nb, nv): the rates of all joints are G q̇."""
    G = np.zeros((model.nb, model.nv))
    G[np.arange(model.nb), model.driver] = model.ratio
    return G
