# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from robodyn_ros.errors import ParameterError
from robodyn_ros.model.pose import initial_position, roomy_position
from robodyn_ros.model.urdf import load_urdf
from robots import ARM, OWN


def test_it_is_zero_or_the_middle_of_limits_that_exclude_zero():
    assert initial_position(load_urdf(OWN['rp'])).tolist() == [0.0, 0.5]


def test_of_a_range_without_an_end_it_is_a_little_inside():
    text = OWN['rp'].read_text()
    assert 'upper="0.8"' in text
    model = load_urdf(text.replace('upper="0.8"', 'upper="1e308"'))
    assert initial_position(model).tolist() == [0.0, 10.2]


def test_one_that_is_given_is_taken():
    assert initial_position(load_urdf(OWN['rp']), [1, 0.3]).tolist() == [1.0, 0.3]


def test_one_that_does_not_fit_is_refused():
    model = load_urdf(OWN['rp'])
    with pytest.raises(ParameterError, match='give one for each of joint1, joint2'):
        initial_position(model, [0.0])
    with pytest.raises(ParameterError, match=r'joint2 is 0: choose one in its limits \[0.2'):
        initial_position(model, [0.0, 0.0])
    with pytest.raises(ParameterError, match='joint1 is nan'):
        initial_position(model, [float('nan'), 0.5])


def test_a_roomy_position_is_away_from_limits():
    model = load_urdf(ARM.replace('<limit lower="-2" upper="2"', '<limit lower="-2" upper="0.1"'))
    np.testing.assert_array_equal(initial_position(model), [0, 0])
    np.testing.assert_allclose(roomy_position(model), [-0.95, 0.15])
    np.testing.assert_array_equal(roomy_position(load_urdf(ARM)), [0, 0.15])


def test_a_roomy_position_without_limits_is_zero():
    text = ARM.replace('type="revolute"', 'type="continuous"').replace(
        'lower="0" upper="0.3"', 'lower="-1" upper="1"')
    np.testing.assert_array_equal(roomy_position(load_urdf(text)), [0, 0])
