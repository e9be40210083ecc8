# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Robot descriptions for Gazebo, without Gazebo: what the plugin reads, and an unchanged robot."""

from xml.etree import ElementTree

import numpy as np
import pytest
from robodyn_ros import Dynamics, load_urdf
from robodyn_ros.errors import InertiaError, ParameterError, UrdfError
from robodyn_ros.model.resources import robot_path
from robodyn_ros.model.ros2_control import controller_parameters, gazebo_description, STAND_IN_MASS
from robots import ARM

LOCKED = {'panda_finger_joint1': 0.02, 'panda_finger_joint2': 0.02}


def block(text: str) -> dict[str, tuple[list[str], list[str]]]:
    """Command and state interfaces of each joint of the only block."""
    (found,) = ElementTree.fromstring(text).findall('ros2_control')
    return {joint.get('name'): tuple([e.get('name') for e in joint.findall(kind)] for kind in (
        'command_interface', 'state_interface')) for joint in found.findall('joint')}


@pytest.mark.parametrize('robot, locked', [('two_link', {}), ('panda', LOCKED), ('ur5', {})])
def test_the_robot_stays_the_same(robot, locked):
    text = robot_path(robot).read_text()
    given = gazebo_description(text, '/tmp/controllers.yaml', locked=locked)
    one, other = load_urdf(text, locked=locked), load_urdf(given, locked=locked)
    assert one.joint_names == other.joint_names
    q = np.linspace(-0.4, 0.7, one.nv)
    np.testing.assert_allclose(Dynamics(one).gravity(q), Dynamics(other).gravity(q), rtol=1e-12)
    interfaces = block(given)
    assert list(interfaces) == [*one.joint_names, *locked]
    for name in one.joint_names:
        assert interfaces[name] == (['effort'], ['position', 'velocity'])
    for name in locked:         # held by the plugin: no controller claims the interface
        assert interfaces[name][0] == ['position']


def test_blocks_of_other_hardware_are_replaced():
    """Two systems that drive the same joints would be two commanders."""
    text = robot_path('two_link').read_text().replace('</robot>', (
        '<ros2_control name="real" type="system"/><gazebo><plugin filename='
        '"libgazebo_ros2_control.so" name="gazebo_ros2_control"/></gazebo></robot>'))
    once = gazebo_description(text, 'a.yaml', [0.3, 0.5], namespace='/left/')
    twice = gazebo_description(once, 'b.yaml', [0.1, 0.2])
    tree = ElementTree.fromstring(twice)
    plugins = [e for e in tree.iter('plugin') if e.get('filename')]
    assert [e.get('filename') for e in plugins] == ['gz_ros2_control-system']
    assert plugins[0].findtext('parameters') == 'b.yaml'
    assert [e.text for e in tree.iter('param')] == ['0.1', '0.2']
    assert [e.get('name') for e in tree.findall('link')].count('world') == 1
    assert ElementTree.fromstring(once).find('gazebo/plugin/ros/namespace').text == '/left'


@pytest.mark.parametrize('name, kept', [
    ('libgazebo_ros_control.so', False), ('libgz_ros2_control-system.so', False),
    ('gz-sim-joint-position-controller-system', False),
    ('libignition-gazebo-joint-trajectory-controller-system.so', False),
    ('gz-sim-sensors-system', True), ('libgazebo_ros_p3d.so', True)])
def test_no_other_plugin_commands_the_joints(name, kept):
    for place in ('<gazebo>', '<gazebo reference="base">'):
        text = ARM.replace('</robot>', f'{place}<plugin filename="{name}" name="x"/></gazebo>'
                           '</robot>')
        tree = ElementTree.fromstring(gazebo_description(text, 'a.yaml'))
        assert [e.get('filename') for e in tree.iter('plugin') if e.get('filename')] == [
            *([name] if kept else []), 'gz_ros2_control-system']


def masses(text: str) -> dict[str, float]:
    """Mass of each link that has one."""
    return {link.get('name'): float(link.find('inertial/mass').get('value'))
            for link in ElementTree.fromstring(text).findall('link')
            if link.find('inertial') is not None}


def test_links_that_gazebo_would_leave_out_get_a_mass():
    """The root; a frame fixed to a link gets none, unless Gazebo is told not to lump it."""
    frame = ('<link name="flange"/><joint name="to_flange" type="fixed"><parent link="tool"/>'
             '<child link="flange"/></joint>')
    text = ARM.replace('</robot>', frame + '</robot>')
    own = {'upper': 2.0, 'fore': 1.0, 'tool': 0.5}
    assert masses(gazebo_description(text, 'a.yaml')) == own | {'base': STAND_IN_MASS}
    for tag in ('preserveFixedJoint', 'disableFixedJointLumping'):
        apart = text.replace('</robot>', f'<gazebo reference="to_flange"><{tag}>true</{tag}>'
                             '</gazebo></robot>')
        assert masses(gazebo_description(apart, 'a.yaml')) == own | {
            'base': STAND_IN_MASS, 'flange': STAND_IN_MASS}
    # A root called world, with a massless link below it; a root whose mass is fixed to it
    world = text.replace('"base"', '"world"').replace('"shoulder" type="revolute"><parent link='
                                                      '"world"', '"shoulder" type="revolute">'
                                                      '<parent link="plate"').replace(
        '</robot>', '<link name="plate"/><joint name="p" type="fixed"><parent link="world"/>'
        '<child link="plate"/></joint></robot>')
    assert masses(gazebo_description(world, 'a.yaml')) == own | {'plate': STAND_IN_MASS}
    heavy = world.replace('"world"', '"base"').replace('<link name="plate"/>', (
        '<link name="plate"><inertial><mass value="3"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" '
        'iyz="0" izz="1"/></inertial></link>'))
    assert masses(gazebo_description(heavy, 'a.yaml')) == own | {'plate': 3.0}


@pytest.mark.parametrize('text, error, match', [
    (ARM.replace('ixx="0.02"', 'ixx="0.04"'), InertiaError, 'Gazebo refuses the inertia of upper'),
    (ARM.replace('"shoulder"', '"upper"'), UrdfError, "joint 'upper' has the name of a link"),
    (ARM.replace('"tool"', '"world"'), UrdfError, "'world' is not the root, which is 'base'"),
    (ARM.replace('"base"', '"world"').replace(
        '</robot>', '<robodyn><gravity xyz="9.81 0 0"/></robodyn></robot>'), UrdfError,
     "not along -z of 'world'")])
def test_what_gazebo_would_refuse_or_misplace(text, error, match):
    load_urdf(text)
    with pytest.raises(error, match=match) as refused:
        gazebo_description(text, 'a.yaml')
    assert refused.value.remedy
    with pytest.raises(ParameterError, match='the initial position has 3 elements'):
        gazebo_description(ARM, 'a.yaml', [0.0] * 3)


def test_names_gravity_and_order():
    given = gazebo_description(ARM.replace('"mount"', '"tool"'), 'a.yaml')
    assert [j.get('name') for j in ElementTree.fromstring(given).findall('joint')] == [
        'shoulder', 'slide', 'tool_joint', 'world_to_base']
    q = np.array([0.3, 0.1])
    for gravity in ('-9.81 0 0', '0 0 9.81', '2.3 4.6 -8.35'):
        text = ARM.replace('</robot>', f'<robodyn><gravity xyz="{gravity}"/></robodyn></robot>')
        own = load_urdf(text)
        given = load_urdf(gazebo_description(text, 'a.yaml'))
        np.testing.assert_allclose(given.gravity_vector, [
            0.0, 0.0, -np.linalg.norm(own.gravity_vector)], atol=1e-14)
        np.testing.assert_allclose(Dynamics(given).gravity(q), Dynamics(own).gravity(q),
                                   atol=1e-12)
    assert given.base_link == 'world'
    # An older urdfdom takes no newer version, and no limits without numbers
    text = ARM.replace('<robot', '<robot version="1.2"').replace(' effort="', ' x="')
    root = ElementTree.fromstring(gazebo_description(text, 'a.yaml'))
    assert root.get('version') is None
    assert {float(limit.get('effort')) for limit in root.iter('limit')} == {1e9}
    names = load_urdf(ARM, locked={'slide': 0.1}).joint_names
    given = controller_parameters(names, 500)
    assert given['/**/forward_effort_controller']['ros__parameters'] == {
        'joints': list(names), 'interface_name': 'effort'}
    manager = given['/**/controller_manager']['ros__parameters']
    assert (manager['update_rate'], manager['enforce_command_limits']) == (500, False)
