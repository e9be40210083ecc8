# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Damped Cholesky factorization of the symmetric 6×6 matrices of task space."""

from numpy import ndarray


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
