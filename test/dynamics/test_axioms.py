# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Properties that hold for every robot in every state, and task space."""

from dataclasses import replace

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
lenient = settings(max_examples=seeds(40, 1000))

# Derivative at 0 of what is given at -3 ... 3 steps: its error is h⁶ f⁽⁷⁾ / 140
CENTRAL = np.array([-1, 9, -45, 0, 45, -9, 1]) / 60
PLACES = np.arange(-3, 4)


@pytest.fixture(scope='session')
def draw(robot):
    """
    Return what draws the dynamics of a robot and ``count`` vectors for its joints.

    The joints have rotors.
    """
    geared: dict[str, Dynamics] = {}

    def draw(data, name, count):
        if name not in geared:
            model = robot(name).model
            geared[name] = Dynamics(replace(model, armature=np.linspace(0, 0.5, model.nv)))
        dynamics = geared[name]
        vector = st.lists(finite, min_size=dynamics.model.nv, max_size=dynamics.model.nv)
        return dynamics, *(np.array(data.draw(vector)) for _ in range(count))
    return draw


@lenient
@given(st.data(), names)
def test_efforts_are_affine_in_accelerations_and_linear_in_parameters(draw, close, data, name):
    """Forward dynamics undo inverse dynamics; M, of the energy too, is positive definite."""
    dynamics, q, qd, qdd = draw(data, name, 3)
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


@lenient
@given(st.data(), names)
def test_the_rate_of_the_mass_matrix_less_twice_the_coriolis_matrix_is_skew(draw, data, name):
    dynamics, q, qd = draw(data, name, 2)
    rate, step = steps(qd)
    along = dynamics.batch.mass_matrix(q + step * PLACES[:, None] * qd)
    skew = np.tensordot(CENTRAL, along, 1) / step - 2 * dynamics.coriolis_matrix(q, qd)
    assert np.abs(skew + skew.T).max() <= 1e-11 * rate * np.abs(along).max()


@lenient
@given(st.data(), names)
def test_derivatives_are_slopes(draw, data, name):
    dynamics, *motion = draw(data, name, 6)
    rate, step = steps(motion[1], *motion[3:5])
    slope, ours, size = slopes(dynamics, 'inverse_dynamics', motion, step)
    assert np.abs(ours - slope).max() <= 1e-10 * rate * size
    # What is divided by M changes the faster the closer M is to singular
    slope, ours, size = slopes(dynamics, 'forward_dynamics', motion, 0.1 * step)
    condition = np.linalg.cond(dynamics.mass_matrix(motion[0]))
    assert np.abs(ours - slope).max() <= 1e-11 * condition * rate * size


def slopes(dynamics, name, motion, step):
    """Return the slope along (3, nv) of a function at (3, nv), of ours, and how large it is."""
    given, way = np.array(motion[:3]), np.array(motion[3:])
    path = given[:, None] + step * PLACES[:, None] * way[:, None]
    along = getattr(dynamics.batch, name)(*path)
    derivatives = getattr(dynamics, f'{name}_derivatives')(*given)
    return (CENTRAL @ along / step, sum(d @ direction for d, direction in zip(derivatives, way)),
            np.abs(along).max())


def steps(*rates):
    """
    Return how fast a motion changes at most [1/s], and a step that is a hundredth of that.

    What the sines and cosines of the joints give changes by 2 % in a step or less: the seventh
    derivative tells by less than 1e-12 of rate times size, rounding by 1e-14.
    """
    rate = 1.0 + sum(np.abs(rate).sum() for rate in rates)
    return rate, 0.01 / rate


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
