# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Selection of the model, and bodies that can exist."""

from dataclasses import replace
import sys
from types import SimpleNamespace

from motions import identified, motion, noisy, QUICK, relative_errors, sliding, with_joints
import numpy as np
import pytest
from robodyn_ros import DhLink, Dynamics, from_dh
from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification import identify, ParameterSelection
from robodyn_ros.identification.estimation.base_parameters import base_parameters
from robodyn_ros.identification.estimation.cross_validation import (
    Candidate, choose_weight, Score, Trial)
from robodyn_ros.identification.estimation.estimate import trusted, with_inertial_parameters
from robodyn_ros.identification.estimation.least_squares import solution_without
from robodyn_ros.identification.estimation.model_selection import select_model
from robodyn_ros.identification.estimation.physical_consistency import (
    armature_scale, PRIOR_WEIGHTS)
from robodyn_ros.identification.estimation.regression import regression, VALIDATION_BLOCKS
from robodyn_ros.identification.estimation.search import AS_RECORDED
from robodyn_ros.identification.options import INERTIAL_ONLY, PipelineOptions
from robodyn_ros.identification.result import (
    of_estimate, of_model, ORDINARY, result_issues, WEIGHTED)
from robodyn_ros.model.rigid_body import pseudo_inertia

pytest.importorskip('clarabel', reason='needs the extra identify')

pytestmark = pytest.mark.slow

SELECTION = ParameterSelection(armature=False)
NOISE = np.array([2.0, 1.0, 1.0, 0.3])


def taken(terms, name):
    line, = [term for term in terms if term.startswith(name)]
    return ': taken' in line


def test_a_score_is_the_mean_relative_rms_and_a_gain_has_an_error():
    rng = np.random.default_rng(0)
    squares = rng.uniform(1, 2, (VALIDATION_BLOCKS, 3))
    score, other = Score(squares, np.full(3, 100.0)), Score(1.21 * squares, np.full(3, 100.0))
    assert score.error == pytest.approx(np.sqrt(squares.sum(0) / 100).mean())
    gain, deviation = score.gain(other)
    assert gain == pytest.approx(0.1 * score.error) and 0.0 < deviation < gain
    assert other.gain(score)[0] == -gain and score.gain(score) == (0.0, 0.0)


def test_factors_stand_for_the_samples_of_joints_and_blocks(planar):
    given = regression(planar, motion(planar, 103), SELECTION)
    parameters, sigma = np.random.default_rng(0).normal(size=given.size), np.array([0.5, 2.0])
    squares = (given.target - given.matrix @ parameters)**2
    blocks = np.array([squares[a:b].sum(0) for a, b in zip(
        given.compressed.bounds, given.compressed.bounds[1:])])
    for k, block in enumerate(blocks):
        np.testing.assert_allclose(given.compressed.squares(k, parameters), block, rtol=1e-9)
        rest = given.compressed.whole(sigma, without=k) @ np.append(parameters, -1.0)
        assert rest @ rest == pytest.approx(((blocks.sum(0) - block) / sigma**2).sum())


def test_scores_and_blocks(planar):
    given = regression(planar, noisy(motion(planar, 100), 0.1, 1), SELECTION)
    base = base_parameters(planar, SELECTION)
    found = solution_without(given, base, 'weighted', 2)
    other = replace(given, effort=given.effort + 9.0 * ((40 <= np.arange(100)) & (
        np.arange(100) < 60))[:, None])
    np.testing.assert_allclose(solution_without(other, base, 'weighted', 2), found, rtol=1e-8)
    assert not np.allclose(solution_without(other, base, 'weighted', 1), found)
    robot = replace(with_joints(planar, 0.3, 0.4), static_friction=np.full(2, 0.8))
    robot = replace(robot, backward_friction=np.array([[0.3] * 2, [0.4] * 2, [0.8] * 2]))
    given = noisy(motion(robot, 900, speed=0.4), 0.02, 1)
    errors = [Trial(Candidate(planar, AS_RECORDED, replace(SELECTION, static=static)), given
                    ).exported(0.1).error for static in (True, False)]
    assert errors[0] < 0.9 * errors[1]


@pytest.mark.parametrize(('term', 'robot'), [
    ('static friction', {'static': 0.9}), ('friction of each direction', {'backward': 1.0}),
    ('', {})])
def test_terms_that_the_robot_has_are_taken_and_no_others(planar, term, robot):
    true = with_joints(planar, 0.3, 0.4)
    forth = np.full(2, robot.get('static', 0.4))
    back = [np.full(2, 0.3), np.full(2, robot.get('backward', 0.4)),
            np.full(2, robot.get('backward', forth[0]))]
    true = replace(true, static_friction=forth, backward_friction=np.array(back))
    given = noisy(motion(true, 900, speed=0.4), 0.02, 1)
    found = select_model(planar, given, replace(SELECTION, decimate=2),
                         replace(QUICK, armature=False))
    for name in ('static friction', 'friction of each direction'):
        assert taken(found.terms, name) == (name == term), found.terms
    assert not any(line.startswith('presliding') for line in found.terms)    # as asked
    assert found.selection.static == (term == 'static friction')
    assert found.selection.directions == (term == 'friction of each direction')


def test_presliding_load_and_coupling_are_found(planar):
    true = replace(with_joints(planar, 0.1, 0.8), load_friction=np.full(2, 0.1),
                   coupled_friction=np.array([[1.0, 0.0], [0.3, 0.0], [0.8, 0.0]]))
    given = noisy(sliding(true, motion(true, 900), 0.01), 0.02, 1)
    options = PipelineOptions(delay=0.0, tilt=False, armature=False)
    found = identified(given, planar, options)
    for term in ('presliding', 'load-dependent friction', 'coupled transmission'):
        assert taken(found.terms, term), found.terms
    assert found.estimate.selection.coupling == ((0, 1.0),)
    assert found.estimate.selection.presliding == pytest.approx(0.01, rel=0.3)


def test_what_is_exported_is_no_worse_than_plain_least_squares(spatial):
    """Bodies that can exist explain these efforts, and short noisy motions favour constraints."""
    true = with_joints(spatial, 0.7, 0.4, 0.1)
    given = noisy(motion(true, 800), NOISE, 0)
    found = identified(given, with_joints(spatial, 0.1, 0.1), QUICK)
    exported = found.validation.relative.mean()
    for name in (ORDINARY, WEIGHTED):
        assert exported <= found.validations[name].relative.mean()
    assert not any('predicts the test part better' in line for line in found.warnings)
    assert any('as exported' in note and 'ordinary' in note for note in found.notes)


def test_it_is_said_where_least_squares_predicts_better(planar):
    true = with_joints(planar, 0.7, 0.4)
    given = noisy(motion(true, 500), 0.05, 1)
    estimate = identify(planar, given, SELECTION, 'weighted')
    valid = of_estimate(estimate, given)
    better = replace(valid, relative=0.5 * valid.relative)
    for plain, said in ((better, True), (replace(valid, relative=2.0 * valid.relative), False)):
        issues = list(result_issues(estimate, valid, of_model(planar, given), given, given,
                                    {ORDINARY: plain}))
        assert said == any(issue.kind == 'least squares' and ORDINARY in issue.message
                           for issue in issues)


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


def test_priors(robot, wrong):
    given = motion(robot, 400)
    found = identify(wrong, given, weight=0.1)
    assert np.linalg.eigvalsh(pseudo_inertia(found.parameters[:40])).min() > 0.0
    np.testing.assert_allclose(found.predict(given), given.effort, atol=2e-3)
    unseen = motion(robot, 300, seed=7)
    assert (relative_errors(found, unseen) < 1e-3).all()
    given = noisy(motion(robot, 200), NOISE, 2)
    distance = [abs(identify(wrong, given, weight=w).parameters[:40] - wrong.inertial_parameters
                    ).max() for w in (1e-1, 1e3, 1e7)]
    assert distance[0] > distance[1] > 10 * distance[2]


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


@pytest.mark.parametrize('believed, low, high', [('robot', 1e2, 1e6), ('wrong', 1e-2, 1e2)])
def test_data_choose_how_far_to_trust_the_model(request, robot, believed, low, high):
    given = noisy(motion(robot, 400), 0.1 * NOISE, 3)
    found = identify(request.getfixturevalue(believed), given, SELECTION)
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
    found, other = (identify(with_joints(model, armature=model.armature), moved, INERTIAL_ONLY,
                             weight=1.0) for model, moved in ((robot, given), (bigger, longer)))
    powers = np.tile([0] + [1] * 3 + [2] * 6, 4)
    np.testing.assert_allclose(other.parameters / 10.0**powers, found.parameters, rtol=1e-3,
                               atol=1e-4)


def test_models_that_are_found_and_what_to_install(robot, monkeypatch):
    parameters = 1.1 * robot.inertial_parameters
    np.testing.assert_allclose(with_inertial_parameters(robot, parameters).inertial_parameters,
                               parameters, rtol=1e-12, atol=1e-15)
    parameters[10] = -0.1
    with pytest.raises(IdentificationError, match=f"'{robot.link_names[1]}'"):
        with_inertial_parameters(robot, parameters)
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


def test_a_larger_prior_costs_a_hundredth_of_the_error_at_most():
    """However much the blocks differ, so that a standard error would permit more."""
    noise = 0.2 * np.array([[1.0], [-1.0], [1.0], [-1.0], [0.0]])
    costs = dict(zip(PRIOR_WEIGHTS, (0.0, 0.009, 0.011, 0.012, 0.02, 0.03, 0.04)))
    scores = {weight: Score((1.0 + cost)**2 + noise * (cost > 0.0), np.full(1, 5.0))
              for weight, cost in costs.items()}
    trial = SimpleNamespace(exported=scores.__getitem__)
    for weight in PRIOR_WEIGHTS[1:5]:
        assert np.less_equal(*scores[PRIOR_WEIGHTS[0]].gain(scores[weight]))
    assert choose_weight(trial)[0] == PRIOR_WEIGHTS[1]
