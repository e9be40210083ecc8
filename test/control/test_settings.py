# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Settings become records, or an error that names the parameter."""

import numpy as np
import pytest

from robodyn_ros import load_urdf
from robodyn_ros.control.settings import Settings
from robodyn_ros.errors import ParameterError
from robodyn_ros.model.library import robot_path


@pytest.fixture(scope='module')
def two_link():
    """The textbook 2R arm."""
    return load_urdf(robot_path('two_link'))


def test_records(two_link):
    """One value stands for all joints; limits come from the URDF."""
    joints = Settings(mode='pd', stiffness=[5.0], damping=[1.0, 2.0]).joint_records(two_link)
    assert joints['stiffness'].tolist() == [5.0, 5.0]
    assert joints['damping'].tolist() == [1.0, 2.0]
    assert (joints['effort_limit'] == two_link.effort_limit).all()
    assert joints['effort_rate'] == pytest.approx(10.0 * two_link.effort_limit)
    assert (joints['velocity_limit'] == two_link.velocity_limit).all()


@pytest.mark.parametrize(('name', 'settings'), [
    ('stiffness', Settings(mode='pd', damping=[1.0])),
    ('damping', Settings(mode='joint_impedance', stiffness=[1.0])),
    ('acceleration_kp', Settings(mode='computed_torque')),
    ('stiffness', Settings(stiffness=[1.0, 2.0, 3.0])),
    ('joint2', Settings(effort_limit=[1.0, 0.0])),
    ('joint1', Settings(effort_limit=[1e6, 1.0])),
    ('effort_rate_limit', Settings(effort_rate_limit=[10.0, 0.0])),
])
def test_refused(two_link, name, settings):
    """A gain that the mode needs, a length or a limit that is wrong is named."""
    with pytest.raises(ParameterError) as refusal:
        settings.joint_records(two_link)
    assert refusal.value.name == name


def test_no_limit_in_the_urdf(two_link):
    """A joint without any effort limit is not driven until somebody says how strong it is."""
    boundless = two_link.__class__(**{**vars(two_link), 'effort_limit': np.array([9.0, np.inf])})
    with pytest.raises(ParameterError, match='joint2 has no effort limit'):
        Settings().joint_records(boundless)
    limit = Settings(effort_limit=[8.0, 7.0]).joint_records(boundless)['effort_limit']
    assert limit.tolist() == [8.0, 7.0]


def test_zero_limit_of_the_urdf(two_link):
    """A URDF that says effort 0 needs the parameter, which may then exceed it."""
    weak = two_link.__class__(**{**vars(two_link), 'effort_limit': np.zeros(2)})
    with pytest.raises(ParameterError, match='joint1'):
        Settings().joint_records(weak)
    assert Settings(effort_limit=[3.0]).joint_records(weak)['effort_limit'][0] == 3.0
