# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Properties that hold for every robot in every state, with rotors, and task space.

Rates and derivatives are compared with those of Pinocchio, which knows no rotors here.
"""

from dataclasses import replace
from functools import cache

from hypothesis import given, settings, strategies as st
import numpy as np
import pytest
from robodyn_ros import Dynamics
from robodyn_ros.errors import SingularityError
from robots import MIMIC_TREES
from thorough import seeds

ROBOTS = ('panda', 'ur5', 'two_link', 'rp', *(f'tree{seed}' for seed in range(20)))
finite = st.floats(-10, 10)
names = st.sampled_from((*ROBOTS, 'panda_fingers', 'tiago_pro', *MIMIC_TREES))


@pytest.fixture(scope='session')
def geared(robot):
    """Return what gives the dynamics of a robot whose joints have rotors, by its name."""
    @cache
    def geared(name):
        model = robot(name).model
        return Dynamics(replace(model, armature=np.linspace(0, 0.5, model.nv)))
    return geared


@settings(max_examples=seeds(40, 1000))
@given(st.data(), names)
def test_efforts_are_affine_in_accelerations_and_linear_in_parameters(geared, close, data, name):
    """Forward dynamics undo inverse dynamics; M, of the energy too, is positive definite."""
    dynamics = geared(name)
    vector = st.lists(finite, min_size=dynamics.model.nv, max_size=dynamics.model.nv)
    q, qd, qdd = (np.array(data.draw(vector)) for _ in range(3))
    M = dynamics.mass_matrix(q)
    assert (M == M.T).all() and np.linalg.eigvalsh(M).min() > 0
    tau = dynamics.inverse_dynamics(q, qd, qdd)
    condition = np.linalg.cond(M)
    close(dynamics.forward_dynamics(q, qd, tau), qdd, 1e-12 * condition)
    close(tau, M @ qdd + dynamics.bias(q, qd), 1e-11)
    close(np.array(dynamics.kinetic_energy(q, qd)), np.array(0.5 * qd @ M @ qd), 1e-12)
    model = dynamics.model
    close(dynamics.regressor(q, qd, qdd) @ model.inertial_parameters + model.armature * qdd, tau,
          1e-12)


TASKS = [('panda', 'panda_link8', 'xyzrpy', 'body'), ('panda', 'panda_link8', 'xyz', 'aligned'),
         ('ur5', 'tool0', 'xyzrpy', 'world'), ('ur5', 'tool0', 'zy', 'body'),
         ('two_link', 'tool0', 'xy', 'body')]
ROWS = {'xyzrpy': range(6), 'xyz': (0, 1, 2), 'zy': (2, 5), 'xy': (0, 1)}


@pytest.mark.parametrize('task', TASKS, ids=str)
def test_efforts_through_the_task_accelerate_it_as_asked(robot, close, task):
    name, frame, axes, reference = task
    dynamics, rng = robot(name).dynamics, np.random.default_rng(2)
    q, qd = rng.uniform(0.4, 1.0, (2, dynamics.model.nv))
    wanted = rng.uniform(-1, 1, len(axes))
    rows = list(ROWS[axes])
    J = dynamics.jacobian(q, frame, reference)[rows]
    ours = dynamics.task_space(q, qd, frame, axes, reference)
    tau = J.T @ (ours.inertia @ wanted + ours.velocity + ours.gravity)
    qdd = dynamics.forward_dynamics(q, qd, tau)
    Jd = dynamics.jacobian_dot(q, qd, frame, reference)[rows]
    close(J @ qdd + Jd @ qd, wanted, 1e-9)
    close(ours.inertia @ J @ np.linalg.solve(dynamics.mass_matrix(q), J.T), np.eye(len(rows)),
          1e-9)


def test_tasks_that_are_singular(robot, close):
    dynamics = robot('two_link').dynamics
    stretched, bent, qd = np.zeros(2), np.array([0.3, 1.0]), np.ones(2)
    with pytest.raises(SingularityError, match=r"'tool0' cannot move along [+-]1 x: .*damping"):
        dynamics.task_space(stretched, stretched, 'tool0', 'xy', 'body')
    with pytest.raises(SingularityError):
        dynamics.task_space(stretched, stretched, 'tool0', 'x', 'body')
    left = dynamics.task_space(stretched, stretched, 'tool0', 'y', 'body')
    assert np.isfinite(left.inertia).all()
    for part in dynamics.task_space(stretched, qd, 'tool0', 'xy', 'body', damping=1e-3):
        assert np.isfinite(part).all()
    exact = dynamics.task_space(bent, qd, 'tool0', 'xy', 'body')
    nearly = dynamics.task_space(bent, qd, 'tool0', 'xy', 'body', damping=1e-6)
    for mine, theirs in zip(nearly, exact):
        close(mine, theirs, 1e-4)


@pytest.mark.parametrize('specialize', [False, True])
def test_a_task_that_moves_nothing_has_nothing_to_damp(robot, specialize):
    """A share of zero is zero: M_x of one axis would be infinite where it is lost."""
    dynamics = Dynamics(robot('two_link').model, specialize)
    for q, axes in (([0.3, 0.0], 'x'), ([0.3, 0.5], 'z')):
        for ask in (dynamics, dynamics.batch):
            state = np.array(q) if ask is dynamics else np.array([q])
            with pytest.raises(SingularityError, match='cannot move') as error:
                ask.task_space(state, state, 'tool0', axes, 'body', damping=1e-3)
            assert 'give damping' not in error.value.remedy
