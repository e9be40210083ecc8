# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Decomposition of the velocity term into Coriolis and centrifugal efforts."""

from numpy import ndarray


def add_velocity_terms(k: int, christoffel: ndarray, B: ndarray, C: ndarray) -> None:
    """
    Add the contribution of unit velocity of joint k to B and C (Craig 2005, eqs. 6.63 to 6.65).

    The columns of B belong to the products q̇₁q̇₂, q̇₁q̇₃, ..., q̇₂q̇₃, ..., those of C to the
    squares.

    :param k: index of the joint that moves.
    :param christoffel: (m, nv) matrix whose product with q̇ is the velocity term, at q̇ = e_k:
        the Christoffel symbols Γ[:, :, k], or their task-space counterpart.
    :param B: (m, nv (nv - 1) / 2) added to; zero before the first joint.
    :param C: (m, nv) matrix, overwritten.
    """
    n = C.shape[1]
    for i in range(C.shape[0]):
        C[i, k] += christoffel[i, k]
        for j in range(n):
            if j != k:
                first, second = min(j, k), max(j, k)
                pair = first * (2 * n - first - 1) // 2 + second - first - 1
                B[i, pair] += christoffel[i, j]
