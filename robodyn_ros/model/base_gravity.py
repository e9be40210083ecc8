# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Gravity in the frame of a base that is not the root of its document."""

from collections.abc import Mapping

import numpy as np
from numpy import ndarray
from urdf_parser_py.urdf import Joint, URDF

from .mimic import mimic_relation
from .urdf_elements import joint_data, joint_placement, MOVING
from .urdf_extension import Extension
from ..errors import Argument, Placeholder, UrdfError

GRAVITY = (0.0, 0.0, -9.81)     # [m/s²] of an upright robot
MAX_SINE = 1e-9    # of the angle between gravity and a vertical axis


def base_gravity(robot: URDF, extra: Extension, base: str, locked: Mapping[str, float]) -> ndarray:
    """
    Return gravity (3,) [m/s²] in the frame of link ``base``.

    In the frame of the root of the document it is that of <robodyn>, or (0, 0, -9.81). The joints
    between the root and the base rotate it: fixed ones, and locked ones at their position.
    Prismatic joints and joints about a vertical axis do not change it.

    :raises UrdfError: another movable joint is above the base.
    """
    above = {joint.child: joint for joint in robot.joints}
    by_name = {joint.name: joint for joint in robot.joints}
    path, link = [], base
    while link in above:
        path.append(above[link])
        link = above[link].parent
    gravity = np.array(GRAVITY if extra.gravity is None else extra.gravity)
    for joint in reversed(path):
        rotation, _ = joint_placement(joint, extra.joint(joint.name))
        gravity = rotation.T @ gravity
        if joint.type == 'fixed':
            continue
        if joint.type not in MOVING:
            _refuse(joint, base, 'give gravity')
        relation = mimic_relation(joint, by_name, extra, locked)
        data = joint_data(joint, extra.joint(joint.name), [])
        if relation.driver is None:
            gravity = data.motion(joint.type, relation.shift)[0].T @ gravity
        elif joint.type != 'prismatic' and (
                np.linalg.norm(np.cross(data.axis, gravity)) > MAX_SINE * np.linalg.norm(gravity)):
            _refuse(joint, base, 'lock it where it is, ', Argument(
                'locked', {relation.driver: Placeholder('position')}), ', or give gravity')
    return gravity


def _refuse(joint: Joint, base: str, *remedy: str | Argument) -> None:
    raise UrdfError(f'joint {joint.name!r} above the root {base!r} turns gravity in its frame',
                    name=joint.name, remedy=(*remedy, f' in the frame of {base!r}, ', Argument(
                        'gravity', tuple(map(Placeholder, 'xyz')))))
