# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Residual of the generalised momentum: the efforts on the joints that the model does not know.

The generalised momentum p = M(q) q̇ obeys ṗ = τ + C(q, q̇)ᵀ q̇ - g(q) + τ_d, with all efforts τ_d
that the model does not know. Its observer (De Luca, Albu-Schäffer, Haddadin and Hirzinger,
"Collision detection and safe reaction with the DLR-III lightweight manipulator arm", IROS 2006,
equations 9 to 11; Haddadin, De Luca and Albu-Schäffer, "Robot collisions: a survey", IEEE
Transactions on Robotics 33, 2017, section IV) is r = K (p - ∫ (τ + Cᵀ q̇ - g + r) dt), a low-pass
filter of τ_d with the bandwidth K. Because Ṁ = C + Cᵀ, its increment needs neither Cᵀ nor Ṁ: the
last term of the product rule Δ(M q̇) = M Δq̇ + ΔM q̇ cancels that of Cᵀ q̇ = Ṁ q̇ - C q̇, and

    τ_d Δt = M(q) Δq̇ - ∫ (τ - C q̇ - g) dt

remains. One call of the inverse dynamics gives C q̇ + g, and no acceleration is needed.
"""

from math import exp

from numpy import ndarray


def momentum_change(M: ndarray, qd: ndarray, before: ndarray, i: int) -> float:
    """
    Return row ``i`` of M(q) Δq̇ [N·m·s | N·s].

    :param M: (nv, nv) joint-space inertia matrix.
    :param qd, before: (nv,) velocities now and before [rad/s | m/s].
    """
    change = 0.0
    for j in range(qd.shape[0]):
        change += M[i, j] * (qd[j] - before[j])
    return change


def filtered(residual: float, bandwidth: float, impulse: float, dt: float) -> float:
    """
    Return the residual of a joint [N·m | N] after a time ``dt`` > 0 [s].

    It is the exact solution of ṙ = K (τ_d - r) for a constant τ_d, so that no bandwidth makes it
    unstable.

    :param residual: that before.
    :param bandwidth: K [1/s].
    :param impulse: τ_d Δt, see the module [N·m·s | N·s].
    """
    return residual + (1.0 - exp(-bandwidth * dt)) * (impulse / dt - residual)
