# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subscriber of the topic robot_description."""

from collections.abc import Callable
import time
from typing import Any

from rclpy.node import Node
from rclpy.serialization import deserialize_message
from std_msgs.msg import String

from . import robot
from ..middleware import qos
from ..middleware.executor_subscription import open_subscription

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

    def wait(self, seconds: float, over: Callable[[], bool]) -> str:
        """Wait for a text until a timeout [s] or ``over()``; return the newest."""
        deadline = time.monotonic() + seconds
        while not self.newest() and time.monotonic() < deadline and not over():
            self._subscription.wait(WAIT_SLICE)
        return self._text

    def chosen(self, p: dict[str, Any], over: Callable[[], bool]) -> str:
        """
        Return the URDF text of the parameters, else that of the topic, and accept it.

        :param p: values of the parameters; ``over``: see :meth:`wait`.
        """
        text = robot.description(p)
        self._used = not text
        text = text or self.wait(p['description_timeout'], over)
        self.accept()
        return text

    def accept(self) -> None:
        """Mark the newest text as the source of the robot."""
        self._accepted = self.newest()

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
