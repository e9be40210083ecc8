# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Algebra of 6-vectors as tuples, with rows of arrays that have six columns.

Compiled code has a tuple in registers, and need not read it again after a store to some array
that might be the one it came from: so LLVM computes several elements at once.
"""

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
