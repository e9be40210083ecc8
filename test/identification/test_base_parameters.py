# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Base parameters: how many there are, and that nothing is lost by them."""

import re

from motions import motion
import numpy as np
import pytest
from robodyn_ros import DhLink, Dynamics, from_dh, load_urdf
from robodyn_ros.identification import base_parameters, ParameterSelection
from robodyn_ros.identification.estimation.base_parameters import number
from robodyn_ros.identification.estimation.regression import regression
from robots import OWN, REAL

pytestmark = pytest.mark.slow

BODIES = ParameterSelection(viscous=False, coulomb=False, offset=False, armature=False)


def two_links(gravity):
    return from_dh([DhLink(0, 0, 0.5, 0, mass=1, com=(-0.1, 0.1, 0)),
                    DhLink(0, 0, 0.3, 0, mass=1, com=(-0.1, 0.1, 0))], gravity=gravity)


def test_panda_has_43(panda):
    # Gaz, Cognetti, Oliva, Robuffo Giordano and De Luca 2019
    assert base_parameters(panda, BODIES).rank == 43


@pytest.mark.parametrize('name', ['ur5', 'kinova'])
def test_there_are_as_many_as_the_rank_of_the_regressor(name):
    model = load_urdf(REAL[name])
    given = motion(model, 300, seed=3)
    Y = Dynamics(model).batch.regressor(given.position, given.velocity, given.acceleration)
    singular = np.linalg.svd(Y.reshape(-1, Y.shape[-1]), compute_uv=False)
    assert singular[35] > 1e-4 * singular[0] and singular[36] < 1e-7 * singular[0]
    assert base_parameters(model, BODIES).rank == 36


def test_planar_arm_in_a_vertical_plane():
    # Of each link m c (2) and Izz are felt; the second mass acts as if at the end of the first
    found = base_parameters(two_links((0, -9.81, 0)), BODIES)
    assert found.texts == ('mcx link1 + 0.5 m link2', 'mcy link1', 'Izz link1 + 0.25 m link2',
                           'mcx link2', 'mcy link2', 'Izz link2')


def test_planar_arm_without_gravity_does_not_feel_where_its_first_centre_is():
    found = base_parameters(two_links((0, 0, -9.81)), BODIES)
    assert found.rank == 4
    assert {'mcz link1', 'Ixx link2', 'Iyz link2'} < set(found.unseen)


def test_rotor_of_the_first_joint_is_not_told_from_its_link():
    found = base_parameters(two_links((0, -9.81, 0)))
    assert any('Izz link1' in line and line.endswith('+ armature joint1') for line in found.texts)
    assert 'armature joint2' in found.base_names


def test_the_two_link_robot_of_this_package_has_six():
    model = load_urdf(OWN['two_link'])
    assert base_parameters(model, BODIES).rank == 6


def test_nothing_is_lost(panda):
    base = base_parameters(panda)
    given = regression(panda, motion(panda, 60))
    of_base = given.matrix[:, :, base.independent] @ base.combination
    np.testing.assert_allclose(of_base, given.matrix, atol=1e-8)


def test_base_parameters_do_not_change_along_what_is_not_felt(spatial):
    base = base_parameters(spatial)
    rng = np.random.default_rng(0)
    step = rng.normal(size=len(base.names))
    step -= np.linalg.pinv(base.combination) @ (base.combination @ step)
    assert np.linalg.norm(step) > 1.0
    given = regression(spatial, motion(spatial, 50))
    np.testing.assert_allclose(given.matrix @ step, 0.0, atol=1e-9)
    np.testing.assert_allclose(base.values(step), 0.0, atol=1e-9)


@pytest.mark.parametrize('value, text', [(0.5, '0.5'), (1 / 3, '1/3'), (0.0825 + 1e-11, '0.0825'),
                                         (1.0, '1'), (np.pi, '3.14159'), (5 / 7, '5/7')])
def test_numbers_are_short_where_they_can_be(value, text):
    assert number(value) == text


def test_angles_rounded_in_a_urdf_add_no_base_parameter():
    """1.5708 instead of a right angle, as CAD exports have it."""
    text = open(REAL['ur5']).read()
    rounded = re.sub(r'(?<=rpy=")[^"]*', lambda rpy: ' '.join(
        f'{float(angle):.4f}' for angle in rpy.group().split()), text)
    assert rounded != text
    assert base_parameters(load_urdf(rounded), BODIES).rank == 36
