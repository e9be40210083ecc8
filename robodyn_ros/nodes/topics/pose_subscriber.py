# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subscribers of targets of laws in task space: poses, twists, wrenches, stiffness."""

from collections.abc import Callable
import time
from typing import Any

from geometry_msgs.msg import PoseStamped, TwistStamped, WrenchStamped
from rclpy.node import Node
from std_msgs.msg import Float64MultiArray, Header

from .command_publishers import several
from .frame_transforms import FrameTransforms
from .trajectory_subscriber import BURST, check_received, Follower, LEAD, RATE, Throttle
from ...errors import TrajectoryError
from ...text import printable

EXCLUSIVE_TOPICS = 'target_pose', 'target_twist'    # only one of them may be published
MAX_TARGET_AGE = 0.5    # [s]


class PoseSubscriber:
    """
    Subscriber of ``~/target_pose``, ``_twist``, ``_wrench`` and ``_stiffness``.

    A refused message is logged, and leaves the reference as it is. Twists are in the frame of the
    base: ``frame_id`` is empty or its name. Poses may be in any frame that tf2 knows, where it is
    installed, and wrenches in the axes of ``task_frame``, if they name it. With a second publisher
    on a topic of motions, or on the one of a message, it is refused. The newest pose or twist
    counts.

    :param follower: returns the loop that follows, None while there is none.
    """

    def __init__(self, node: Node, follower: Callable[[], Follower | None]):
        self._node, self._follower = node, follower
        self._warnings = Throttle(BURST, RATE)
        self._topics = {}
        self._transforms = FrameTransforms(node)
        for kind, topic, use in ((PoseStamped, 'target_pose', self._pose),
                                 (TwistStamped, 'target_twist', self._twist),
                                 (WrenchStamped, 'target_wrench', self._wrench),
                                 (Float64MultiArray, 'target_stiffness', self._stiffness)):
            self._topics[topic] = node.resolve_topic_name(f'~/{topic}')
            node.create_subscription(kind, f'~/{topic}', self._taker(topic, use), 1)

    def _taker(self, topic: str,
               use: Callable[[Follower, Any], None]) -> Callable[[Any, Any], None]:
        def take(message: Any, info: Any) -> None:
            received = info['received_timestamp']       # [ns], 0 where the middleware has none
            waited = 1e-9 * (time.time_ns() - received) if received else 0.0
            try:
                follower = self._accepting(topic)
                check_received(follower, waited)
                use(follower, message)
            except TrajectoryError as error:
                if line := self._warnings.line(f'{topic} refused: {error}'):
                    self._node.get_logger().warning(line)
        return take

    def _accepting(self, topic: str) -> Follower:
        """Return the loop that follows a message; see :class:`.TrajectoryError`."""
        if (follower := self._follower()) is None:
            raise TrajectoryError('the controller is not active', name=topic,
                                  remedy='activate it first')
        for name in EXCLUSIVE_TOPICS if topic in EXCLUSIVE_TOPICS else (topic,):
            if trouble := several(self._node, self._topics[name], name):
                raise TrajectoryError(trouble, name=name, remedy='let one remain; one that was '
                                      'killed is gone after 20 s')
        return follower

    def _check_frame(self, header: Header, *frames: str) -> None:
        """Refuse a frame that is neither empty nor one of these."""
        if header.frame_id not in ('', *frames):
            raise TrajectoryError(
                f'frame_id is {printable(header.frame_id)!r}', name='frame_id',
                value=header.frame_id, remedy=f'transform it to {" or ".join(frames)}, or leave '
                f'frame_id empty for {frames[0]}')

    def _check_age(self, follower: Follower, message: Any) -> None:
        """Refuse a message that is not of now."""
        stamp = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
        here = (follower.now() if follower.on_ros_time
                else 1e-9 * self._node.get_clock().now().nanoseconds)
        if stamp and not abs(stamp - here) <= MAX_TARGET_AGE:
            raise TrajectoryError(f'its time stamp is {stamp - here:.3f} s from now',
                                  name='stamp', value=stamp,
                                  remedy='stamp it with the time of now, or with zero')

    def _pose(self, follower: Follower, message: PoseStamped) -> None:
        self._check_age(follower, message)
        base = follower.controller.model.base_link
        follower.controller.follow_pose(*self._transforms.to_base(message, base),
                                        follower.now() + LEAD)

    def _wrench(self, follower: Follower, message: WrenchStamped) -> None:
        self._check_age(follower, message)
        controller = follower.controller
        base, tool = controller.model.base_link, controller.settings.task_frame
        self._check_frame(message.header, base, tool)
        f, n = message.wrench.force, message.wrench.torque
        controller.follow_wrench([f.x, f.y, f.z, n.x, n.y, n.z], follower.now(),
                                 tool_axes=message.header.frame_id == tool)

    def _stiffness(self, follower: Follower, message: Float64MultiArray) -> None:
        follower.controller.follow_stiffness(message.data, follower.now())

    def _twist(self, follower: Follower, message: TwistStamped) -> None:
        self._check_age(follower, message)
        self._check_frame(message.header, follower.controller.model.base_link)
        v, w = message.twist.linear, message.twist.angular
        follower.controller.follow_twist([v.x, v.y, v.z, w.x, w.y, w.z], follower.now() + LEAD)
