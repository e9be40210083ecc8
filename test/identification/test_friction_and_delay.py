# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Effects that are searched for: delay, tilt, presliding, speeds of friction."""

from dataclasses import replace

from motions import motion, noisy, relative_errors, sliding, with_joints
import numpy as np
import pytest
from robodyn_ros import load_urdf
from robodyn_ros.cli.identify import distance
from robodyn_ros.errors import ArgumentError, IdentificationError
from robodyn_ros.identification import friction_speeds, identify, ParameterSelection
from robodyn_ros.identification.estimation.filtered_columns import path_friction
from robodyn_ros.identification.estimation.model_selection import select_effects
from robodyn_ros.identification.estimation.search import find_effects, find_mounting, Search
from robodyn_ros.identification.filtering import LowPass
from robodyn_ros.identification.options import PipelineOptions
from robodyn_ros.identification.result import of_estimate, of_model
from robodyn_ros.identification.result_files import friction_parameters, write_friction
from robodyn_ros.model.friction_file import RANGES, read_friction
from scipy.interpolate import CubicSpline

pytestmark = pytest.mark.slow

BODIES = ParameterSelection(armature=False)
SHORT_WAY = 0.003
OPTIONS = PipelineOptions(tilt=False, armature=False)


def delayed(given, delay=0.0):
    """Return a motion as preparation leaves it: filtered; its efforts are stamped late."""
    effort = LowPass(8.0, given.rate)(given.effort)
    return replace(given, effort=CubicSpline(given.time, effort)(given.time - delay), cutoff=8.0)


def test_a_delay_that_late_friction_feigns_is_left_again(planar):
    true = with_joints(planar, 0.1, 0.8)
    given = delayed(noisy(sliding(true, motion(true, 500, seed=1), SHORT_WAY), 0.02, 2))
    feigned = find_mounting(planar, given, BODIES, tilt=False).delay
    assert feigned > 0.01
    found = select_effects(planar, given, BODIES, OPTIONS)
    assert found.mounting.delay == pytest.approx(0.0, abs=1e-3)
    assert found.selection.presliding == pytest.approx(SHORT_WAY, rel=0.1)
    search = Search(planar, given, BODIES, ['presliding', 'delay'])
    assert search.misfit(search.best(['presliding', 'delay'])) < search.misfit(
        {'delay': np.array([1e3 * feigned])}) - 10.0


def test_delays_are_found_or_taken(planar):
    true = with_joints(planar, 0.1, 0.8)
    given = delayed(noisy(motion(true, 500, seed=1), 0.02, 2), 0.012)
    found = select_effects(planar, given, BODIES, OPTIONS)
    assert found.mounting.delay == pytest.approx(0.012, abs=1e-3)
    assert found.selection.presliding < SHORT_WAY / 3.0
    given = delayed(noisy(motion(true, 300, seed=1), 0.02, 2))
    found = select_effects(planar, given, BODIES, replace(OPTIONS, delay=0.012))
    assert found.mounting.delay == 0.012


def test_shifts_of_efforts(planar):
    exact = motion(with_joints(planar, 0.7), 600)
    given = replace(exact, effort=CubicSpline(exact.time, exact.effort)(exact.time - 0.004))
    back = given.later(0.004)
    assert len(back) == 599 and back.segments == ((0, 599),)
    np.testing.assert_allclose(back.effort[5:-5], exact.effort[5:-6], atol=1e-3)
    np.testing.assert_array_equal(back.position, exact.position[:599])
    given = replace(motion(planar, 300), segments=((0, 100), (100, 300)))
    assert given.later(0.025).segments == ((0, 97), (97, 294))
    assert given.later(-0.025).segments == ((0, 97), (97, 294))
    for delay in (np.nan, np.inf, 60.0):
        with pytest.raises(IdentificationError, match='no sample has efforts'):
            given.later(delay)


def test_delay_and_tilt_are_found(spatial):
    robot = with_joints(spatial, 0.7)
    tilted = replace(robot, gravity_vector=np.array([0.3, 0.2, -9.804]))
    given = delayed(noisy(motion(tilted, 800), 0.1, 0), 0.006)
    found = find_mounting(robot, given, BODIES)
    assert abs(found.delay - 0.006) < 0.001
    np.testing.assert_allclose(found.model(robot).gravity_vector, tilted.gravity_vector, atol=0.1)
    assert len(found.notes) == 2 and all('taken into account' in note for note in found.notes)
    corrected = identify(found.model(robot), found.motion(given), BODIES, 'weighted').sigma
    assert (corrected < 0.8 * identify(robot, given, BODIES, 'weighted').sigma).any()


def test_neither_delay_nor_tilt_is_none(spatial):
    robot = with_joints(spatial, 0.7, 0.4)
    given = delayed(noisy(motion(robot, 800), 0.1, 0))
    found = find_mounting(robot, given, BODIES)
    assert found.delay == 0.0 and not found.tilt.any()
    assert all('not significant' in note for note in found.notes)
    assert found.model(robot) is robot and found.motion(given) is given


def test_what_is_not_asked_is_not_looked_for(planar):
    given = delayed(motion(planar, 400))
    assert find_mounting(planar, given, BODIES, delay=False, tilt=False).notes == ()
    short = replace(given, segments=((0, 20), (20, 40)))
    assert 'long enough' in find_mounting(planar, short, BODIES).notes[0]
    rough = replace(given, cutoff=np.inf)
    assert 'filter' in find_mounting(planar, rough, BODIES, tilt=False).notes[0]


WAY, COULOMB, SIGMA = 0.01, 0.8, 0.02

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


def test_friction_of_distances_and_loads(planar):
    model = replace(with_joints(planar, 0.3, COULOMB), static_friction=np.full(planar.nv, 1.1),
                    backward_friction=np.outer([0.2, 0.5, 0.7], np.ones(planar.nv)))
    given = motion(model)
    smooth = path_friction(model, given)
    held = path_friction(replace(model, presliding_distance=np.full(2, 1e-9)), given)
    fast = abs(given.velocity) > 0.2
    np.testing.assert_allclose(held[fast], smooth[fast], rtol=1e-9)
    true = replace(with_joints(planar, 0.1, 0.3), load_friction=np.full(2, 0.7))
    given = noisy(sliding(true, motion(true, 1200), 0.0), 0.02, 1)
    selection = ParameterSelection(armature=False, load=tuple(true.inertial_parameters.tolist()))
    found = identify(planar, given, selection, weight=0.1)
    most = RANGES['load_friction'][1]
    assert found.of_joints('load').max() == pytest.approx(most, rel=1e-6)
    assert (found.of_joints('load') <= most).all()


def test_a_distance_is_found_where_there_is_one(spatial):
    found, way = find_effects(with_joints(spatial), late(spatial), BODIES, ['presliding'])
    assert way == pytest.approx(WAY, rel=0.05) and 'taken into account' in found.notes[0]
    for given in (noisy(motion(with_joints(spatial, 0.1, COULOMB)), SIGMA, 1), late(spatial, 0.2)):
        assert find_effects(with_joints(spatial), given, BODIES, ['presliding'])[1] == 0.0


def test_late_friction_is_taken_for_no_inertia(spatial):
    given, other = late(spatial), late(spatial, seed=5)
    known, true = with_joints(spatial), with_joints(spatial, 0.1, COULOMB)
    choices = replace(BODIES, presliding=WAY), BODIES
    estimates = [identify(known, given, selection, 'weighted') for selection in choices]
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
    selection = replace(BODIES, presliding=WAY, coupling=((0, 1.0),),
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


STRIBECK = ParameterSelection(static=True)


@pytest.fixture(scope='module')
def sticky(planar):
    return replace(with_joints(planar, 0.7, 1.0, 0.1), static_friction=np.array([1.6, 1.8]),
                   backward_friction=np.array([[0.7, 0.7], [1.0, 1.0], [1.6, 1.8]]),
                   friction_velocity=np.array([0.02, 0.05]),
                   stribeck_velocity=np.array([0.3, 0.2]))


@pytest.fixture(scope='module')
def believed(sticky):
    return replace(sticky, friction_velocity=np.array([0.01, 0.01]),
                   stribeck_velocity=np.array([0.1, 0.1]))


def slow(robot, seed=0):
    return motion(robot, 3000, seed=seed, speed=0.3)


def test_speeds_of_friction(sticky, believed):
    given = slow(sticky)
    found = friction_speeds(believed, given, STRIBECK)
    np.testing.assert_allclose(found.friction_velocity, sticky.friction_velocity, rtol=0.02)
    np.testing.assert_allclose(found.stribeck_velocity, sticky.stribeck_velocity, rtol=0.02)
    assert found.undetermined == ()
    found = identify(found.model, given, STRIBECK, 'weighted')
    assert (relative_errors(found, slow(sticky, 3)) < 1e-3).all()
    np.testing.assert_allclose(found.of_joints('static'), [1.6, 1.8], rtol=0.02)
    np.testing.assert_allclose(found.to_model().stribeck_velocity, [0.3, 0.2], rtol=0.02)


def test_of_one_joint():
    """The only unknown, and far from what is believed."""
    true = with_joints(load_urdf('two_link', locked={'joint2': 0.3}), 0.7, 1.0)
    believed = replace(true, friction_velocity=np.array([0.9]))
    found = friction_speeds(believed, slow(true), ParameterSelection())
    assert found.friction_velocity == pytest.approx(true.friction_velocity, rel=0.02)


def test_with_noise_they_are_within_their_errors(sticky, believed):
    z = []
    for seed in range(2):
        found = friction_speeds(believed, noisy(slow(sticky), 0.05, seed), STRIBECK)
        z += list(abs(found.friction_velocity - sticky.friction_velocity)
                  / found.friction_velocity_error)
        z += list(abs(found.stribeck_velocity - sticky.stribeck_velocity)
                  / found.stribeck_velocity_error)
    assert max(z) < 3.5 and np.median(z) < 1.5


def test_where_nothing_sticks_the_speed_is_open(planar):
    robot = with_joints(planar, 0.7, 1.0, 0.1)
    found = friction_speeds(robot, noisy(slow(robot), 0.05, 0), STRIBECK)
    assert any(name.startswith('stribeck_velocity') for name in found.undetermined)
    for kind in ('friction_velocity', 'stribeck_velocity'):
        for j, joint in enumerate(robot.joint_names):
            assert (f'{kind} {joint}' in found.undetermined) == np.isinf(
                getattr(found, f'{kind}_error')[j])
            if f'{kind} {joint}' in found.undetermined:
                assert getattr(found.model, kind)[j] == getattr(robot, kind)[j]


def test_motion_without_slow_parts_is_refused(planar):
    given = motion(planar, 200)
    fast = replace(given, velocity=given.velocity + 50.0)
    with pytest.raises(IdentificationError, match='joint1'):
        friction_speeds(planar, fast, STRIBECK)
    with pytest.raises(IdentificationError):
        friction_speeds(planar, given, ParameterSelection(coulomb=False))
