# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Velocities that are not measured."""

from math import nan

from control.closed_loop import Rig
import numpy as np
import pytest
from robodyn_ros import load_urdf

POSE = np.array([0.3, 0.5])
VELOCITY = np.array([0.2, -0.1])


@pytest.fixture
def rig():
    """Return the textbook 2R arm, estimated where it is not measured."""
    return Rig(load_urdf('two_link'), POSE, missing_velocity='estimate')


def estimate(rig, periods, measured=nan, shift=0.0):
    """Estimated velocity after cycles so many periods apart (K, 2)."""
    estimates = []
    for k in periods:
        rig.time += k * rig.period
        rig.q = rig.q + k * rig.period * VELOCITY + shift
        rig.sense()
        rig.state['velocity'] = measured
        rig.controller.step(rig.time)
        estimates.append(rig.controller._v.qd.copy())
    return np.array(estimates)


@pytest.mark.parametrize('periods', [1, 3, 10])
def test_converges_at_any_rate_of_the_cycles(rig, periods):
    """However few of the states arrive."""
    assert estimate(rig, [periods] * 200)[-1] == pytest.approx(VELOCITY)


def test_keeps_pace_while_velocities_are_measured(rig):
    """So it is there at once when they fail."""
    estimate(rig, [1] * 200, measured=VELOCITY)
    assert estimate(rig, [1])[0] == pytest.approx(VELOCITY)


@pytest.mark.parametrize('measured', [nan, 1e200, -1e3])
def test_what_no_joint_can_do_is_not_measured(rig, measured):
    """Such a velocity is not believed, and not damped."""
    assert estimate(rig, [1] * 200, measured)[-1] == pytest.approx(VELOCITY)


@pytest.mark.parametrize('jump', [-1000, 1000])
def test_begins_anew_after_a_jump_of_time(rig, jump):
    """Where the arm is then tells nothing of its motion."""
    estimate(rig, [1] * 200)
    assert estimate(rig, [jump], shift=0.5).tolist() == [[0.0, 0.0]]
    assert abs(estimate(rig, [1] * 20)).max() <= abs(VELOCITY).max()


def test_stays_while_time_stands_still(rig):
    """Nothing is divided by it."""
    before = estimate(rig, [1] * 200)[-1]
    assert estimate(rig, [0] * 3) == pytest.approx(np.tile(before, (3, 1)))
