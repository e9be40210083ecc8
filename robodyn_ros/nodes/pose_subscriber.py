# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subscribers of target poses and twists for laws that control a frame in task space."""

from collections.abc import Callable
from typing import Any

from geometry_msgs.msg import PoseStamped, TwistStamped
from rclpy.node import Node

from ..errors import TrajectoryError
from ..text import printable
from .command_publishers import several
from .trajectory_subscriber import BURST, LEAD, RATE, Follower, Throttle

OLDEST = 0.5        # s; an older target is of some other time, or waited for somebody


class PoseSubscriber:
    """
    Subscriber of ``~/target_pose`` and ``~/target_twist``; a refused message is logged.

    A refused one leaves the reference as it is. Poses and twists are in the frame of the base:
    ``frame_id`` is empty or its name, because there is no tf2 to transform them. With a second
    publisher on one of the topics, both are refused. The newest message of either counts.

    :param follower: returns the loop that follows, None while there is none.
    """

    def __init__(self, node: Node, follower: Callable[[], Follower | None]):
        self._node, self._follower = node, follower
        self._warnings = Throttle(BURST, RATE)
        self._topics = {}
        for kind, topic, use in ((PoseStamped, 'target_pose', self._pose),
                                 (TwistStamped, 'target_twist', self._twist)):
            self._topics[topic] = node.resolve_topic_name(f'~/{topic}')
            node.create_subscription(kind, f'~/{topic}', self._taker(topic, use), 1)

    def _taker(self, topic: str, use: Callable[[Follower, Any], None]) -> Callable[[Any], None]:
        def take(message: Any) -> None:
            try:
                use(self._accepting(topic, message), message)
            except TrajectoryError as error:
                if line := self._warnings.line(f'{topic} refused: {error}'):
                    self._node.get_logger().warning(line)
        return take

    def _accepting(self, topic: str, message: Any) -> Follower:
        """Return the loop that follows the message; see :class:`.TrajectoryError`."""
        if (follower := self._follower()) is None:
            raise TrajectoryError('the controller is not active', name=topic,
                                  remedy='activate it first')
        for name, resolved in self._topics.items():
            if trouble := several(self._node, resolved, name):
                raise TrajectoryError(trouble, name=name, remedy='let one remain; one that was '
                                      'killed is gone after 20 s')
        root = follower.controller.model.base_link
        if message.header.frame_id not in ('', root):
            raise TrajectoryError(
                f'frame_id is {printable(message.header.frame_id)!r}', name='frame_id',
                value=message.header.frame_id,
                remedy=f'transform it to {root}, or leave frame_id empty for that')
        stamp = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
        here = (follower.now() if follower.on_ros_time
                else 1e-9 * self._node.get_clock().now().nanoseconds)
        if stamp and not abs(stamp - here) <= OLDEST:
            raise TrajectoryError(f'its time stamp is {stamp - here:.3f} s from now',
                                  name='stamp', value=stamp,
                                  remedy='stamp it with the time of now, or with zero')
        return follower

    def _pose(self, follower: Follower, message: PoseStamped) -> None:
        p, o = message.pose.position, message.pose.orientation
        follower.controller.follow_pose([p.x, p.y, p.z], [o.x, o.y, o.z, o.w],
                                        follower.now() + LEAD)

    def _twist(self, follower: Follower, message: TwistStamped) -> None:
        v, w = message.twist.linear, message.twist.angular
        follower.controller.follow_twist([v.x, v.y, v.z, w.x, w.y, w.z], follower.now() + LEAD)
