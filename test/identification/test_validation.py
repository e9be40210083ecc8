# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Measures of a prediction: known answers."""

from dataclasses import replace

from motions import motion, noisy, with_joints
import numpy as np
import pytest
from robodyn_ros.identification import identify, ParameterSelection
from robodyn_ros.identification.data_checks.result_checks import repeats
from robodyn_ros.identification.preparation.filtering import LowPass
from robodyn_ros.identification.validation import of_estimate, of_model, validate

pytestmark = pytest.mark.slow


def test_measures_of_a_known_error(planar):
    given = motion(planar, 800)
    error = np.full_like(given.effort, 0.5)
    error[::2] = -0.5
    found = validate(given, given.effort - error * [1.0, 0.0])
    np.testing.assert_allclose(found.rms, [0.5, 0.0])
    np.testing.assert_allclose(found.relative, [0.5 / given.effort[:, 0].std(), 0.0])
    np.testing.assert_allclose(found.determination, 1 - found.relative**2)
    np.testing.assert_allclose(found.error[:, 0], error[:, 0])
    assert found.whiteness[0] == 1.0        # of alternating errors nothing is chance


def test_white_errors_are_white_and_slow_ones_are_not(planar):
    given = motion(planar, 4000)
    white = np.random.default_rng(0).normal(size=given.effort.shape)
    assert (validate(given, given.effort + white).whiteness <= 0.12).all()
    slow = np.cumsum(white, axis=0)
    assert (validate(given, given.effort + slow).whiteness > 0.9).all()


def test_errors_that_a_filter_made_alike_are_judged_apart(planar):
    given = replace(motion(planar, 8000), cutoff=5.0)
    white = np.random.default_rng(1).normal(size=given.effort.shape)
    filtered = LowPass(5.0, given.rate)(white)
    assert (validate(given, given.effort + filtered).whiteness < 0.3).all()
    assert (validate(replace(given, cutoff=np.inf), given.effort + filtered).whiteness > 0.4).all()


def test_errors_do_not_reach_across_gaps(planar):
    given = motion(planar, 400)
    noise = np.random.default_rng(2).normal(size=given.effort.shape)
    one = validate(given, given.effort + noise).whiteness
    cut = replace(given, segments=((0, 150), (150, 400)))
    assert not np.array_equal(validate(cut, given.effort + noise).whiteness, one) or (
        one == 0).all()


def test_model_and_estimate_say_the_same(spatial):
    robot = with_joints(spatial, 0.7, 0.4)
    given = noisy(motion(robot, 600, offset=0.3), 0.1, 0)
    found = identify(spatial, given, ParameterSelection(armature=False), 'weighted')
    unseen = motion(robot, 300, seed=5, offset=0.3)
    estimate = of_estimate(found, unseen)
    model = of_model(found.to_model(), unseen, found.of_joints('offset'))
    np.testing.assert_allclose(model.predicted, estimate.predicted, atol=1e-8)
    assert (estimate.relative < of_model(spatial, unseen).relative).all()


def test_coulomb_friction_passes_the_filter_of_the_efforts(planar):
    robot = with_joints(planar, 0.2, 2.0)
    raw = motion(robot, 3000, speed=0.3)
    low_pass = LowPass(3.0, raw.rate)
    given = replace(raw, cutoff=3.0, effort=low_pass(raw.effort))
    np.testing.assert_allclose(of_model(robot, given).rms, 0.0, atol=1e-9)
    steps = of_model(robot, replace(given, cutoff=np.inf))
    assert (steps.rms > 0.1).all()
    assert identify(planar, given, method='weighted').of_joints('Coulomb') == pytest.approx(
        2.0, abs=1e-6)


def test_a_period_that_comes_again_is_no_other_motion(spatial):
    given = motion(spatial, 600)
    assert repeats(given.part(0, 400), given.part(100, 300))
    assert not repeats(given.part(0, 400), given.part(400, 600))
    assert not repeats(given, motion(spatial, 300, seed=7))
