# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Settings become records, or an error that names the parameter."""

from dataclasses import dataclass, fields

from control.risen import TWO_LINK
import numpy as np
import pytest
from robodyn_ros.control.controller.controller import Controller
from robodyn_ros.control.declare.setting_fields import listed, number
from robodyn_ros.control.settings.parameters import ControlParameters
from robodyn_ros.control.settings.settings import Settings
from robodyn_ros.errors import ParameterError


def test_records():
    """One value stands for all joints; limits come from the URDF."""
    settings = Settings(mode='pd', stiffness=[5.0], damping=[1.0, 2.0])
    joints = settings.joint_records(TWO_LINK)
    assert settings.gain_rows(TWO_LINK).tolist() == [[5.0, 5.0], [1.0, 2.0]]
    assert (joints['effort_limit'] == TWO_LINK.effort_limit).all()
    assert joints['effort_rate_limit'] == pytest.approx(10.0 * TWO_LINK.effort_limit)
    assert (joints['velocity_limit'] == TWO_LINK.velocity_limit).all()


@pytest.mark.parametrize(('name', 'settings'), [
    ('stiffness', Settings(mode='pd', damping=[1.0])),
    ('damping', Settings(mode='joint_impedance', stiffness=[1.0])),
    ('acceleration_kp', Settings(mode='computed_torque')),
    ('stiffness', Settings(stiffness=[1.0, 2.0, 3.0])),
    ('joint2', Settings(effort_limit=[1.0, 0.0])),
    ('joint1', Settings(effort_limit=[1e6, 1.0])),
    ('effort_rate_limit', Settings(effort_rate_limit=[10.0, 0.0])),
    ('state_timeout', Settings(rate=200.0, state_timeout=0.004)),
])
def test_refused(name, settings):
    """A gain that the mode needs, a length or a limit that is wrong is named."""
    with pytest.raises(ParameterError) as refusal:
        settings.gain_rows(TWO_LINK)
        settings.joint_records(TWO_LINK)
        settings.check_gains(TWO_LINK)
    assert refusal.value.name == name


def test_no_limit_in_the_urdf():
    """A joint without any effort limit is not driven until somebody says how strong it is."""
    boundless = TWO_LINK.__class__(**{**vars(TWO_LINK), 'effort_limit': np.array([9.0, np.inf])})
    with pytest.raises(ParameterError, match='joint2 has no effort limit'):
        Settings().joint_records(boundless)
    limit = Settings(effort_limit=[8.0, 7.0]).joint_records(boundless)['effort_limit']
    assert limit.tolist() == [8.0, 7.0]


def test_zero_limit_of_the_urdf():
    """A URDF that says effort 0 needs the parameter, which may then exceed it."""
    weak = TWO_LINK.__class__(**{**vars(TWO_LINK), 'effort_limit': np.zeros(2)})
    with pytest.raises(ParameterError, match='joint1'):
        Settings().joint_records(weak)
    assert Settings(effort_limit=[3.0]).joint_records(weak)['effort_limit'][0] == 3.0


@pytest.mark.parametrize(('given', 'remedy'), [
    ({'mode': 'gravity_comp'}, 'did you mean gravity_compensation.*pd, joint_impedance, computed'),
    ({'mode': 3}, 'choose one of gravity_compensation'),
    ({'rate': -5}, r'finite number in \[1, 10000\] Hz'),
    ({'rate': 10**400}, r'\[1, 10000\] Hz'),
    ({'rate': '1000'}, r'\[1, 10000\] Hz'),
    ({'rate': True}, r'\[1, 10000\] Hz'),
    ({'state_timeout': -1}, r'\[0.001, 1\] s'),
    ({'loop_delay': np.nan}, r'\[0, 0.1\] s'),
    ({'power_limit': np.inf}, r'\[0, 1e\+06\] W'),
    ({'missed_limit': 2.5}, 'an integer in'),
    ({'acceleration_kp': np.nan}, 'every element must be a finite number in .* 1/s²'),
    ({'stiffness': [1.0, np.inf]}, 'every element.*N·m/rad'),
    ({'stiffness': [[1.0, 2.0]]}, 'every element.*N·m/rad'),
    ({'stiffness': [1.0, [2.0]]}, 'every element.*N·m/rad'),
    ({'stiffness': 'high'}, 'every element.*N·m/rad'),
    ({'damping': -1.0}, 'every element.*N·m·s/rad'),
    ({'friction_compensation': 1.2}, r'\[0, 1\]'),
    ({'payload_com': 0.1}, 'give 3 numbers'),
    ({'payload_frame': None}, 'give a text'),
    ({'robot_compensates_gravity': 1}, 'True or False'),
    ({'fault_action': 'holds'}, 'did you mean hold'),
], ids=str)
def test_what_a_setting_cannot_be(given, remedy):
    """The error names the setting, and its range or choices."""
    with pytest.raises(ParameterError, match=remedy) as refusal:
        Settings(**given)
    assert refusal.value.name == next(iter(given)) in str(refusal.value)


@pytest.mark.parametrize('gain', [100, 100.0, np.float64(100.0), np.array([100.0]), [100, 100]])
def test_a_number_stands_for_all_joints(gain):
    """A controller takes gains as numbers, lists and arrays."""
    settings = Settings(mode='computed_torque', acceleration_kp=gain, acceleration_kd=20)
    assert settings.gain_rows(TWO_LINK)[0].tolist() == [100.0, 100.0]
    controller = Controller(TWO_LINK, settings, specialize=False)
    with pytest.raises(ParameterError, match='acceleration_kp has 3 values.*joint1, joint2'):
        controller.use(Settings(mode='computed_torque', acceleration_kp=[1, 2, 3],
                                acceleration_kd=20))
    assert controller.settings is settings


def test_the_node_has_the_same_ranges():
    """What the node's table says of a setting is what the library checks."""
    parameters = pytest.importorskip('robodyn_ros.nodes.controller.parameters')
    table = {p.name: p for p in parameters.TABLE}
    for f in fields(ControlParameters):
        said = table[f.name]
        assert said.choices == f.metadata.get('choices', ()), f.name
        if 'lower' in f.metadata:
            assert (said.lower, said.upper) == (f.metadata['lower'], f.metadata['upper']), f.name
            assert said.unit == f.metadata['unit'], f.name


def test_a_parameter_is_listed_after_the_one_that_it_names():
    @dataclass
    class First:
        a: float = number(0.0, '', 0.0, 1.0, '')
        b: float = number(0.0, '', 0.0, 1.0, '')

    @dataclass
    class Both(First):
        c: float = number(0.0, '', 0.0, 1.0, '', after='a')
        d: float = number(0.0, '', 0.0, 1.0, '')

    assert [f.name for f in listed(Both)] == ['a', 'c', 'd', 'b']
