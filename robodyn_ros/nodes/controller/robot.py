# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters and the topic that define the robot, and the model that they give, for both nodes."""

from collections.abc import Callable, Sequence
import time
from typing import Any

from numpy import ndarray
from rclpy.node import Node
from rclpy.serialization import deserialize_message
from std_msgs.msg import String

from ..middleware import qos
from ..middleware.parameters import Parameter
from ..middleware.raw_subscription import open_subscription
from ...errors import ParameterError, UrdfError
from ...model.resources import robot_path
from ...model.robot import checked_pose, RobotModel
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
    Parameter('root', str, '', 'Link of the fixed base. Empty: root link of the URDF.'),
    Parameter('tip', str, '', 'Last links of the controlled chains, separated by commas. Empty: '
              'the whole tree.'),
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
                             remedy='use one position for each locked joint')
    return dict(zip(p['locked_joints'], p['locked_positions']))


def model(p: dict[str, Any], urdf: str) -> RobotModel:
    """Return the model of a URDF text; :class:`RobodynError` if it is invalid."""
    if '<' not in urdf:         # taken for the path of a file, which anybody could name
        raise UrdfError('the robot description is not XML', name='robot description', value=urdf,
                        remedy='publish the text of a URDF; a path goes into parameter urdf')
    tips = [name.strip() for name in p['tip'].split(',') if name.strip()]
    return load_urdf(urdf, root=p['root'] or None, tip=tips, locked=locked(p),
                     gravity=tuple(p['gravity']) or None, meshes=(
                         robot_path(p['urdf']) if p['urdf'] and not p['robot_description']
                         else None))


def named_poses(texts: Sequence[str], model: RobotModel) -> dict[str, ndarray]:
    """
    Return the poses (nv,) [rad | m] of the parameter `poses` by name.

    :raises ParameterError: one is not ``name=positions``, or no pose of the robot.
    """
    found: dict[str, ndarray] = {}
    for text in texts:
        name, _, values = text.partition('=')
        try:
            numbers = [float(one) for one in values.split(',')]
        except ValueError:
            numbers = []
        if not numbers or not name[:1].isalpha() or name in found:
            raise ParameterError(f'pose {text!r} is not understood', name='poses', value=text,
                                 remedy='write a name of its own and positions: low=0.0,-0.8')
        found[name] = checked_pose(model, numbers, f'pose {name}', 'poses')
    return found


def controlled(p: dict[str, Any], urdf: str) -> RobotModel:
    """Return the model of a robot to be controlled; :class:`RobodynError` if it must not be."""
    if not urdf:
        raise ParameterError('no robot: nothing came on topic robot_description',
                             name='robot_description',
                             remedy='publish it (robot_state_publisher does), or set the '
                                    'parameter robot_description or urdf')
    robot = model(p, urdf)
    check_inertias(robot, p['accepted_links'])
    return robot


WAIT_SLICE = 100_000_000    # [ns]


class RobotDescription:
    """Newest text of the topic, for use by one thread."""

    def __init__(self, node: Node):
        self._subscription = open_subscription(node, String, 'robot_description',
                                                    qos.DESCRIPTION)
        self._text = self._accepted = ''
        self._used = False          # whether the robot was read from the topic

    def newest(self) -> str:
        """Return the URDF text received last; '' before the first."""
        for message in self._subscription.drain():
            self._text = deserialize_message(message, String).data
        return self._text

    def chosen(self, p: dict[str, Any], over: Callable[[], bool]) -> str:
        """
        Return the URDF text of the parameters, else that of the topic, and accept it.

        :param p: values of the parameters, with the time to wait for the topic.
        :param over: returns whether to stop waiting.
        """
        text = description(p)
        self._used = not text
        deadline = time.monotonic() + p['description_timeout']
        while self._used and not self.newest() and time.monotonic() < deadline and not over():
            self._subscription.wait(WAIT_SLICE)
        self._accepted = self.newest()
        return text or self._accepted

    def replaced(self) -> bool:
        """
        Return whether a text other than the source of the robot was received; accept it.

        Always False if the parameters specify the robot.
        """
        if (text := self.newest()) == self._accepted:
            return False
        self._accepted = text
        return self._used

    def destroy(self) -> None:
        """Destroy the subscription."""
        self._subscription.destroy()
