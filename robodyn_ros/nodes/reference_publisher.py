# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Publisher of the reference that a controller follows, for pictures of its tracking."""

import numpy as np
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from sensor_msgs.msg import JointState

from ..control import guard
from ..control.controller import Controller
from ..control.laws import registry

DEPTH = 1       # the newest counts


class ReferencePublisher:
    """
    Publisher of ``~/reference`` (sensor_msgs/JointState), made by the executor of a node.

    It has position and velocity of the reference and, as ``effort``, the effort applied last,
    with g(q) where the robot adds it; while a law follows a trajectory, and only then.

    :param rate: [Hz]; 0: nothing is ever published.
    """

    def __init__(self, node: Node, controller: Controller, rate: float):
        self._node, self._controller = node, controller
        self._publisher = node.create_publisher(JointState, '~/reference', DEPTH)
        self._timer = node.create_timer(
            1.0 / rate, self._publish, clock=Clock(clock_type=ClockType.STEADY_TIME)
        ) if rate else None

    def close(self) -> None:
        """Destroy timer and publisher."""
        if self._timer is not None:
            self._node.destroy_timer(self._timer)
        self._node.destroy_publisher(self._publisher)

    def _publish(self) -> None:
        controller = self._controller
        mode = registry.mode_name(int(controller.memory['mode'][0]))
        if controller.phase != guard.RUNNING or not registry.find(mode).follows:
            return
        vectors = controller.inputs.vectors
        if not np.isfinite(vectors.target).all():
            return
        message = JointState(name=controller.model.joint_names, position=vectors.target.tolist(),
                             velocity=vectors.target_qd.tolist(),
                             effort=vectors.applied.tolist())
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(message)
