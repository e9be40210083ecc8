# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Records made of a model: frames, sines and cosines of joints; friction as in the textbook."""

from dataclasses import replace
from math import cos, sin

from hypothesis import example, given
from hypothesis import strategies as st
import numpy as np
import pytest
from robodyn_ros import DhLink, Dynamics, from_dh
from robodyn_ros.dynamics.model_data import parameters, record_frames
from robodyn_ros.dynamics.spatial import cos_sin, REDUCTION_LIMIT


def test_the_records_are_read_only(robot):
    for array in parameters(robot('panda').model):
        with pytest.raises(ValueError, match='read-only'):
            array[0] = array[0]


def test_axes_and_angles_are_not_rounded(robot):
    arm = from_dh([DhLink(0, 0, 0.5, angle, mass=1, inertia=np.eye(3))
                   for angle in (1e-5, 1e-3, 0.05)])
    assert np.abs(record_frames(arm).origin).max() < 1e-9
    # The URDF writes 1.57079632679 for angles about the joints' own axes: 5e-12 are missing.
    offset = record_frames(robot('ur5').model).offset
    missing = np.abs(offset - np.pi / 2 * np.round(offset / (np.pi / 2)))
    assert ((missing > 4e-12) & (missing < 1.1e-11)).any()


@given(st.floats(-REDUCTION_LIMIT, REDUCTION_LIMIT))
@example(0.0)
@example(np.pi / 2)
@example(-np.pi)
@example(63661 * np.pi / 2)
@example(63661 * np.pi / 4)
def test_agrees_with_the_library(angle):
    c, s = cos_sin(angle)
    assert abs(c - cos(angle)) < 3e-16
    assert abs(s - sin(angle)) < 3e-16


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
