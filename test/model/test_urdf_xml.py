# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The text of a URDF: faults, deviations, and what its attributes mean."""

import numpy as np
import pytest
from robodyn_ros import load_urdf
from robodyn_ros.errors import ArgumentError, InertiaError, printable, UrdfError
from robodyn_ros.model import urdf_source
from robots import ARM
from scipy.spatial.transform import Rotation
from urdf_parser_py.xml_reflection import core

SHOULDER = '<limit lower="-2" upper="2" effort="40" velocity="3"/>'
MOMENTS = 'ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.01"'
LAUGHS = '<!DOCTYPE robot [<!ENTITY a "x"><!ENTITY b "&a;&a;">]>' + ARM.replace('"arm"', '"&b;"')
# What stands in ARM, what is written there instead, what the error names, what it advises.
FAULTS = {
    'nan mass': ('<mass value="2"/>', '<mass value="nan"/>', 'upper', 'finite'),
    'overflow': ('effort="40"', 'effort="1e400"', 'shoulder', 'finite'),
    'word': ('damping="0.5"', 'damping="much"', 'shoulder', 'finite'),
    'underscore': ('upper="2"', 'upper="1_0"', 'shoulder', 'finite'),
    'xacro expression': ('value="2"', 'value="${m}"', 'upper', 'xacro'),
    'two numbers': ('xyz="0 0 0.5"', 'xyz="0 0.5"', 'shoulder', '3 finite'),
    'mass without value': ('<mass value="2"/>', '<mass/>', 'upper', '<mass value='),
    'no mass': ('<mass value="2"/>', '', 'upper', '<mass'),
    'no moment': (' izz="0.01"', '', 'upper', '<inertia izz='),
    'no effort': (' effort="40"', '', 'shoulder', '<limit effort='),
    'no parent': ('<parent link="base"/>', '', 'shoulder', '<parent'),
    'blank link name': ('<link name="base"/>', '<link name=" "/>', 'link', '<link name='),
    'no joint type': ('type="fixed"', '', 'mount', '<joint type='),
    'two origins': ('<axis xyz="0 1 0"/>', '<origin xyz="1 0 0"/>', 'shoulder', 'keep one'),
    'mistyped attribute': ('<origin xyz="0 0 0.5"', '<origin xzy="0 0 0.5"', 'shoulder', 'xyz'),
    'not in SI units': ('<mass value="2"/>', '<mass value="2e12"/>', 'upper', 'up to 1e+09'),
    'no such type': ('type="fixed"', 'type="ball"', 'mount', 'fixed'),
    'line break in a name': ('"upper"', '"a&#10;b"', 'a\nb', 'visible characters'),
    'escape code in a name': ('"slide"', '"\x9b2J"', '\x9b2J', 'visible characters'),
    'name turned around': ('"arm"', '"\u202emra"', '\u202emra', 'visible characters'),
    'endless name': ('"slide"', f'"{"e" * 201}"', 'e' * 201, '200'),
    'rotation twice': ('rpy="0.1 0.2 0.3"', 'rpy="0 0 0" quat_xyzw="0 0 0 1"', 'mount',
                       'keep one'),
    'no unit quaternion': ('rpy="0.1 0.2 0.3"', 'quat_xyzw="0 0 0 2"', 'mount', 'unit'),
    'negative mass': ('<mass value="2"/>', '<mass value="-2"/>', 'upper', 'mass'),
    'indefinite inertia': (MOMENTS, MOMENTS.replace('ixy="0"', 'ixy="0.03"'), 'upper', 'signs'),
    'floating': ('type="prismatic"', 'type="floating"', 'slide', "root='fore'"),
    'planar': ('type="prismatic"', 'type="planar"', 'slide', 'prismatic'),
    'zero axis': ('<axis xyz="0 1 0"/>', '<axis xyz="0 0 0"/>', 'shoulder', '<axis'),
    'no limit': (SHOULDER, '', 'shoulder', '<limit'),
    'exchanged limits': ('lower="-2"', 'lower="3"', 'shoulder', 'exchange'),
    'out of reach': ('lower="-2" upper="2"', 'lower="1e12" upper="1e308"', 'shoulder',
                     'up to 1e+09'),
    'negative effort': ('effort="40"', 'effort="-1"', 'shoulder', 'negative'),
    'negative friction': ('friction="0.2"', 'friction="-1"', 'shoulder', 'negative'),
}


@pytest.mark.parametrize('fault', FAULTS)
def test_a_fault_is_refused_with_its_place_and_remedy(fault):
    old, new, name, advice = FAULTS[fault]
    assert old in ARM
    with pytest.raises(InertiaError if name == 'upper' else UrdfError) as refused:
        load_urdf(ARM.replace(old, new, 1))
    assert refused.value.name == name and printable(name)[:200] in str(refused.value)
    assert str(refused.value).isprintable() and advice in refused.value.remedy


@pytest.mark.parametrize('text, problem', [
    ('', 'empty'), (b' \n', 'empty'), ('<robot name="a">', 'well-formed'),
    ('<robot name="a"/>&nothing;', 'well-formed'), (b'no xml', 'well-formed'),
    ('<sdf/>', 'SDF, the format of Gazebo'), ('<mujoco/>', 'MJCF, the format of MuJoCo'),
    ('<robot name="a"/>', 'no link'), (LAUGHS, 'DOCTYPE'),
    ('<!DOCTYPE robot SYSTEM "robot.dtd"><robot name="a"/>', 'DOCTYPE'),
    ('<robot name="a" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:include/></robot>',
     'xacro'),
    ('<robot name="a" xmlns:xacro=""><xacro:macro/></robot>', '<macro> is xacro'),
    ('<robot name="a" xmlns:xacro="http://www.ros.org/wiki/xacro"><link name="base"/>'
     '<xacro:arm parent="base"/></robot>', 'xacro:arm is not expanded'),
    ('<robot name="a"><link name="${prefix}base"/></robot>', 'base" of <link> is xacro'),
    ('<robot name="a"><x:b></robot>', 'well-formed'),
    ('<robot name="a" xmlns:x="a b"><x:c/></robot>', 'not a valid URI'),
    ('<robot name="a">' + '<b>' * 60 + '</b>' * 60 + '</robot>', 'deep'),
    (ARM.replace('"arm"', '"\ud800"'), 'surrogates'),
    ('<robot name="a">' + '<b/>' * urdf_source.MAX_MARKS + '</robot>', 'tags or attributes'),
    ('<robot name="a" ' + ' '.join(f'a{i}="1"' for i in range(urdf_source.MAX_MARKS)) + '/>',
     'tags or attributes'),
    ('<robot name="a"><b ' + ' '.join(f'a{i}="1"' for i in range(200)) + '/></robot>',
     '<b> has more than 100 attributes'),
    (b'<?xml version="1.0" encoding="utf-7"?><robot name="a"/>', 'UTF-7'),
    (' ' * urdf_source.MAX_BYTES + '</robot>', 'well-formed'),
    (b'<robot>' + b' ' * urdf_source.MAX_BYTES, 'bytes'),
])
def test_what_is_no_urdf_is_refused(text, problem):
    with pytest.raises(UrdfError, match=problem):
        load_urdf(text)


@pytest.mark.parametrize('path', ['/nowhere/arm.urdf', '/', 'x' * 5000, 'a\0b'])
def test_a_file_that_cannot_be_read_is_named(path):
    with pytest.raises(UrdfError, match='cannot be read') as refused:
        load_urdf(path)
    assert refused.value.name == path


def test_warnings_of_what_is_not_read(capfd):
    hook = core.on_error
    text = (ARM.replace('<dynamics damping', '<dynamics mu="1" damping')
            .replace('<link name="base"/>', '<link name="base"><contact/></link><loop/>'
                     '<gazebo><springStiffness>3</springStiffness></gazebo>'
                     '<ros2_control name="a" type="system"/><transmission name="t"/>'))
    assert load_urdf(text).warnings == (
        '<loop> is not read', 'joint springs in <gazebo> are not read: the model has no springs',
        '<contact> of <link> is not read: base',
        'attribute mu of <dynamics> is not read: shoulder')
    assert core.on_error is hook
    assert capfd.readouterr() == ('', '')
    text = ARM.replace('<link name="base"/>', '<link name="base" größe="1"><höhe/></link>')
    assert load_urdf(text).warnings == ('attribute größe of <link> is not read: base',
                                        '<höhe> of <link> is not read: base')
    text = ARM.replace('</robot>', '<link name="ab"><c/></link><joint name="d" type="fixed">'
                       '<parent link="base"/><child link="ab"/></joint></robot>')
    assert load_urdf(text.replace('ab', 'a\u200db')).warnings == (
        r'<c> of <link> is not read: a\u200db',)
    warnings = load_urdf(text.replace('<c/>', ''.join(f'<c{i}/>' for i in range(90)))).warnings
    assert warnings[:1] + warnings[50:] == (
        '<c0> of <link> is not read: ab', '40 more kinds of elements and attributes are not read')


MOTOR = ('<transmission name="t"><joint name="shoulder"/><actuator name="m">'
         '<mechanicalReduction>113.9</mechanicalReduction>{}</actuator></transmission></robot>')


@pytest.mark.parametrize(('old', 'new'), [
    ('<link name="base"/>', '<link name="base"><visual><geometry><torus/></geometry></visual>'
     '<collision/></link>'),
    ('<link name="base"/>', '<link name="base"><inertial><mass value="1"/><inertia ixx="-1" '
     'ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/></inertial></link>'),
    ('<link name="base"/>', '<link name="base"><origin xyz="0 0.0 0" rpy="-0 0 0"/></link>'),
    ('</robot>', MOTOR.format(''))], ids=['picture', 'inertia at rest', 'no placement', 'motor'])
def test_what_has_no_effect_is_no_concern(old, new):
    assert load_urdf(ARM.replace(old, new)).warnings == ()


TOLERATED = {
    'attribute of an axis': ('<axis xyz="0 1 0"', '<axis rpy="0 0 0" xyz="0 1 0"',
                             "joint 'shoulder': attribute rpy of <axis> is not read"),
    'lower triangle': ('ixy="0" ixz="0" iyy="0.02"', 'ixy="0" iyx="0" ixz="0" iyy="0.02"',
                       "link 'upper': attribute iyx of <inertia> is not read, ixy is used"),
    'undeclared prefix': ('<link name="base"/>', '<link name="base"/><gazebo><sensor:camera/>'
                          '</gazebo>', 'prefix sensor on camera is not defined'),
    'undeclared prefix in a link': ('<link name="base"/>', '<link name="base" a:b="1"><c:d/>'
                                    '</link>', 'prefix a for b on link is not defined'),
    'left-over macro': ('<link name="base"/>', '<link name="base"/><xacro:sensors '
                        'xmlns:xacro="http://www.ros.org/wiki/xacro"/>',
                        'xacro:sensors is not expanded: its content is missing'),
    'xacro without a namespace': ('name="arm"', 'name="arm" xmlns:xacro=""', 'Empty XML'),
    'default namespace': ('name="arm"', 'name="arm" xmlns="http://www.ros.org"',
                          "the namespace 'http://www.ros.org' of <robot> is ignored"),
    'contradiction of the lower triangle': (
        'ixy="0" ixz="0" iyy="0.02"', 'ixy="0" iyx="0.001" ixz="0" iyy="0.02"',
        'ixy is used, which differs (0)'),
    'no name': (' name="arm"', '', "<robot> has no name and is called 'robot'"),
    'long axis': ('<axis xyz="0 1 0"/>', '<axis xyz="0 2 0"/>', "'shoulder'", 'has length 2'),
    'no effort': ('effort="40"', 'effort="0"', "'shoulder'", 'effort limit is zero'),
    'no velocity': ('velocity="3"', 'velocity="0"', "'shoulder'", 'velocity limit is zero'),
    'no range': ('lower="-2" upper="2"', '', "'shoulder'", 'lower and upper limit are both 0'),
    'placement of a link': ('<link name="base"/>', '<link name="base"><origin xyz="0 0.5 0"/>'
                            '</link>', "link 'base': <origin> is not read"),
    'inertia of a motor': (
        '</robot>', MOTOR.format('<motorInertia>1e-4</motorInertia>'), 'rotor_inertia=',
        "<motorInertia> in the <transmission> of joint 'shoulder' is not read"),
}


@pytest.mark.parametrize('deviation', TOLERATED)
def test_a_deviation_without_physics_is_a_warning(deviation):
    old, new, *said = TOLERATED[deviation]
    assert old in ARM
    model, regular = load_urdf(ARM.replace(old, new, 1)), load_urdf(ARM)
    [warning] = model.warnings
    assert all(words in warning for words in said)
    assert model.name == ('robot' if deviation == 'no name' else regular.name)
    assert model.frame_names == regular.frame_names
    np.testing.assert_array_equal(model.inertial_parameters, regular.inertial_parameters)
    np.testing.assert_array_equal(model.joint_axis, regular.joint_axis)


def test_rotations_and_limits_of_newer_versions():
    newer = ARM.replace('<robot name', '<robot version="1.2" name').replace(
        'upper="2" effort="40" velocity="3"', 'upper="2"')
    model = load_urdf(newer)
    assert model.effort_limit[0] == model.velocity_limit[0] == np.inf
    assert model.warnings == tuple(f"joint 'shoulder': <limit> has no {limit}, which is taken as "
                                   'unlimited' for limit in ('effort', 'velocity'))
    with pytest.raises(UrdfError, match='has no effort'):
        load_urdf(newer.replace('"1.2"', '"1.0"'))
    quaternion = Rotation.from_euler('xyz', [0.1, 0.2, 0.3]).as_quat().tolist()
    text = ' '.join(map(repr, quaternion))
    model = load_urdf(ARM.replace('rpy="0.1 0.2 0.3"', f'quat_xyzw="{text}"'))
    regular = load_urdf(ARM)
    np.testing.assert_allclose(model.frame('tool').rotation, regular.frame('tool').rotation,
                               rtol=0, atol=1e-15)
    np.testing.assert_allclose(model.inertial_parameters, regular.inertial_parameters, atol=1e-15)


def test_limits_friction_and_default_axis():
    model = load_urdf(ARM.replace('revolute', 'continuous').replace(SHOULDER, ''))
    assert (model.position_lower[0], model.position_upper[0]) == (-np.inf, np.inf)
    assert (model.velocity_limit[0], model.effort_limit[0]) == (np.inf, np.inf)
    assert "joint 'shoulder': no <limit>" in model.warnings[0]
    model = load_urdf(ARM.replace('<axis xyz="0 1 0"/>', ''))
    for name, value in {
            'joint_axis': [[1, 0, 0], [0, 0, 1]], 'position_lower': [-2, 0],
            'position_upper': [2, 0.3], 'velocity_limit': [3, 1], 'effort_limit': [40, 90],
            'viscous_friction': [0.5, 0], 'coulomb_friction': [0.2, 0],
            'static_friction': [0.2, 0], 'armature': [0, 0]}.items():
        np.testing.assert_array_equal(getattr(model, name), value, name)
    model = load_urdf(ARM.replace('<axis xyz="0 1 0"/>', '<axis/>'))
    np.testing.assert_array_equal(model.joint_axis[0], [1, 0, 0])
    assert model.warnings == ("joint 'shoulder': <axis> has no xyz and is taken as 1 0 0",)


@pytest.mark.parametrize('q', [np.nan, np.inf, 0.31, -0.01])
def test_a_joint_is_locked_inside_its_limits_only(q):
    with pytest.raises(ArgumentError, match=r'slide.*\[0.0, 0.3\]') as refused:
        load_urdf(ARM, locked={'slide': q})
    assert refused.value.name == 'slide'


@pytest.mark.parametrize('limits, read', [
    ('lower="-1" upper="1"', False), ('lower="-6.28319" upper="6.28319"', True), ('', True)])
def test_limits_of_a_continuous_joint_that_are_not_read_are_named(limits, read):
    text = ARM.replace('type="revolute"', 'type="continuous"').replace(
        'lower="-2" upper="2"', limits)
    model = load_urdf(text)
    assert not np.isfinite(model.position_upper[0])
    assert any("joint 'shoulder': position limits [-1, 1] are not read" in warning
               for warning in model.warnings) != read
