# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest
from robodyn_ros.model.consistency import is_consistent, nearest_consistent, SECOND_MOMENTS
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

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
