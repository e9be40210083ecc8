# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Named tuples of methods that return several arrays."""

from typing import NamedTuple

from numpy import ndarray


class InverseDerivatives(NamedTuple):
    """Partial derivatives of inverse dynamics, (nv, nv) each; row i is that of τ[i]."""

    dtau_dq: ndarray
    dtau_dqd: ndarray
    mass_matrix: ndarray


class ForwardDerivatives(NamedTuple):
    """Partial derivatives of forward dynamics, (nv, nv) each; row i is that of q̈[i]."""

    dqdd_dq: ndarray
    dqdd_dqd: ndarray
    dqdd_dtau: ndarray


class TaskSpace(NamedTuple):
    """M_x (k, k), V_x (k,) and G_x (k,) of τ = Jᵀ (M_x ẍ + V_x + G_x), J the rows of the task."""

    inertia: ndarray
    velocity: ndarray
    gravity: ndarray


class VelocityTerms(NamedTuple):
    """
    Velocity term as ``coriolis @ products + centrifugal @ qd**2``.

    ``products``: q̇₁q̇₂, q̇₁q̇₃, ..., q̇₂q̇₃, ..., ``np.outer(qd, qd)[np.triu_indices(nv, 1)]``.
    """

    coriolis: ndarray
    centrifugal: ndarray
