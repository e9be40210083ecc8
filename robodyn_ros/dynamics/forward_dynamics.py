# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Forward dynamics: mass matrix and bias, solved along the branches of the tree."""

from .crba import crba
from .rnea import rnea


def forward_dynamics(bodies, base, chain, joints, qd, tau, rest, wrenches, work, M, qdd):
    """
    Write into ``qdd`` the joint accelerations that efforts cause: M q̈ = τ - C(q, q̇)q̇ - g(q).

    Featherstone 2008, section 6.1 (inertia matrix method) with the factors of section 6.5.

    :param bodies, base, joints, qd, wrenches, work: as :func:`~.rnea.rnea` takes them.
    :param chain: (nv,) as :func:`ltdl` takes it.
    :param tau: (nv,) [N·m | N]; another array than ``qdd``.
    :param rest: (nv,) zeros.
    :param M: (nv, nv) workspace.
    :param qdd: (nv,) out [rad/s² | m/s²].
    """
    rnea(bodies, base, joints, qd, rest, wrenches, work, qdd)
    for i in range(qd.shape[0]):
        qdd[i] = tau[i] - qdd[i]
    crba(bodies, joints, work, M)
    ltdl(chain, M)
    ltdl_solve(chain, M, qdd)


def ltdl(chain, M):
    """
    Factor M = Lᵀ D L in place: L below the diagonal (its unit diagonal left out), 1/D on it.

    Featherstone 2008, section 6.5: the tree leaves M[i, j] zero unless one of i and j carries the
    other, and the factors keep these zeros.

    :param chain: (nv,) the joint that carries each, nv for none; where joints that mimic couple
        branches, the elimination tree of M instead.
    """
    n = M.shape[0]
    for k in range(n - 1, -1, -1):
        M[k, k] = 1.0 / M[k, k]
        i = chain[k]
        while i < n:
            a = M[k, i] * M[k, k]
            j = i
            while j < n:
                M[i, j] -= a * M[k, j]
                j = chain[j]
            M[k, i] = a
            i = chain[i]


def ltdl_solve(chain, M, b):
    """Turn b into the solution y of M y = b, given what :func:`ltdl` left in M."""
    n = M.shape[0]

    # Lᵀ x = b
    for i in range(n - 1, -1, -1):
        j = chain[i]
        while j < n:
            b[j] -= M[i, j] * b[i]
            j = chain[j]

    # D L y = x
    for i in range(n):
        b[i] *= M[i, i]
        j = chain[i]
        while j < n:
            b[i] -= M[i, j] * b[j]
            j = chain[j]
