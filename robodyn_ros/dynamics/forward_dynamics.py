# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Forward dynamics by factorization of the mass matrix along the branches of the tree."""

from numpy import ndarray

from .crba import crba
from .rnea import rnea


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
