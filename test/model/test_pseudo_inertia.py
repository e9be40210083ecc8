# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
from robodyn_ros.model.pseudo_inertia import (
    body_of,
    inertial_parameters,
    of_body,
    pseudo_inertia,
)
from robodyn_ros.model.rigid_body import Inertial


def test_pseudo_inertia_is_the_second_moment_of_points():
    rng = np.random.default_rng(0)
    points, masses = rng.normal(size=(20, 3)), rng.uniform(size=20)
    inertia = sum(m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, points))
    first = masses @ points
    parameters = [masses.sum(), *first, *inertia[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]]
    extended = np.column_stack([points, np.ones(20)])
    P = pseudo_inertia(parameters)
    np.testing.assert_allclose(P[0], (masses[:, None] * extended).T @ extended)
    np.testing.assert_allclose(inertial_parameters(P), parameters)


def test_a_body_comes_back():
    body = Inertial(2.0, np.array([0.1, -0.2, 0.3]), np.diag([0.03, 0.04, 0.05]))
    for found, true in zip(body_of(of_body(body)), body):
        np.testing.assert_allclose(found, true, atol=1e-15)
    assert body_of(np.zeros((4, 4))).com.tolist() == [0.0, 0.0, 0.0]
