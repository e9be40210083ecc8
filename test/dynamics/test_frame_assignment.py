# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The frames in which bodies are seen."""

import numpy as np
import pytest
from robodyn_ros import DhLink, from_dh
from robodyn_ros.dynamics.frame_assignment import record_frames


def test_every_axis_is_z_of_a_rotation(case):
    frames = record_frames(case.model)
    for R, axis in zip(frames.axes, case.model.joint_axis, strict=True):
        assert R[:, 2] == pytest.approx(axis, abs=1e-15)
        assert R.T @ R == pytest.approx(np.eye(3), abs=1e-15)
        assert np.linalg.det(R) == pytest.approx(1)


def test_a_frame_moves_along_its_axis_alone(case):
    frames = record_frames(case.model)
    for origin, axis in zip(frames.origin, case.model.joint_axis, strict=True):
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


def test_nearly_parallel_axes_keep_their_frames_near():
    arm = from_dh([DhLink(0, 0, 0.5, angle, mass=1, inertia=np.eye(3))
                   for angle in (1e-5, 1e-3, 0.05)])
    assert np.abs(record_frames(arm).origin).max() < 1e-9


def test_an_almost_right_angle_is_not_rounded(robot):
    # The URDF writes 1.57079632679 for angles about the joints' own axes: 5e-12 are missing.
    offset = record_frames(robot('ur5').model).offset
    missing = np.abs(offset - np.pi / 2 * np.round(offset / (np.pi / 2)))
    assert ((missing > 4e-12) & (missing < 1.1e-11)).any()
