# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subscriber of payloads, each of which sets the payload parameters of the controller or none."""

from collections.abc import Callable
from typing import Any

from geometry_msgs.msg import InertiaStamped
from rclpy.node import Node
from rclpy.parameter import Parameter

from .command_publishers import several
from .trajectory_subscriber import BURST, INFO_BURST, INFO_RATE, RATE, Throttle
from ...control.controller.controller import Controller
from ...control.steps import guard
from ...text import printable

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
            return f'{trouble}: let one remain; one that was killed is gone after 20 s'
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
