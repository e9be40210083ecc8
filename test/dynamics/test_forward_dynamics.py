# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Forward dynamics against Pinocchio's articulated bodies."""

import numpy as np


def test_agrees_with_pinocchio(case, close):
    for q, qd, tau in case.states():
        close(case.dynamics.forward_dynamics(q, qd, tau), case.forward_dynamics(q, qd, tau))


def test_undoes_inverse_dynamics_under_wrenches(case, close):
    rng = np.random.default_rng(5)
    wrenches = {name: rng.uniform(-20, 20, 6) for name in case.model.frame_names}
    for q, qd, qdd in case.states():
        tau = case.dynamics.inverse_dynamics(q, qd, qdd, wrenches, 'body')
        close(case.dynamics.forward_dynamics(q, qd, tau, wrenches, 'body'), qdd)
