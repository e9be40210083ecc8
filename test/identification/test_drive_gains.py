# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Efforts per ampere: what a known load tells, and what is open without one."""

from dataclasses import replace
from io import StringIO

from motions import motion, with_joints
import numpy as np
import pytest
from rich.console import Console
from robodyn_ros import DhLink, from_dh
from robodyn_ros.cli.drive_gains import report
from robodyn_ros.errors import IdentificationError, UnknownNameError
from robodyn_ros.identification import drive_gains, ParameterSelection
from robodyn_ros.identification.estimation.regression import regression
from robodyn_ros.model.payload import with_payload

pytestmark = pytest.mark.slow

ALL = ParameterSelection()
GAINS = {2: np.array([12.0, 5.0]), 4: np.array([12.0, -9.0, 30.0, 1.5])}


@pytest.fixture(scope='module')
def robot(spatial):
    return with_joints(spatial, 0.7, 0.4, 0.1)


def loaded(model):
    return with_payload(model, model.link_names[-1], 2.0, (0.05, 0.1, 0.05))


def currents(model, count=500, seed=0, noise=0.0, gains=None):
    given = motion(model, count, seed=seed)
    gains = GAINS[model.nv] if gains is None else gains
    rng = np.random.default_rng(100 + seed)
    exact = given.effort / gains
    return replace(given, effort=exact + noise * exact.std(0) * rng.normal(size=exact.shape))


def test_a_known_load_tells_all_gains(robot):
    found = drive_gains(robot, [currents(robot), currents(loaded(robot), seed=1)], ALL,
                        [None, loaded(robot)])
    np.testing.assert_allclose(found.gains, GAINS[4], rtol=1e-6)
    assert found.undetermined == () and not found.relative


def test_gains_are_as_sure_as_is_said_and_not_too_small(robot):
    z, ratio = [], []
    for seed in range(0, 20, 2):
        found = drive_gains(
            robot, [currents(robot, seed=seed, noise=0.1),
                    currents(loaded(robot), seed=seed + 1, noise=0.1)], ALL,
            [None, loaded(robot)])
        z += list((found.gains - GAINS[4]) / found.standard_errors)
        ratio.append(found.gains / GAINS[4])
    assert np.mean(np.abs(z) < 3) > 0.97 and np.mean(np.abs(z) < 1) > 0.5
    np.testing.assert_allclose(np.mean(ratio, axis=0), 1.0, atol=0.03)


def test_without_a_load_only_ratios_are_told(robot):
    found = drive_gains(robot, [currents(robot)], ALL)
    np.testing.assert_allclose(found.gains, GAINS[4] / GAINS[4][0], rtol=1e-6)
    assert found.relative and 'common factor' in found.undetermined[0]
    assert len(found.undetermined) == 1


def test_one_thing_that_is_known_gives_the_factor(robot):
    ratios = drive_gains(robot, [currents(robot)], ALL)
    by_gain = ratios.anchored('joint3', GAINS[4][2])
    lead = int(np.argmax(abs(ratios.values)))
    truth = ratios.base.values(regression(robot, currents(robot), ALL).prior)
    by_parameter = ratios.anchored(ratios.base.base_names[lead], truth[lead])
    for found in (by_gain, by_parameter):
        np.testing.assert_allclose(found.gains, GAINS[4], rtol=1e-6)
        np.testing.assert_allclose(found.values, truth, atol=1e-5)
        assert not found.relative and found.undetermined == ()
    with pytest.raises(IdentificationError):
        ratios.anchored('joint3', 0.0)
    with pytest.raises(UnknownNameError):
        ratios.anchored('joint9', 1.0)


def test_a_gain_that_is_uncertain_is_not_proposed(robot):
    found = drive_gains(robot, [currents(robot), currents(loaded(robot), seed=1)], ALL,
                        [None, loaded(robot)])
    errors = np.where(np.arange(len(found.gains)) == 1, 0.9, 0.01) * abs(found.gains)
    out = Console(file=StringIO(), width=400)
    report(replace(found, standard_errors=errors), out)
    text, name = out.file.getvalue(), found.joint_names[1]
    assert f'uncertain by more than 20%: {name};' in text and f'--units effort.{name}=GAIN' in text
    assert f'--units effort.{found.joint_names[0]}={found.gains[0]:.5g}' in text


def test_joints_that_share_nothing_are_named():
    # Two slides at right angles on one base, each with a body of its own
    gantry = from_dh([DhLink(0, 0, 0, np.pi / 2, joint='prismatic', mass=2)])
    both = replace(gantry, name='two slides', joint_names=('x', 'y'), link_names=('a', 'b'),
                   body_joint_names=('x', 'y'), body_joint_types=('prismatic',) * 2,
                   driver=np.array([0, 1]), parent=np.array([-1, -1]),
                   joint_rotation=np.array([np.eye(3), [[0, 0, 1], [1, 0, 0], [0, 1, 0.0]]]),
                   **{name: np.repeat(getattr(gantry, name), 2, axis=0) for name in (
                       'ratio', 'shift', 'joint_origin', 'joint_axis', 'mass', 'com', 'inertia',
                       'position_lower', 'position_upper', 'velocity_limit', 'effort_limit',
                       'viscous_friction', 'coulomb_friction', 'static_friction',
                       'friction_velocity', 'stribeck_velocity', 'presliding_distance',
                       'load_friction', 'armature')},
                   **{name: np.repeat(getattr(gantry, name), 2, axis=1)
                      for name in ('backward_friction', 'coupled_friction')})
    given, selection = [currents(both)], ParameterSelection(offset=False)
    found = drive_gains(both, given, selection)
    assert np.isnan(found.gains[1]) and any('gain of y' in text for text in found.undetermined)
    known = drive_gains(both, given, selection, reference='y').anchored('y', GAINS[2][1])
    assert known.gains[1] == pytest.approx(GAINS[2][1]) and np.isnan(known.gains[0])
    with pytest.raises(UnknownNameError):
        drive_gains(both, given, selection, reference='z')


def test_what_makes_no_sense_is_refused(robot):
    given = currents(robot, 50)
    for motions, selection, loads in (([], ALL, []), ([given], ALL, [None, None]),
                                      ([given], ParameterSelection(armature=False), []),
                                      ([given.part(0, 3)], ALL, [])):
        with pytest.raises(IdentificationError):
            drive_gains(robot, motions, selection, loads)
