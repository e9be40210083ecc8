# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Motions that tell little, and what follows from them."""

from dataclasses import replace

from motions import identified, motion, noisy, nominal, QUICK, real, relative_errors, with_joints
import numpy as np
import pytest
from rich.console import Console
from robodyn_ros import Dynamics
from robodyn_ros.cli.identification_report import comparison, report
from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification import base_parameters, identify, ParameterSelection
from robodyn_ros.identification.estimation.cross_validation import better_cutoff, mounting_issue
from robodyn_ros.identification.estimation.least_squares import least_squares, undetermined
from robodyn_ros.identification.estimation.regression import regression
from robodyn_ros.identification.motion import prepare
from robodyn_ros.identification.options import PreparationOptions
from robodyn_ros.identification.pipeline import require_prediction, without_contradiction
from robodyn_ros.identification.recordings.recording import Recording
from robodyn_ros.identification.result import efforts_of, ORDINARY
from robodyn_ros.identification.result_files import (
    friction_parameters, write_friction_file, write_numbers)
from robodyn_ros.model.rigid_body import pseudo_inertia
from scipy.signal import lfilter
import yaml

pytest.importorskip('clarabel', reason='needs the extra identify')

pytestmark = pytest.mark.slow


def still(model, at_rest, count=600, share=0.0):
    """Return a motion in which some joints stand, or move by a small share of it."""
    given = motion(model, count)
    moved = np.where(np.isin(np.arange(model.nv), at_rest), share, 1.0)
    position, velocity, acceleration = (
        moved * x for x in (given.position, given.velocity, given.acceleration))
    batch = Dynamics(model).batch
    effort = batch.inverse_dynamics(position, velocity, acceleration) + batch.friction(velocity)
    return noisy(replace(given, position=position, velocity=velocity, acceleration=acceleration,
                         effort=effort), 0.02, 1)


def test_what_the_motion_does_not_tell_stays_nominal(planar):
    robot = with_joints(planar, 0.7, 0.4)
    given = regression(planar, still(robot, 1), ParameterSelection(armature=False))
    base = base_parameters(planar, given.selection)
    found = least_squares(given, 'weighted', base, full_rank=False)
    assert 'viscous joint2' in found.undetermined and 'viscous joint1' not in found.undetermined
    lost = np.isin(base.base_names, found.undetermined)
    assert np.isinf(found.standard_errors[lost]).all()
    assert np.isfinite(found.standard_errors[~lost]).all()
    assert found['viscous joint1'] == pytest.approx(0.7, abs=0.02)
    assert found['viscous joint2'] == 0.0
    np.testing.assert_allclose(base.values(found.parameters), found.values, atol=1e-9)
    error = given.target - given.matrix @ found.parameters
    np.testing.assert_allclose(error.std(0), 0.02, rtol=0.1)


def test_nothing_is_determined_and_no_rank_is_needed(planar):
    # Of joints that are left out the offset remains: fewer equations than parameters.
    selection = ParameterSelection(static=True, directions=True, armature=True)
    base = base_parameters(planar, selection)
    given = regression(planar, motion(planar), replace(selection, unexplained=(0, 1)))
    lost = np.array(base.base_names)[undetermined(given, base)]
    assert set(base.base_names) - set(lost) == {'offset joint1', 'offset joint2'}
    robot = with_joints(planar, 0.7, 0.4)
    given = still(robot, 1)
    found = identify(planar, given, ParameterSelection(armature=False), weight=0.1)
    assert np.linalg.eigvalsh(pseudo_inertia(found.parameters[:10 * robot.nb])).min() > 0.0
    assert 'Coulomb joint2' in found.undetermined
    assert (relative_errors(found, given)[:1] < 0.05).all()


def test_a_full_motion_is_treated_as_before(spatial):
    robot = with_joints(spatial, 0.7, 0.4, 0.2)
    given = regression(spatial, noisy(motion(robot, 400), 0.1, 3), ParameterSelection())
    strict, free = (least_squares(given, full_rank=full) for full in (True, False))
    np.testing.assert_array_equal(strict.parameters, free.parameters)
    np.testing.assert_array_equal(strict.covariance, free.covariance)
    assert not free.undetermined


def test_only_the_rows_of_least_squares_are_missing():
    model = nominal()
    given = still(real(), 1, 1500)
    found = identified(given, model, QUICK)
    assert ORDINARY not in found.validations
    assert 'not determined by this motion: ' in found.absent[ORDINARY]
    assert 'viscous joint2' in found.absent[ORDINARY]
    assert any('stay near the URDF' in line for line in found.warnings)
    assert found.validation.relative[0] < 0.05
    console = Console(width=120, record=True, file=open('/dev/null', 'w'))
    console.print(comparison(found.validations))
    assert 'consistent' in console.export_text()


def test_a_joint_that_hardly_moves_keeps_the_rotor_inertia_of_the_urdf():
    model, given = nominal(), still(with_joints(real()), 1, 1500, 4e-8)
    # Its effort follows its tiny acceleration by chance: a rotor of 1e5 kg·m² would explain that
    given.effort[:, 1] += 1e5 * given.acceleration[:, 1]
    found = identified(given, model, replace(QUICK, armature=True))
    parameters = friction_parameters(found.estimate)
    assert parameters['armature'][1] == model.armature[1]
    assert parameters['viscous_friction'][1] == 0.0
    assert found.unidentified == ('joint2',)
    assert 'armature joint2' in found.estimate.undetermined


def test_a_joint_whose_efforts_are_not_explained_has_no_friction_and_is_named(tmp_path):
    model, given = with_joints(nominal(), 1.0, 10.0), noisy(motion(real(), 3000), 0.02, 1)
    effort = given.effort.copy()
    effort[:, 1] = lfilter([1.0], [1.0, -0.98], np.random.default_rng(3).normal(size=len(effort)))
    found = identified(replace(given, effort=effort), model, QUICK)
    assert found.estimate.selection.unexplained == (1,)
    parameters = friction_parameters(found.estimate)
    assert parameters['coulomb_friction'][1] == parameters['viscous_friction'][1] == 0.0
    assert parameters['friction_offset'][1] == 0.0
    assert any(line.startswith('not identified: the efforts of joint2') for line in found.warnings)
    assert found.validation.relative[0] < 0.05
    assert 'joint2' not in found.band.plain() and 'joint1' in found.band.plain()
    require_prediction(found)
    named = 'unidentified, without friction: joint2'
    assert write_friction_file(tmp_path, found).read_text().splitlines()[1] == f'# {named}'
    assert yaml.safe_load(write_numbers(tmp_path, found).read_text())['unidentified'] == ['joint2']
    assert f'>U{named[1:]}. The exported model' in report(found, 'a').html()
    bad = replace(found.validation, relative=np.array([0.05, 1.9]))
    with pytest.raises(IdentificationError, match='nothing is written'):
        require_prediction(replace(found, validations={found.estimate.method: bad}))
    resting = replace(found.test, position=0.0 * found.test.position)
    with pytest.raises(IdentificationError, match='the arm rests in the part that was not fitted'):
        require_prediction(replace(found, test=resting))


@pytest.mark.parametrize('at_rest', [(), (1,)])
def test_no_friction_of_a_urdf_exceeds_the_efforts_that_were_measured(at_rest):
    robot = real()
    given = still(robot, at_rest, 1200, 1e-6)
    most = abs(given.effort).max(0)
    models = [replace(with_joints(nominal(), factor * most.max(), factor * most.max(),
                                  factor * most.max()), load_friction=np.full(2, factor))
              for factor in (0.0, 0.1, 1.0, 10.0, 100.0)]
    known = [without_contradiction(model, given, QUICK.selection) for model in models]
    for one in known:
        assert not Dynamics(one).batch.friction(given.velocity).any()
        assert (one.armature * abs(given.acceleration) <= most * (1 + 1e-9)).all()
    found = identified(given, models[-1], QUICK)
    assert found.unidentified == tuple(robot.joint_names[j] for j in at_rest)
    shipped = efforts_of(found.estimate.to_model(), given)
    assert (abs(shipped) < 1.5 * most).all()
    friction = friction_parameters(found.estimate)
    assert all(friction[name][j] == 0.0 for j in at_rest for name in (
        'viscous_friction', 'coulomb_friction', 'static_friction'))


def test_the_offset_of_a_sensor_that_shows_nothing_else_is_kept():
    weightless = {'gravity_vector': np.zeros(3)}
    model, given = replace(nominal(), **weightless), motion(replace(real(), **weightless), 3000)
    effort = noisy(given, 0.02, 1).effort
    effort[:, 1] = 5.0 + 0.5 * np.random.default_rng(4).normal(size=len(effort))
    found = identified(replace(given, effort=effort), model, QUICK)
    assert found.estimate.selection.unexplained == (1,)
    assert found.estimate['offset joint2'] == pytest.approx(5.0, abs=0.3)


def recorded(model, chirp, noise=0.05, seconds=60.0, rate=200.0):
    """Return a recording of slow motion with chirps [rad] up to 6 Hz at times."""
    time = np.arange(round(seconds * rate)) / rate
    phase = 2 * np.pi * (1.0 * time + 0.5 * 5.0 * (time % 10.0)**2 / 10.0)
    burst = chirp * np.sin(phase)[:, None] * np.where(time % 10.0 > 5.0, 1.0, 0.0)[:, None]
    q = 0.8 * np.sin(np.outer(time, [1.1, 1.7])) + burst * [1.0, -0.7]
    v, a = (np.gradient(x, time, axis=0) for x in (q, np.gradient(q, time, axis=0)))
    batch = Dynamics(model).batch
    effort = batch.inverse_dynamics(q, v, a) + batch.friction(v)
    effort += noise * np.random.default_rng(1).normal(size=q.shape)
    return Recording(model.joint_names, time, q, None, effort)


def cutoff_of(recording, *tried):
    return better_cutoff(nominal(), {cutoff: prepare(recording, PreparationOptions(
        cutoff=cutoff)).motion for cutoff in tried})


def test_cutoffs():
    found, why = cutoff_of(recorded(real(), 0.03), 0.6, 1.2, 2.4)
    assert found > 0.6 and 'by cross-validation' in why
    slow = recorded(real(), 0.0)
    assert cutoff_of(slow, 3.0, 6.0, 12.0) is None
    # Parameters that noise shrinks predict best from accelerations that are noise.
    noise = 1e-3 * np.random.default_rng(2).normal(size=slow.position.shape)
    noisy_one = replace(slow, position=slow.position + noise)
    assert cutoff_of(noisy_one, 3.0, 12.0, 24.0) is None
    assert cutoff_of(recorded(real(), 0.03, seconds=20.0), 0.6, 1.2, 2.4) is None


@pytest.mark.parametrize('gravity', [(9.81, 0.0, 0.0), (0.0, 0.0, -9.81)])
def test_the_mounting_of_a_robot_whose_inertias_nobody_wrote(spatial, gravity):
    robot = replace(spatial, gravity_vector=np.array(gravity))
    given = noisy(motion(robot, 1500), 0.05, 2)
    kinematics = replace(spatial, mass=0 * spatial.mass, com=0 * spatial.com,
                         inertia=0 * spatial.inertia, gravity_vector=np.array([0.0, 0.0, -9.81]))
    found = mounting_issue(kinematics, given)
    if gravity == (0.0, 0.0, -9.81):
        assert found is None
    else:
        assert found.kind == 'mounting' and str(gravity) in found.message
