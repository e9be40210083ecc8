# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The gravity term against Pinocchio."""

from dataclasses import replace

import numpy as np
import pytest
from robodyn_ros import Dynamics


def test_agrees_with_pinocchio(case, close):
    for q, _, _ in case.states():
        close(case.dynamics.gravity(q), case.gravity(q))


def test_is_linear_in_the_gravity_vector(robot, close):
    case = robot('tree7')
    rng = np.random.default_rng(4)
    a, b = rng.uniform(-10, 10, (2, 3))

    def gravity(vector):
        return Dynamics(replace(case.model, gravity_vector=vector)).gravity

    for q, _, _ in case.states():
        close(gravity(2 * a + 3 * b)(q), 2 * gravity(a)(q) + 3 * gravity(b)(q), 1e-12)


@pytest.mark.parametrize('axis', range(3))
def test_follows_any_mounting(robot, close, axis):
    case = robot('panda')
    vector = 9.81 * np.eye(3)[axis]
    case.pin.gravity.linear, upright = vector, case.pin.gravity.linear.copy()
    try:
        dynamics = Dynamics(replace(case.model, gravity_vector=vector))
        for q, _, _ in case.states():
            close(dynamics.gravity(q), case.gravity(q))
    finally:
        case.pin.gravity.linear = upright
