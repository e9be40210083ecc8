# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Robot descriptions for Gazebo, without Gazebo: what the plugin reads, and an unchanged robot."""

from xml.etree import ElementTree

import numpy as np
import pytest
from robodyn_ros import Dynamics, load_urdf
from robodyn_ros.errors import ParameterError
from robodyn_ros.model.gazebo import controller_parameters, gazebo_description
from robodyn_ros.model.resources import robot_path
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


def test_a_position_for_each_joint():
    with pytest.raises(ParameterError, match='3 initial positions for 2 joints'):
        gazebo_description(robot_path('two_link').read_text(), 'a.yaml', [0.0] * 3)


def test_efforts_are_forwarded_in_the_order_of_the_model():
    names = load_urdf(ARM, locked={'slide': 0.1}).joint_names
    given = controller_parameters(names, 500)
    assert given['/**/forward_effort_controller']['ros__parameters'] == {
        'joints': list(names), 'interface_name': 'effort'}
    manager = given['/**/controller_manager']['ros__parameters']
    assert (manager['update_rate'], manager['enforce_command_limits']) == (500, False)
