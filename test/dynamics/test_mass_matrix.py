# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The mass matrix against Pinocchio."""

from dataclasses import replace

import numpy as np
from robodyn_ros import Dynamics


def test_agrees_with_pinocchio(case, close):
    for q, _, _ in case.states():
        close(case.dynamics.mass_matrix(q), case.mass_matrix(q))


def test_columns_are_the_efforts_of_unit_accelerations(case, close):
    weightless = Dynamics(replace(case.model, gravity_vector=np.zeros(3)))
    unit, rest = np.eye(case.model.nv), np.zeros(case.model.nv)
    for q, _, _ in case.states():
        columns = [weightless.inverse_dynamics(q, rest, e) for e in unit]
        close(case.dynamics.mass_matrix(q), np.column_stack(columns), 1e-12)


def test_armature_adds_to_the_diagonal(robot, close):
    case = robot('tree5')
    armature = np.arange(1.0, case.model.nv + 1)
    heavy = Dynamics(replace(case.model, armature=armature))
    for q, _, _ in case.states():
        close(heavy.mass_matrix(q), case.mass_matrix(q) + np.diag(armature))
