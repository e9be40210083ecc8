# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The time of `/clock`, for a thread that cannot rely on an executor."""

from rclpy.node import Node
from rosgraph_msgs.msg import Clock

from ..wire.joint_state import stamp_of
from . import qos
from .raw_subscription import SerializedSubscription


class SimulationClock:
    """
    Takes `/clock` when asked for the time, by one thread.

    The clock of rclpy stands still while the executor waits in a callback, as it does while the
    arm is armed or comes to rest.
    """

    def __init__(self, node: Node):
        self.subscription = SerializedSubscription(node, Clock, '/clock', qos.CLOCK_IN)
        self._time = 0.0

    def now(self) -> float:
        """Latest time [s]; 0 before the first."""
        for message in self.subscription.drain():
            self._time = stamp_of(message)          # a Clock is a stamp and nothing else
        return self._time

    def destroy(self) -> None:
        """Give up the subscription."""
        self.subscription.destroy()
