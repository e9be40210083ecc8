# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Robot descriptions for mujoco_ros2_control.

Source: its `docs/hardware_interface.rst`, version of 2026.
"""

from collections.abc import Mapping
from pathlib import Path

from lxml import etree

from .gazebo import add_joint, hardware_block, strict_urdf
from .urdf import load_urdf

HARDWARE = 'mujoco_ros2_control/MujocoSystemInterface'


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
    block = hardware_block(model.name, HARDWARE, {
        'mujoco_model': mjcf, 'headless': str(headless).lower(),
        **({'initial_keyframe': keyframe} if keyframe else {})})
    for name in model.joint_names:
        add_joint(block, name, 'effort', None)
    root.append(block)
    return etree.tostring(root, encoding='unicode')
