# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""External wrenches on any frame, told in any of the three references."""

import warnings

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest
from robodyn_ros.dynamics import BaseMotion

pytestmark = pytest.mark.slow

ROBOTS = ('panda', 'ur5', 'tiago_pro', 'tree3', 'tree7', 'tree16', 'mimic5', 'mimic12')
BASE = BaseMotion((1.0, -2.0, 3.0), (0.4, 0.5, -0.6), (2.0, -1.0, 0.5))
wrench = st.lists(st.floats(-50, 50), min_size=6, max_size=6)
many = settings(deadline=None, max_examples=100)


@pytest.fixture(scope='session')
def loaded(robot):
    """Return what draws a robot's dynamics, one of its frames, a wrench, q, q̇ and q̈."""
    def loaded(data):
        dynamics = robot(data.draw(st.sampled_from(ROBOTS))).dynamics
        frame = data.draw(st.sampled_from(dynamics.model.frame_names))
        rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
        return (dynamics, frame, np.array(data.draw(wrench)),
                *rng.uniform(-2, 2, (3, dynamics.model.nv)))
    return loaded


def told(pose, body):
    """Return a wrench in the axes of a frame, by reference."""
    force, moment = pose[:3, :3] @ body[:3], pose[:3, :3] @ body[3:]
    return {'body': body, 'aligned': np.concatenate([force, moment]),
            'world': np.concatenate([force, moment + np.cross(pose[:3, 3], force)])}


@many
@given(st.data())
def test_efforts_are_less_by_the_transposed_jacobian(loaded, close, data):
    dynamics, frame, body, *motion = loaded(data)
    free = dynamics.inverse_dynamics(*motion, base=BASE)
    size = max(1.0, np.abs(free).max(), np.abs(body).max())
    for reference, w in told(dynamics.pose(motion[0], frame), body).items():
        taken = dynamics.jacobian(motion[0], frame, reference).T @ w
        efforts = dynamics.inverse_dynamics(*motion, {frame: w}, reference, BASE)
        close((free - efforts) / size, taken / size, 1e-12)
        bias = dynamics.bias(*motion[:2], {frame: w}, reference, BASE)
        close((dynamics.bias(*motion[:2], base=BASE) - bias) / size, taken / size, 1e-12)


@many
@given(st.data())
def test_accelerations_are_those_of_efforts_as_large(loaded, close, data):
    dynamics, frame, body, q, qd, tau = loaded(data)
    condition = np.linalg.cond(dynamics.mass_matrix(q))
    for reference, w in told(dynamics.pose(q, frame), body).items():
        as_large = tau + dynamics.jacobian(q, frame, reference).T @ w
        close(dynamics.forward_dynamics(q, qd, tau, {frame: w}, reference, BASE),
              dynamics.forward_dynamics(q, qd, as_large, base=BASE), 1e-13 * max(10.0, condition))


@many
@given(st.data(), st.sampled_from(['body', 'aligned', 'world']))
def test_several_add_up(loaded, close, data, reference):
    dynamics, frame, w, *motion = loaded(data)
    other = data.draw(st.sampled_from(dynamics.model.frame_names))
    both = {frame: 3.0 * w} if frame == other else {frame: w, other: 2.0 * w}

    def effect(wrenches):
        return dynamics.inverse_dynamics(*motion, wrenches, reference)

    free = effect({})
    close(effect(both), effect({frame: w}) + effect({other: 2.0 * w}) - free, 1e-11)


@pytest.mark.parametrize('reference', ['aligned', 'world'])
def test_on_the_links_in_order_as_by_name(robot, close, reference):
    dynamics = robot('tree7').dynamics
    rng = np.random.default_rng(3)
    motion, wrenches = rng.uniform(-2, 2, (3, dynamics.model.nv)), rng.uniform(
        -9, 9, (dynamics.model.nb, 6))
    by_name = dict(zip(dynamics.model.link_names, wrenches, strict=True))
    close(dynamics.inverse_dynamics(*motion, wrenches, reference),
          dynamics.inverse_dynamics(*motion, by_name, reference), 1e-13)


@many
@given(st.data())
def test_without_a_reference_all_speak_of_the_same_point_and_axes(loaded, close, data):
    """Jᵀ w is the generalized force of w, and J̇ the rate of J."""
    dynamics, frame, w, q, qd, qdd = loaded(data)
    J = dynamics.jacobian(q, frame)
    free = dynamics.inverse_dynamics(q, qd, qdd)
    size = max(1.0, np.abs(free).max(), np.abs(w).max())
    close((free - dynamics.inverse_dynamics(q, qd, qdd, {frame: w})) / size, J.T @ w / size, 1e-12)
    close(J, dynamics.jacobian(q, frame, 'aligned'), 0.0)
    close(dynamics.jacobian_dot(q, qd, frame), dynamics.jacobian_dot(q, qd, frame, 'aligned'), 0.0)


def test_without_a_reference_the_task_space_is_aligned(robot, close):
    dynamics, q = robot('panda').dynamics, np.linspace(0.3, 0.9, 7)
    for mine, theirs in zip(dynamics.task_space(q, q, 'panda_link8'),
                            dynamics.task_space(q, q, 'panda_link8', reference='aligned')):
        close(mine, theirs, 0.0)
    for mine, theirs in zip(
            dynamics.task_velocity_terms(q, 'panda_link8', 'xyz'),
            dynamics.task_velocity_terms(q, 'panda_link8', 'xyz', 'aligned')):
        close(mine, theirs, 0.0)


def test_calls_without_a_reference_do_not_warn(robot):
    dynamics, q = robot('two_link').dynamics, np.array([0.3, 0.5])
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        dynamics.jacobian(q, 'tool0')
        dynamics.task_space(q, q, 'tool0', 'xz')
        dynamics.kernels.jacobian('tool0')
        dynamics.batch.bias([q], [q], wrenches={'tool0': np.ones(6)})
