# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Validation, the band of predictions, and the report."""

from dataclasses import replace
from html import unescape
import json
import re

from motions import motion, noisy, nominal, QUICK, real, with_joints, write_csv
import numpy as np
import pytest
from robodyn_ros import Dynamics
from robodyn_ros.cli.identification_report import report
from robodyn_ros.identification import identify, ParameterSelection
from robodyn_ros.identification.estimation.estimate import with_spread_of_blocks
from robodyn_ros.identification.excitation.base_regressor import BaseRegressor, motion_limits
from robodyn_ros.identification.excitation.optimize import known_rows
from robodyn_ros.identification.filtering import LowPass
from robodyn_ros.identification.pipeline import identify_parts
from robodyn_ros.identification.recorded_motion import checked_motion, parts_of
from robodyn_ros.identification.recordings.read import read
from robodyn_ros.identification.result import (
    of_estimate, of_model, prediction_band, repeats, validate)
from robodyn_ros.identification.result_files import friction_parameters, write_friction
from robodyn_ros.model.friction_file import read_friction
import yaml

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


def test_errors_that_are_white_slow_or_filtered(planar):
    given = motion(planar, 4000)
    white = np.random.default_rng(0).normal(size=given.effort.shape)
    assert (validate(given, given.effort + white).whiteness <= 0.12).all()
    slow = np.cumsum(white, axis=0)
    assert (validate(given, given.effort + slow).whiteness > 0.9).all()
    given = replace(motion(planar, 8000), cutoff=5.0)
    white = np.random.default_rng(1).normal(size=given.effort.shape)
    filtered = LowPass(5.0, given.rate)(white)
    assert (validate(given, given.effort + filtered).whiteness < 0.3).all()
    assert (validate(replace(given, cutoff=np.inf), given.effort + filtered).whiteness > 0.4).all()


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


SELECTION = ParameterSelection(armature=False)


def test_the_band_covers_the_errors_and_shrinks_with_data(planar):
    true = with_joints(planar, 0.3, 0.4)
    bands, covered = [], []
    for count in (400, 6400):
        given = noisy(motion(true, count), 0.2, 1)
        found = identify(planar, given, SELECTION, 'weighted')
        bands.append(prediction_band(found, given))
        exact = motion(true, 300, seed=9)
        covered.append((abs(found.predict(exact) - exact.effort) < bands[-1].largest).mean())
    assert (bands[1].median < 0.5 * bands[0].median).all() and min(covered) > 0.95
    assert set(bands[0].plain()) == set(planar.joint_names)


def test_errors_are_those_of_changing_friction(planar):
    """Friction that differs from block to block has larger errors than its residuals tell."""
    given = noisy(motion(with_joints(planar, 0.3, 0.4), 2000), 0.02, 1)
    steady = identify(planar, given, SELECTION, 'weighted')
    effort = given.effort.copy()
    for k, change in enumerate((-0.2, 0.1, 0.3, -0.3, 0.1)):
        part = slice(400 * k, 400 * (k + 1))
        effort[part] += change * np.tanh(given.velocity[part] / planar.friction_velocity)
    found = identify(planar, replace(given, effort=effort), SELECTION, 'weighted')
    for kind in ('Coulomb joint1', 'Coulomb joint2'):
        at = found.base.base_names.index(kind)
        spread = np.std([-0.2, 0.1, 0.3, -0.3, 0.1], ddof=1) / np.sqrt(5)
        assert found.standard_errors[at] > max(0.6 * spread, 5.0 * steady.standard_errors[at])


def test_blocks_never_make_errors_smaller():
    rng = np.random.default_rng(0)
    blocks = [np.linalg.qr(rng.normal(size=(50, 4)), mode='r') for _ in range(5)]
    matrix = np.diag([1e-6, 1.0, 1e6])
    wider = with_spread_of_blocks(matrix, blocks)
    assert (np.diag(wider) >= np.diag(matrix)).all() and wider[2, 2] == 1e6


def test_known_motions_count_by_their_duration(planar):
    dynamics = Dynamics(planar)
    limits = motion_limits(planar, ranges=dict.fromkeys(planar.joint_names, (-3.0, 3.0)),
                           velocity=dict.fromkeys(planar.joint_names, 3.0),
                           acceleration=dict.fromkeys(planar.joint_names, 9.0))
    regressor = BaseRegressor(dynamics, limits, np.full(2, 50.0))
    given = motion(planar, 1000)
    rows = regressor(given.position, given.velocity, given.acceleration).reshape(
        -1, len(regressor))
    known = known_rows(regressor, [given], 10.0).reshape(-1, len(regressor))
    # As much of it as of a new motion of 10 s, which has as many samples
    assert known.T @ known == pytest.approx(rows.T @ rows / 1000)
    assert known_rows(regressor, [], 10.0).shape == (0, 2, len(regressor))


@pytest.fixture(scope='module')
def found(tmp_path_factory):
    path = write_csv(tmp_path_factory.mktemp('report') / 'fit.csv', real(), 4, 8.0)
    model = nominal()
    checked = checked_motion(read(path, model), model)
    return identify_parts(parts_of([checked], 0.7), model, replace(QUICK, armature=False))


@pytest.fixture(scope='module')
def text(found):
    return report(found, 'a <b>bag</b>', '<p>"moving"</p>').html()


def plots(text):
    return json.loads(re.search('application/json">(.*?)</script>', text)[1])


def test_it_tells_everything(found, text):
    words = unescape(text)
    for line in (*found.notes, *found.terms, *found.warnings, *found.estimate.base.texts):
        assert line in words
    for name in (*found.estimate.names, *found.validations, *found.nominal.joint_names):
        assert name in words
    assert 'a &lt;b&gt;bag&lt;/b&gt;' in text       # text of others is text
    assert 'scipy' in words and f'{found.estimate.condition:.4g}' in words


def test_its_plots_show_what_was_measured_and_predicted(found, text):
    one, other, errors, parameters, position, _ = plots(text)
    valid = found.validation
    for j, plot in enumerate((one, other)):
        measured, predicted, before = (np.array(trace['y'], float) for trace in plot['data'])
        assert np.nanmax(measured) == pytest.approx(valid.motion.effort[:, j].max(), rel=1e-5)
        assert np.nanmin(predicted) == pytest.approx(valid.predicted[:, j].min(), rel=1e-5)
        assert np.isnan(measured).sum() == np.isnan(before).sum() == len(valid.motion.segments)
    assert [trace['name'] for trace in errors['data']] == ['joint1', 'joint2']
    values, nominal = parameters['data']
    assert values['y'] == nominal['y'] == list(found.estimate.base.base_names)
    assert len(values['error_x']['array']) == len(values['y'])
    assert max(map(abs, nominal['x'])) <= 3.2
    train, test = position['data'][:2]
    assert test['line']['dash'] == 'dash'
    assert np.nanmax(np.array(train['y'], float)) == pytest.approx(
        found.train.position[:, 0].max(), rel=1e-5)


def test_gravity_of_a_tilted_base_is_a_parameter_of_the_controller(found, tmp_path):
    gravity, file = np.array([0.1, -0.2, -9.8]), tmp_path / 'friction.yaml'
    write_friction(file, friction_parameters(found.estimate), found.nominal.joint_names, gravity)
    model, _ = read_friction(file, found.nominal)
    assert model.gravity_vector.tolist() == gravity.tolist()
    parameters = yaml.safe_load(file.read_text())['/**/controller']['ros__parameters']
    assert parameters['gravity'] == gravity.tolist()
    write_friction(file, friction_parameters(found.estimate), found.nominal.joint_names)
    model, _ = read_friction(file, found.nominal)
    assert model.gravity_vector.tolist() == found.nominal.gravity_vector.tolist()
