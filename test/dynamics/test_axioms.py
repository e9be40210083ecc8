# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What holds for every robot in every state."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

ROBOTS = ('panda', 'ur5', 'two_link', 'rp', *(f'tree{seed}' for seed in range(20)))
finite = st.floats(-10, 10)
names = st.sampled_from(ROBOTS)
lenient = settings(deadline=None, max_examples=100)


@pytest.fixture(scope='session')
def draw(robot):
    """``draw(data, name, count)`` is a robot's dynamics and ``count`` vectors for its joints."""
    def draw(data, name, count):
        dynamics = robot(name).dynamics
        vector = st.lists(finite, min_size=dynamics.model.nv, max_size=dynamics.model.nv)
        return dynamics, *(np.array(data.draw(vector)) for _ in range(count))
    return draw


@lenient
@given(st.data(), names)
def test_the_mass_matrix_is_symmetric_and_positive_definite(draw, data, name):
    dynamics, q = draw(data, name, 1)
    M = dynamics.mass_matrix(q)
    assert (M == M.T).all()
    assert np.linalg.eigvalsh(M).min() > 0


@lenient
@given(st.data(), names)
def test_forward_dynamics_undoes_inverse_dynamics(draw, close, data, name):
    dynamics, q, qd, qdd = draw(data, name, 3)
    tau = dynamics.inverse_dynamics(q, qd, qdd)
    condition = np.linalg.cond(dynamics.mass_matrix(q))
    close(dynamics.forward_dynamics(q, qd, tau), qdd, 1e-12 * condition)


@lenient
@given(st.data(), names)
def test_efforts_are_affine_in_the_acceleration(draw, close, data, name):
    dynamics, q, qd, qdd = draw(data, name, 3)
    close(dynamics.inverse_dynamics(q, qd, qdd),
          dynamics.mass_matrix(q) @ qdd + dynamics.bias(q, qd), 1e-11)


@lenient
@given(st.data(), names, st.floats(-3, 3))
def test_velocity_efforts_are_quadratic(draw, close, data, name, k):
    dynamics, q, qd = draw(data, name, 2)
    coriolis = dynamics.bias(q, qd) - dynamics.gravity(q)
    close(dynamics.bias(q, k * qd), k**2 * coriolis + dynamics.gravity(q), 1e-10)


@lenient
@given(st.data(), names)
def test_the_mass_matrix_does_not_depend_on_the_first_joint(draw, close, data, name):
    dynamics, q = draw(data, name, 1)
    moved = q + np.eye(len(q))[0]
    supported = carried_by(dynamics.model.parent, 0)
    close(dynamics.mass_matrix(moved)[np.ix_(supported, supported)],
          dynamics.mass_matrix(q)[np.ix_(supported, supported)], 1e-12)


def carried_by(parent, joint):
    """Indices of a joint and of all that it carries."""
    carried = [joint]
    for i, p in enumerate(parent):
        if p in carried:
            carried.append(i)
    return carried
