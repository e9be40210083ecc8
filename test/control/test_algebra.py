# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Algebra of 6-vectors and rotations, as NumPy and SciPy have it."""

from hypothesis import given, strategies as st
import numpy as np
import pytest
from robodyn_ros.control.algebra import cholesky_solve, damped_cholesky
from robodyn_ros.control.rotations import angular_motion, exp, log, multiplied, rows
from robodyn_ros.model.rigid_body import quaternion_matrix, quaternion_product, unit_quaternion
from scipy.spatial.transform import Rotation

SEEDS = st.integers(0, 2**32 - 1)


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


def test_rotations_are_those_of_scipy():
    rng = np.random.default_rng(2)
    for _ in range(20):
        p, q = rng.normal(size=(2, 4))
        assert quaternion_matrix(3.0 * q) == pytest.approx(Rotation.from_quat(q).as_matrix())
        product = quaternion_product(unit_quaternion(p), unit_quaternion(q))
        assert Rotation.from_quat(product).as_matrix() == pytest.approx(
            (Rotation.from_quat(p) * Rotation.from_quat(q)).as_matrix())
    assert np.isnan(unit_quaternion(np.zeros(4))).all()


near = pytest.approx


@pytest.mark.parametrize('angle', [0.0, 1e-9, 1e-3, 0.0499, 0.0501, 1.0, 3.0, np.pi - 1e-7, np.pi])
def test_exp_and_log(angle):
    """Also at π, where the sign of the axis is arbitrary, and on both sides of the series."""
    random = np.random.default_rng(1)
    for axis in (*random.normal(size=(20, 3)), *np.eye(3), *-np.eye(3)):
        phi = angle * axis / np.linalg.norm(axis)
        R = np.array(exp(tuple(phi)))
        assert R == near(Rotation.from_rotvec(phi).as_matrix(), abs=1e-12)
        back = np.array(log(rows(R)))
        assert min(abs(back - phi).max(), abs(back + phi).max() if angle > 3.1 else 1.0) < 1e-7
    assert np.array(multiplied(exp((0.1, 0.2, 0.3)), exp((0.3, -1.0, 0.0)))) == near(
        (Rotation.from_rotvec([0.1, 0.2, 0.3]) * Rotation.from_rotvec([0.3, -1.0, 0.0])
         ).as_matrix())


@pytest.mark.parametrize('scale', [1e-4, 0.04, 0.06, 1.0, 2.5])
def test_angular_motion(scale):
    """Velocity and acceleration of exp(φ(t)) by central differences."""
    random, h = np.random.default_rng(3), 1e-4
    for _ in range(10):
        a, b, c = random.normal(size=(3, 3))
        a *= scale / np.linalg.norm(a)

        def turned(t, a=a, b=b, c=c):
            return Rotation.from_rotvec(a + b * t + c * t**2)

        def omega(t, turned=turned):
            return (turned(t + h) * turned(t - h).inv()).as_rotvec() / (2 * h)
        velocity, acceleration = angular_motion(tuple(a), tuple(b), tuple(2 * c))
        assert np.array(velocity) == near(omega(0.0), abs=1e-6)
        assert np.array(acceleration) == near((omega(h) - omega(-h)) / (2 * h), abs=1e-4)
        assert np.linalg.norm(velocity) <= np.linalg.norm(b) + 1e-12
