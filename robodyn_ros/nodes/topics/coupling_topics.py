# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Topics between two controllers whose arms are coupled as leader and follower."""

from collections.abc import Callable
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from std_msgs.msg import Float64MultiArray

from .array_subscriber import ArraySubscriber
from .coupling_message import coupling_message, coupling_state
from .trajectory_subscriber import Follower
from ...control.controller.controller import Controller

# A message that is lost is not sent again: the next one is newer
QOS = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)


class CouplingTopics:
    """
    Publisher of ``~/coupling`` and subscriber of ``~/partner``, the same of the other arm.

    States are published at ``coupling_rate`` while the present law couples arms.

    :param follower: returns the loop of an active controller, None while there is none.
    """

    def __init__(self, node: Node, follower: Callable[[], Follower | None]):
        self._node, self._follower = node, follower
        self._publisher = node.create_publisher(Float64MultiArray, '~/coupling', QOS)
        self._subscriber = ArraySubscriber(node, self._coupled, '~/partner', 'partner',
                                           follow_partner, QOS, quiet=True)
        self._timer: Any = None

    def update(self, rate: float) -> None:
        """
        Start or stop publishing, as the present law requires.

        :param rate: [Hz]; 0: publish nothing.
        """
        if self._timer is not None:
            self._node.destroy_timer(self._timer)
            self._timer = None
        if rate:
            self._timer = self._node.create_timer(
                1.0 / rate, self._publish, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def _coupled(self) -> Follower | None:
        follower = self._follower()
        return follower if follower and follower.controller.couples else None

    def _publish(self) -> None:
        if (follower := self._coupled()) is None:
            return
        controller = follower.controller
        state, now = controller.coupling_state(), follower.now()
        here = now if follower.on_ros_time else 1e-9 * self._node.get_clock().now().nanoseconds
        stamp = float(controller.memory['time'][0]) - now + here
        self._publisher.publish(coupling_message(state, stamp))


def follow_partner(controller: Controller, message: Float64MultiArray,
                   time: Callable[[float], float]) -> None:
    """Update the partner state from a message."""
    state, stamp = coupling_state(message)
    controller.follow_partner(state, time(stamp))
