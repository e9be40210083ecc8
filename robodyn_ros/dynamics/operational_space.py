# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Operational-space dynamics: the equation of motion in task coordinates (Khatib 1987)."""

from numpy import ndarray

from .forward_dynamics import ltdl_solve


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
