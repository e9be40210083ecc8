# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Records made of a model."""

import numpy as np
import pytest

from robodyn_ros.dynamics.bodies import axes, parameters


def test_every_axis_becomes_z_by_a_rotation(case):
    for R, axis in zip(axes(case.model), case.model.joint_axis, strict=True):
        assert (R[:, 2] == axis).all()
        assert R.T @ R == pytest.approx(np.eye(3), abs=1e-15)
        assert np.linalg.det(R) == pytest.approx(1)


def test_frames_with_axis_z_stay_and_others_are_permuted_exactly(robot):
    for name in ('panda', 'two_link'):
        assert (axes(robot(name).model) == np.eye(3)).all()
    (_, slide) = axes(robot('rp').model)
    assert sorted(np.abs(slide).ravel()) == [0] * 6 + [1] * 3


def test_an_almost_right_angle_is_not_rounded(robot):
    # The URDF writes 1.57079632679, and its axis is y.
    lift = parameters(robot('ur5').model).bodies['rotation'][1]
    assert np.isclose(np.abs(lift), np.cos(1.57079632679), rtol=1e-6, atol=0).any()


def test_the_records_are_read_only(case):
    robot = parameters(case.model)
    for array in robot:
        with pytest.raises(ValueError, match='read-only'):
            array[0] = array[0]
