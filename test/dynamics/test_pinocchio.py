# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Every quantity against Pinocchio: real robots, random trees, mimic joints, locked joints.

Ours are asked for several states at a time and for one, Pinocchio for one. Differences are
relative to the largest entry of the quantity, of whatever size that is.
"""

from dynamics.conftest import parts
import numpy as np
import pytest
from robots import MIMIC_TREES, REAL, TREES, WIDE
from thorough import seeds

pytestmark = pytest.mark.slow

ROBOTS = ('two_link', 'rp', *REAL, *[*WIDE][::seeds(2, 1)], *[*TREES][::seeds(4, 1)],
          *[*MIMIC_TREES][::seeds(3, 1)], *(f'locked{seed}' for seed in range(seeds(3, 10))))
STATES = 3
MOST_FRAMES = 10
REFERENCES = 'world', 'body', 'aligned'


@pytest.fixture(params=ROBOTS)
def case(request, robot):
    return robot(request.param)


@pytest.fixture
def same(case):
    """
    Return what asserts that a quantity of ours is that of Pinocchio.

    It is asked for by ``ours(dynamics, q, qd, qdd)`` of many states (N, nv) or of one, by
    ``theirs(q, qd, qdd)`` of one; q̈ serves as efforts, too.
    """
    motion = np.random.default_rng(case.model.nv).uniform(-3, 3, (3, STATES, case.model.nv))
    states = np.swapaxes(motion, 0, 1)

    def same(ours, theirs, floor=0.0):
        right = [parts(theirs(*state)) for state in states]
        many = zip(*parts(ours(case.dynamics.batch, *motion)), strict=True)
        alone = parts(ours(case.dynamics, *states[-1]))
        for mine, others in zip([*many, alone], [*right, right[-1]], strict=True):
            for part, other in zip(mine, others, strict=True):
                assert part.shape == other.shape
                scale = max(floor, np.abs(other).max(initial=0.0))
                assert np.abs(part - other).max(initial=0.0) <= 1e-10 * scale
    same.motion = motion
    return same


def test_efforts(case, same):
    wrenches = dict(zip(case.model.frame_names, np.random.default_rng(2).uniform(
        -20, 20, (len(case.model.frame_names), 6))))
    same(lambda on, *motion: on.inverse_dynamics(*motion), case.rnea)
    same(lambda on, *motion: on.inverse_dynamics(*motion, wrenches, 'body'),
         lambda *motion: case.rnea(*motion, wrenches))
    same(lambda on, q, qd, _: on.bias(q, qd), lambda q, qd, _: case.bias(q, qd))
    same(lambda on, q, *_: on.gravity(q), lambda q, *_: case.gravity(q))
    same(lambda on, *motion: on.regressor(*motion), case.regressor)


def times(matrices, vectors):
    """One product a state."""
    return np.einsum('...ij,...j->...i', matrices, vectors)


def summed(terms, qd):
    """Return the velocity term of its two parts."""
    one, other = np.triu_indices(qd.shape[-1], 1)
    return (times(terms.coriolis, qd[..., one] * qd[..., other]) + times(terms.centrifugal, qd**2))


def test_matrices(case, same):
    same(lambda on, q, *_: on.mass_matrix(q), lambda q, *_: case.mass_matrix(q))

    def unique(C, qd):
        """Return the rate of M, and the product: another factor may have another C."""
        return C + np.swapaxes(C, -1, -2), times(C, qd)
    same(lambda on, q, qd, _: unique(on.coriolis_matrix(q, qd), qd),
         lambda q, qd, _: unique(case.coriolis(q, qd), qd))
    same(lambda on, q, qd, _: summed(on.velocity_terms(q), qd),
         lambda q, qd, _: case.coriolis(q, qd) @ qd)


def test_accelerations_and_derivatives(case, same):
    same(lambda on, *given: on.forward_dynamics(*given), case.forward_dynamics)
    same(lambda on, *motion: on.inverse_dynamics_derivatives(*motion),
         lambda q, *rates: (*case.derivatives(q, *rates), case.mass_matrix(q)))
    same(lambda on, *given: on.forward_dynamics_derivatives(*given),
         lambda *given: tuple(case.forward_derivatives(*given)))


def test_kinematics(case, same):
    def theirs(name, which):
        def of_one(q, qd, _):
            pose, jacobians = case.place(name, q, qd)
            return (pose, *(jacobians[of][which] for of in REFERENCES))
        return of_one

    def ours(name, of_frame):
        def of_any(on, *state):
            return (on.pose(state[0], name), *(of_frame(on, state, name, of) for of in REFERENCES))
        return of_any

    for name in some(case.model.frame_names):
        same(ours(name, lambda on, state, *of: on.jacobian(state[0], *of)), theirs(name, 0))
        # Some are zero but for what the rounding of unit axes leaves
        same(ours(name, lambda on, state, *of: on.jacobian_dot(*state[:2], *of)), theirs(name, 1),
             1.0)


def some(names):
    """At most MOST_FRAMES of the frames, and the last one."""
    return dict.fromkeys([*names[::-(-len(names) // MOST_FRAMES)], names[-1]])


def test_task_space(case, same):
    frame, axes = task(case, *same.motion[:2])
    rows = ['xyz'.index(axis) for axis in axes]

    def theirs(q, qd, _):
        J, Jd = (of[rows] for of in case.place(frame, q, qd)[1]['aligned'])
        gravity, through = case.gravity(q), np.linalg.solve(case.mass_matrix(q), J.T)
        inertia = np.linalg.inv(J @ through)
        velocity = inertia @ (through.T @ (case.bias(q, qd) - gravity) - Jd @ qd)
        return inertia, velocity, inertia @ through.T @ gravity, velocity
    same(lambda on, q, qd, _: (*on.task_space(q, qd, frame, axes, 'aligned'), summed(
        on.task_velocity_terms(q, frame, axes, 'aligned'), qd)), theirs)


def task(case, q, qd):
    """Return a frame and the axes, all three if possible, in which it is far from singular."""
    def far(name, rows):
        jacobians = (case.place(name, *state)[1]['aligned'][0][rows] for state in zip(q, qd))
        return min(np.linalg.svd(J, compute_uv=False)[len(rows) - 1] for J in jacobians)

    for axes in ('xyz', 'x') if case.model.nv >= 3 else ('x', 'z'):
        rows = ['xyz'.index(axis) for axis in axes]
        best = max(some(case.model.frame_names), key=lambda name: far(name, rows))
        if far(best, rows) > 0.01:
            return best, axes
    raise AssertionError('nothing moves along x')


def test_energies(case, same):
    same(lambda on, q, qd, _: (on.kinetic_energy(q, qd), on.potential_energy(q),
                               on.center_of_mass(q)),
         lambda q, qd, _: (*case.energies(q, qd), case.center_of_mass(q)))
    energies = case.dynamics.kinetic_energy(*same.motion[:2, 0]), \
        case.dynamics.potential_energy(same.motion[0, 0])
    assert all(type(energy) is float for energy in energies)
