# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Time of `/clock` for a thread that cannot rely on an executor."""

from rclpy.node import Node
from rosgraph_msgs.msg import Clock

from . import qos
from .executor_subscription import open_subscription
from ...wire.joint_state import stamp_of


class SimulationClock:
    """
    Clock that receives `/clock` in :meth:`now`, for use by one thread.

    The clock of rclpy stops while the executor is in a callback, as during arming and stopping.
    """

    def __init__(self, node: Node):
        self.subscription = open_subscription(node, Clock, '/clock', qos.CLOCK_IN)
        self._time = 0.0

    def now(self) -> float:
        """Return the latest time [s]; 0 before the first message."""
        for message in self.subscription.drain():
            self._time = stamp_of(message)          # a Clock is a stamp and nothing else
        return self._time

    def destroy(self) -> None:
        """Destroy the subscription."""
        self.subscription.destroy()
