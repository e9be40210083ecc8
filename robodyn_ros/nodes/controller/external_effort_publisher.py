# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Publisher of the estimated external efforts of a controller."""

from geometry_msgs.msg import Vector3, WrenchStamped
import numpy as np
from numpy import ndarray
from rclpy.node import Node
from sensor_msgs.msg import JointState

from ..middleware.heard_timer import HeardTimer
from ...control.controller.controller import Controller
from ...dynamics import Dynamics
from ...dynamics.external_wrench import external_wrench
from ...errors import ParameterError
from ...model.robot import RobotModel

QUEUE_DEPTH = 1       # the newest estimate counts


def check_frame(model: RobotModel, frame: str) -> None:
    """
    Refuse a frame of the wrench that the robot does not have; '' stands for none.

    :raises ParameterError: naming the frames that there are.
    """
    if frame and frame not in model.frames:
        raise ParameterError(f'{model.name} has no frame {frame}', name='external_wrench_frame',
                             value=frame, remedy='name one of ' + ', '.join(model.frames))


class ExternalEffortPublisher:
    """
    Publisher of ``~/external_torque`` and ``~/external_wrench``, run by the executor of a node.

    ``~/external_torque`` (sensor_msgs/JointState) has position, velocity and, as ``effort``, the
    external effort of each joint; ``~/external_wrench`` (geometry_msgs/WrenchStamped) the wrench
    that explains them on a frame, in its axes, and ``~/external_wrench_confidence``, of the same
    type, the share in [0, 1] of each component that the joints can show. Nothing is published
    while there is no estimate.

    :param rate: [Hz]; 0: nothing is ever published.
    :param frame: of the wrench; '' for none.
    :raises ParameterError: see :func:`check_frame`.
    """

    def __init__(self, node: Node, controller: Controller, rate: float, frame: str):
        self._node, self._controller, self._frame = node, controller, frame
        model = controller.model
        check_frame(model, frame)
        self._dynamics = Dynamics(model)
        if frame:       # compile its kernels before the arm is driven
            external_wrench(self._dynamics, [0.0] * model.nv, [0.0] * model.nv, frame)
        self._torque = node.create_publisher(JointState, '~/external_torque', QUEUE_DEPTH)
        self._wrench = [node.create_publisher(WrenchStamped, topic, QUEUE_DEPTH) for topic in (
            '~/external_wrench', '~/external_wrench_confidence')] if frame and rate else []
        #: Publishes while there is a subscriber.
        self.timer = HeardTimer(node, rate, (self._torque, *self._wrench), self._publish)

    def close(self) -> None:
        """Destroy timer and publishers."""
        self.timer.close()
        for publisher in (self._torque, *self._wrench):
            self._node.destroy_publisher(publisher)

    def _publish(self) -> None:
        (q, qd), effort = self._controller.joint_state, self._controller.external_effort
        if np.isnan(effort).any():
            return
        message = JointState(name=self._controller.model.joint_names, position=q.tolist(),
                             velocity=qd.tolist(), effort=effort.tolist())
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._torque.publish(message)
        if not self._wrench:
            return
        for publisher, values in zip(self._wrench, external_wrench(self._dynamics, q, effort,
                                                                   self._frame), strict=True):
            wrench = WrenchStamped(header=message.header)
            wrench.header.frame_id = self._frame
            wrench.wrench.force, wrench.wrench.torque = _vector(values[:3]), _vector(values[3:])
            publisher.publish(wrench)


def _vector(values: ndarray) -> Vector3:
    x, y, z = values.tolist()
    return Vector3(x=x, y=y, z=z)
