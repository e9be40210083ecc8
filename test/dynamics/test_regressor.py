# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The torque regressor against Pinocchio and inverse dynamics."""

import numpy as np


def test_agrees_with_pinocchio(case, close):
    for motion in case.states(2):
        close(case.dynamics.regressor(*motion), case.regressor(*motion))


def test_times_the_parameters_is_inverse_dynamics(case, close):
    for motion in case.states(2):
        close(case.dynamics.regressor(*motion) @ case.model.inertial_parameters,
              case.dynamics.inverse_dynamics(*motion))


def test_parameters_are_those_of_the_links(robot):
    model = robot('panda').model
    first = model.inertial_parameters[:10]
    assert first[0] == model.mass[0]
    assert (first[1:4] == model.mass[0] * model.com[0]).all()
    assert np.isclose(first[4], model.inertia[0, 0, 0]
                      + model.mass[0] * (model.com[0, 1]**2 + model.com[0, 2]**2))
