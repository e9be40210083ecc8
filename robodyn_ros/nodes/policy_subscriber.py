# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subscriber of feedback policies, each of which is put in force or refused."""

from collections.abc import Callable

from numpy import ndarray
from rclpy.node import Node
from rclpy.serialization import deserialize_message
from std_msgs.msg import Float64MultiArray

from ..errors import ArgumentError
from .command_publishers import several
from .policy_message import policy_rows
from .raw_waitable import LargeMessages
from .trajectory_subscriber import BURST, RATE, Follower, Throttle

MOST_BYTES = 1 << 17        # of a policy of 80 joints
FURTHEST = 0.5              # s that a stamp may be off; a further one is of some other clock


class PolicySubscriber:
    """
    Subscriber of policies; a refused one is logged, and the one before it grows stale.

    :param follower: returns the loop that evaluates them, None while there is none.
    """

    def __init__(self, node: Node, follower: Callable[[], Follower | None],
                 topic: str = '~/policy'):
        self._node, self._follower = node, follower
        self._topic = node.resolve_topic_name(topic)
        self._warnings = Throttle(BURST, RATE)
        self._messages = LargeMessages(node, Float64MultiArray, topic, 1, MOST_BYTES, self._take)

    def _take(self, data: ndarray, size: int) -> None:
        try:
            self._use(data, size)
        except ArgumentError as error:
            if line := self._warnings.line(f'policy refused: {error}'):
                self._node.get_logger().warning(line)

    def _use(self, data: ndarray, size: int) -> None:
        follower = self._follower()
        if follower is None:
            raise ArgumentError('the controller is not active', name='policy',
                                remedy='activate it first')
        if size > len(data):
            raise ArgumentError(f'a message of {size} bytes', name='policy',
                                remedy=f'give at most {MOST_BYTES}')
        if trouble := several(self._node, self._topic, 'policy'):
            raise ArgumentError(trouble, name='policy', remedy='let one remain; one that was '
                                'killed is gone after 20 s')
        controller = follower.controller
        try:
            message = deserialize_message(data.tobytes(), Float64MultiArray)
        except RuntimeError as error:
            raise ArgumentError(f'the message cannot be read ({error})', name='policy',
                                remedy='send a std_msgs/Float64MultiArray') from error
        stamp, rows = policy_rows(message, controller.model.joint_names)
        now = follower.now()
        here = now if follower.on_ros_time else 1e-9 * self._node.get_clock().now().nanoseconds
        if not abs(stamp - here) <= FURTHEST:
            raise ArgumentError(f'the time stamp of the policy is {stamp - here:.3f} s from now',
                                name='stamp', value=stamp, remedy='stamp it with the time of the '
                                'joint state that it was planned from')
        effort, position, velocity = rows.T[:3]
        controller.follow_policy(stamp + now - here, effort, position, velocity, rows[:, 3:])
