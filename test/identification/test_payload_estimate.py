# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Drive gains and payloads."""

from dataclasses import replace
from io import StringIO

from motions import motion, noisy, with_joints
import numpy as np
import pytest
from rich.console import Console
from robodyn_ros import load_urdf
from robodyn_ros.cli.identify_tasks import report
from robodyn_ros.errors import ArgumentError, IdentificationError, UnknownNameError
from robodyn_ros.identification import drive_gains, identify, ParameterSelection
from robodyn_ros.identification.estimation.payload import find_payload, ModelErrors
from robodyn_ros.identification.estimation.regression import regression
from robodyn_ros.model.robot import with_payload

pytestmark = pytest.mark.slow

ALL = ParameterSelection()
GAINS = {2: np.array([12.0, 5.0]), 4: np.array([12.0, -9.0, 30.0, 1.5])}


def loaded(model):
    return with_payload(model, model.link_names[-1], 2.0, (0.05, 0.1, 0.05))


def currents(model, count=500, seed=0, noise=0.0, gains=None):
    given = motion(model, count, seed=seed)
    gains = GAINS[model.nv] if gains is None else gains
    rng = np.random.default_rng(100 + seed)
    exact = given.effort / gains
    return replace(given, effort=exact + noise * exact.std(0) * rng.normal(size=exact.shape))


def test_what_loads_tell_of_gains(robot):
    found = drive_gains(robot, [currents(robot), currents(loaded(robot), seed=1)], ALL,
                        [None, loaded(robot)])
    np.testing.assert_allclose(found.gains, GAINS[4], rtol=1e-6)
    assert found.undetermined == () and not found.relative
    found = drive_gains(robot, [currents(robot)], ALL)
    np.testing.assert_allclose(found.gains, GAINS[4] / GAINS[4][0], rtol=1e-6)
    assert found.relative and 'common factor' in found.undetermined[0]
    assert len(found.undetermined) == 1


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
    both = load_urdf('<robot name="two slides"><link name="base"/>' + ''.join(
        f'<link name="{link}"><inertial><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1" '
        f'ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="{joint}" type="prismatic">'
        f'<parent link="base"/><child link="{link}"/><axis xyz="{axis}"/><limit lower="-9" '
        'upper="9" effort="99" velocity="9"/></joint>' for link, joint, axis in (
            ('a', 'x', '0 0 1'), ('b', 'y', '1 0 0'))) + '</robot>')
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


MASS, COM = 1.3, np.array([0.02, -0.05, 0.11])
INERTIA = np.array([[0.02, 0.002, 0.0], [0.002, 0.03, -0.001], [0.0, -0.001, 0.025]])


def measured(model, frame, inertia=None, seed=0, sigma=0.2, speed=1.0, mass=MASS):
    loaded = with_payload(model, frame, mass, COM, inertia)
    return noisy(motion(loaded, 1000, offset=0.1, speed=speed, seed=seed), sigma, seed)


def test_mass_and_centre_are_within_three_standard_errors(panda):
    robot = with_joints(panda, 0.5, 0.3)
    z = []
    for seed in range(8):
        found = find_payload(robot, measured(robot, 'panda_hand', INERTIA, seed),
                             'panda_hand', 0.1)
        z += [(found.mass - MASS) / found.mass_error, *((found.com - COM) / found.com_error)]
    assert (np.abs(z) < 3.5).all()
    assert 0.5 < np.mean(np.abs(z) < 1) < 0.85


def test_points_and_inertias(panda):
    found = find_payload(panda, measured(panda, 'panda_hand', INERTIA, 1, sigma=0.005),
                         'panda_hand', 0.1)
    np.testing.assert_allclose(found.inertia, INERTIA, atol=0.003)
    assert (abs(found.inertia - INERTIA) < 3.5 * found.inertia_error).all()
    assert np.linalg.eigvalsh(np.trace(found.inertia) / 2 * np.eye(3) - found.inertia).min() >= 0
    assert not found.unseen
    assert (found.sigma < 0.05 * found.without).all()
    found = find_payload(panda, measured(panda, 'panda_hand', None, 2, speed=0.1),
                         'panda_hand', 0.1)
    assert found.inertia is None and any('point' in text for text in found.unseen)
    assert abs(found.mass - MASS) < 3 * found.mass_error


def test_what_a_planar_arm_cannot_tell_is_named(planar):
    # Gravity lies in the plane: nothing depends on where the load is along the axes
    found = find_payload(planar, measured(planar, 'link2', sigma=0.05), 'link2', 0.1)
    assert found.com_error[2] == np.inf and found.com[2] == pytest.approx(0.0, abs=0.02)
    assert 'com z' in found.unseen and 'com x' not in found.unseen
    assert abs(found.mass - MASS) < 3 * found.mass_error
    assert (abs(found.com - COM) < 3 * found.com_error)[:2].all()


def test_a_mass_that_nothing_depends_on_is_refused():
    """A point on the axis of the only joint, which is vertical."""
    turntable = load_urdf(
        '<robot name="turntable"><link name="base"/><link name="plate"><inertial>'
        '<mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/>'
        '</inertial></link><joint name="joint" type="continuous"><parent link="base"/>'
        '<child link="plate"/><axis xyz="0 0 1"/></joint></robot>')
    with pytest.raises(IdentificationError, match='no effort of this motion depends on the mass'):
        find_payload(turntable, noisy(motion(turntable), 0.01, 0), 'plate')


def test_nothing_in_the_hand_and_filters(panda):
    empty = noisy(motion(panda, 600), 0.2, 3)
    try:
        found = find_payload(panda, empty, 'panda_hand')
    except IdentificationError as refused:
        assert 'no mass' in str(refused)
    else:
        assert any('mass' in text for text in found.unseen)
    given = measured(panda, 'panda_hand', seed=4)
    filtered = replace(given, cutoff=20.0)
    one, other = (find_payload(panda, each, 'panda_hand', 0.1) for each in (given, filtered))
    assert one.mass == pytest.approx(other.mass, abs=0.05)
    given = motion(panda, 100)
    with pytest.raises(UnknownNameError):
        find_payload(panda, given, 'nowhere')
    with pytest.raises(ArgumentError):
        find_payload(panda, given, 'panda_link0')


def unknown_robot(model, seed):
    """Return a robot of other masses and centres of mass than its model, with friction."""
    random = np.random.default_rng([seed, 5])
    factor = random.uniform(0.85, 1.15, model.nb)
    friction = model.effort_limit * random.uniform(0.5, 1.5, (2, model.nv)) * [[0.01], [0.02]]
    other = replace(model, mass=model.mass * factor, inertia=model.inertia * factor[:, None, None],
                    com=model.com + random.uniform(-0.01, 0.01, (model.nb, 3)))
    return with_joints(other, *friction, model.armature)


def test_errors_of_the_identified_model_are_part_of_the_standard_errors(panda):
    """18 loads at three robots, each identified from a motion with noise of 5 Hz before."""
    z = []
    for k in range(3):
        robot, selection = unknown_robot(panda, k), ParameterSelection(armature=False, decimate=2)
        free = motion(robot, 2000, seed=1000 + k, offset=0.1)
        sigma = 0.02 * np.sqrt((free.effort**2).mean(0)) + 0.002 * panda.effort_limit
        found = identify(panda, noisy(free, sigma, k, 5.0), selection, weight=1.0)
        known = found.to_model(), found.of_joints('offset'), ModelErrors.of(found)
        for j in range(6):
            random = np.random.default_rng([k, j])
            mass, com = random.uniform(0.5, 3.0), random.uniform(-0.06, 0.14, 3)
            loaded = with_payload(robot, 'panda_hand', mass, com, mass * np.diag([1e-3] * 3))
            given = noisy(motion(loaded, 1000, seed=5000 + 10 * k + j, offset=0.1, speed=0.7),
                          sigma, 700 + 10 * k + j, 5.0)
            load = find_payload(known[0], given, 'panda_hand', *known[1:])
            z.append([(load.mass - mass) / load.mass_error, *((load.com - com) / load.com_error)])
    assert 0.8 < np.sqrt(np.mean(np.square(z))) < 1.2
    assert np.max(np.abs(z)) < 4.0 and abs(np.mean(z, axis=0)).max() < 0.5
