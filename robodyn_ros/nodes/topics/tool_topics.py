# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subscribers of targets of laws in task space: poses, twists, wrenches, stiffness."""

from __future__ import annotations

from collections.abc import Callable
import time
from typing import Any

from geometry_msgs.msg import InertiaStamped, PoseStamped, TwistStamped, WrenchStamped
import numpy as np
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.time import Time
from std_msgs.msg import Float64MultiArray, Header

from .publishers import LET_ONE_REMAIN, several
from .trajectory_subscriber import (
    BURST, check_received, clock_offset, Follower, INFO_BURST, INFO_RATE, LEAD, RATE)
from ..middleware.executor import Throttle
from ...control.controller.controller import Controller
from ...control.steps import guard
from ...errors import printable, TrajectoryError
from ...model.rigid_body import quaternion_matrix, quaternion_product, unit_quaternion


class FrameTransforms:
    """
    Transforms of poses to the frame of the base.

    tf2 (the ROS packages ``tf2_ros`` and ``tf2_msgs``) is looked for once, and listens to ``/tf``
    and ``/tf_static`` from the first pose in another frame on.
    """

    def __init__(self, node: Node):
        self._node = node
        self._buffer: Any = None
        self._listener: Any = None
        try:
            import tf2_ros
        except ImportError:
            tf2_ros = None
        self._tf2 = tf2_ros

    def to_base(self, message: PoseStamped, base: str) -> tuple[np.ndarray, np.ndarray]:
        """
        Return position (3,) [m] and quaternion (4,), x, y, z, w, of a pose in the frame ``base``.

        :raises TrajectoryError: the frame is another one, and tf2 is not installed or does not
            know the transform at the time of the stamp; the newest one where the stamp is zero.
        """
        pose, frame = message.pose, message.header.frame_id
        p = np.array([pose.position.x, pose.position.y, pose.position.z])
        o = pose.orientation
        quaternion = np.array([o.x, o.y, o.z, o.w])
        if frame in ('', base):
            return p, quaternion
        if self._tf2 is None:
            raise _refusal(frame, 'tf2_ros is not installed here',
                           f'transform it to {base}, or leave frame_id empty for that')
        if self._buffer is None:
            self._buffer = self._tf2.Buffer(node=self._node)
            self._listener = self._tf2.TransformListener(self._buffer, self._node)
        try:
            found = self._buffer.lookup_transform(base, frame,
                                                  Time.from_msg(message.header.stamp))
        except self._tf2.TransformException as error:
            raise _refusal(frame, printable(str(error)),
                           f'publish the transform from {base} to it, then send it again'
                           ) from error
        return transformed(found.transform, p, quaternion)


def transformed(transform: Any, position: np.ndarray, quaternion: np.ndarray
                ) -> tuple[np.ndarray, np.ndarray]:
    """
    Return a pose after a geometry_msgs/Transform.

    A quaternion that is not normalized keeps its length, so that it is refused as any other.

    :param position: (3,) [m]; ``quaternion`` (4,) x, y, z, w.
    """
    t, r = transform.translation, transform.rotation
    turn = unit_quaternion([r.x, r.y, r.z, r.w])
    length = np.linalg.norm(quaternion)
    if not (np.isfinite(length) and length > 0.0):
        return position, quaternion
    return (quaternion_matrix(turn) @ position + [t.x, t.y, t.z],
            quaternion_product(turn, quaternion))


def _refusal(frame: str, why: str, remedy: str) -> TrajectoryError:
    return TrajectoryError(f'frame_id is {printable(frame)!r}, and {why}', name='frame_id',
                           value=frame, remedy=remedy)


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
                raise TrajectoryError(trouble, name=name, remedy=LET_ONE_REMAIN)
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
        ahead = stamp + clock_offset(self._node, follower) - follower.now()
        if stamp and not abs(ahead) <= MAX_TARGET_AGE:
            raise TrajectoryError(f'its time stamp is {ahead:.3f} s from now',
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


MOMENTS = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')


class PayloadSubscriber:
    """
    Subscriber of ``~/payload``: the link that holds it, mass, center of mass and inertia about it.

    A message is accepted or refused as a whole, as a change of the parameters is, and the
    parameters show the present payload. A refused one is logged and changes nothing.

    :param controller: returns the controller, None while the node is not configured.
    """

    def __init__(self, node: Node, controller: Callable[[], Controller | None]):
        self._node, self._controller = node, controller
        self._topic = node.resolve_topic_name('~/payload')  # queries of the graph do not remap
        self._warnings, self._successes = Throttle(BURST, RATE), Throttle(INFO_BURST, INFO_RATE)
        node.create_subscription(InertiaStamped, '~/payload', self._take, 1)

    def _take(self, message: InertiaStamped) -> None:
        values = payload_values(message)
        if why := self._refusal() or self._set(values):
            if line := self._warnings.line(f'payload refused: {why}'):
                self._node.get_logger().warning(line)
        elif line := self._successes.line(
                f'payload: {message.inertia.m:g} kg at {printable(message.header.frame_id)}'):
            self._node.get_logger().info(line)

    def _refusal(self) -> str:
        """Return why no payload is accepted now, '' if one may be."""
        if (controller := self._controller()) is None:
            return 'the controller is not configured: configure it first'
        if controller.phase == guard.FAULT:
            return 'the controller is in FAULT: reset it first'
        if trouble := several(self._node, self._topic, 'payload'):
            return f'{trouble}: {LET_ONE_REMAIN}'
        return ''

    def _set(self, values: dict[str, Any]) -> str:
        """Set the parameters together; return the reason of a refusal, or ''."""
        if values['payload_mass'] and not values['payload_frame']:
            return 'header.frame_id is empty: name the link that holds the payload'
        result = self._node.set_parameters_atomically(
            [Parameter(name, value=value) for name, value in values.items()])
        return '' if result.successful else str(result.reason) or 'its parameters are refused'


def payload_values(message: InertiaStamped) -> dict[str, Any]:
    """Return a message as values of the payload parameters."""
    given = message.inertia
    return {'payload_frame': message.header.frame_id, 'payload_mass': given.m,
            'payload_com': [given.com.x, given.com.y, given.com.z],
            'payload_inertia': [getattr(given, name) for name in MOMENTS]}
