# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subscriber of feedback policies, each of which is applied or refused."""

from collections.abc import Callable

from rclpy.node import Node
from std_msgs.msg import Float64MultiArray

from .array_subscriber import ArraySubscriber
from .policy_message import policy_rows
from .trajectory_subscriber import Follower
from ...control.controller.controller import Controller


class PolicySubscriber(ArraySubscriber):
    """
    Subscriber of policies; a refused one is logged, and the one before it grows stale.

    :param follower: returns the loop that evaluates them, None while there is none.
    """

    def __init__(self, node: Node, follower: Callable[[], Follower | None]):
        super().__init__(node, follower, '~/policy', 'policy', follow_policy)


def follow_policy(controller: Controller, message: Float64MultiArray,
                  time: Callable[[float], float]) -> None:
    """Apply the policy of a message."""
    stamp, rows = policy_rows(message, controller.model.joint_names)
    effort, position, velocity = rows.T[:3]
    controller.follow_policy(time(stamp), effort, position, velocity, rows[:, 3:])
