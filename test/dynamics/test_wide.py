# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Every quantity against Pinocchio: real robots of many kinds, random trees, mimic joints.

Ours are asked for several states at a time, Pinocchio for one. What is compared is relative to
the largest entry of the quantity, of whatever size that is.
"""

import numpy as np
import pytest
from robots import MIMIC_TREES, TREES, WIDE

pytestmark = pytest.mark.slow

STATES = 3
MOST_FRAMES = 10


@pytest.fixture(scope='module', params=[*WIDE, *TREES, *MIMIC_TREES])
def wide(request, robot):
    """Every robot, one after the other; each is built once."""
    return robot(request.param)


@pytest.fixture(scope='module')
def motion(wide):
    """q, q̇, q̈ (STATES, nv) each; q̈ serves as efforts, too."""
    return np.random.default_rng(wide.model.nv).uniform(-3, 3, (3, STATES, wide.model.nv))


@pytest.fixture(scope='module')
def same():
    """Return what asserts that N results agree, each to its largest entry."""
    def same(ours, theirs, floor=0.0):
        theirs = list(theirs)
        assert len(ours) == len(theirs)
        for mine, other in zip(ours, map(np.asarray, theirs)):
            assert mine.shape == other.shape
            scale = max(floor, np.abs(other).max(initial=0.0))
            assert np.abs(mine - other).max(initial=0.0) <= 1e-10 * scale
    return same


def test_efforts(wide, motion, same):
    ask, (q, qd, _) = wide.dynamics.batch, motion
    same(ask.inverse_dynamics(*motion), map(wide.rnea, *motion))
    same(ask.bias(q, qd), map(wide.bias, q, qd))
    same(ask.gravity(q), map(wide.gravity, q))


def test_efforts_under_wrenches(wide, motion, same):
    rng = np.random.default_rng(2)
    frames = {name: rng.uniform(-20, 20, (STATES, 6)) for name in wide.model.frame_names}
    ours = wide.dynamics.batch.inverse_dynamics(*motion, frames, 'body')
    same(ours, [wide.rnea(*state, {name: w[k] for name, w in frames.items()})
                for k, state in enumerate(np.swapaxes(motion, 0, 1))])


def test_matrices(wide, motion, same):
    ask, (q, qd, _) = wide.dynamics.batch, motion
    same(ask.mass_matrix(q), map(wide.mass_matrix, q))
    C, theirs = ask.coriolis_matrix(q, qd), np.array(list(map(wide.coriolis, q, qd)))
    same(C + np.swapaxes(C, 1, 2), theirs + np.swapaxes(theirs, 1, 2))
    for velocity in (times(C, qd), summed(ask.velocity_terms(q), qd)):
        same(velocity, times(theirs, qd))


def times(matrices, vectors):
    """One product a state."""
    return np.einsum('nij,nj->ni', matrices, vectors)


def summed(terms, qd):
    """Return the velocity term of its two parts."""
    one, other = np.triu_indices(qd.shape[1], 1)
    return times(terms.coriolis, qd[:, one] * qd[:, other]) + times(terms.centrifugal, qd**2)


def test_accelerations(wide, motion, same):
    same(wide.dynamics.batch.forward_dynamics(*motion), map(wide.forward_dynamics, *motion))


def test_derivatives(wide, motion, same):
    ask = wide.dynamics.batch
    ours = ask.inverse_dynamics_derivatives(*motion)
    for mine, theirs in zip(ours[:2], zip(*map(wide.derivatives, *motion))):
        same(mine, theirs)
    same(ours.mass_matrix, map(wide.mass_matrix, motion[0]))
    for mine, theirs in zip(ask.forward_dynamics_derivatives(*motion),
                            zip(*map(wide.forward_derivatives, *motion))):
        same(mine, theirs)


def test_kinematics(wide, motion, same):
    ask, (q, qd, _) = wide.dynamics.batch, motion
    for name in some(wide.model.frame_names):
        poses, jacobians = zip(*(wide.place(name, *state) for state in zip(q, qd)))
        same(ask.pose(q, name), poses)
        for reference in ('world', 'body', 'aligned'):
            theirs = [both[reference] for both in jacobians]
            same(ask.jacobian(q, name, reference), [J for J, _ in theirs])
            # Some are zero but for what the rounding of unit axes leaves
            same(ask.jacobian_dot(q, qd, name, reference), [Jd for _, Jd in theirs], floor=1.0)


def test_task_space(wide, motion, same):
    q, qd, _ = motion
    frame, axes = task(wide, q, qd)
    rows, theirs = ['xyz'.index(axis) for axis in axes], []
    for state in zip(q, qd):
        J, Jd = (of[rows] for of in wide.place(frame, *state)[1]['aligned'])
        gravity, through = wide.gravity(state[0]), np.linalg.solve(wide.mass_matrix(state[0]), J.T)
        inertia = np.linalg.inv(J @ through)
        velocity = through.T @ (wide.bias(*state) - gravity) - Jd @ state[1]
        theirs.append((inertia, inertia @ velocity, inertia @ through.T @ gravity))
    inertias, velocities, weights = zip(*theirs)
    ours = wide.dynamics.batch.task_space(q, qd, frame, axes, 'aligned')
    terms = wide.dynamics.batch.task_velocity_terms(q, frame, axes, 'aligned')
    for mine, others in ((ours.inertia, inertias), (ours.velocity, velocities),
                         (summed(terms, qd), velocities), (ours.gravity, weights)):
        same(mine, others)


def task(wide, q, qd):
    """Return a frame and the axes, all three if possible, in which it is far from singular."""
    def far(name, rows):
        jacobians = (wide.place(name, *state)[1]['aligned'][0][rows] for state in zip(q, qd))
        return min(np.linalg.svd(J, compute_uv=False)[len(rows) - 1] for J in jacobians)

    for axes in ('xyz', 'x') if wide.model.nv >= 3 else ('x',):
        rows = ['xyz'.index(axis) for axis in axes]
        best = max(some(wide.model.frame_names), key=lambda name: far(name, rows))
        if far(best, rows) > 0.01:
            return best, axes
    raise AssertionError('nothing moves along x')


def some(names):
    """At most MOST_FRAMES of the frames, and the last one."""
    return dict.fromkeys([*names[::-(-len(names) // MOST_FRAMES)], names[-1]])


def test_energies(wide, motion, same):
    ask, (q, qd, _) = wide.dynamics.batch, motion
    kinetic, potential = zip(*map(wide.energies, q, qd))
    same(ask.kinetic_energy(q, qd), kinetic)
    same(ask.potential_energy(q), potential)
    same(ask.center_of_mass(q), map(wide.center_of_mass, q))


def test_regressor(wide, motion, same):
    same(wide.dynamics.batch.regressor(*motion), map(wide.regressor, *motion))
