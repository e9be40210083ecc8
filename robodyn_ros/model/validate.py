# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Whether masses and inertias make a robot that can be simulated and controlled.

It is judged on the definition of the mass matrix, M(q) = Σ m JᵥᵀJᵥ + JωᵀI Jω over the bodies, at a
few poses that are always the same; the algorithms for every day are those of `dynamics`.
"""

from dataclasses import replace

import numpy as np
from numpy import ndarray

from ..errors import InertiaError
from .pose import FAR, initial_position
from .rigid import NO_INERTIA, axis_rotation
from .robot import RobotModel

TRIANGLE = 1e-3     # of the largest moment: plates written with few digits are no fault
MASSLESS = 1e-12    # of what the mass beyond a joint could give at most: rounding, no inertia
TINY = 1e-30        # [kg·m² | kg] less than any robot has: what is computed of it underflows
SINGULAR = 1e-10    # smallest eigenvalue of M with its diagonal scaled to 1


def validated(model: RobotModel) -> RobotModel:
    """
    Return the model with what is odd about its bodies added to its warnings.

    :raises InertiaError: if M(q) is not positive definite; it names the joint that something
        could move without any force.
    """
    for q in _poses(model):
        _check_mass_matrix(model, q)
    warnings, implausible = list(model.warnings), []
    for name, mass, inertia in zip(model.link_names, model.mass, model.inertia, strict=True):
        a, b, c = np.linalg.eigvalsh(inertia)
        if c - a - b > TRIANGLE * c + NO_INERTIA:
            implausible.append(name)
            warnings.append(f'link {name!r}: no rigid body has the principal moments {a:.4g}, '
                            f'{b:.4g}, {c:.4g}: the largest exceeds the sum of the others')
        if mass == 0:
            warnings.append(f'link {name!r} has no mass' + (' but inertia' if c > 0 else ''))
    return replace(model, warnings=tuple(dict.fromkeys(warnings)),
                   implausible_links=tuple(implausible))


def _poses(model: RobotModel) -> ndarray:
    """Where it starts, the middle and three poses in between, (5, nv)."""
    lower, upper = model.position_lower.clip(-FAR, FAR), model.position_upper.clip(-FAR, FAR)
    share = np.random.default_rng(0).uniform(size=(3, model.nv))
    return np.vstack([initial_position(model), (lower + upper) / 2,
                      lower + share * (upper - lower)])


def _check_mass_matrix(model: RobotModel, q: ndarray) -> None:
    m, most = mass_matrix(model, q)
    diagonal = np.diag(m)
    involved = np.flatnonzero(~(diagonal > np.maximum(MASSLESS * most, TINY)))[-1:]
    if not involved.size:
        scale = np.sqrt(diagonal)
        values, vectors = np.linalg.eigh(m / np.outer(scale, scale))
        if values[0] > SINGULAR:
            return
        involved = np.flatnonzero(abs(vectors[:, 0]) > 0.1 * abs(vectors[:, 0]).max())
    # Where several joints cancel, the lightest body they move is the one that was forgotten.
    weight = np.bincount(model.driver, model.mass + np.trace(model.inertia, axis1=1, axis2=2))
    worst = involved[np.argmin(weight[involved])]
    joint, link = model.joint_names[worst], model.link_names[model.leaders[worst]]
    others = [repr(model.joint_names[i]) for i in involved if i != worst]
    raise InertiaError(
        f'nothing that has inertia resists joint {joint!r}'
        + (f' together with {" and ".join(others)}' if others else '')
        + ': the mass matrix is not positive definite', name=joint, value=m,
        remedy=f'give link {link!r}, or what it carries, mass and inertia about the axis of '
               f'{joint!r}')


def mass_matrix(model: RobotModel, q: ndarray) -> tuple[ndarray, ndarray]:
    """
    M(q) (nv, nv) by definition, and the most its diagonal (nv,) could be at this pose.

    The most is what a joint would feel if all mass beyond it turned about it at full distance, and
    nothing that its followers do took away from that.
    """
    n, at_body = model.nb, model.ratio * q[model.driver] + model.shift
    rotation, origin, axis = np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 3))
    m, most, inertial = np.zeros((n, n)), np.zeros(n), np.empty((n, 3, 3))
    turns = np.array([kind != 'prismatic' for kind in model.body_joint_types])
    for i, parent in enumerate(model.parent):
        at, here = (np.eye(3), np.zeros(3)) if parent < 0 else (rotation[parent], origin[parent])
        rotation[i] = at @ model.joint_rotation[i]
        origin[i] = here + at @ model.joint_origin[i]
        axis[i] = rotation[i] @ model.joint_axis[i]
        if turns[i]:
            rotation[i] = rotation[i] @ axis_rotation(model.joint_axis[i], at_body[i])
        else:
            origin[i] += axis[i] * at_body[i]
        inertial[i] = rotation[i] @ model.inertia[i] @ rotation[i].T
    for i in range(n):
        path = [i]
        while model.parent[path[-1]] >= 0:
            path.append(model.parent[path[-1]])
        reach = origin[i] + rotation[i] @ model.com[i] - origin[path]
        angular = axis[path] * turns[path, None]
        linear = np.where(turns[path, None], np.cross(axis[path], reach), axis[path])
        m[np.ix_(path, path)] += (model.mass[i] * linear @ linear.T
                                  + angular @ inertial[i] @ angular.T)
        most[path] += np.where(turns[path], np.trace(inertial[i]) + model.mass[i]
                               * (reach * reach).sum(1), model.mass[i])
    # From all joints to those that move on their own: q̇ of the ones is G q̇ of the others
    G = np.zeros((n, model.nv))
    G[np.arange(n), model.driver] = model.ratio
    return G.T @ m @ G, (np.sqrt(most) @ abs(G))**2
