# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Piecewise polynomials and quaternions, against SciPy."""

import numpy as np
import pytest
from robodyn_ros.control.algebra.piecewise import cubic, Piecewise, quintic, spline
from robodyn_ros.model import quaternions
from scipy.interpolate import BPoly, CubicHermiteSpline, CubicSpline, PPoly
from scipy.spatial.transform import Rotation

JOINTS = 3


def waypoints(count):
    rng = np.random.default_rng(count)
    times = np.cumsum(rng.uniform(0.01, 3.0, count)) - 1.0
    return times, *(rng.uniform(-2.0, 2.0, (count, JOINTS)) for _ in range(3))


def same(p, expected):
    assert p.coefficients[:, ::-1] == pytest.approx(expected.c.transpose(1, 0, 2), rel=1e-9,
                                                    abs=1e-9)
    shares = np.linspace(0.0, 1.0, 7)[:-1]
    for order in range(3):
        got = p.within(1, len(p.times) - 1, shares).reshape(-1, JOINTS)
        grid = (p.times[1:-1, None] + np.diff(p.times[1:])[:, None] * shares).ravel()
        assert got == pytest.approx(expected(grid, order), rel=1e-9, abs=1e-7)
        p = p.derivative()


@pytest.mark.parametrize('count', [2, 3, 4, 50])
def test_they_are_those_of_scipy(count):
    times, x, xd, xdd = waypoints(count)
    same(cubic(times, x, xd), CubicHermiteSpline(times, x, xd))
    same(quintic(times, x, xd, xdd), PPoly.from_bernstein_basis(
        BPoly.from_derivatives(times, np.stack([x, xd, xdd], axis=1))))
    same(spline(times, x, xd[0], xd[-1]),
         CubicSpline(times, x, bc_type=((1, xd[0]), (1, xd[-1]))))


def test_the_spline_of_most_waypoints_is_as_exact():
    """Durations of segments differ by a factor of ten thousand, in twenty thousand segments."""
    rng = np.random.default_rng(1)
    times = np.cumsum(10.0 ** rng.uniform(-4.0, 0.0, 20_000))
    x = rng.uniform(-1.0, 1.0, (len(times), 1))
    expected = CubicSpline(times, x, bc_type=((1, [0.5]), (1, [0.0])))
    got = spline(times, x, np.array([0.5]), np.zeros(1))
    scale = np.diff(times)[:, None, None] ** np.arange(4)[:, None]
    assert np.abs((got.coefficients[:, ::-1] - expected.c.transpose(1, 0, 2))
                  * scale[:, ::-1]).max() < 1e-9


def test_a_constant():
    p = Piecewise(np.array([0.0, 1.0]), np.ones((1, 1, JOINTS)))
    assert p.within(0, 1, np.array([0.5])).tolist() == [[[1.0] * JOINTS]]
    assert not p.derivative().within(0, 1, np.array([0.5])).any()


def test_rotations_are_those_of_scipy():
    rng = np.random.default_rng(2)
    for _ in range(20):
        p, q = rng.normal(size=(2, 4))
        assert quaternions.matrix(3.0 * q) == pytest.approx(Rotation.from_quat(q).as_matrix())
        product = quaternions.product(quaternions.unit(p), quaternions.unit(q))
        assert Rotation.from_quat(product).as_matrix() == pytest.approx(
            (Rotation.from_quat(p) * Rotation.from_quat(q)).as_matrix())
    assert np.isnan(quaternions.unit(np.zeros(4))).all()
