# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The arm of a world moves as MuJoCo's does."""

from dataclasses import replace

import numpy as np
import pytest
from robodyn_ros import load_urdf
from robodyn_ros.simulation.plant import Plant as MujocoPlant
from robodyn_ros.verification.arm import arm_of
from robodyn_ros.verification.plant import Plant
from robodyn_ros.verification.plant_step import TICK

TICKS = 500


@pytest.mark.parametrize('robot', ['two_link', 'panda', 'ur5'])
@pytest.mark.parametrize('friction', [False, True])
def test_an_arm_moves_as_in_mujoco(robot, friction):
    """Within 1 mrad and 1 % of the velocity after half a second far from rest."""
    locked = {'panda_finger_joint1': 0.0, 'panda_finger_joint2': 0.0} if robot == 'panda' else {}
    model = load_urdf(robot, locked=locked)
    n, limit = model.nv, model.effort_limit
    model = replace(model, viscous_friction=0.01 * limit * friction,
                    coulomb_friction=np.zeros(n))
    arm = arm_of(robot, model)
    q = 0.5 * (arm.lower + arm.upper)
    ours = Plant(arm, q)
    theirs = MujocoPlant(model.to_urdf(), model=model)
    theirs.reset(q)
    wave, top = np.linspace(3.0, 9.0, n), 0.0
    inertia = np.diag(arm.dynamics.mass_matrix(q))
    share = 0.02 * inertia / inertia.max()
    for k in range(TICKS):
        tau = arm.dynamics.gravity(ours.q) + share * limit * np.sin(wave * k * TICK)
        ours.command(tau)
        ours.advance()
        theirs.step(tau)
        top = max(top, abs(ours.qd).max())
        state = theirs.state()
        assert abs(ours.q - state.position).max() < 1e-3
        assert abs(ours.qd - state.velocity).max() < 0.01 * max(top, 0.1)
    assert top > 0.1
