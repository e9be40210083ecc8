# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Least squares: exact without noise, as sure as it says with noise."""

from dataclasses import replace

from motions import motion, noisy, with_joints
import numpy as np
import pytest
from robodyn_ros import Dynamics
from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification import base_parameters, identify, ParameterSelection
from robodyn_ros.identification.estimation.least_squares import least_squares, normal_solution
from robodyn_ros.identification.estimation.regression import regression

pytestmark = pytest.mark.slow

SIGMA = {2: np.array([0.3, 0.05]), 4: np.array([0.4, 0.3, 0.2, 0.05])}


@pytest.mark.parametrize('method', ['ordinary', 'weighted'])
def test_without_noise_the_robot_itself_comes_out(spatial, method):
    robot = with_joints(spatial, 0.7, 0.4, 0.2)
    given = motion(robot, 600, offset=0.3)
    found = identify(spatial, given, method=method)
    np.testing.assert_allclose(found.predict(given), given.effort, atol=1e-8)
    np.testing.assert_allclose(found.of_joints('viscous'), 0.7, atol=1e-7)
    np.testing.assert_allclose(found.of_joints('Coulomb'), 0.4, atol=1e-7)
    np.testing.assert_allclose(found.of_joints('offset'), 0.3, atol=1e-7)
    unseen = motion(robot, 300, seed=9)
    np.testing.assert_allclose(found.predict(unseen) - 0.3, unseen.effort, atol=1e-7)


def test_of_all_parameters_those_nearest_to_the_model_come_out(spatial):
    found = identify(spatial, motion(spatial, 400), method='weighted')
    np.testing.assert_allclose(found.parameters, found.prior, atol=1e-7)


def test_model_that_is_found_computes_what_the_estimate_predicts(spatial):
    robot = with_joints(spatial, 0.7, 0.4, 0.0)
    given = motion(robot, 400)
    found = identify(spatial, given, ParameterSelection(offset=False), 'weighted').to_model()
    batch = Dynamics(found).batch
    state = given.position, given.velocity, given.acceleration
    np.testing.assert_allclose(batch.inverse_dynamics(*state) + batch.friction(given.velocity),
                               given.effort, atol=1e-6)


def test_what_is_not_chosen_is_as_the_model_says(spatial):
    robot = with_joints(spatial, 0.7, 0.4, 0.2)
    given = motion(robot, 400)
    bodies = ParameterSelection(viscous=False, coulomb=False, offset=False, armature=False)
    found = identify(robot, given, bodies, 'weighted')
    np.testing.assert_allclose(found.predict(given), given.effort, atol=1e-8)


def test_each_direction_has_its_own_friction(planar):
    robot = replace(with_joints(planar, 0.7, 0.4), backward_friction=np.outer([0.2, 0.9, 0.9],
                                                                              [1, 1]))
    found = identify(planar, motion(robot), ParameterSelection(directions=True), 'weighted')
    for name, value in {'viscous forward': 0.7, 'viscous backward': 0.2, 'Coulomb forward': 0.4,
                        'Coulomb backward': 0.9}.items():
        np.testing.assert_allclose(found.of_joints(name), value, atol=1e-7)
    np.testing.assert_allclose(found.to_model().backward_friction, robot.backward_friction,
                               atol=1e-7)


def test_normal_equations_that_rounding_made_singular_have_their_shortest_solution():
    np.testing.assert_allclose(normal_solution(np.diag([4.0, 2.0]), np.ones(2)), [0.25, 0.5])
    np.testing.assert_allclose(normal_solution(np.ones((2, 2)), np.ones(2)), [0.5, 0.5])


def shares_within(model, method, sigmas, bandwidth=None, selection=None, trials=24):
    """Shares of errors within 1, 2 and 3 standard errors, of all parameters of many trials."""
    exact = motion(model, 2000 if bandwidth else 500)
    selection = selection or ParameterSelection()
    base = base_parameters(model, selection)
    plain = regression(model, exact, selection)
    truth = base.values(plain.prior)
    z = []
    for seed in range(trials):
        measured = regression(model, noisy(exact, SIGMA[model.nv], seed, bandwidth), selection)
        found = least_squares(measured, method, base)
        z += list(abs(found.values - truth) / found.standard_errors)
    return [np.mean(np.array(z) < k) for k in sigmas]


@pytest.mark.parametrize('method', ['ordinary', 'weighted'])
def test_standard_errors_hold_for_white_noise(planar, method):
    """Nearly: the larger one of two estimates is stated, that of white noise and the jackknife."""
    one, two, three = shares_within(with_joints(planar, 0.7, 0.4, 0.1), method, (1, 2, 3))
    assert 0.60 < one < 0.85
    assert 0.90 < two < 0.985
    assert three > 0.985


def test_standard_errors_hold_for_noise_that_was_filtered(planar):
    # 5 Hz of 100 Hz: white noise would be said to leave errors a third of what they are
    robot = with_joints(planar, 0.7, 0.4, 0.1)
    one, two, three = shares_within(robot, 'weighted', (1, 2, 3), bandwidth=5.0)
    assert 0.56 < one < 0.76
    assert 0.90 < two < 0.985
    assert three > 0.98


def test_independent_samples_are_counted(planar):
    robot = with_joints(planar, 0.7, 0.4, 0.1)
    exact = motion(robot, 3000)
    white = identify(robot, noisy(exact, 0.1, 1), method='weighted').independent
    slow = identify(robot, noisy(exact, 0.1, 1, 5.0), method='weighted').independent
    np.testing.assert_allclose(white, 3000, rtol=0.15)
    np.testing.assert_allclose(slow, 300, rtol=0.35)      # 2 · 5 Hz over 100 Hz


def test_joints_are_weighed_by_what_remains(planar):
    robot = with_joints(planar, 0.7, 0.4, 0.1)
    exact = motion(robot, 800)
    found = identify(robot, noisy(exact, SIGMA[2], 3), method='weighted')
    np.testing.assert_allclose(found.sigma, SIGMA[2], rtol=0.1)
    ordinary = identify(robot, noisy(exact, SIGMA[2], 3), method='ordinary')
    assert (found.standard_errors < 1.01 * ordinary.standard_errors).all()
    assert (found.standard_errors < 0.8 * ordinary.standard_errors).any()


def test_gaps_are_no_neighbours(planar):
    robot = with_joints(planar, 0.7, 0.4, 0.1)
    one, other = motion(robot, 400), motion(robot, 300, seed=5)
    both = replace(one, **{name: np.concatenate([getattr(one, name), getattr(other, name)])
                           for name in ('time', 'position', 'velocity', 'acceleration', 'effort')},
                   segments=((0, 400), (400, 700)))
    both = replace(both, cutoff=8.0)
    both = replace(both, effort=regression(robot, both).predict(regression(robot, both).prior))
    found = identify(planar, both, method='weighted')
    np.testing.assert_allclose(found.predict(both), both.effort, atol=1e-6)
    np.testing.assert_allclose(found.of_joints('viscous'), 0.7, atol=1e-6)


def refused(model, given, **options):
    with pytest.raises(IdentificationError) as caught:
        identify(model, given, **options)
    return caught.value


def test_joint_that_stood_still_is_named(planar):
    given = motion(planar, 300)
    still = replace(given, velocity=given.velocity * [1, 0], acceleration=given.acceleration
                    * [1, 0], position=given.position * [1, 0])
    assert "joint 'joint2' did not move" in str(refused(planar, still, method='weighted'))


def test_parameters_that_are_not_told_apart_are_named(planar):
    given = motion(planar, 300)
    step = replace(given, **{name: getattr(given, name)[:, :1] * [1, 0.0] + getattr(
        given, name)[:, 1:] * 0 for name in ('velocity', 'acceleration', 'position')})
    in_step = replace(step, velocity=step.velocity @ [[1, 1], [0, 0]],
                      acceleration=step.acceleration @ [[1, 1], [0, 0]] * 0 + 1.0)
    error = refused(planar, in_step, method='weighted')
    assert 'does not distinguish' in str(error)
    assert error.name in base_parameters(planar).base_names


def test_too_few_samples(planar):
    assert 'equations' in str(refused(planar, motion(planar, 3), method='weighted'))


def test_other_joints(planar, spatial):
    assert refused(spatial, motion(planar, 50)).value == planar.joint_names


def test_numbers_that_are_not_finite(planar):
    given = motion(planar, 100)
    effort = given.effort.copy()
    effort[7, 1] = np.nan
    assert refused(planar, replace(given, effort=effort), method='weighted').name == 'effort'


@pytest.mark.parametrize('options', [
    {'method': 'guess'}, {'method': 'weighted', 'weight': 1.0}, {'weight': -1.0}])
def test_options_that_make_no_sense(planar, options):
    assert refused(planar, motion(planar, 200), **options).remedy


def test_choices_that_make_no_sense():
    for options in ({'decimate': 0}, {'static': True, 'coulomb': False}):
        with pytest.raises(IdentificationError):
            ParameterSelection(**options)
