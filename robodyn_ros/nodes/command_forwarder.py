# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Check of the joint order of a controller of ros2_control that forwards the commands to the drives.

A command is an array without names. ``forward_command_controller`` gives its elements to the
joints of its parameter ``joints``, in that order: with another one, efforts of one joint would go
to another.
"""

from collections.abc import Sequence
import time
from typing import Any

from rcl_interfaces.msg import ParameterType
from rcl_interfaces.srv import GetParameters
from rclpy.node import Node

ANSWER = 3.0        # s, in which it has to answer
AGAIN = 0.3         # s after which it is asked again: the first answer may be lost in discovery
POLL = 0.002        # s


def refusal(node: Node, topic: str, joint_names: Sequence[str]) -> str:
    """
    Return why the commands must not be sent to their forwarder, '' if they may.

    The forwarder is the node that listens to ``~/commands``. It is asked without an executor, so
    that a callback may call this function.

    :param topic: resolved name of the topic of the commands.
    :param joint_names: joints of a command, in its order.
    """
    name, _, last = topic.rpartition('/')
    listeners = {f'{end.node_namespace.rstrip("/")}/{end.node_name}'
                 for end in node.get_subscriptions_info_by_topic(topic)}
    if last != 'commands' or name not in listeners:
        return ''
    asked = f'{name}/get_parameters'
    if asked not in {service for service, _ in node.get_service_names_and_types()}:
        node.get_logger().warning(f'{name} has no parameter services: the order of its joints is '
                                  'not known')
        return ''
    values = _ask(node, asked)
    if values is None:
        return f'{name} has not told its joints within {ANSWER:g} s'
    if not values or values[0].type != ParameterType.PARAMETER_STRING_ARRAY:
        return ''                       # some other kind of controller
    joints = list(values[0].string_array_value)
    if joints == list(joint_names):
        return ''
    return (f'{name} forwards the efforts to the joints {", ".join(joints) or "none"}; set its '
            f'parameter joints to the order of this robot: {", ".join(joint_names)}')


def _ask(node: Node, service: str) -> Any:
    """Return the values of the parameter `joints`, None without an answer."""
    client: Any = node.create_client(GetParameters, service)
    request, end, again = GetParameters.Request(names=['joints']), time.monotonic() + ANSWER, 0.0
    try:
        while (now := time.monotonic()) < end:
            if client.service_is_ready() and now > again:
                client.handle.send_request(request)
                again = now + AGAIN
            _, response = client.handle.take_response(GetParameters.Response)
            if response is not None:
                return response.values
            time.sleep(POLL)
        return None
    finally:
        node.destroy_client(client)
