# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Robot descriptions for ros2_control in Gazebo and MuJoCo, and parameters of its controllers.

Sources: gz_ros2_control, `doc/index.rst`, and `gz_system.cpp` for joints without a controller;
sdformat, `src/parser_urdf.cc`, for what Gazebo makes of a URDF; mujoco_ros2_control,
`docs/hardware_interface.rst`, version of 2026.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
import re
from typing import Any

from lxml import etree
import numpy as np

from .rigid_body import can_exist, rotation_rpy
from .robot import initial_position, RobotModel
from .urdf import load_urdf
from .urdf_xml import MAX_NUMBER, MOMENTS, regular
from ..errors import InertiaError, UrdfError

HARDWARE = 'gz_ros2_control/GazeboSimSystem'
PLUGIN = 'gz_ros2_control::GazeboSimROS2ControlPlugin'
PLUGIN_FILE = 'gz_ros2_control-system'
EFFORT_CONTROLLER = 'forward_effort_controller'
WORLD = 'world'
# Plugins that command joints: hardware of ros2_control and ros_control, controllers of Gazebo
COMMANDING = re.compile(r'ros2?_control|joint.*controller', re.IGNORECASE)
# Tags by which sdformat leaves a link at a fixed joint a link of its own
UNLUMPED_ELEMENTS = 'preserveFixedJoint', 'disableFixedJointLumping'
# [kg], [kg·m²] of a link that Gazebo would leave out; sdformat 12 takes masses below 1e-6 for zero
STAND_IN_MASS, STAND_IN_MOMENT = 1e-5, 1e-9
MUJOCO_HARDWARE = 'mujoco_ros2_control/MujocoSystemInterface'


def gazebo_description(urdf: str | Path, parameters_file: str, position: Sequence[float] = (),
                       *, locked: Mapping[str, float] | None = None, namespace: str = '') -> str:
    """
    Return a URDF with a ros2_control block whose joints take efforts, and Gazebo's plugin.

    Other plugins and blocks that command joints are replaced, and the root link is fixed to
    `world`, turned so that the gravity of <robodyn> points downwards. Joints that no controller
    claims are held by the plugin (`hold_joints`): locked joints always, the others until efforts
    come. There is no effort state: up to gz_ros2_control's pull request 186 it is zero, and since
    then it is the torque about z of each joint, for any axis.

    Gazebo leaves out links without mass, and everything below them: the root of most robots, and
    links between two joints that move. They get a negligible inertia (``STAND_IN_MASS``).

    :param urdf: URDF text, or the path of its file.
    :param parameters_file: path of the parameters of the controller manager.
    :param position: as of :func:`~robodyn_ros.model.robot.initial_position`.
    :param locked: positions [rad | m] of joints that do not move.
    :param namespace: of the controller manager.
    :raises UrdfError: the URDF is not supported, or Gazebo would refuse it for its names.
    :raises InertiaError: Gazebo would refuse an inertia, since no rigid body has it.
    :raises ParameterError: the position has the wrong length or is outside the limits.
    """
    locked = dict(locked or {})
    model = load_urdf(urdf, locked=locked)
    start = dict(zip(model.joint_names, initial_position(model, position)))
    root = strict_urdf(urdf)
    _check_inertias(model)
    _separate_names(root, model.base_link)
    _fix_to_world(root, model)
    _add_missing_mass(root)
    root.append(_hardware(model, start, locked))
    root.append(_plugin(parameters_file, namespace))
    return etree.tostring(root, encoding='unicode')


def strict_urdf(urdf: str | Path) -> etree._Element:
    """
    Return a URDF that urdfdom reads, without what commands its joints.

    Urdfdom, which reads it for robot_state_publisher, Gazebo and ros2_control, refuses a <limit>
    without numbers, and infinite ones: absent limits of effort and velocity are ``MAX_NUMBER``.

    :param urdf: URDF text, or the path of its file.
    :raises UrdfError, InertiaError: as :func:`~robodyn_ros.model.urdf.load_urdf`.
    """
    root, _ = regular(urdf)
    root.attrib.pop('version', None)        # as an older urdfdom knows 1.0 only
    for limit in root.iterfind('joint/limit'):
        for name, value in limit.attrib.items():
            if value == 'inf':
                limit.set(name, repr(MAX_NUMBER))
    for block in root.findall('ros2_control'):
        root.remove(block)
    for plugin in root.findall('gazebo/plugin'):
        if COMMANDING.search(plugin.get('filename', '') + ' ' + plugin.get('name', '')):
            plugin.getparent().remove(plugin)
    return root


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


def _separate_names(root: etree._Element, base: str) -> None:
    """
    Rename fixed joints that have the name of a link: in SDF links, joints and frames share names.

    :raises UrdfError: a joint that moves has the name of a link, or `world` is not the root.
    """
    links = {link.get('name') for link in root.iterfind('link')}
    names = links | {joint.get('name') for joint in root.iterfind('joint')}
    for joint in root.iterfind('joint'):
        if (name := joint.get('name')) not in links:
            continue
        if joint.get('type') != 'fixed':
            raise UrdfError(f'joint {name!r} has the name of a link, which Gazebo refuses',
                            name=name, remedy='rename the link or the joint')
        while name in names:
            name += '_joint'
        joint.set('name', name)
        names.add(name)
    if WORLD in links and base != WORLD:
        raise UrdfError(f'link {WORLD!r} is not the root, which is {base!r}', name=WORLD,
                        remedy=f'rename it: Gazebo fixes robots to {WORLD!r}')


def _check_inertias(model: RobotModel) -> None:
    refused = [name for name, inertia in zip(model.link_names, model.inertia)
               if not can_exist(inertia)]
    if refused:
        raise InertiaError(
            f'Gazebo refuses the inertia of {", ".join(refused)}, which no rigid body has',
            name=refused[0], value=tuple(refused), remedy='run `robodyn inspect FILE '
            '--repair NEW`, which writes the nearest physically consistent inertias')


def _fix_to_world(root: etree._Element, model: RobotModel) -> None:
    """Fix the root link to `world`, turned so that the gravity of the model points downwards."""
    gravity, base = float(np.linalg.norm(model.gravity_vector)), model.base_link
    tilted = bool(np.any(model.gravity_vector != (0.0, 0.0, -gravity)))
    if base == WORLD:
        if tilted:
            raise UrdfError(f'<robodyn> gives a gravity that is not along -z of {WORLD!r}',
                            name='gravity', value=model.gravity_vector.tolist(),
                            remedy=f'turn the robot in {WORLD!r} instead, by the <origin> of its '
                                   'first joint')
        return
    etree.SubElement(root, 'link', name=WORLD)
    joint = etree.SubElement(root, 'joint', name=f'{WORLD}_to_{base}', type='fixed')
    etree.SubElement(joint, 'parent', link=WORLD)
    etree.SubElement(joint, 'child', link=base)
    if tilted:
        from scipy.spatial.transform import Rotation  # takes a while to import

        turn, _ = Rotation.align_vectors([[0.0, 0.0, -gravity]], [model.gravity_vector])
        etree.SubElement(joint, 'origin', xyz='0 0 0', rpy=' '.join(
            repr(float(angle)) for angle in rotation_rpy(turn.as_matrix())))
        for element in root.iterfind('robodyn/gravity'):    # in the frame of the root
            element.set('xyz', f'0 0 {-gravity!r}')


def _add_missing_mass(root: etree._Element) -> None:
    """Add a mass to links of Gazebo without mass after lumping."""
    kept = {gazebo.get('reference') for gazebo in root.iterfind('gazebo') if any(
        (gazebo.findtext(tag) or '').strip() in ('true', '1') for tag in UNLUMPED_ELEMENTS)}
    above = {joint.find('child').get('link'): parent for joint in root.iterfind('joint')
             if joint.get('type') == 'fixed' and joint.get('name') not in kept
             and (parent := joint.find('parent').get('link')) != WORLD}
    links = {link.get('name'): link for link in root.iterfind('link')}
    total = {name: 0.0 for name in links if name not in above}
    for name, link in links.items():
        inertial = link.find('inertial')
        mass = 0.0 if inertial is None else float(inertial.find('mass').get('value'))
        if mass == 0.0 and inertial is not None and not any(
                float(inertial.find('inertia').get(key)) for key in MOMENTS):
            link.remove(inertial)       # sdformat divides by the sum of two such masses
        while name in above:
            name = above[name]
        total[name] += mass
    for name, mass in total.items():
        if mass < STAND_IN_MASS and name != WORLD:
            inertial = links[name].find('inertial')
            if inertial is None:
                inertial = etree.SubElement(links[name], 'inertial')
                etree.SubElement(inertial, 'mass')
                etree.SubElement(inertial, 'inertia', {
                    key: repr(STAND_IN_MOMENT if key[1] == key[2] else 0.0) for key in MOMENTS})
            inertial.find('mass').set('value', repr(STAND_IN_MASS))


def _hardware(model: RobotModel, start: Mapping[str, float],
              locked: Mapping[str, float]) -> etree._Element:
    block = hardware_block(model.name, HARDWARE, {})
    for name, at in start.items():
        add_joint(block, name, 'effort', at)
    for name, at in locked.items():         # claimed by no controller, and thereby held
        add_joint(block, name, 'position', at)
    for i in model.followers:               # driven by the plugin, see <mimic>
        add_joint(block, model.body_joint_names[i], '', None)
    return block


def hardware_block(name: str, plugin: str, params: Mapping[str, str]) -> etree._Element:
    """Return a ros2_control block without joints."""
    block = etree.Element('ros2_control', name=name, type='system')
    hardware = etree.SubElement(block, 'hardware')
    etree.SubElement(hardware, 'plugin').text = plugin
    for key, value in params.items():
        etree.SubElement(hardware, 'param', name=key).text = value
    return block


def add_joint(block: etree._Element, name: str, command: str, at: float | None) -> None:
    """
    Add a joint with position and velocity states to a ros2_control block.

    :param command: its command interface, '' for none; ``at``: initial position [rad | m].
    """
    joint = etree.SubElement(block, 'joint', name=name)
    if command:
        etree.SubElement(joint, 'command_interface', name=command)
    position = etree.SubElement(joint, 'state_interface', name='position')
    if at is not None:
        etree.SubElement(position, 'param', name='initial_value').text = repr(float(at))
    etree.SubElement(joint, 'state_interface', name='velocity')


def _plugin(parameters_file: str, namespace: str) -> etree._Element:
    gazebo = etree.Element('gazebo')
    plugin = etree.SubElement(gazebo, 'plugin', filename=PLUGIN_FILE, name=PLUGIN)
    etree.SubElement(plugin, 'hold_joints').text = 'true'
    etree.SubElement(plugin, 'parameters').text = parameters_file
    if namespace.strip('/'):
        ros = etree.SubElement(plugin, 'ros')
        etree.SubElement(ros, 'namespace').text = '/' + namespace.strip('/')
    return gazebo


def mujoco_description(urdf: str | Path, mjcf: str, keyframe: str = '', *, headless: bool = False,
                       locked: Mapping[str, float] | None = None) -> str:
    """
    Return a URDF with a ros2_control block whose joints take efforts from MuJoCo.

    Blocks of other hardware are replaced. As for Gazebo there is no effort state: without one
    nothing is compared with g(q).

    :param urdf: URDF text, or the path of its file.
    :param mjcf: path of the scene, with a motor for each joint.
    :param keyframe: of the scene, at which the arm begins; '' for its reference pose.
    :param locked: positions [rad | m] of joints that do not move in the scene either.
    :raises UrdfError: the URDF is not supported.
    """
    model, root = load_urdf(urdf, locked=dict(locked or {})), strict_urdf(urdf)
    block = hardware_block(model.name, MUJOCO_HARDWARE, {
        'mujoco_model': mjcf, 'headless': str(headless).lower(),
        **({'initial_keyframe': keyframe} if keyframe else {})})
    for name in model.joint_names:
        add_joint(block, name, 'effort', None)
    root.append(block)
    return etree.tostring(root, encoding='unicode')
