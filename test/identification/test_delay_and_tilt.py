# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Late efforts and a tilted base: found where they are, and not where they are not."""

from dataclasses import replace

from motions import motion, noisy, with_joints
import numpy as np
import pytest
from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification import identify, ParameterSelection
from robodyn_ros.identification.estimation.delay_and_tilt import find_mounting
from robodyn_ros.identification.preparation.filtering import LowPass
from scipy.interpolate import CubicSpline

pytestmark = pytest.mark.slow

CHOICE = ParameterSelection(armature=False)


def recorded(model, delay=0.0, sigma=0.1, count=800, seed=0):
    """Return a motion as preparation leaves it: with noise, and filtered."""
    given = noisy(motion(model, count), sigma, seed)
    effort = LowPass(8.0, given.rate)(given.effort)
    late = CubicSpline(given.time, effort)(given.time - delay)
    return replace(given, effort=late, cutoff=8.0)


def test_efforts_later_by_a_time(planar):
    exact = motion(with_joints(planar, 0.7), 600)
    given = replace(exact, effort=CubicSpline(exact.time, exact.effort)(exact.time - 0.004))
    back = given.later(0.004)
    assert len(back) == 599 and back.segments == ((0, 599),)
    np.testing.assert_allclose(back.effort[5:-5], exact.effort[5:-6], atol=1e-3)
    np.testing.assert_array_equal(back.position, exact.position[:599])


def test_borders_stay(planar):
    given = replace(motion(planar, 300), segments=((0, 100), (100, 300)))
    assert given.later(0.025).segments == ((0, 97), (97, 294))
    assert given.later(-0.025).segments == ((0, 97), (97, 294))
    for delay in (np.nan, np.inf, 60.0):
        with pytest.raises(IdentificationError, match='no sample has efforts'):
            given.later(delay)


def test_delay_and_tilt_are_found(spatial):
    robot = with_joints(spatial, 0.7)
    tilted = replace(robot, gravity_vector=np.array([0.3, 0.2, -9.804]))
    given = recorded(tilted, 0.006)
    found = find_mounting(robot, given, CHOICE)
    assert abs(found.delay - 0.006) < 0.001
    np.testing.assert_allclose(found.model(robot).gravity_vector, tilted.gravity_vector, atol=0.1)
    assert len(found.notes) == 2 and all('taken into account' in note for note in found.notes)
    corrected = identify(found.model(robot), found.motion(given), CHOICE, 'weighted').sigma
    assert (corrected < 0.8 * identify(robot, given, CHOICE, 'weighted').sigma).any()


def test_none_is_none(spatial):
    robot = with_joints(spatial, 0.7, 0.4)
    given = recorded(robot)
    found = find_mounting(robot, given, CHOICE)
    assert found.delay == 0.0 and not found.tilt.any()
    assert all('not significant' in note for note in found.notes)
    assert found.model(robot) is robot and found.motion(given) is given


def test_what_is_not_asked_is_not_looked_for(planar):
    given = recorded(planar, count=400)
    assert find_mounting(planar, given, CHOICE, delay=False, tilt=False).notes == ()
    short = replace(given, segments=((0, 20), (20, 40)))
    assert 'long enough' in find_mounting(planar, short, CHOICE).notes[0]
    rough = replace(given, cutoff=np.inf)
    assert 'filter' in find_mounting(planar, rough, CHOICE, tilt=False).notes[0]
