# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Friction: the curve of the textbook, smooth at rest, with two directions."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest
from robodyn_ros import DhLink, Dynamics, from_dh
from robodyn_ros.dynamics.friction import advance_presliding

ARM = from_dh([DhLink(0, 0, 1, 0, mass=1, viscous=0.5, coulomb=2)])
STICKY = replace(ARM, static_friction=np.array([3.0]))


def effort(model, qd):
    return efforts(model, [qd])[0]


def efforts(model, speeds):
    dynamics = Dynamics(model)
    return np.array([dynamics.friction([qd])[0] for qd in speeds])


def test_the_curve():
    assert effort(ARM, 4.0) == pytest.approx(0.5 * 4 + 2)
    assert effort(ARM, -4.0) == pytest.approx(-0.5 * 4 - 2)
    assert effort(STICKY, 4.0) == pytest.approx(0.5 * 4 + 2)
    speeds = np.linspace(0, 0.5, 2001)
    curve = efforts(STICKY, speeds) - 0.5 * speeds
    assert curve[0] == 0.0
    assert 2.7 < curve.max() <= 3.0
    assert curve[-1] == pytest.approx(2.0)
    speeds = np.linspace(-0.1, 0.1, 4001)
    curve = efforts(STICKY, speeds)
    steepest = 0.5 + 3.0 / ARM.friction_velocity[0]         # F_v + F_s / v_0, at rest
    assert np.abs(np.diff(curve)).max() <= 1.001 * steepest * (speeds[1] - speeds[0])
    model = replace(ARM, backward_friction=np.array([[0.1], [1.0], [1.0]]))
    assert effort(model, 4.0) == pytest.approx(0.5 * 4 + 2)
    assert effort(model, -4.0) == pytest.approx(-0.1 * 4 - 1)


@given(st.floats(-1e3, 1e3))
def test_it_never_drives(qd):
    assert effort(STICKY, qd) * qd >= 0.0


def test_a_presliding_that_is_not_finite_begins_anew():
    """A state or a motion that is not a number must not stay."""
    parameters, share = np.full((13, 3), 0.01), np.array([np.nan, np.inf, -1.0])
    advance_presliding(parameters, np.array([0.01, 0.01, np.nan]), share)
    assert (share == 0.0).all()
