# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The topic robot_description: which robot it names, and whether that has changed."""

import time
from collections.abc import Callable

from rclpy.node import Node
from rclpy.serialization import deserialize_message
from std_msgs.msg import String

from . import qos
from .raw_subscription import SerializedSubscription

SLICE = 100_000_000         # ns between two looks at whether to go on waiting


class RobotDescription:
    """Keeps the newest text of the topic, for one thread."""

    def __init__(self, node: Node):
        self._subscription = SerializedSubscription(node, String, 'robot_description',
                                                    qos.DESCRIPTION)
        self._text = ''

    def newest(self) -> str:
        """URDF text that came last; '' before the first."""
        for message in self._subscription.drain():
            self._text = deserialize_message(message, String).data
        return self._text

    def wait(self, seconds: float, over: Callable[[], bool]) -> str:
        """Wait for a text for so long, or until ``over`` says not to; return the newest."""
        deadline = time.monotonic() + seconds
        while not self.newest() and time.monotonic() < deadline and not over():
            self._subscription.wait(SLICE)
        return self._text

    def destroy(self) -> None:
        """Give up the subscription."""
        self._subscription.destroy()
