# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The Coriolis matrix against Pinocchio, and by what defines it."""

import numpy as np
import pytest


def test_its_product_with_the_velocity_is_that_of_pinocchio(case, close):
    for q, qd, _ in case.states():
        C, theirs = case.dynamics.coriolis_matrix(q, qd), case.coriolis(q, qd)
        close(C @ qd, theirs @ qd)
        close(C + C.T, theirs + theirs.T)        # the rate of M: their factor is another


@pytest.mark.parametrize('name', ['panda', 'rp', 'tree7'])
def test_it_is_that_of_christoffels_symbols(robot, close, name):
    dynamics = robot(name).dynamics
    q, qd, _ = next(robot(name).states())
    step = 1e-4
    M = dynamics.mass_matrix
    slope = np.array([(8 * (M(q + e) - M(q - e)) - M(q + 2 * e) + M(q - 2 * e)) / (12 * step)
                      for e in step * np.eye(len(q))])          # [k, i, j]: dM[i, j] / dq[k]
    symbols = 0.5 * (slope.transpose(1, 2, 0) + slope.transpose(1, 0, 2)
                     - slope.transpose(0, 1, 2))                # [i, j, k]
    close(dynamics.coriolis_matrix(q, qd), symbols @ qd, 1e-9)


def test_velocity_terms_add_up_and_are_split_as_in_the_textbook(case, close):
    products = np.triu_indices(case.model.nv, 1)
    for q, qd, _ in case.states(2):
        terms = case.dynamics.velocity_terms(q)
        close(terms.coriolis @ np.outer(qd, qd)[products] + terms.centrifugal @ qd**2,
              case.bias(q, qd) - case.gravity(q))
        one = np.eye(case.model.nv)[0]
        close(terms.centrifugal[:, 0], case.bias(q, one) - case.gravity(q))
