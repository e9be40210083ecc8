# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What methods return that give several arrays."""

from typing import NamedTuple

from numpy import ndarray


class InverseDerivatives(NamedTuple):
    """How efforts change with the motion, (nv, nv) each: row i is that of τ[i]."""

    dtau_dq: ndarray
    dtau_dqd: ndarray
    mass_matrix: ndarray


class ForwardDerivatives(NamedTuple):
    """How accelerations change with state and efforts, (nv, nv) each: row i is that of q̈[i]."""

    dqdd_dq: ndarray
    dqdd_dqd: ndarray
    dqdd_dtau: ndarray


class TaskSpace(NamedTuple):
    """M_x (k, k), V_x (k,) and G_x (k,): τ = Jᵀ (M_x ẍ + V_x + G_x), J the chosen rows."""

    inertia: ndarray
    velocity: ndarray
    gravity: ndarray


class VelocityTerms(NamedTuple):
    """
    The velocity term, as ``coriolis @ products + centrifugal @ qd**2``.

    ``products`` are q̇₁q̇₂, q̇₁q̇₃, ..., q̇₂q̇₃, ...: ``(np.outer(qd, qd))[np.triu_indices(nv, 1)]``.
    """

    coriolis: ndarray
    centrifugal: ndarray
