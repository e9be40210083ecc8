# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Energy tank of a variable stiffness: what it pays, what it refuses, and the port it keeps."""

from functools import lru_cache

from hypothesis import given, settings, strategies as st
import numpy as np
import pytest
from robodyn_ros import Settings
from robodyn_ros.control.declare import square_root
from robodyn_ros.control.laws import spring
from robodyn_ros.control.laws.cartesian_impedance import (
    damping_force, factor_stiffness, INITIAL_JACOBI_SWEEPS, JACOBI_SWEEPS)
from robodyn_ros.control.laws.spring import COUPLED, fill, SPENT, TankMemory, vary_stiffness
from scipy.spatial.transform import Rotation
from thorough import seeds

DT, MOST = 1e-3, 500.0
MATRICES = st.tuples(st.integers(0, 2**32 - 1), st.integers(1, 6))      # seed and rank


@lru_cache
def record(capacity, limit=0.08):
    """Return the record of settings with the stiffness MOST of all axes."""
    return Settings(task_stiffness=[MOST] * 6, tank_energy=capacity, task_error_limit=(
        limit, limit)).task_record().view(np.recarray)[0]


def semidefinite(seed, rank, most=MOST):
    """Return a random matrix (6, 6) of a rank, whose largest eigenvalue is at most ``most``."""
    random = np.random.default_rng(seed)
    vectors = np.linalg.qr(random.normal(size=(6, 6)))[0][:, :rank]
    found = (vectors * random.uniform(0.01, 1.0, rank) * most) @ vectors.T
    return 0.5 * (found + found.T)


def tank(asked=100.0):
    """Return a memory whose law has begun with this stiffness of each axis."""
    memory = TankMemory(np.zeros((6, 6)), np.zeros(3))
    run(memory, asked, np.zeros(6), 1.0, DT)
    assert matrix(memory).tolist() == (asked * np.eye(6)).tolist()
    assert memory.account.tolist() == [0.0, 1.0, 0.0]
    return memory


def matrix(memory):
    return memory.stiffness.reshape(6, 6)


def run(memory, asked, error, capacity, seconds=1.7):
    for _ in range(round(seconds / DT)):
        vary_stiffness(memory, record(capacity, 3.0), asked * np.eye(6), error, DT, np.zeros(6))


def test_the_stiffness_follows():
    memory = tank()
    run(memory, 500.0, np.zeros(6), 0.0)
    assert matrix(memory) == pytest.approx(500.0 * np.eye(6)) and memory.account[SPENT] == 0.0
    # It is the one asked for, to the last bit: what follows from it is computed no more.
    memory, error = tank(), np.full(6, 0.01)
    asked = np.diag([500.0, 0.0, 1e-6, 30.0, 400.0, 100.0])
    changes = [vary_stiffness(memory, record(100.0), asked, error, DT, np.zeros(6))
               for _ in range(4000)]
    arrived = changes.index(False)
    assert all(changes[:arrived]) and not any(changes[arrived:])
    assert (matrix(memory) == asked).all()
    # Stiffer along the error, which nobody pays for, and softer across it, which is free.
    memory, error = tank(100.0), np.array([0.03, 0.03, 0.0, 0.0, 0.0, 0.0])
    asked = np.diag([500.0, 500.0, 10.0, 10.0, 10.0, 10.0])
    for _ in range(2000):
        vary_stiffness(memory, record(0.0), asked, error, DT, np.zeros(6))
    K = matrix(memory)
    along, across = np.array([1.0, 1.0]) / np.sqrt(2), np.array([1.0, -1.0]) / np.sqrt(2)
    assert along @ K[:2, :2] @ along == pytest.approx(100.0)
    assert across @ K[:2, :2] @ across == pytest.approx(500.0)
    assert K[2:, 2:] == pytest.approx(10.0 * np.eye(4), abs=1e-3)


@pytest.mark.slow
def test_what_the_tank_pays_and_gets_back():
    memory, error = tank(), np.array([0.05, 0.0, 0.0, 0.0, 0.0, 0.0])
    run(memory, 500.0, error, 0.2)
    assert matrix(memory).diagonal() == pytest.approx([100.0 + 2 * 0.2 / 0.05**2] + [500.0] * 5)
    assert memory.account[SPENT] == pytest.approx(0.2)
    fill(memory, 0.4, 0.1)              # half of 0.04 J
    run(memory, 500.0, error, 0.2)
    assert matrix(memory)[0, 0] == pytest.approx(100.0 + 2 * 0.22 / 0.05**2)
    memory, error = tank(300.0), np.array([0.05] + [0.0] * 5)
    run(memory, 100.0, error, 1.0)
    assert matrix(memory)[0, 0] == pytest.approx(100.0) and memory.account[SPENT] == 0.0
    run(memory, 300.0, error, 1.0)
    run(memory, 100.0, error, 1.0)
    assert memory.account[SPENT] == pytest.approx(0.0, abs=1e-6)


@pytest.mark.slow
@settings(max_examples=seeds(5, 200))
@given(seed=st.integers(0, 2**32 - 1), capacity=st.floats(0.0, 0.5), full=st.booleans())
def test_the_port_is_passive_at_random_stiffness(seed, capacity, full):
    """Of a mass on it, at a K(t) that is chosen to pump it: no more comes out than went in."""
    random, mass, damping = np.random.default_rng(seed), 2.0, 1.0
    s, memory, work, pull = record(capacity), tank(), np.zeros(6), np.zeros(6)
    x, v = random.uniform(-0.1, 0.1, 6), random.uniform(-0.3, 0.3, 6)
    asked, force, given_energy = 100.0 * np.eye(6), np.zeros(6), 0.0

    def stored():
        size = 6 if memory.account[COUPLED] else 3
        return 0.5 * mass * v @ v + capacity - memory.account[SPENT] + sum(
            spring.energy(spring.quadratic(matrix(memory), -x, first, first + size),
                          spring.greatest(s, first, first + size)) for first in range(0, 6, size))
    begin = stored()
    for k in range(500):
        if k % 20 == 0:
            # Stiff on the way back, soft on the way out, or anything
            asked = np.diag(np.where(x * v < 0.0, 500.0, 10.0)) if (
                random.uniform() < 0.7) else np.diag(random.uniform(0.0, 500.0, 6))
            if full:
                asked = semidefinite(random.integers(2**32), random.integers(1, 7))
                if random.uniform() < 0.7:      # whichever of it pulls back along the motion
                    asked *= 1.0 if v @ asked @ x < 0.0 else 0.02
            force = random.uniform(-3.0, 3.0, 6)
        vary_stiffness(memory, s, asked, -x, DT, work)
        spring.spring_force(s, matrix(memory), bool(memory.account[COUPLED]), -x, pull)
        fill(memory, damping * v @ v, DT)
        v = v + DT / mass * (pull - damping * v + force)
        x = x + DT * v
        given_energy += DT * force @ v
        assert stored() - begin <= given_energy + 0.02 * (begin + abs(given_energy)) + 1e-3
        if k % 100 == 0:
            assert (matrix(memory) == matrix(memory).T).all()
            assert np.linalg.eigvalsh(matrix(memory)).min() > -1e-9 * MOST
    assert memory.account[SPENT] <= capacity + 1e-12


@settings(max_examples=50)
@given(stiffness=MATRICES, tool_axes=st.booleans(), size=st.floats(0.01, 2.5))
def test_the_wrench_of_the_spring_does_the_work_of_its_potential(stiffness, tool_axes, size):
    """-dU/dt = F · v + n · ω, for poses near and far, by differences of the error."""
    random, K, s = np.random.default_rng(stiffness[0]), semidefinite(*stiffness), record(1.0)
    p, turned = random.normal(size=3) * 0.2, Rotation.from_rotvec(random.normal(size=3))
    goal = Rotation.from_rotvec(size * (axis := random.normal(size=3)) / np.linalg.norm(axis)
                                ) * turned
    v, w = random.normal(size=(2, 3))

    def error(time):
        """Of a frame that moves past p at v and w, from the frame at rest at the origin."""
        R = Rotation.from_rotvec(time * w) * turned
        e = np.concatenate([-(p + time * v), (goal * R.inv()).as_rotvec()])
        return np.concatenate([R.inv().apply(e[:3]), R.inv().apply(e[3:])]) if tool_axes else e

    def stored(time):
        return spring.energy(spring.quadratic(K, error(time), 0, 6), spring.greatest(s, 0, 6))
    force = np.zeros(6)
    spring.spring_force(s, K, True, error(0.0), force)
    spring.turn_force(error(0.0), tool_axes, force)
    if tool_axes:
        v, w = turned.inv().apply(v), turned.inv().apply(w)
    power = force[:3] @ v + force[3:] @ w
    step = 1e-6
    v, w = (turned.apply(v), turned.apply(w)) if tool_axes else (v, w)
    assert power == pytest.approx((stored(-step) - stored(step)) / (2 * step), rel=1e-4, abs=1e-3)


def factor(K):
    """Return L with K = L Lᵀ."""
    L = np.zeros((6, 6))
    factor_stiffness(K, L)
    assert L @ L.T == pytest.approx(K, abs=1e-6 * abs(K).max())
    return L


def damping(A, unit, K, modes, sweeps):
    """Return D of the ratio 0.7, by columns."""
    D = np.eye(6)
    for column in D:
        damping_force(A, unit, factor(K), 0.7, modes.copy(), sweeps, column, np.zeros((4, 6, 6)))
    return D


@settings(max_examples=50)
@given(stiffness=MATRICES, unit=st.booleans())
def test_damping_of_a_full_stiffness(stiffness, unit):
    """D of any K of any rank is that of Albu-Schäffer et al., and symmetric."""
    K, A = semidefinite(*stiffness), semidefinite(stiffness[0] + 1, 6, 2.0) + 0.1 * np.eye(6)
    D = damping(A, unit, K, np.eye(6), INITIAL_JACOBI_SWEEPS)
    root, (values, vectors) = square_root(K), np.linalg.eigh(
        square_root(K) @ (np.eye(6) if unit else A) @ square_root(K))
    expected = 1.4 * root @ (vectors / np.sqrt(np.maximum(values, 1e-9 * values.max()))
                             ) @ vectors.T @ root
    assert D == pytest.approx(D.T, abs=1e-6 * abs(D).max())
    assert D == pytest.approx(expected, abs=0.05 * abs(expected).max())


def test_modes_of_the_cycle_before_make_the_damping_exact():
    """As A turns by 2 rad/s, one sweep in each cycle keeps D where many would bring it."""
    K, A = np.diag([500.0, 800.0, 500.0, 30.0, 30.0, 20.0]), semidefinite(3, 6, 2.0) + np.eye(6)
    modes = np.eye(6)
    for cycle in range(300):
        turned = np.kron(np.eye(2), Rotation.from_rotvec([0.0, 2e-3 * cycle, 0.0]).as_matrix())
        mobility = turned @ A @ turned.T
        damping_force(mobility, False, factor(K), 0.7, modes,
                      JACOBI_SWEEPS if cycle else INITIAL_JACOBI_SWEEPS,
                      np.zeros(6), np.zeros((4, 6, 6)))
    kept = damping(mobility, False, K, modes, 0)
    exact = damping(mobility, False, K, np.eye(6), 10)
    assert kept == pytest.approx(exact, abs=1e-3 * abs(exact).max())
    assert np.eye(6) == pytest.approx(modes @ modes.T, abs=1e-12)


@pytest.mark.parametrize('error', [np.zeros(6), np.full(6, 0.02)])
def test_a_capacity_below_what_is_spent_pays_nothing(error):
    memory = tank()
    memory.account[SPENT] = 0.4
    run(memory, 300.0, error, 0.1)
    assert np.isfinite(matrix(memory)).all() and memory.account[SPENT] == 0.4
    if error.any():         # the spring holds no more than before
        assert error @ matrix(memory) @ error <= 100.0 * error @ error * (1.0 + 1e-9)
    else:                   # and where it is not loaded, nothing has to be paid
        np.testing.assert_allclose(matrix(memory), 300.0 * np.eye(6), atol=1e-5)
