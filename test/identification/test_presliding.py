# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Friction that turns round late after a reversal: found where it is, and taken for no inertia."""

from dataclasses import replace

from motions import motion, noisy, relative_errors, sliding, with_joints
import numpy as np
import pytest
from robodyn_ros.cli.identify import distance
from robodyn_ros.errors import ArgumentError, IdentificationError
from robodyn_ros.identification import identify, ParameterSelection
from robodyn_ros.identification.estimation.presliding_search import find_presliding
from robodyn_ros.identification.friction_file import friction_parameters, write_friction
from robodyn_ros.identification.path_friction import path_friction
from robodyn_ros.identification.validation import of_estimate, of_model
from robodyn_ros.model.friction_file import read_friction

pytestmark = pytest.mark.slow

WAY, COULOMB, SIGMA = 0.01, 0.8, 0.02
CHOICE = ParameterSelection(armature=False)
TURNS = [0, 1, 3]       # of the joints of `spatial`; the other one slides


def late(model, way=WAY, seed=0):
    """Return a motion whose friction turns over a way."""
    true = with_joints(model, viscous=0.1, coulomb=COULOMB)
    return noisy(sliding(true, motion(true, seed=seed), way), SIGMA, seed + 1)


def test_friction_stays_at_a_reversal_and_turns_with_the_way(planar):
    there, back = np.linspace(0.0, 1.0, 101), np.linspace(1.0, 0.0, 1001)
    q = np.concatenate([there, back[:1], back])
    path = replace(motion(planar, len(q)), position=np.column_stack([q, 0.0 * q]),
                   velocity=np.zeros((len(q), 2)))
    unit = replace(with_joints(planar, 0.0, 1.0), presliding_distance=np.full(2, 0.1))
    share = path_friction(unit, path)
    np.testing.assert_array_equal(share[:103, 0], 1.0)         # at rest too
    np.testing.assert_allclose(share[102:, 0], 2.0 * np.exp((back - 1.0) / 0.1) - 1.0, atol=1e-12)
    np.testing.assert_array_equal(share[:, 1], 0.0)


def test_sliding_friction_is_that_of_the_model(planar):
    model = replace(with_joints(planar, 0.3, COULOMB), static_friction=np.full(planar.nv, 1.1),
                    backward_friction=np.outer([0.2, 0.5, 0.7], np.ones(planar.nv)))
    given = motion(model)
    smooth = path_friction(model, given)
    held = path_friction(replace(model, presliding_distance=np.full(2, 1e-9)), given)
    fast = abs(given.velocity) > 0.2
    np.testing.assert_allclose(held[fast], smooth[fast], rtol=1e-9)


def test_a_distance_is_found(spatial):
    found = find_presliding(with_joints(spatial), late(spatial), CHOICE)
    assert found.distance == pytest.approx(WAY, rel=0.2) and ': significant' in found.note


def test_none_is_none(spatial):
    given = noisy(motion(with_joints(spatial, 0.1, COULOMB)), SIGMA, 1)
    assert find_presliding(with_joints(spatial), given, CHOICE).distance == 0.0
    assert find_presliding(with_joints(spatial), late(spatial, 0.2), CHOICE).distance == 0.0


@pytest.mark.parametrize('method', ['weighted', 'consistent'])
def test_late_friction_is_taken_for_no_inertia(spatial, method):
    given, other = late(spatial), late(spatial, seed=5)
    known, true = with_joints(spatial), with_joints(spatial, 0.1, COULOMB)
    choices = replace(CHOICE, presliding=WAY), CHOICE
    estimates = [identify(known, given, selection, method) for selection in choices]
    rigid = np.array([not name.startswith(('viscous', 'Coulomb', 'offset'))
                      for name in estimates[0].base.base_names])
    off = [abs(each.values - each.base.values(np.concatenate(
        [true.inertial_parameters, np.zeros(each.base.combination.shape[1] - 10 * true.nb)]
    )))[rigid] / estimates[0].standard_errors[rigid] for each in estimates]
    assert off[0].max() < 4.5 and np.median(off[1]) > 2.0 * np.median(off[0])
    errors = [relative_errors(each, other)[TURNS] for each in estimates]
    assert (errors[0] < 0.5 * errors[1]).all()


def test_what_is_written_predicts_as_the_estimate_does(planar, tmp_path):
    """Presliding, load-dependent and coupled friction survive friction.yaml."""
    true = replace(with_joints(planar, 0.1, COULOMB), load_friction=np.full(2, 0.05),
                   coupled_friction=np.array([[1.0, 0.0], [0.2, 0.0], [0.3, 0.0]]))
    given = noisy(sliding(true, motion(true), WAY), SIGMA, 3)
    selection = replace(CHOICE, presliding=WAY, coupling=((0, 1.0),),
                        load=tuple(true.inertial_parameters.tolist()))
    found = identify(planar, given, selection, 'consistent', weight=1.0)
    assert found.of_joints('load') == pytest.approx(0.05, abs=0.02)
    assert found['coupled Coulomb joint1'] == pytest.approx(0.3, abs=0.1)
    write_friction(tmp_path / 'friction.yaml', friction_parameters(found), planar.joint_names)
    bodies = replace(found.to_model(), viscous_friction=np.zeros(2))
    read, offset = read_friction(tmp_path / 'friction.yaml', bodies)
    assert of_model(read, given, offset).relative == pytest.approx(
        of_estimate(found, given).relative, rel=0.02)


def test_words():
    assert distance('--presliding', 'auto') is None and distance('--presliding', 'none') == 0.0
    assert distance('--presliding', '0.002') == 0.002
    with pytest.raises(ArgumentError):
        distance('--presliding', 'late')
    for wrong in (-1.0, np.nan, np.inf):
        with pytest.raises(IdentificationError):
            ParameterSelection(presliding=wrong)
