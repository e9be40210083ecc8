# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Exponential coordinates of rotations, against SciPy and finite differences."""

import numpy as np
import pytest
from robodyn_ros.control.algebra.rotations import angular_motion, exp, log, multiplied, rows
from scipy.spatial.transform import Rotation

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
