# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The bias, C(q, q̇)q̇ + g(q), against Pinocchio."""

import numpy as np


def test_agrees_with_pinocchio(case, close):
    for q, qd, _ in case.states():
        close(case.dynamics.bias(q, qd), case.bias(q, qd))


def test_is_inverse_dynamics_without_acceleration(case, close):
    for q, qd, _ in case.states():
        close(case.dynamics.bias(q, qd),
              case.dynamics.inverse_dynamics(q, qd, np.zeros(case.model.nv)), 1e-13)


def test_is_gravity_at_rest(case, close):
    for q, _, _ in case.states():
        close(case.dynamics.bias(q, np.zeros(case.model.nv)), case.dynamics.gravity(q), 1e-13)
