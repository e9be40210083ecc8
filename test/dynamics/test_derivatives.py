# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Derivatives of inverse and forward dynamics against Pinocchio, and by central differences."""

import numpy as np
import pytest
from robodyn_ros.dynamics import BaseMotion

pytestmark = pytest.mark.slow

BASE = BaseMotion((1.0, -2.0, 3.0), (0.4, 0.5, -0.6), (2.0, -1.0, 0.5))


def test_of_inverse_dynamics_agree_with_pinocchio(case, close):
    for motion in case.states():
        ours = case.dynamics.inverse_dynamics_derivatives(*motion)
        for mine, theirs in zip(ours, (*case.derivatives(*motion), case.mass_matrix(motion[0]))):
            close(mine, theirs)


def test_of_forward_dynamics_agree_with_pinocchio(case, close):
    for given in case.states():
        condition = np.linalg.cond(case.mass_matrix(given[0]))
        ours = case.dynamics.forward_dynamics_derivatives(*given)
        for mine, theirs in zip(ours, case.forward_derivatives(*given)):
            close(mine, theirs, max(1e-10, 1e-14 * condition))


@pytest.mark.parametrize('name', ['panda', 'rp', 'tree7'])
@pytest.mark.parametrize('kind', ['inverse_dynamics', 'forward_dynamics'])
@pytest.mark.parametrize('reference', ['body', 'aligned', 'world'])
def test_under_wrenches_on_a_moving_base_they_are_the_slopes(robot, close, name, kind, reference):
    dynamics = robot(name).dynamics
    rng = np.random.default_rng(3)
    wrenches = {frame: rng.uniform(-5, 5, 6) for frame in dynamics.model.frame_names}
    function = getattr(dynamics, kind)
    given = rng.uniform(-1, 1, (3, dynamics.model.nv))
    ours = getattr(dynamics, f'{kind}_derivatives')(*given, wrenches, base=BASE,
                                                    reference=reference)
    step = 1e-5
    for argument, derivative in enumerate(ours):
        change = np.zeros_like(given)
        for k in range(given.shape[1]):
            change[:] = 0.0
            change[argument, k] = step
            ahead, behind = (function(*x, wrenches, reference, BASE)
                             for x in (given + change, given - change))
            slope = (ahead - behind) / (2 * step)
            close(derivative[:, k], slope, 1e-6 * max(1.0, np.abs(derivative).max()))


@pytest.mark.parametrize('reference', ['aligned', 'world'])
def test_wrenches_on_the_links_of_many_states(robot, close, reference):
    dynamics = robot('panda').dynamics
    rng = np.random.default_rng(4)
    wrenches, motion = rng.uniform(-5, 5, (7, 6)), rng.uniform(-1, 1, (3, 5, 7))
    many = dynamics.batch.forward_dynamics_derivatives(*motion, wrenches, reference=reference)
    for k, state in enumerate(np.swapaxes(motion, 0, 1)):
        one = dynamics.forward_dynamics_derivatives(*state, wrenches, reference=reference)
        for mine, theirs in zip(many, one):
            close(mine[k], theirs, 1e-11 * max(1.0, np.abs(theirs).max()))
