# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Velocity terms apart: Coriolis efforts B(q) [q̇ q̇] and centrifugal ones C(q) [q̇²]."""


def split(k, christoffel, B, C):
    """
    Write what the unit velocity of joint k tells of B and C (Craig 2005, eqs. 6.63 to 6.65).

    The columns of B belong to the products q̇₁q̇₂, q̇₁q̇₃, ..., q̇₂q̇₃, ...; C has one for each
    square.

    :param k: index of the joint that moves.
    :param christoffel: (m, nv) rows whose product with q̇ is the velocity term, at q̇ = e_k:
        the symbols Γ[:, :, k] of a Coriolis matrix, or the rate of a Jacobian.
    :param B: (m, nv (nv - 1) / 2), C (m, nv): added to; zero before the first joint.
    """
    n = C.shape[1]
    for i in range(C.shape[0]):
        C[i, k] += christoffel[i, k]
        for j in range(n):
            if j != k:
                first, second = min(j, k), max(j, k)
                pair = first * (2 * n - first - 1) // 2 + second - first - 1
                B[i, pair] += christoffel[i, j]
