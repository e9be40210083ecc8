# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Terms of the exported model by cross-validation: those that the robot has, and never a loss."""

from dataclasses import replace

from motions import motion, noisy, sliding, with_joints
import numpy as np
import pytest
from robodyn_ros.identification import identify, ParameterSelection
from robodyn_ros.identification.data_checks.result_checks import result_issues
from robodyn_ros.identification.estimation.base_parameters import base_parameters
from robodyn_ros.identification.estimation.compressed import VALIDATION_BLOCKS
from robodyn_ros.identification.estimation.cross_validation import (
    Candidate,
    Score,
    Trial,
)
from robodyn_ros.identification.estimation.delay_and_tilt import Mounting
from robodyn_ros.identification.estimation.least_squares import solution_without
from robodyn_ros.identification.estimation.model_selection import select_model
from robodyn_ros.identification.estimation.regression import regression
from robodyn_ros.identification.options import PipelineOptions
from robodyn_ros.identification.pipeline import identify_parts
from robodyn_ros.identification.recorded_motion import Parts
from robodyn_ros.identification.result import ORDINARY, WEIGHTED
from robodyn_ros.identification.validation import of_estimate, of_model

pytest.importorskip('clarabel', reason='needs the extra identify')

pytestmark = pytest.mark.slow

OPTIONS = PipelineOptions(delay=0.0, tilt=False, presliding=0.0)
NONE = Mounting(0.0, np.zeros(3), ())
SELECTION = ParameterSelection(armature=False)


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


def test_a_block_that_is_left_out_takes_no_part(planar):
    given = regression(planar, noisy(motion(planar, 100), 0.1, 1), SELECTION)
    base = base_parameters(planar, SELECTION)
    found = solution_without(given, base, 'weighted', 2)
    other = replace(given, effort=given.effort + 9.0 * ((40 <= np.arange(100)) & (
        np.arange(100) < 60))[:, None])
    np.testing.assert_allclose(solution_without(other, base, 'weighted', 2), found, rtol=1e-8)
    assert not np.allclose(solution_without(other, base, 'weighted', 1), found)


def test_the_true_structure_has_the_least_error(planar):
    robot = replace(with_joints(planar, 0.3, 0.4), static_friction=np.full(2, 0.8))
    robot = replace(robot, backward_friction=np.array([[0.3] * 2, [0.4] * 2, [0.8] * 2]))
    given = noisy(motion(robot, 900, speed=0.4), 0.02, 1)
    errors = [Trial(Candidate(planar, NONE, replace(SELECTION, static=static)), given).exported(
        0.1).error for static in (True, False)]
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
                         replace(OPTIONS, armature=False))
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
    found = identify_parts(Parts(*given.split(0.7), (), ()), planar, options)
    for term in ('presliding', 'load-dependent friction', 'coupled transmission'):
        assert taken(found.terms, term), found.terms
    assert found.estimate.selection.coupling == ((0, 1.0),)
    assert found.estimate.selection.presliding == pytest.approx(0.01, rel=0.3)


@pytest.mark.parametrize('seed', range(2))
def test_what_is_exported_is_no_worse_than_plain_least_squares(spatial, seed):
    """Bodies that can exist explain these efforts, and short noisy motions favour constraints."""
    true = with_joints(spatial, 0.7, 0.4, 0.1)
    given = noisy(motion(true, 800, seed=seed), np.array([2.0, 1.0, 1.0, 0.3]), seed)
    found = identify_parts(Parts(*given.split(0.7), (), ()), with_joints(spatial, 0.1, 0.1),
                           OPTIONS)
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
