# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Sines and cosines of the joints."""

from math import cos, sin

from hypothesis import example, given
from hypothesis import strategies as st
import numpy as np
import pytest
from robodyn_ros.dynamics.joint_transforms import cos_sin, place_joints, REDUCTION_LIMIT
from robodyn_ros.dynamics.model_data import BODY, JOINT


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
