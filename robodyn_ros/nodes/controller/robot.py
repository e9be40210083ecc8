# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters that define the robot, and the model that they give, for both nodes."""

from typing import Any

from ..middleware.parameters import Parameter
from ...errors import ParameterError, UrdfError
from ...model.resources import robot_path
from ...model.robot import RobotModel
from ...model.urdf import load_urdf
from ...model.urdf_source import urdf_text
from ...model.validate import check_inertias

PARAMETERS = (
    Parameter('robot_description', str, '', 'URDF text.'),
    Parameter('urdf', str, '', 'Path of a URDF, or name of a known robot (`panda`), if '
              '`robot_description` is empty.'),
    Parameter('locked_joints', list[str], [], 'Joints that do not move.'),
    Parameter('locked_positions', list[float], [], 'Position of each locked joint.', 'rad or m'),
    Parameter('gravity', list[float], [], 'Gravity vector in the frame of `root`. Empty: from the '
              'URDF, else 0, 0, -9.81.', 'm/s²'),
)


def description(p: dict[str, Any]) -> str:
    """Return the URDF text that the parameters give; '' if they name no robot."""
    if p['robot_description'] or not p['urdf']:
        return p['robot_description']
    return urdf_text(robot_path(p['urdf']))


def locked(p: dict[str, Any]) -> dict[str, float]:
    """Return positions of locked joints; :class:`ParameterError` if the lists do not match."""
    if len(p['locked_joints']) != len(p['locked_positions']):
        raise ParameterError('locked_joints and locked_positions differ in length',
                             name='locked_positions', value=p['locked_positions'],
                             remedy='give one position for each locked joint')
    return dict(zip(p['locked_joints'], p['locked_positions']))


def model(p: dict[str, Any], urdf: str, root: str = '', tip: str = '') -> RobotModel:
    """Return the model of a URDF text; :class:`RobodynError` if it is invalid."""
    if '<' not in urdf:         # taken for the path of a file, which anybody could name
        raise UrdfError('the robot description is no XML', name='robot description', value=urdf,
                        remedy='publish the text of a URDF; a path goes into parameter urdf')
    tips = [name.strip() for name in tip.split(',') if name.strip()]
    return load_urdf(urdf, root=root or None, tip=tips, locked=locked(p),
                     gravity=tuple(p['gravity']) or None, meshes=(
                         robot_path(p['urdf']) if p['urdf'] and not p['robot_description']
                         else None))


def controlled(p: dict[str, Any], urdf: str) -> RobotModel:
    """Return the model of a robot to be controlled; :class:`RobodynError` if it must not be."""
    if not urdf:
        raise ParameterError('no robot: nothing came on topic robot_description',
                             name='robot_description',
                             remedy='publish it (robot_state_publisher does), or set the '
                                    'parameter robot_description or urdf')
    robot = model(p, urdf, p['root'], p['tip'])
    check_inertias(robot, p['accepted_links'])
    return robot
