# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Robot descriptions and controller parameters for Gazebo with gz_ros2_control.

Sources: gz_ros2_control, `doc/index.rst`, and `gz_system.cpp` for joints without a controller.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

from .robot import RobotModel
from .urdf import load_urdf
from ..errors import ParameterError

HARDWARE = 'gz_ros2_control/GazeboSimSystem'
PLUGIN = 'gz_ros2_control::GazeboSimROS2ControlPlugin'
PLUGIN_FILE = 'gz_ros2_control-system'
EFFORT_CONTROLLER = 'forward_effort_controller'
WORLD = 'world'


def gazebo_description(urdf: str, parameters_file: str, position: Sequence[float] = (), *,
                       locked: Mapping[str, float] | None = None, namespace: str = '') -> str:
    """
    Return a URDF with a ros2_control block whose joints take efforts, and Gazebo's plugin.

    Blocks of other hardware are replaced, and the root link is fixed to `world`. Joints that no
    controller claims are held by the plugin (`hold_joints`): locked joints always, the others
    until efforts come. There is no effort state: up to gz_ros2_control's pull request 186 it is
    zero, and since then it is the torque about z of each joint, whatever its axis is.

    :param urdf: URDF text.
    :param parameters_file: path of the parameters of the controller manager.
    :param position: (nv,) initial position [rad | m]; empty: zero.
    :param locked: positions [rad | m] of joints that do not move.
    :param namespace: of the controller manager.
    :raises UrdfError: the URDF is not supported.
    :raises ParameterError: the position has another number of joints.
    """
    locked = dict(locked or {})
    model = load_urdf(urdf, locked=locked)
    if len(position) not in (0, model.nv):
        raise ParameterError(f'{len(position)} initial positions for {model.nv} joints',
                             name='initial_position', value=list(position),
                             remedy='give one for each of ' + ', '.join(model.joint_names))
    root = ElementTree.fromstring(urdf.encode())
    remove_other_hardware(root)
    _fix_to_world(root)
    start = dict(zip(model.joint_names, position or [0.0] * model.nv))
    root.append(_hardware(model, start, locked))
    root.append(_plugin(parameters_file, namespace))
    return ElementTree.tostring(root, encoding='unicode')


def controller_parameters(joint_names: Sequence[str], rate: int = 1000) -> dict[str, Any]:
    """
    Return the parameters of a controller manager that publishes states and forwards efforts.

    :param joint_names: in the order of the efforts: that of the model.
    :param rate: [Hz] of the controller manager.
    """
    def section(**values: Any) -> dict[str, Any]:
        return {'ros__parameters': values}
    return {
        '/**/controller_manager': section(
            update_rate=rate,
            # Or it takes g(q) from a joint at its limit: the guard of this package keeps limits
            enforce_command_limits=False,
            joint_state_broadcaster={'type': 'joint_state_broadcaster/JointStateBroadcaster'},
            **{EFFORT_CONTROLLER: {
                'type': 'forward_command_controller/ForwardCommandController'}}),
        f'/**/{EFFORT_CONTROLLER}': section(joints=list(joint_names), interface_name='effort'),
    }


def remove_other_hardware(root: ElementTree.Element) -> None:
    """Remove the ros2_control blocks of a URDF, and Gazebo's plugins for them."""
    for element in root.findall('ros2_control'):
        root.remove(element)
    for gazebo in root.findall('gazebo'):
        for plugin in gazebo.findall('plugin'):
            if 'ros2_control' in plugin.get('filename', '') + plugin.get('name', ''):
                gazebo.remove(plugin)


def _root_link(root: ElementTree.Element) -> str:
    children = {child.get('link') for child in root.findall('joint/child')}
    return next(name for link in root.findall('link')
                if (name := link.get('name', '')) not in children)


def _fix_to_world(root: ElementTree.Element) -> None:
    base = _root_link(root)
    if base == WORLD:
        return
    ElementTree.SubElement(root, 'link', name=WORLD)
    joint = ElementTree.SubElement(root, 'joint', name=f'{WORLD}_to_{base}', type='fixed')
    ElementTree.SubElement(joint, 'parent', link=WORLD)
    ElementTree.SubElement(joint, 'child', link=base)


def _hardware(model: RobotModel, start: Mapping[str, float],
              locked: Mapping[str, float]) -> ElementTree.Element:
    block = hardware_block(model.name, HARDWARE, {})
    for name, at in start.items():
        add_joint(block, name, 'effort', at)
    for name, at in locked.items():         # claimed by no controller, and thereby held
        add_joint(block, name, 'position', at)
    for i in model.followers:               # driven by the plugin, as <mimic> says
        add_joint(block, model.body_joint_names[i], '', None)
    return block


def hardware_block(name: str, plugin: str, params: Mapping[str, str]) -> ElementTree.Element:
    """Return a ros2_control block without joints."""
    block = ElementTree.Element('ros2_control', name=name, type='system')
    hardware = ElementTree.SubElement(block, 'hardware')
    ElementTree.SubElement(hardware, 'plugin').text = plugin
    for key, value in params.items():
        ElementTree.SubElement(hardware, 'param', name=key).text = value
    return block


def add_joint(block: ElementTree.Element, name: str, command: str, at: float | None) -> None:
    """
    Add a joint with position and velocity states to a ros2_control block.

    :param command: its command interface, '' for none; ``at``: initial position [rad | m].
    """
    joint = ElementTree.SubElement(block, 'joint', name=name)
    if command:
        ElementTree.SubElement(joint, 'command_interface', name=command)
    position = ElementTree.SubElement(joint, 'state_interface', name='position')
    if at is not None:
        ElementTree.SubElement(position, 'param', name='initial_value').text = repr(float(at))
    ElementTree.SubElement(joint, 'state_interface', name='velocity')


def _plugin(parameters_file: str, namespace: str) -> ElementTree.Element:
    gazebo = ElementTree.Element('gazebo')
    plugin = ElementTree.SubElement(gazebo, 'plugin', filename=PLUGIN_FILE, name=PLUGIN)
    ElementTree.SubElement(plugin, 'hold_joints').text = 'true'
    ElementTree.SubElement(plugin, 'parameters').text = parameters_file
    if namespace.strip('/'):
        ros = ElementTree.SubElement(plugin, 'ros')
        ElementTree.SubElement(ros, 'namespace').text = '/' + namespace.strip('/')
    return gazebo
