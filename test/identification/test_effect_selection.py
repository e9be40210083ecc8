# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Late efforts and late friction, which look alike, are told apart."""

from dataclasses import replace

from motions import motion, noisy, sliding, with_joints
import pytest
from robodyn_ros.identification import ParameterSelection
from robodyn_ros.identification.estimation import selection as effects
from robodyn_ros.identification.estimation.delay_and_tilt import criterion, find_mounting
from robodyn_ros.identification.options import PipelineOptions
from robodyn_ros.identification.preparation.filtering import LowPass
from scipy.interpolate import CubicSpline

pytestmark = pytest.mark.slow

WAY, BODIES = 0.003, ParameterSelection(armature=False)
OPTIONS = PipelineOptions(tilt=False, armature=False)


def late(model, delay, count=500):
    """Return a motion whose friction turns over a way, and whose efforts are stamped late."""
    true = with_joints(model, 0.1, 0.8)
    given = noisy(sliding(true, motion(true, count, seed=1), WAY), 0.02, 2)
    effort = LowPass(8.0, given.rate)(given.effort)
    return replace(given, effort=CubicSpline(given.time, effort)(given.time - delay), cutoff=8.0)


def test_a_delay_that_late_friction_feigns_is_left_again(planar):
    given = late(planar, 0.0)
    feigned = find_mounting(planar, given, BODIES, tilt=False).delay
    assert feigned > 0.01
    found = effects.select_effects(planar, given, BODIES, OPTIONS)
    assert found.mounting.delay == pytest.approx(0.0, abs=1e-3)
    assert found.selection.presliding == pytest.approx(WAY, rel=0.1)
    stuck = effects._iterated(planar, given, BODIES, OPTIONS,
                              effects._mounting(planar, given, BODIES, OPTIONS))
    scores = [criterion(planar, given, selection, mounting, BODIES) for selection, mounting in (
        (found.selection, found.mounting), stuck[:2])]
    assert scores[0] <= scores[1]


def test_a_delay_without_late_friction_is_found(planar):
    true = with_joints(planar, 0.1, 0.8)
    given = noisy(motion(true, 500, seed=1), 0.02, 2)
    effort = LowPass(8.0, given.rate)(given.effort)
    given = replace(given, effort=CubicSpline(given.time, effort)(given.time - 0.012), cutoff=8.0)
    found = effects.select_effects(planar, given, BODIES, OPTIONS)
    assert found.mounting.delay == pytest.approx(0.012, abs=1e-3)
    assert found.selection.presliding < WAY / 3.0


def test_a_delay_that_is_asked_for_is_taken(planar):
    given = late(planar, 0.0, 300)
    found = effects.select_effects(planar, given, BODIES, replace(OPTIONS, delay=0.012))
    assert found.mounting.delay == 0.012
