# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Poses in other frames than that of the base: by tf2 where it is installed, else refused."""

from __future__ import annotations

from typing import Any

from geometry_msgs.msg import PoseStamped
import numpy as np
from rclpy.node import Node
from rclpy.time import Time

from ...errors import TrajectoryError
from ...model.rigid_body import quaternion_matrix, quaternion_product, unit_quaternion
from ...text import printable


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

    def close(self) -> None:
        """Stop listening."""
        if self._listener is not None:
            self._listener.unregister()
            self._buffer = self._listener = None

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
