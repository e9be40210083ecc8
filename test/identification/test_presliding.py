# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Friction that turns round late after a reversal: found where it is, and taken for no inertia."""

from dataclasses import replace

import numpy as np
import pytest
from exciting import motion, noisy, with_joints

from robodyn_ros.cli.identify import distances
from robodyn_ros.errors import ArgumentError, IdentificationError
from robodyn_ros.identification import ParameterSelection, identify
from robodyn_ros.identification.estimation.friction_refit import with_smooth_friction
from robodyn_ros.identification.estimation.presliding import friction, turned
from robodyn_ros.identification.estimation.presliding_search import find_presliding

WAY, COULOMB, SIGMA = 0.01, 0.8, 0.02
CHOICE = ParameterSelection(armature=False)
TURNS = [0, 1, 3]       # of the joints of `spatial`; the other one slides


def late(model, way=WAY, slow=0.0, seed=0):
    """A motion whose friction turns over a way, and a part of it over a much longer one."""
    true = with_joints(model, viscous=0.1, coulomb=COULOMB)
    given = motion(true, seed=seed)
    now, then = (friction(true, given, tuple(w)) for w in ((), [way]))
    more = np.column_stack([turned(q, 0.3) for q in given.position.T])
    return noisy(replace(given, effort=given.effort - now + then + slow * more), SIGMA, seed + 1)


def test_friction_stays_at_a_reversal_and_turns_with_the_way():
    there, back = np.linspace(0.0, 1.0, 101), np.linspace(1.0, 0.0, 1001)
    share = turned(np.concatenate([there, back[:1], back]), 0.1)
    np.testing.assert_array_equal(share[:103], 1.0)         # at rest too
    np.testing.assert_allclose(share[102:], 2.0 * np.exp((back - 1.0) / 0.1) - 1.0, atol=1e-12)
    np.testing.assert_array_equal(turned(np.ones(5), 0.1), 0.0)


def test_sliding_friction_is_that_of_the_model(planar):
    model = replace(with_joints(planar, 0.3, COULOMB), static_friction=np.full(planar.nv, 1.1),
                    backward_friction=np.outer([0.2, 0.5, 0.7], np.ones(planar.nv)))
    given = motion(model)
    smooth, held = friction(model, given, ()), friction(model, given, (1e-9,))
    fast = abs(given.velocity) > 0.2
    np.testing.assert_allclose(held[fast], smooth[fast], rtol=1e-9)


def test_ways_are_found(spatial):
    found = find_presliding(with_joints(spatial), late(spatial), CHOICE)
    assert len(found.ways) == 1 and found.ways[0] == pytest.approx(WAY, rel=0.2)
    assert 'taken into account' in found.notes[0] and 'not significant' in found.notes[1]
    both = find_presliding(with_joints(spatial), late(spatial, slow=0.3), CHOICE)
    assert both.ways == pytest.approx((WAY, 0.3), rel=0.35)


def test_none_is_none(spatial):
    given = noisy(motion(with_joints(spatial, 0.1, COULOMB)), SIGMA, 1)
    found = find_presliding(with_joints(spatial), given, CHOICE)
    assert found.ways == ()
    assert len(find_presliding(with_joints(spatial), late(spatial, 0.2), CHOICE).ways) == 0


@pytest.mark.parametrize('method', ['weighted', 'consistent'])
def test_late_friction_is_taken_for_no_inertia(spatial, method):
    given, other = late(spatial), late(spatial, seed=5)
    known, true = with_joints(spatial), with_joints(spatial, 0.1, COULOMB)
    choices = replace(CHOICE, presliding=(WAY,)), CHOICE
    estimates = [identify(known, given, selection, method) for selection in choices]
    rigid = np.array([not name.startswith(('viscous', 'Coulomb', 'offset'))
                      for name in estimates[0].base.base_names])
    off = [abs(each.values - each.base.values(np.concatenate(
        [true.inertial_parameters, np.zeros(each.base.combination.shape[1] - 10 * true.nb)]
    )))[rigid] / estimates[0].standard_errors[rigid] for each in estimates]
    assert off[0].max() < 4.5 and np.median(off[1]) > 2.0 * np.median(off[0])
    errors = [each.relative_errors(other)[TURNS] for each in estimates]
    assert (errors[0] < 0.5 * errors[1]).all()


def test_what_a_controller_gets(spatial):
    given = late(spatial)
    found = identify(with_joints(spatial), given, replace(CHOICE, presliding=(WAY, 0.3)))
    smooth = with_smooth_friction(found, given)
    assert smooth.selection == CHOICE and not any(n.startswith('slow') for n in smooth.names)
    np.testing.assert_array_equal(smooth.to_model().inertia, found.to_model().inertia)
    taken_over = replace(smooth, parameters=np.array([found[name] for name in smooth.names]))
    errors = [each.relative_errors(given) for each in (found, smooth, taken_over)]
    assert (errors[0] < errors[1])[TURNS].all() and (errors[1] < errors[2])[TURNS].all()


def test_words():
    assert distances('--presliding', 'auto') is None and distances('--presliding', 'none') == ()
    assert distances('--presliding', '0.002,0.3') == (0.002, 0.3)
    with pytest.raises(ArgumentError):
        distances('--presliding', 'late')
    for wrong in ((0.0,), (-1.0,), (np.nan,), (0.1, 0.2, 0.3)):
        with pytest.raises(IdentificationError):
            ParameterSelection(presliding=wrong)
