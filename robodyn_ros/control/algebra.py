# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Linear algebra of compiled code: 6-vectors, Cholesky factors, and the residual of the momentum.

A 6-vector is a tuple. Compiled code has a tuple in registers, and need not read it again after a
store to some array that might be the one it came from: so LLVM computes several elements at once.

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

Vector6 = tuple[float, float, float, float, float, float]
ZERO = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def vector(a: ndarray) -> Vector6:
    """Return an array (6,) as a tuple."""
    return a[0], a[1], a[2], a[3], a[4], a[5]


def put(a: ndarray, x: Vector6) -> None:
    """Write a vector into an array (6,)."""
    a[0], a[1], a[2], a[3], a[4], a[5] = x


def row(A: ndarray, i: int) -> Vector6:
    """Return row i of an array (n, 6)."""
    return A[i, 0], A[i, 1], A[i, 2], A[i, 3], A[i, 4], A[i, 5]


def put_row(A: ndarray, i: int, x: Vector6) -> None:
    """Write row i of an array (n, 6)."""
    A[i, 0], A[i, 1], A[i, 2], A[i, 3], A[i, 4], A[i, 5] = x


def put_column(J: ndarray, j: int, x: Vector6) -> None:
    """Write column j of an array (6, n)."""
    J[0, j], J[1, j], J[2, j], J[3, j], J[4, j], J[5, j] = x


def column(J: ndarray, j: int) -> Vector6:
    """Return column j of an array (6, n)."""
    return J[0, j], J[1, j], J[2, j], J[3, j], J[4, j], J[5, j]


def scaled(a: float, x: Vector6) -> Vector6:
    """Return a x."""
    return a * x[0], a * x[1], a * x[2], a * x[3], a * x[4], a * x[5]


def plus(x: Vector6, a: float, y: Vector6) -> Vector6:
    """Return x + a y."""
    return (x[0] + a * y[0], x[1] + a * y[1], x[2] + a * y[2], x[3] + a * y[3], x[4] + a * y[4],
            x[5] + a * y[5])


def dot(x: Vector6, y: Vector6) -> float:
    """Return x · y."""
    return (x[0] * y[0] + x[1] * y[1] + x[2] * y[2]) + (x[3] * y[3] + x[4] * y[4] + x[5] * y[5])


def lower_times(L: ndarray, x: Vector6) -> Vector6:
    """Return L x of a lower triangular matrix (6, 6)."""
    a, b, c, d, e, f = x
    return (L[0, 0] * a, L[1, 0] * a + L[1, 1] * b, L[2, 0] * a + L[2, 1] * b + L[2, 2] * c,
            L[3, 0] * a + L[3, 1] * b + L[3, 2] * c + L[3, 3] * d,
            L[4, 0] * a + L[4, 1] * b + L[4, 2] * c + L[4, 3] * d + L[4, 4] * e,
            dot(row(L, 5), x))


def times(A: ndarray, x: Vector6) -> Vector6:
    """Return A x of a matrix (6, 6)."""
    return (dot(row(A, 0), x), dot(row(A, 1), x), dot(row(A, 2), x), dot(row(A, 3), x),
            dot(row(A, 4), x), dot(row(A, 5), x))


def transposed_times(A: ndarray, x: Vector6) -> Vector6:
    """Return Aᵀ x of a matrix (6, 6)."""
    return (dot(column(A, 0), x), dot(column(A, 1), x), dot(column(A, 2), x),
            dot(column(A, 3), x), dot(column(A, 4), x), dot(column(A, 5), x))


def damped_cholesky(A: ndarray, damping: float, L: ndarray) -> float:
    """
    Factor A + ``damping`` diag(A) = L D Lᵀ; return its smallest pivot relative to the diagonal.

    The pivot is 0 where A is singular. Cholesky without square roots (Golub and Van Loan, Matrix
    Computations, 2013, section 4.1.2): ``L`` (6, 6) has L (unit diagonal omitted) below the
    diagonal, 1/D on it, and D Lᵀ above.

    An axis that cannot move at all, whose diagonal is 0, gets that of a unit mobility: relative
    damping is independent of the units of the axes (Chiaverini, Siciliano and Egeland 1994).
    """
    least = 1.0
    for i in range(6):
        moves = A[i, i] > 1e-12
        pivot = A[i, i] * (1.0 + damping) if moves else 1.0
        for j in range(i):
            x = A[i, j]
            for k in range(j):
                x -= L[i, k] * L[k, j]
            L[j, i], L[i, j] = x, x * L[j, j]
            pivot -= x * L[i, j]
        L[i, i] = 1.0 / max(pivot, 1e-15)
        least = min(least, pivot / A[i, i] if moves else 1.0)
    return least


def cholesky_solve(L: ndarray, b: ndarray) -> None:
    """Replace ``b`` (6,) by the solution x of L D Lᵀ x = b; ``L`` from the function above."""
    for i in range(6):
        x = b[i]
        for k in range(i):
            x -= L[i, k] * b[k]
        b[i] = x
    for i in range(5, -1, -1):
        x = b[i] * L[i, i]
        for k in range(i + 1, 6):
            x -= L[k, i] * b[k]
        b[i] = x


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
