# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The linear-quadratic regulator: textbook gains, and an optimum."""

import numpy as np
import pytest
from robodyn_ros import DhLink, Dynamics, from_dh, load_urdf
from robodyn_ros.control.learning.linear_quadratic import linear_quadratic_regulator


def test_a_sliding_mass_has_the_gains_of_the_double_integrator():
    """Q = diag(q, 0), R = r: K = [√(q/r), √(2 m √(q/r))]."""
    m, q, r = 2.0, 9.0, 0.25
    model = from_dh([DhLink(0.0, 0.0, 0.0, 0.0, joint='prismatic', mass=m)], gravity=(0, 0, -9.81))
    effort, gain = linear_quadratic_regulator(Dynamics(model), [0.1], [q, 0.0], [r])
    stiffness = np.sqrt(q / r)
    assert effort == pytest.approx([m * 9.81])
    assert gain[0] == pytest.approx([stiffness, np.sqrt(2.0 * m * stiffness)])


@pytest.mark.slow
def test_no_other_gain_costs_less():
    """Simulated about a pose where gravity pulls, from a small deviation."""
    dynamics, pose = Dynamics(load_urdf('two_link')), np.array([0.3, 0.5])
    Q, R = np.array([400.0, 100.0, 10.0, 2.0]), np.array([0.01, 0.01])
    u, best = linear_quadratic_regulator(dynamics, pose, Q, R)

    def cost(K):
        x, total, dt = np.array([1e-3, -2e-3, 0.0, 0.0]), 0.0, 1e-3
        for _ in range(3000):
            away = -K @ x
            total += (x @ (Q * x) + away @ (R * away)) * dt
            middle = x + 0.5 * dt * np.append(x[2:], dynamics.forward_dynamics(
                pose + x[:2], x[2:], u + away))
            x = x + dt * np.append(middle[2:], dynamics.forward_dynamics(
                pose + middle[:2], middle[2:], u - K @ middle))
        return total
    least = cost(best)
    random = np.random.default_rng(0)
    for _ in range(5):
        assert cost(best * random.uniform(0.7, 1.3, best.shape)) > least
