# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Estimates of bodies that can exist, even where least squares finds others."""

from dataclasses import replace
import sys

from motions import motion, noisy, relative_errors, with_joints
import numpy as np
import pytest
from robodyn_ros import DhLink, Dynamics, from_dh
from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification import identify, ParameterSelection
from robodyn_ros.identification.estimation.inertia import trusted, with_inertial_parameters
from robodyn_ros.identification.estimation.physical_consistency import armature_scale
from robodyn_ros.identification.estimation.regression import regression
from robodyn_ros.model.pseudo_inertia import pseudo_inertia

pytest.importorskip('clarabel', reason='needs the extra identify')

pytestmark = pytest.mark.slow

NOISE = np.array([2.0, 1.0, 1.0, 0.3])


@pytest.fixture(scope='module')
def robot(spatial):
    return with_joints(spatial, 0.7, 0.4, 0.1)


def with_no_friction(model):
    none = np.zeros(model.nv)
    return {'viscous_friction': none, 'coulomb_friction': none, 'static_friction': none,
            'backward_friction': np.zeros((3, model.nv))}


@pytest.fixture(scope='module')
def wrong(robot):
    """Return what is believed of the robot: masses elsewhere, and of another size."""
    return replace(robot, mass=1.3 * robot.mass, com=0.7 * robot.com, inertia=1.5 * robot.inertia)


def test_points_and_impossible_bodies_become_possible_ones_nearby():
    model = from_dh([DhLink(0, 0, 1, 0, mass=2), DhLink(0, 0, 1, 0, mass=1, inertia=np.diag(
        [0.01, 0.01, 0.05]))])
    P = trusted(model.inertial_parameters)
    assert (np.linalg.eigvalsh(P) > 0).all()
    np.testing.assert_allclose(P[:, 3, 3], [2, 1], rtol=0.05)


def test_without_noise_nearly_the_robot_comes_out(robot, wrong):
    given = motion(robot, 400)
    found = identify(wrong, given, weight=0.1)
    assert np.linalg.eigvalsh(pseudo_inertia(found.parameters[:40])).min() > 0.0
    np.testing.assert_allclose(found.predict(given), given.effort, atol=2e-3)
    unseen = motion(robot, 300, seed=7)
    assert (relative_errors(found, unseen) < 1e-3).all()


def test_bodies_can_exist_where_those_of_least_squares_cannot(robot):
    given = noisy(motion(robot, 150), NOISE, 1)
    plain, found = identify(robot, given, method='weighted'), identify(robot, given, weight=0.1)
    assert np.linalg.eigvalsh(pseudo_inertia(plain.parameters[:40])).min() < -1e-3
    eigenvalues = np.linalg.eigvalsh(pseudo_inertia(found.parameters[:40]))
    assert (eigenvalues > 0.0).all()
    for kind in ('viscous', 'Coulomb', 'armature'):
        assert (found.of_joints(kind) >= 0.0).all()
    model = found.to_model()
    assert model.implausible_links == ()
    M = Dynamics(model).batch.mass_matrix(given.position)
    assert np.linalg.eigvalsh(M).min() > 0.0


def test_it_predicts_better_than_least_squares_where_data_are_few_and_noisy(robot):
    unseen, errors = motion(robot, 400, seed=9), []
    for seed in range(6):
        given = noisy(motion(robot, 100), NOISE, seed)
        errors.append([relative_errors(identify(robot, given, method='weighted'), unseen).mean(),
                       relative_errors(identify(robot, given, weight=1.0), unseen).mean()])
    plain, found = np.mean(errors, axis=0)
    assert found < 0.8 * plain


def test_the_heavier_the_prior_the_nearer_the_model(robot, wrong):
    given = noisy(motion(robot, 200), NOISE, 2)
    distance = [abs(identify(wrong, given, weight=w).parameters[:40] - wrong.inertial_parameters
                    ).max() for w in (1e-1, 1e3, 1e7)]
    assert distance[0] > distance[1] > 10 * distance[2]


@pytest.mark.parametrize('believed, low, high', [('robot', 1e2, 1e6), ('wrong', 1e-2, 1e2)])
def test_data_choose_how_far_to_trust_the_model(request, robot, believed, low, high):
    given = noisy(motion(robot, 400), 0.1 * NOISE, 3)
    found = identify(request.getfixturevalue(believed), given, ParameterSelection(armature=False))
    assert low <= found.weight <= high


def test_prior_depends_on_no_unit(robot):
    # The same arm in decimetres: lengths times 10, masses as they are, efforts times 100
    bigger = replace(robot, joint_origin=10 * robot.joint_origin, com=10 * robot.com,
                     inertia=100 * robot.inertia, gravity_vector=10 * robot.gravity_vector,
                     armature=robot.armature * [100, 100, 1, 100])
    unit = np.array([100, 100, 10, 100])
    slide = np.array([1, 1, 10, 1])
    given = noisy(motion(robot, 150), NOISE, 1)
    longer = replace(given, position=given.position * slide, velocity=given.velocity * slide,
                     acceleration=given.acceleration * slide, effort=given.effort * unit)
    bodies = ParameterSelection(viscous=False, coulomb=False, offset=False, armature=False)
    plain, large = (replace(model, **with_no_friction(model)) for model in (robot, bigger))
    found = identify(plain, given, bodies, weight=1.0)
    other = identify(large, longer, bodies, weight=1.0)
    powers = np.tile([0] + [1] * 3 + [2] * 6, 4)
    np.testing.assert_allclose(other.parameters / 10.0**powers, found.parameters, rtol=1e-3,
                               atol=1e-4)


def test_the_new_model_has_the_parameters(robot):
    parameters = 1.1 * robot.inertial_parameters
    np.testing.assert_allclose(with_inertial_parameters(robot, parameters).inertial_parameters,
                               parameters, rtol=1e-12, atol=1e-15)


def test_mass_that_is_not_positive_is_refused_by_name(robot):
    parameters = robot.inertial_parameters.copy()
    parameters[10] = -0.1
    with pytest.raises(IdentificationError, match=f"'{robot.link_names[1]}'"):
        with_inertial_parameters(robot, parameters)


def test_what_to_install_is_said(robot, monkeypatch):
    monkeypatch.setitem(sys.modules, 'clarabel', None)      # as if it were not installed
    with pytest.raises(IdentificationError, match='pip install clarabel') as caught:
        identify(robot, motion(robot, 100), weight=1.0)
    assert caught.value.name == 'clarabel'


def test_armature_far_beyond_the_inertia_of_the_link_is_found(robot):
    """A rotor behind a high gear ratio: the prior must not draw it to that of the model."""
    heavy = replace(robot, armature=robot.armature + np.eye(robot.nv)[-1] * 100.0 * (
        Dynamics(robot).mass_matrix(np.zeros(robot.nv))[-1, -1]))
    given = noisy(motion(heavy, 800), 0.02, 1)
    scale = armature_scale(regression(robot, given, ParameterSelection()))
    assert 0.5 < scale[-1] / heavy.armature[-1] < 5.0
    found = identify(robot, given)
    assert found.of_joints('armature')[-1] == pytest.approx(heavy.armature[-1], rel=0.02)
