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
from robodyn_ros.dynamics.friction import advance_presliding
from robodyn_ros.dynamics.model_data import BODY, JOINT, parameters, record_frames
from robodyn_ros.dynamics.spatial import cos_sin, place_joints, REDUCTION_LIMIT

ROBOTS = 'panda', 'ur5', 'kinova', 'tree4', 'tree16'


def test_the_records_are_read_only(robot):
    for array in parameters(robot('panda').model):
        with pytest.raises(ValueError, match='read-only'):
            array[0] = array[0]


@pytest.mark.parametrize('name', ROBOTS)
def test_every_axis_is_z_of_a_rotation_whose_frame_moves_along_it_alone(robot, name):
    model = robot(name).model
    frames = record_frames(model)
    for R, origin, axis in zip(frames.axes, frames.origin, model.joint_axis, strict=True):
        assert R[:, 2] == pytest.approx(axis, abs=1e-15)
        assert R.T @ R == pytest.approx(np.eye(3), abs=1e-15)
        assert np.linalg.det(R) == pytest.approx(1)
        assert np.cross(origin, axis) == pytest.approx(np.zeros(3), abs=1e-13)


def test_the_rows_of_a_modified_dh_table_come_back():
    # θ, d, a, α; with α > 0 the common normal has the direction of x
    rows = [(0.3, 0.2, 0.0, 0.0), (-0.4, 0.1, 0.5, 0.7), (0.2, -0.3, 0.4, 1.2)]
    arm = from_dh([DhLink(*row, mass=1, inertia=np.eye(3)) for row in rows], 'modified')
    frames = record_frames(arm)
    for i, (_, _, a, alpha) in enumerate(rows[1:], 1):
        assert frames.rotation[i] == pytest.approx(np.array(
            [[1, 0, 0], [0, np.cos(alpha), -np.sin(alpha)], [0, np.sin(alpha), np.cos(alpha)]]))
        assert frames.place[i, 0] == pytest.approx(a)
    assert frames.offset[1] == pytest.approx(rows[1][0])


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


@pytest.mark.parametrize('angle', [np.nan, np.inf])
@pytest.mark.filterwarnings('ignore:invalid value')
def test_no_angle_gives_no_number(angle):
    assert np.isnan(cos_sin(np.float64(angle))).all()


def placed(q, **fields):
    body, joint = np.zeros(1, BODY), np.zeros(1, JOINT)
    for name, value in fields.items():
        body[name] = value
    place_joints(body.view(np.recarray), np.array([q]), joint.view(np.recarray))
    return joint[0].item()


@pytest.mark.parametrize('q', [0.3, -1e5, 1e6 + 0.1, -3e15])
def test_a_revolute_joint_turns(q):
    assert placed(q, turn=1) == pytest.approx((cos(q), sin(q), 0), abs=3e-16)
    assert placed(q, turn=1, offset=0.5) == pytest.approx((cos(q + 0.5), sin(q + 0.5), 0),
                                                          abs=3e-16)


def test_a_prismatic_joint_slides_at_a_constant_angle():
    assert placed(0.3, slide=1, offset=0.5) == pytest.approx((cos(0.5), sin(0.5), 0.3), abs=3e-16)


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
