# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pytest
from robodyn_ros import load_urdf
from robodyn_ros.errors import ArgumentError, InertiaError, UrdfError
from robots import ARM

SHOULDER = '<limit lower="-2" upper="2" effort="40" velocity="3"/>'
MOMENTS = 'ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.01"'
FAULTS = {
    'negative mass': ('<mass value="2"/>', '<mass value="-2"/>', InertiaError, 'upper', 'mass'),
    'indefinite inertia': (MOMENTS, MOMENTS.replace('ixy="0"', 'ixy="0.03"'), InertiaError,
                           'upper', 'signs'),
    'floating': ('type="prismatic"', 'type="floating"', UrdfError, 'slide', "root='fore'"),
    'planar': ('type="prismatic"', 'type="planar"', UrdfError, 'slide', 'prismatic'),
    'zero axis': ('<axis xyz="0 1 0"/>', '<axis xyz="0 0 0"/>', UrdfError, 'shoulder', '<axis'),
    'no limit': (SHOULDER, '', UrdfError, 'shoulder', '<limit'),
    'exchanged limits': ('lower="-2"', 'lower="3"', UrdfError, 'shoulder', 'exchange'),
    'out of reach': ('lower="-2" upper="2"', 'lower="1e12" upper="1e308"', UrdfError, 'shoulder',
                     'up to 1e+09'),
    'negative effort': ('effort="40"', 'effort="-1"', UrdfError, 'shoulder', 'negative'),
    'negative velocity': ('velocity="3"', 'velocity="-1"', UrdfError, 'shoulder', 'negative'),
    'negative damping': ('damping="0.5"', 'damping="-1"', UrdfError, 'shoulder', 'negative'),
    'negative friction': ('friction="0.2"', 'friction="-1"', UrdfError, 'shoulder', 'negative'),
}


@pytest.mark.parametrize('fault', FAULTS)
def test_a_fault_is_refused_with_its_place_and_remedy(fault):
    old, new, error, name, advice = FAULTS[fault]
    assert old in ARM
    with pytest.raises(error) as refused:
        load_urdf(ARM.replace(old, new, 1))
    assert refused.value.name == name and name in str(refused.value)
    assert advice in refused.value.remedy


@pytest.mark.parametrize('old, new, warning', [
    ('<axis xyz="0 1 0"/>', '<axis xyz="0 2 0"/>', 'axis has length 2'),
    ('effort="40"', 'effort="0"', 'effort limit is zero'),
    ('velocity="3"', 'velocity="0"', 'velocity limit is zero'),
    ('lower="-2" upper="2"', '', 'lower and upper limit are both 0'),
])
def test_what_is_odd_is_accepted_with_a_warning(old, new, warning):
    model = load_urdf(ARM.replace(old, new, 1))
    assert [w for w in model.warnings if warning in w and "'shoulder'" in w]
    np.testing.assert_array_equal(model.joint_axis[0], [0, 1, 0])


def test_a_continuous_joint_has_no_limits():
    model = load_urdf(ARM.replace('revolute', 'continuous').replace(SHOULDER, ''))
    assert (model.position_lower[0], model.position_upper[0]) == (-np.inf, np.inf)
    assert (model.velocity_limit[0], model.effort_limit[0]) == (np.inf, np.inf)
    assert "joint 'shoulder': no <limit>" in model.warnings[0]


def test_limits_friction_and_default_axis():
    model = load_urdf(ARM.replace('<axis xyz="0 1 0"/>', ''))
    np.testing.assert_array_equal(model.joint_axis, [[1, 0, 0], [0, 0, 1]])
    np.testing.assert_array_equal(model.position_lower, [-2, 0])
    np.testing.assert_array_equal(model.position_upper, [2, 0.3])
    np.testing.assert_array_equal(model.velocity_limit, [3, 1])
    np.testing.assert_array_equal(model.effort_limit, [40, 90])
    np.testing.assert_array_equal(model.viscous_friction, [0.5, 0])
    np.testing.assert_array_equal(model.coulomb_friction, [0.2, 0])
    np.testing.assert_array_equal(model.static_friction, [0.2, 0])
    np.testing.assert_array_equal(model.armature, [0, 0])


@pytest.mark.parametrize('q', [np.nan, np.inf, 0.31, -0.01])
def test_a_joint_is_locked_inside_its_limits_only(q):
    with pytest.raises(ArgumentError, match=r'slide.*\[0.0, 0.3\]') as refused:
        load_urdf(ARM, locked={'slide': q})
    assert refused.value.name == 'slide'


def test_an_inertia_at_rest_does_not_count():
    base = ('<link name="base"><inertial><mass value="1"/><inertia ixx="-1" ixy="0" ixz="0" '
            'iyy="0" iyz="0" izz="0"/></inertial></link>')
    assert load_urdf(ARM.replace('<link name="base"/>', base)).warnings == ()


@pytest.mark.parametrize('limits, read', [
    ('lower="-1" upper="1"', False), ('lower="-6.28319" upper="6.28319"', True), ('', True)])
def test_limits_of_a_continuous_joint_that_are_not_read_are_named(limits, read):
    text = ARM.replace('type="revolute"', 'type="continuous"').replace(
        'lower="-2" upper="2"', limits)
    model = load_urdf(text)
    assert not np.isfinite(model.position_upper[0])
    assert any("joint 'shoulder': position limits [-1, 1] are not read" in warning
               for warning in model.warnings) != read


def test_a_placement_of_a_link_and_a_motor_inertia_that_are_not_read_are_named():
    base = '<link name="base"/>'
    assert load_urdf(ARM.replace(base, '<link name="base"><origin xyz="0 0.0 0" rpy="-0 0 0"/>'
                                       '</link>')).warnings == ()
    [warning] = load_urdf(ARM.replace(base, '<link name="base"><origin xyz="0 0.5 0"/></link>')
                          ).warnings
    assert "link 'base': <origin> is not read" in warning
    motor = ('<transmission name="t"><joint name="shoulder"/><actuator name="m">'
             '<mechanicalReduction>113.9</mechanicalReduction>{}</actuator></transmission></robot>')
    assert load_urdf(ARM.replace('</robot>', motor.format(''))).warnings == ()
    [warning] = load_urdf(ARM.replace('</robot>', motor.format(
        '<motorInertia>1e-4</motorInertia>'))).warnings
    assert "<motorInertia> in the <transmission> of joint 'shoulder' is not read" in warning
    assert 'rotor_inertia=' in warning
