# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Rigid bodies: rotations, composition, pseudo-inertia, consistency."""

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest
from robodyn_ros.model.rigid_body import (
    body_of,
    Inertial,
    inertial_parameters,
    is_consistent,
    joined,
    nearest_consistent,
    of_body,
    pseudo_inertia,
    rpy_rotation,
    SECOND_MOMENTS,
)
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation


def test_bodies_are_joined():
    # A cloud of point masses, split into two bodies in frames of their own, is one cloud.
    rng = np.random.default_rng(2)
    cloud, masses = rng.normal(size=(12, 3)), rng.uniform(0.1, 2, 12)

    def body(points, masses):
        com = masses @ points / masses.sum()
        r = points - com
        inertia = (np.eye(3) * (masses @ (r * r).sum(1)) - np.einsum('n,ni,nj->ij', masses, r, r))
        return Inertial(masses.sum(), com, inertia)

    rotation, origin = rpy_rotation([0.3, -1, 2]), np.array([0.5, 1, -2])
    there = body((cloud[5:] - origin) @ rotation, masses[5:])
    both = joined([body(cloud[:5], masses[:5]), there.placed(rotation, origin)])
    for one, other in zip(both, body(cloud, masses), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
    mass, com, inertia = joined([])
    assert mass == 0 and not com.any() and not inertia.any()


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
    body = Inertial(2.0, np.array([0.1, -0.2, 0.3]), np.diag([0.03, 0.04, 0.05]))
    for found, true in zip(body_of(of_body(body)), body):
        np.testing.assert_allclose(found, true, atol=1e-15)
    assert body_of(np.zeros((4, 4))).com.tolist() == [0.0, 0.0, 0.0]


MOMENTS = st.lists(st.floats(-1.0, 1.0), min_size=3, max_size=3).filter(
    lambda moments: max(map(abs, moments)) > 1e-3)


def turned(moments, seed=1):
    turn = Rotation.random(random_state=seed).as_matrix()
    return turn @ np.diag(moments) @ turn.T


@pytest.mark.parametrize('moments, consistent', [
    ((1, 1, 1), True), ((1, 2, 2.9), True), ((1, 2, 3), False), ((1, 1, 2.5), False),
    ((0, 1, 1), False), ((-0.1, 1, 1), False), ((0, 0, 0), False)])
def test_a_body_with_volume_obeys_the_triangle_inequality(moments, consistent):
    assert is_consistent(turned(moments)) == consistent


@given(MOMENTS)
def test_the_nearest_inertia_is_one_of_a_body(moments):
    assert is_consistent(nearest_consistent(turned(moments)))


@pytest.mark.parametrize('moments', [(1, 1, 2.5), (-0.1, 0.3, 1), (0, 0, 1), (-1, -1, 1)])
def test_there_is_no_nearer_one(moments):
    found = np.linalg.norm(nearest_consistent(turned(moments)) - turned(moments))
    best = minimize(lambda x: ((x - moments)**2).sum(), np.ones(3), method='SLSQP', tol=1e-14,
                    constraints={'type': 'ineq', 'fun': lambda x: SECOND_MOMENTS @ x})
    assert found == pytest.approx(np.sqrt(best.fun), rel=1e-4)


def test_axes_stay_and_what_is_consistent_too():
    old = turned((1, 1.2, 2.5))
    new = nearest_consistent(old)
    np.testing.assert_allclose(old @ new, new @ old, atol=1e-12)
    np.testing.assert_allclose(nearest_consistent(turned((1, 2, 2.5))), turned((1, 2, 2.5)),
                               rtol=0, atol=1e-14)
