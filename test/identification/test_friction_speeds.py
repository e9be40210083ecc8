# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The speeds at which friction bends."""

from dataclasses import replace

from motions import motion, noisy, relative_errors, with_joints
import numpy as np
import pytest
from robodyn_ros import load_urdf
from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification import friction_speeds, identify, ParameterSelection

pytestmark = pytest.mark.slow

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


def test_without_noise_they_are_exact(sticky, believed):
    found = friction_speeds(believed, slow(sticky), STRIBECK)
    np.testing.assert_allclose(found.friction_velocity, sticky.friction_velocity, rtol=0.02)
    np.testing.assert_allclose(found.stribeck_velocity, sticky.stribeck_velocity, rtol=0.02)
    assert found.undetermined == ()


def test_of_one_joint():
    """The only unknown, and far from what is believed."""
    true = with_joints(load_urdf('two_link', locked={'joint2': 0.3}), 0.7, 1.0)
    believed = replace(true, friction_velocity=np.array([0.9]))
    found = friction_speeds(believed, slow(true), ParameterSelection())
    assert found.friction_velocity == pytest.approx(true.friction_velocity, rel=0.02)


def test_with_noise_they_are_within_their_errors(sticky, believed):
    z = []
    for seed in range(3):
        found = friction_speeds(believed, noisy(slow(sticky), 0.05, seed), STRIBECK)
        z += list(abs(found.friction_velocity - sticky.friction_velocity)
                  / found.friction_velocity_error)
        z += list(abs(found.stribeck_velocity - sticky.stribeck_velocity)
                  / found.stribeck_velocity_error)
    assert max(z) < 3.5 and np.median(z) < 1.5


def test_identify_takes_them_on(sticky, believed):
    given = slow(sticky)
    found = identify(friction_speeds(believed, given, STRIBECK).model, given, STRIBECK, 'weighted')
    assert (relative_errors(found, slow(sticky, 3)) < 1e-3).all()
    np.testing.assert_allclose(found.of_joints('static'), [1.6, 1.8], rtol=0.02)
    np.testing.assert_allclose(found.to_model().stribeck_velocity, [0.3, 0.2], rtol=0.02)


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
