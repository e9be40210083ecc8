# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A robot without inertias: what needs none agrees with Pinocchio, all else is refused."""

import re

import numpy as np
import pinocchio as pin
import pytest
from robodyn_ros import Dynamics, load_urdf
from robodyn_ros.errors import InertiaError
from robots import ARM

INERTIAL = re.compile(r'<inertial>.*?</inertial>', re.DOTALL)
EMPTY = INERTIAL.sub('', ARM)
Q, QD, QDD = [0.3, 0.1], [1.0, 2.0], [0.5, -1.0]


@pytest.fixture(scope='module')
def model():
    # The last body has none: joint 'slide' moves nothing
    light = ARM.partition('<link name="fore">')
    return load_urdf(light[0] + light[1] + INERTIAL.sub('', light[2]), massless='warn')


def test_kinematics_gravity_and_inverse_dynamics_are_pinocchio_s(model):
    dynamics, reference = Dynamics(model), pin.buildModelFromXML(model.to_urdf())
    data, state = reference.createData(), map(np.array, (Q, QD, QDD))
    np.testing.assert_allclose(dynamics.inverse_dynamics(Q, QD, QDD),
                               pin.rnea(reference, data, *state), rtol=1e-13, atol=1e-13)
    assert dynamics.gravity(Q)[0] != 0.0 and dynamics.mass_matrix(Q)[1, 1] == 0.0
    pin.framesForwardKinematics(reference, data, np.array(Q))
    place = data.oMf[reference.getFrameId('tool')].homogeneous
    np.testing.assert_allclose(dynamics.pose(Q, 'tool'), place, rtol=0, atol=1e-14)


@pytest.mark.parametrize('call', [
    lambda d: d.forward_dynamics(Q, QD, QDD),
    lambda d: d.forward_dynamics(*map(np.array, (Q, QD, QDD))),     # the shortest way
    lambda d: d.forward_dynamics_derivatives(Q, QD, QDD),
    lambda d: d.task_space(Q, QD, 'tool', 'xz', 'aligned'),
    lambda d: d.task_velocity_terms(Q, 'tool', 'xz', 'aligned'),
    lambda d: d.batch.forward_dynamics([Q], [QD], [QDD]),
    lambda d: d.kernels.forward_dynamics])
def test_what_needs_the_inverse_of_the_mass_matrix_names_the_joint(model, call):
    with pytest.raises(InertiaError, match="resists joint 'slide'") as refused:
        call(Dynamics(model))
    assert refused.value.name == 'slide'


def test_a_robot_of_geometry_alone_has_kinematics():
    model = load_urdf(EMPTY, massless='warn')
    assert model.massless_joints == ('shoulder', 'slide')
    dynamics = Dynamics(model)
    assert not dynamics.gravity(Q).any() and not dynamics.inverse_dynamics(Q, QD, QDD).any()
    np.testing.assert_array_equal(dynamics.jacobian(Q, 'tool', 'body'),
                                  Dynamics(load_urdf(ARM)).jacobian(Q, 'tool', 'body'))
