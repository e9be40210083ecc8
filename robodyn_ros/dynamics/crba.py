# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Composite-rigid-body algorithm for the mass matrix (Walker and Orin 1982)."""

from numpy import ndarray

from .record_types import BodyRecord, Entries, JointRecord, Vector3, WorkRecord
from .spatial import (
    add,
    joint_effort,
    origin,
    put,
    scale,
    second_moment_to_parent,
    to_parent,
    unit_wrench,
    vec,
    wrench_to_parent,
)


def crba(bodies: ndarray, joints: ndarray, work: ndarray, M: ndarray) -> None:
    """
    Write the mass matrix into ``M``.

    Walker and Orin 1982, method 3; Featherstone 2008, table 6.2. Column i holds the efforts of the
    joints while joint i alone accelerates, at unit rate, in an arm at rest without gravity: the
    bodies outboard of joint i then move as one composite body.

    :param bodies: (nb,) records of :data:`~.model_data.BODY`.
    :param joints: (nb,) records of :data:`~.model_data.JOINT`, placed at q.
    :param work: (nb + 1,) records of :data:`~.model_data.WORK`.
    :param M: (nv, nv) out [kg·m² | kg·m | kg], symmetric; zero off the tree's branches.
    """
    n = len(bodies)
    for i in range(n):
        reset_composite(work[i], bodies[i])
    for k in range(M.shape[0]):
        for j in range(M.shape[0]):
            M[k, j] = 0.0

    for i in range(n - 1, -1, -1):
        body, me = bodies[i], work[i]
        m, h, E = me.mass, vec(me.first), me.second

        # Force and moment on the composite body i for unit acceleration of joint i ...
        force, moment = unit_wrench(body, m, h, E)
        M[body.driver, body.driver] += joint_effort(body, force, moment) + body.armature

        # ... projected on the joints that carry it, down to the base
        j = i
        while bodies[j].parent < n:
            force, moment = wrench_to_parent(bodies[j], joints[j], force, moment)
            j = bodies[j].parent
            tau = joint_effort(bodies[j], force, moment)
            M[body.driver, bodies[j].driver] += tau
            M[bodies[j].driver, body.driver] += tau

        if body.parent < n:
            add_composite(work[body.parent], body, joints[i], m, h, E)


def reset_composite(composite: WorkRecord, body: BodyRecord) -> None:
    """Set the composite body to the body alone."""
    composite.mass = body.mass
    put(composite.first, vec(body.first))
    for k in range(6):
        composite.second[k] = body.second[k]


def add_composite(parent: WorkRecord, body: BodyRecord, joint: JointRecord, m: float, h: Vector3,
                  E: Entries) -> None:
    """Add the composite of ``body`` (mass, first and second moment) to that of its parent."""
    p = origin(body, joint)
    h = to_parent(body, joint, h)
    E = second_moment_to_parent(body, joint, E)
    parent.mass += m
    put(parent.first, add(vec(parent.first), add(h, scale(m, p))))

    # ∫ (r + p)(r + p)ᵀ dm = E + u pᵀ + p uᵀ with u = h + m p / 2
    u = add(h, scale(0.5 * m, p))
    parent.second[0] += E[0] + 2.0 * (u[0] * p[0])
    parent.second[1] += E[1] + 2.0 * (u[1] * p[1])
    parent.second[2] += E[2] + 2.0 * (u[2] * p[2])
    parent.second[3] += E[3] + u[0] * p[1] + p[0] * u[1]
    parent.second[4] += E[4] + u[0] * p[2] + p[0] * u[2]
    parent.second[5] += E[5] + u[1] * p[2] + p[1] * u[2]
