# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Algebra of 6-vectors, and the factors of matrices of six axes, as NumPy has them."""

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest
from robodyn_ros.control.algebra import six_vectors
from robodyn_ros.control.algebra.cholesky import cholesky_solve, damped_cholesky
from robodyn_ros.control.laws.cartesian_impedance import diagonalize

SEEDS = st.integers(0, 2**32 - 1)


@given(seed=SEEDS)
def test_products(seed):
    random = np.random.default_rng(seed)
    A, x, y = random.normal(size=(6, 6)), random.normal(size=6), random.normal(size=6)
    B, ours = A.copy(), tuple(x)
    assert six_vectors.vector(x) == ours
    assert six_vectors.row(A, 2) == tuple(A[2]) and six_vectors.column(A, 2) == tuple(A[:, 2])
    assert six_vectors.times(A, ours) == pytest.approx(A @ x)
    assert six_vectors.lower_times(A, ours) == pytest.approx(np.tril(A) @ x)
    assert six_vectors.transposed_times(A, ours) == pytest.approx(A.T @ x)
    assert six_vectors.dot(ours, tuple(y)) == pytest.approx(x @ y)
    assert six_vectors.plus(ours, 0.3, tuple(y)) == pytest.approx(x + 0.3 * y)
    assert six_vectors.scaled(0.3, ours) == pytest.approx(0.3 * x)
    six_vectors.put_row(A, 1, ours)
    six_vectors.put_column(A, 3, ours)
    six_vectors.put(y, ours)
    B[1], B[:, 3] = x, x
    assert (A == B).all() and (x == y).all()


@settings(deadline=None)
@given(seed=SEEDS)
def test_factors_of_a_mobility(seed):
    random = np.random.default_rng(seed)
    root = random.normal(size=(6, 6))
    A, b, L = root @ root.T + 0.1 * np.eye(6), random.normal(size=6), np.zeros((6, 6))
    damped, x = A + 0.01 * np.diag(A.diagonal()), b.copy()
    least = damped_cholesky(A, 0.01, L)
    cholesky_solve(L, x)
    assert damped @ x == pytest.approx(b, abs=1e-9)
    assert least == pytest.approx(min(np.linalg.cholesky(damped).diagonal()**2 / A.diagonal()))


def test_an_axis_that_cannot_move():
    A, L, x = np.diag([1.0, 2.0, 0.0, 4.0, 5.0, 6.0]), np.zeros((6, 6)), np.ones(6)
    assert damped_cholesky(A, 0.0, L) == 1.0
    cholesky_solve(L, x)
    assert x == pytest.approx([1.0, 0.5, 1.0, 0.25, 0.2, 1.0 / 6.0])


@settings(deadline=None)
@given(seed=SEEDS, rank=st.integers(1, 6))
def test_modes_of_a_symmetric_matrix(seed, rank):
    root = np.random.default_rng(seed).normal(size=(6, rank))
    A, modes = root @ root.T, np.eye(6)
    S = A.copy()
    diagonalize(S, modes, 10)
    assert modes @ modes.T == pytest.approx(np.eye(6), abs=1e-12)
    assert modes @ A @ modes.T == pytest.approx(S, abs=1e-7 * abs(A).max())
    assert sorted(S.diagonal()) == pytest.approx(np.linalg.eigvalsh(A), abs=1e-7 * abs(A).max())
