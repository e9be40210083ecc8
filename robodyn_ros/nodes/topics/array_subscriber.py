# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subscriber of stamped arrays that a control law reads, each of which is used or refused."""

from collections.abc import Callable
import time
from typing import Any

from numpy import ndarray
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message
from std_msgs.msg import Float64MultiArray

from .command_publishers import several
from .trajectory_subscriber import BURST, Follower, RATE, Throttle
from ..middleware import raw_waitable
from ...control.controller.controller import Controller
from ...errors import ArgumentError

MAX_MESSAGE_BYTES = 1 << 17    # a feedback policy of 80 joints
MAX_STAMP_OFFSET = 0.5    # [s]; a larger offset is of another clock
PUBLISHER_CHECK_PERIOD = 0.1    # [s]

#: Uses a message; the last argument returns the time of a stamp on the clock of the controller.
Use = Callable[[Controller, Float64MultiArray, Callable[[float], float]], None]


class ArraySubscriber:
    """
    Subscriber of std_msgs/Float64MultiArray; a refused message is logged and has no effect.

    With a second publisher all are refused.

    :param follower: returns the loop whose controller uses them, None while there is none.
    :param name: of what they are, for messages.
    :param use: raises :class:`ArgumentError` where it refuses one.
    :param quiet: whether messages are silently ignored while they are not used.
    """

    def __init__(self, node: Node, follower: Callable[[], Follower | None], topic: str, name: str,
                 use: Use, profile: QoSProfile | int = 1, quiet: bool = False):
        self._node, self._follower, self._name, self._use = node, follower, name, use
        self._quiet = quiet
        self._topic = node.resolve_topic_name(topic)
        self._warnings = Throttle(BURST, RATE)
        self._trouble, self._looked = '', -PUBLISHER_CHECK_PERIOD
        self._messages = raw_waitable.subscribe(
            node, Float64MultiArray, topic, profile, MAX_MESSAGE_BYTES, self._take)

    def _take(self, data: ndarray, size: int) -> None:
        try:
            self._accept(data, size)
        except ArgumentError as error:
            if line := self._warnings.line(f'{self._name} refused: {error}'):
                self._node.get_logger().warning(line)

    def _accept(self, data: ndarray, size: int) -> None:
        follower = self._follower()
        if follower is None and self._quiet:
            return
        if follower is None:
            raise ArgumentError('the controller is not active', name=self._name,
                                remedy='activate it first')
        if size > len(data):
            raise ArgumentError(f'a message of {size} bytes', name=self._name,
                                remedy=f'give at most {MAX_MESSAGE_BYTES}')
        if (now := time.monotonic()) >= self._looked + PUBLISHER_CHECK_PERIOD:
            self._looked = now
            self._trouble = several(self._node, self._topic, self._name)
        if self._trouble:
            raise ArgumentError(self._trouble, name=self._name, remedy='let one remain; one that '
                                'was killed is gone after 20 s')
        try:
            message: Any = deserialize_message(data.tobytes(), Float64MultiArray)
        except RuntimeError as error:
            raise ArgumentError(f'the message cannot be read ({error})', name=self._name,
                                remedy='send a std_msgs/Float64MultiArray') from error
        self._use(follower.controller, message, lambda stamp: self._time(follower, stamp))

    def _time(self, follower: Follower, stamp: float) -> float:
        """Return the time of a stamp on the clock of the controller [s]."""
        now = follower.now()
        here = now if follower.on_ros_time else 1e-9 * self._node.get_clock().now().nanoseconds
        if not abs(stamp - here) <= MAX_STAMP_OFFSET:
            raise ArgumentError(f'the time stamp of the {self._name} is {stamp - here:.3f} s from '
                                'now', name='stamp', value=stamp, remedy='stamp it with the time '
                                'of the joint state that it belongs to')
        return stamp + now - here
