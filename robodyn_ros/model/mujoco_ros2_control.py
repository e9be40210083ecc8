# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Robot descriptions for mujoco_ros2_control.

Source: its `docs/hardware_interface.rst`, version of 2026.
"""

from collections.abc import Mapping
from xml.etree import ElementTree

from .gazebo import add_joint, hardware_block, remove_other_hardware
from .robot import RobotModel
from .urdf import load_urdf
from ..errors import ParameterError, SimulationError

HARDWARE = 'mujoco_ros2_control/MujocoSystemInterface'
# Actuators of MJCF that are no motors: the hardware takes no efforts for them
NO_MOTORS = 'position', 'velocity', 'intvelocity', 'damper', 'cylinder', 'muscle', 'adhesion'


def mujoco_description(urdf: str, mjcf: str, keyframe: str = '', *, headless: bool = False,
                       locked: Mapping[str, float] | None = None) -> str:
    """
    Return a URDF with a ros2_control block whose joints take efforts from MuJoCo.

    Blocks of other hardware are replaced. As for Gazebo there is no effort state: without one
    nothing is compared with g(q).

    :param urdf: URDF text; ``mjcf``: path of the scene, with a motor for each joint.
    :param keyframe: of the scene, at which the arm begins; '' for its reference pose.
    :param locked: positions [rad | m] of joints that do not move in the scene either.
    :raises UrdfError: the URDF is not supported.
    """
    model, root = load_urdf(urdf, locked=dict(locked or {})), ElementTree.fromstring(urdf.encode())
    remove_other_hardware(root)
    block = hardware_block(model.name, HARDWARE, {
        'mujoco_model': mjcf, 'headless': str(headless).lower(),
        **({'initial_keyframe': keyframe} if keyframe else {})})
    for name in model.joint_names:
        add_joint(block, name, 'effort', None)
    root.append(block)
    return ElementTree.tostring(root, encoding='unicode')


def check_scene(mjcf: str, model: RobotModel) -> None:
    """
    Refuse a scene whose actuators would not take this robot's efforts.

    Only what stands in the file itself is seen, not what it includes.

    :param mjcf: text of the scene.
    :raises SimulationError: it is no MJCF, or an actuator of a joint of the robot is no motor or
        has a gear.
    :raises ParameterError: it has motors, but none for a joint of the robot.
    """
    try:
        root = ElementTree.fromstring(mjcf)
    except ElementTree.ParseError as error:
        raise SimulationError(f'the scene is no XML ({error})', name='mjcf',
                              remedy='give the path of an MJCF file') from None
    if root.tag != 'mujoco':
        raise SimulationError(f'the scene is a {root.tag}, not an MJCF', name='mjcf',
                              remedy='give the path of an MJCF file')
    actuators = {e.get('joint', ''): e for e in root.iterfind('actuator/*')}
    for name in model.joint_names:
        if (found := actuators.get(name)) is None:
            continue
        if found.tag in NO_MOTORS or float((found.get('gear') or '1').split()[0]) != 1.0:
            raise SimulationError(
                f'the actuator of {name} is a {found.tag} with gear {found.get("gear", "1")}',
                name=name, remedy='give it a motor without a gear: its command is the effort')
    if actuators and (lacking := sorted(set(model.joint_names) - actuators.keys())):
        raise ParameterError(f'the scene has no actuator for {", ".join(lacking)}', name='mjcf',
                             value=lacking, remedy='add <motor joint="..." name="..."/> for each')
