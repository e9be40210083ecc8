# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Mass matrix, and what takes its inverse: forward dynamics, and dynamics in task coordinates.

The mass matrix is factorized along the branches of the tree.
"""

from numpy import ndarray

from .model_data import BodyRecord, Entries, JointRecord, Vector3, WorkRecord
from .rnea import rnea
from .spatial import (
    add, joint_effort, origin, put, scale, second_moment_to_parent, to_parent, unit_wrench, vec,
    wrench_to_parent)


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


def forward_dynamics(bodies: ndarray, base: ndarray, elimination_parent: ndarray, joints: ndarray,
                     qd: ndarray, tau: ndarray, rest: ndarray, wrenches: ndarray, work: ndarray,
                     M: ndarray, qdd: ndarray) -> None:
    """
    Write into ``qdd`` the joint accelerations, which solve M q̈ = τ - C(q, q̇)q̇ - g(q) + Σ Jᵀ w.

    Inertia matrix method of Featherstone 2008, section 6.1, with the factors of section 6.5.

    :param bodies, base, joints, qd, wrenches, work: as :func:`~.rnea.rnea` takes them.
    :param elimination_parent: (nv,) as :func:`ltdl` takes it.
    :param tau: (nv,) [N·m | N]; must not be the array ``qdd``.
    :param rest: (nv,) zeros.
    :param M: (nv, nv) workspace.
    :param qdd: (nv,) out [rad/s² | m/s²].
    """
    rnea(bodies, base, joints, qd, rest, wrenches, work, qdd)
    for i in range(qd.shape[0]):
        qdd[i] = tau[i] - qdd[i]
    crba(bodies, joints, work, M)
    ltdl(elimination_parent, M)
    ltdl_solve(elimination_parent, M, qdd)


def ltdl(elimination_parent: ndarray, M: ndarray) -> None:
    """
    Factor M = Lᵀ D L in place: L (unit diagonal omitted) below the diagonal, 1/D on it.

    Featherstone 2008, section 6.5: M[i, j] is zero unless one of the joints i and j carries the
    other, and the factors keep these zeros. That no index is negative is written out for the
    compiler, which else reckons with indices that count from the end.

    :param elimination_parent: (nv,) parent of each joint in the elimination tree of M, nv for
        none: the joint that carries it, or, where mimic joints couple branches, one of those.
    :param M: (nv, nv) symmetric positive definite; only its lower triangle is read.
    """
    n = M.shape[0]
    for k in range(n - 1, -1, -1):
        pivot = 1.0 / M[k, k]
        M[k, k] = pivot
        i = elimination_parent[k]
        while 0 <= i < n:
            a = M[k, i] * pivot
            M[i, i] -= a * M[k, i]      # first: the next pivot waits for it
            j = elimination_parent[i]
            while 0 <= j < n:
                M[i, j] -= a * M[k, j]
                j = elimination_parent[j]
            M[k, i] = a
            i = elimination_parent[i]


def ltdl_solve(elimination_parent: ndarray, M: ndarray, b: ndarray) -> None:
    """Replace b (nv,) by the solution y of M y = b, with M factored by :func:`ltdl`."""
    n = M.shape[0]

    # Lᵀ x = b
    for i in range(n - 1, -1, -1):
        j = elimination_parent[i]
        while j < n:
            b[j] -= M[i, j] * b[i]
            j = elimination_parent[j]

    # D L y = x
    for i in range(n):
        b[i] *= M[i, i]
        j = elimination_parent[i]
        while j < n:
            b[i] -= M[i, j] * b[j]
            j = elimination_parent[j]


def task_space(elimination_parent: ndarray, rows: ndarray, damping: float, factors: ndarray,
               velocity: ndarray, gravity: ndarray, J: ndarray, Jd: ndarray, qd: ndarray,
               X: ndarray, inertia: ndarray, V: ndarray, G: ndarray) -> None:
    """
    Write M_x, V_x and G_x with τ = Jᵀ (M_x ẍ + V_x + G_x), ẍ = J q̈ + J̇ q̇.

    Khatib 1987, eqs. 25-27 and 51: M_x = (J M⁻¹ Jᵀ)⁻¹, V_x = M_x (J M⁻¹ C q̇ - J̇ q̇),
    G_x = M_x J M⁻¹ g. Where the chosen rows of J are linearly dependent, J M⁻¹ Jᵀ is singular:
    M_x grows without bound near such a pose and is not finite in it. With ``damping`` λ > 0, λ
    times the mean of its diagonal is added to the diagonal (damped least squares, Chiaverini,
    Siciliano and Egeland 1994, section III): M_x stays bounded, and there is no force along
    directions in which the task cannot move.

    :param elimination_parent: (nv,) as in :func:`~.forward_dynamics.ltdl`.
    :param rows: (k,) rows of J that form the task, in its order.
    :param damping: λ ≥ 0.
    :param factors: (nv, nv) of the mass matrix, from :func:`~.forward_dynamics.ltdl`.
    :param velocity, gravity: (nv,) C q̇ and g; overwritten by M⁻¹ C q̇ and M⁻¹ g.
    :param J, Jd: (6, nv) of the frame.
    :param X: (6, nv) workspace.
    :param inertia: (k, k) out, V (k,) out, G (k,) out.
    """
    n, k = qd.shape[0], rows.shape[0]
    ltdl_solve(elimination_parent, factors, velocity)
    ltdl_solve(elimination_parent, factors, gravity)
    for r in range(k):
        for j in range(n):
            X[r, j] = J[rows[r], j]
        ltdl_solve(elimination_parent, factors, X[r])
    mean = 0.0
    for r in range(k):
        for c in range(k):
            inertia[r, c] = 0.0
            for j in range(n):
                inertia[r, c] += J[rows[r], j] * X[c, j]
        mean += inertia[r, r] / k
    for r in range(k):
        inertia[r, r] += damping * mean
    invert(inertia)

    for r in range(k):
        V[r], G[r] = 0.0, 0.0
    for c in range(k):
        v, g = 0.0, 0.0
        for j in range(n):
            v += J[rows[c], j] * velocity[j] - Jd[rows[c], j] * qd[j]
            g += J[rows[c], j] * gravity[j]
        for r in range(k):
            V[r] += inertia[r, c] * v
            G[r] += inertia[r, c] * g


def task_coriolis_matrix(elimination_parent: ndarray, rows: ndarray, factors: ndarray,
                         christoffel: ndarray, inertia: ndarray, J: ndarray, Jd: ndarray,
                         column: ndarray, X: ndarray) -> None:
    """
    Write into ``X`` the matrix whose product with q̇ is V_x, the task-space Coriolis matrix.

    :param christoffel: (nv, nv) a Coriolis matrix C(q, q̇); Jd (6, nv) of the same velocity.
    :param inertia: (k, k) M_x.
    :param column: (nv,) workspace.
    :param X: (6, nv) out, of which k rows are used.
    """
    n, k = column.shape[0], rows.shape[0]
    for j in range(n):
        for i in range(n):
            column[i] = christoffel[i, j]
        ltdl_solve(elimination_parent, factors, column)
        for r in range(k):
            X[r, j] = 0.0
        for c in range(k):
            a = -Jd[rows[c], j]
            for i in range(n):
                a += J[rows[c], i] * column[i]
            for r in range(k):
                X[r, j] += inertia[r, c] * a


def invert(A: ndarray) -> None:
    """Invert a symmetric positive definite matrix in place, by Gauss-Jordan elimination."""
    n = A.shape[0]
    for p in range(n):
        pivot = 1.0 / A[p, p]
        A[p, p] = 1.0
        for j in range(n):
            A[p, j] *= pivot
        for i in range(n):
            if i != p:
                factor = A[i, p]
                A[i, p] = 0.0
                for j in range(n):
                    A[i, j] -= factor * A[p, j]
