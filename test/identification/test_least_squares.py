# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Least squares: base parameters, regression, rows that count."""

from dataclasses import replace
import re

from motions import motion, noisy, with_joints
import numpy as np
import pytest
from robodyn_ros import DhLink, from_dh, load_urdf
from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification import base_parameters, identify, Motion, ParameterSelection
from robodyn_ros.identification.estimation.base_parameters import base_of, number
from robodyn_ros.identification.estimation.filtered_columns import (
    RESPONSE_PERIODS, rows_that_count)
from robodyn_ros.identification.estimation.least_squares import least_squares, normal_solution
from robodyn_ros.identification.estimation.regression import predicted, regression
from robodyn_ros.identification.options import INERTIAL_ONLY
from robots import EXTENDED, GRIPPER, OWN, REAL

pytestmark = pytest.mark.slow


def two_links(gravity):
    return from_dh([DhLink(0, 0, 0.5, 0, mass=1, com=(-0.1, 0.1, 0)),
                    DhLink(0, 0, 0.3, 0, mass=1, com=(-0.1, 0.1, 0))], gravity=gravity)


def test_base_parameters_of_a_panda(panda):
    # Gaz, Cognetti, Oliva, Robuffo Giordano and De Luca 2019
    assert base_parameters(panda, INERTIAL_ONLY).rank == 43
    assert base_parameters(load_urdf(OWN['two_link']), INERTIAL_ONLY).rank == 6
    base = base_parameters(panda)
    given = regression(panda, motion(panda, 60))
    of_base = given.matrix[:, :, base.independent] @ base.combination
    np.testing.assert_allclose(of_base, given.matrix, atol=1e-8)


def test_base_parameters_of_a_planar_arm():
    # Of each link m c (2) and Izz are felt; the second mass acts as if at the end of the first
    found = base_parameters(two_links((0, -9.81, 0)), INERTIAL_ONLY)
    assert found.texts == ('mcx link1 + 0.5 m link2', 'mcy link1', 'Izz link1 + 0.25 m link2',
                           'mcx link2', 'mcy link2', 'Izz link2')
    # Without gravity in its plane it does not feel where its first centre is
    found = base_parameters(two_links((0, 0, -9.81)), INERTIAL_ONLY)
    assert found.rank == 4 and {'mcz link1', 'Ixx link2', 'Iyz link2'} < set(found.unseen)
    # The rotor of the first joint is not told from its link
    found = base_parameters(two_links((0, -9.81, 0)))
    assert any('Izz link1' in line and line.endswith('+ armature joint1') for line in found.texts)
    assert 'armature joint2' in found.base_names


@pytest.mark.parametrize('value, text', [(0.5, '0.5'), (1 / 3, '1/3'), (0.0825 + 1e-11, '0.0825'),
                                         (1.0, '1'), (np.pi, '3.14159'), (5 / 7, '5/7')])
def test_numbers_are_short_where_they_can_be(value, text):
    assert number(value) == text


def test_names_units_and_rounded_angles():
    # 1.5708 instead of a right angle, as CAD exports have it.
    text = open(REAL['ur5']).read()
    rounded = re.sub(r'(?<=rpy=")[^"]*', lambda rpy: ' '.join(
        f'{float(angle):.4f}' for angle in rpy.group().split()), text)
    assert rounded != text
    assert base_parameters(load_urdf(rounded), INERTIAL_ONLY).rank == 36
    linear = regression(model := load_urdf(EXTENDED), motion(model, 5))
    of = dict(zip(linear.names, linear.units))
    assert of['m upper'] == 'kg' and of['mcx upper'] == 'kg·m' and of['Izz fore'] == 'kg·m²'
    assert of['viscous shoulder'] == 'N·m·s/rad' and of['viscous slide'] == 'N·s/m'
    assert of['Coulomb slide'] == of['offset slide'] == 'N' and of['armature slide'] == 'kg'


@pytest.mark.parametrize('text', [GRIPPER, EXTENDED])
@pytest.mark.parametrize('selection', [
    ParameterSelection(), ParameterSelection(directions=True, static=True),
    ParameterSelection(viscous=False, coulomb=False),
    ParameterSelection(armature=False, offset=False)])
def test_parameters_of_the_model_give_its_efforts(text, selection):
    # Mimic joints among them; and friction that no URDF has words for, of each direction its own
    model = load_urdf(text)
    given = motion(model, 60)
    linear = regression(model, given, selection)
    mixed = (model.backward_friction != [model.viscous_friction, model.coulomb_friction,
                                         model.static_friction]).any()
    if selection.coulomb and mixed and not selection.directions:
        assert abs(linear.predict(linear.prior) - given.effort).max() > 0.01
    else:
        np.testing.assert_allclose(linear.predict(linear.prior), given.effort, atol=1e-9)
    assert len(set(linear.names)) == len(linear.units) == linear.size == linear.matrix.shape[2]
    other = linear.prior + np.random.default_rng(0).normal(size=linear.size)
    np.testing.assert_allclose(predicted(model, given, selection, other), linear.predict(other),
                               atol=1e-9)


def test_samples_that_are_left_out_and_motions_that_tell_less(planar):
    given = motion(planar, 103)
    linear = regression(planar, given, ParameterSelection(decimate=10))
    assert len(linear) == 11 and linear.segments == ((0, 11),)
    np.testing.assert_array_equal(linear.effort, given.effort[::10])
    robot = with_joints(planar, 0.7, 0.4)
    everything = base_parameters(robot).rank
    assert base_of(regression(robot, motion(robot, 200))).rank == everything
    assert base_of(regression(robot, motion(robot, 4))).rank <= 8 < everything      # equations


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


def test_estimates_near_the_model(spatial, planar):
    robot = with_joints(spatial, 0.7, 0.4, 0.2)
    given = motion(robot, 400)
    found = identify(robot, given, INERTIAL_ONLY, 'weighted')
    np.testing.assert_allclose(found.predict(given), given.effort, atol=1e-8)
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


def test_noise_that_was_filtered(planar):
    # 5 Hz of 100 Hz: white noise would be said to leave errors a third of what they are
    robot = with_joints(planar, 0.7, 0.4, 0.1)
    one, two, three = shares_within(robot, 'weighted', (1, 2, 3), bandwidth=5.0)
    assert 0.56 < one < 0.76
    assert 0.90 < two < 0.985
    assert three > 0.98
    exact = motion(robot, 3000)
    white = identify(robot, noisy(exact, 0.1, 1), method='weighted').independent
    slow = identify(robot, noisy(exact, 0.1, 1, 5.0), method='weighted').independent
    np.testing.assert_allclose(white, 3000, rtol=0.15)
    np.testing.assert_allclose(slow, 300, rtol=0.35)      # 2 · 5 Hz over 100 Hz


def test_joints_are_weighed_and_gaps_are_no_neighbours(planar):
    robot = with_joints(planar, 0.7, 0.4, 0.1)
    exact = motion(robot, 800)
    found = identify(robot, noisy(exact, SIGMA[2], 3), method='weighted')
    np.testing.assert_allclose(found.sigma, SIGMA[2], rtol=0.1)
    ordinary = identify(robot, noisy(exact, SIGMA[2], 3), method='ordinary')
    assert (found.standard_errors < 1.01 * ordinary.standard_errors).all()
    assert (found.standard_errors < 0.8 * ordinary.standard_errors).any()
    one, other = motion(robot, 400), motion(robot, 300, seed=5)
    both = replace(one, **{name: np.concatenate([getattr(one, name), getattr(other, name)])
                           for name in ('time', 'position', 'velocity', 'acceleration', 'effort')},
                   segments=((0, 400), (400, 700)))
    both = replace(both, cutoff=8.0)
    both = replace(both, effort=regression(robot, both).predict(regression(robot, both).prior))
    found = identify(planar, both, method='weighted')
    np.testing.assert_allclose(found.predict(both), both.effort, atol=1e-6)
    np.testing.assert_allclose(found.of_joints('viscous'), 0.7, atol=1e-6)


def still(given):
    """Return the motion with a second joint that stands."""
    return replace(given, **{name: getattr(given, name) * [1, 0]
                             for name in ('position', 'velocity', 'acceleration')})


def in_step(given):
    """Return the motion with a second joint that moves as the first one does."""
    given = still(given)
    return replace(given, velocity=given.velocity @ [[1, 1], [0, 0]],
                   acceleration=np.ones_like(given.acceleration))


def not_finite(given):
    effort = given.effort.copy()
    effort[7, 1] = np.nan
    return replace(given, effort=effort)


@pytest.mark.parametrize(('change', 'said', 'name'), [
    (still, "joint 'joint2' did not move", None), (in_step, 'does not distinguish', 'base'),
    (lambda given: given.part(0, 3), 'equations', None), (not_finite, '', 'effort')])
def test_what_tells_too_little_is_refused(planar, change, said, name):
    with pytest.raises(IdentificationError, match=said) as refused:
        identify(planar, change(motion(planar, 300)), method='weighted')
    names = base_parameters(planar).base_names if name == 'base' else (name or refused.value.name,)
    assert refused.value.name in names


def test_other_joints(planar, spatial):
    with pytest.raises(IdentificationError) as refused:
        identify(spatial, motion(planar, 50))
    assert refused.value.value == planar.joint_names


@pytest.mark.parametrize('options', [
    {'method': 'guess'}, {'method': 'weighted', 'weight': 1.0}, {'weight': -1.0}])
def test_options_that_make_no_sense(planar, options):
    with pytest.raises(IdentificationError) as refused:
        identify(planar, motion(planar, 200), **options)
    assert refused.value.remedy


@pytest.mark.parametrize('options', [{'decimate': 0}, {'static': True, 'coulomb': False},
                                     {'moving': 0.0}, {'presliding': -1.0},
                                     {'presliding': np.nan}, {'presliding': np.inf}])
def test_choices_that_make_no_sense(options):
    with pytest.raises(IdentificationError, match=next(iter(options))):
        ParameterSelection(**options)


MOVING = ParameterSelection(moving=0.1)


def sticking(given: Motion, effort: float) -> Motion:
    """Return the same where joints that are slower than 0.1 rad/s bear less."""
    slow = abs(given.velocity) < 0.1
    return replace(given, effort=given.effort - effort * slow * np.sign(given.velocity))


def test_slow_rows_are_left_out(planar):
    given = motion(planar)
    rows = rows_that_count(given, MOVING)
    np.testing.assert_array_equal(rows, abs(given.velocity) >= 0.1)
    assert 0.5 < rows.mean() < 1.0 and (rows[:, 0] != rows[:, 1]).any()
    whole, part = regression(planar, given), regression(planar, given, MOVING)
    np.testing.assert_array_equal(part.matrix, whole.matrix * rows[:, :, None])
    np.testing.assert_array_equal(part.target, whole.target * rows)
    with pytest.raises(IdentificationError, match='no joint is faster than 100'):
        regression(planar, given, ParameterSelection(moving=100.0))
    estimate = identify(planar, given, MOVING, 'weighted')
    assert estimate.predict(given) == pytest.approx(given.effort, abs=1e-6)


def test_filters_carry_slowness_and_ends_further(planar):
    given = replace(motion(planar, rate=1000.0, count=9000), cutoff=20.0)
    rows = rows_that_count(given, ParameterSelection(moving=0.1))
    reach = int(np.ceil(RESPONSE_PERIODS / 20 * 1000))
    for fast, counted in zip((abs(given.velocity) >= 0.1).T, rows.T):
        around = [fast[max(i - reach, 0):i + reach + 1].all() for i in range(len(fast))]
        expected = np.array(around)
        expected[:reach] = expected[-reach:] = False
        np.testing.assert_array_equal(counted, expected)
    thin = rows_that_count(given, ParameterSelection(moving=0.1, decimate=7))
    np.testing.assert_array_equal(thin, rows[::7])


def test_what_sticks_biases_nothing(planar):
    true = with_joints(planar, viscous=0.3, coulomb=0.8, armature=0.05)
    given = sticking(noisy(motion(true, count=3000), 0.01, seed=3), 0.7)
    off = {selection: identify(with_joints(planar), given, selection, 'weighted'
                               ).of_joints('Coulomb') - 0.8
           for selection in (MOVING, ParameterSelection())}
    assert abs(off[MOVING]).max() < 5e-3
    assert abs(off[ParameterSelection()]).min() > 0.02


def test_standard_errors_are_those_of_the_rows_that_count(planar):
    true = with_joints(planar, viscous=0.3, coulomb=0.8)
    found, bounds = [], []
    for seed in range(25):
        estimate = identify(planar, noisy(motion(true), 0.05, seed, bandwidth=10.0), MOVING,
                            'weighted')
        found.append(estimate.values)
        bounds.append(estimate.standard_errors)
        assert estimate.sigma == pytest.approx(0.05, rel=0.3)
    ratio = np.std(found, axis=0) / np.mean(bounds, axis=0)
    assert (ratio > 0.55).all() and (ratio < 1.7).all()
