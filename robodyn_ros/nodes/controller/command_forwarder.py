# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Checks of the nodes that receive the commands, before the first command.

A command is an array without names and units. ``forward_command_controller`` of ros2_control maps
its elements to the parameter ``joints``, in that order, and to the interface ``interface_name``.
With another order, efforts would reach the wrong joints; with ``position``, N·m would be read as
rad.

A discovered subscriber may receive no data: Fast DDS uses shared memory on one machine, which
processes of another user or in a container cannot open. Every subscribing node with parameter
services therefore has to answer.
"""

from collections.abc import Callable, Sequence
import time

from rcl_interfaces.msg import ParameterValue
from rcl_interfaces.srv import GetParameters
from rclpy.node import Node

from ..middleware.polled_client import never, POLL_PERIOD, PolledClient
from ..middleware.raw_subscription import RCLError
from ..topics.command_publishers import full_name, NAMELESS

ANSWER_TIMEOUT = 3.0    # [s]
NAME_TIMEOUT = 1.0    # [s] until the name of a subscriber is known
RESEND_INTERVAL = 0.3    # [s]; the first answer may be lost in discovery
# Names of hardware_interface for commands in N·m or N
EFFORT_INTERFACES = 'effort', 'torque', 'force'
# Parameters of forward controllers: of several joints, and (multi-interface) of one joint
QUERIED_PARAMETERS = 'joints', 'interface_name', 'joint', 'interface_names'


def refusal(node: Node, topic: str, joint_names: Sequence[str], interfaces: Sequence[str] = (),
            over: Callable[[], bool] = never) -> str:
    """
    Return why the commands must not be sent to their subscribers, or ''.

    No executor is used, so that a callback may call this function.

    :param topic: resolved name of the topic of the commands.
    :param joint_names: joints of a command, in its order.
    :param interfaces: command interfaces, as ``joint1/effort``, of the controller that subscribes
        to its own ``~/commands``, from its controller manager; (): not known.
    :param over: returns whether to stop waiting for answers.
    """
    forwarder = topic.rpartition('/')[0] if topic.endswith('/commands') else ''
    names = _subscribers(node, topic)
    services = _services(node, forwarder if forwarder in names else '', over)
    for name in names:
        service = f'{name}/get_parameters'
        found = _parameters(node, service, over) if service in services else {}
        if found is None:
            return (f'{name} subscribes to {topic}, but has not answered within '
                    f'{ANSWER_TIMEOUT:g} s: commands may not reach it either. If it runs, give '
                    'both processes the same user and the same /dev/shm, or start both with '
                    'FASTDDS_BUILTIN_TRANSPORTS=UDPv4')
        known = _interfaces(found)
        if name == forwarder and not (known := list(interfaces) or known):
            node.get_logger().warning(
                f'{name} has no parameter interface_name: whether it takes efforts is not '
                'checked', once=True)
            known = [f'{joint}/effort' for joint in _joints(found)]
        if reason := _objection(known, joint_names):
            return f'{name} {reason}'
    return ''


def _subscribers(node: Node, topic: str) -> list[str]:
    """Return the full names of the subscribing nodes, once all are known."""
    end = time.monotonic() + NAME_TIMEOUT
    while NAMELESS in (names := {
            full_name(info) for info in node.get_subscriptions_info_by_topic(topic)}):
        if time.monotonic() > end:
            break
        time.sleep(POLL_PERIOD)
    return sorted(names)


def _services(node: Node, forwarder: str, over: Callable[[], bool]) -> set[str]:
    """Return the known services, once those of a forward controller are among them."""
    end = time.monotonic() + ANSWER_TIMEOUT
    while True:
        services = {service for service, _ in node.get_service_names_and_types()}
        if (not forwarder or f'{forwarder}/get_parameters' in services or over()
                or time.monotonic() > end):
            return services
        time.sleep(POLL_PERIOD)


def _objection(interfaces: Sequence[str], joint_names: Sequence[str]) -> str:
    """Return why commands of these joints must not go to these interfaces, or ''."""
    if others := [interface for interface in interfaces
                  if interface.rpartition('/')[2] not in EFFORT_INTERFACES]:
        return (f'takes no efforts: it forwards the commands to {", ".join(others)}. Load a '
                'controller with interface_name: effort, and remap commands to it, for instance '
                'to /forward_effort_controller/commands')
    joints = [interface.rpartition('/')[0] for interface in interfaces]
    if not joints or joints == list(joint_names):
        return ''
    return (f'forwards the efforts to the joints {", ".join(joints)}; set its parameter joints '
            f'to the order of this robot: {", ".join(joint_names)}')


def _interfaces(found: dict[str, ParameterValue]) -> list[str]:
    """Return the command interfaces of a forward controller from its parameters, [] of others."""
    if not found:
        return []
    if quantity := found['interface_name'].string_value:
        return [f'{joint}/{quantity}' for joint in _joints(found)]
    return [f'{found["joint"].string_value}/{quantity}'
            for quantity in found['interface_names'].string_array_value]


def _joints(found: dict[str, ParameterValue]) -> list[str]:
    return list(found['joints'].string_array_value) if found else []


def _parameters(node: Node, service: str, over: Callable[[], bool]
                ) -> dict[str, ParameterValue] | None:
    """Return QUERIED_PARAMETERS, unset if undeclared; None without an answer."""
    try:
        client = PolledClient(node, GetParameters, service)
    except RCLError:                # for example, denied by a security policy
        return {}
    found = dict[str, ParameterValue]()
    try:
        for name in QUERIED_PARAMETERS:  # singly: rclcpp may return nothing if one is missing
            response = client.call(GetParameters.Request(names=[name]), ANSWER_TIMEOUT,
                                   RESEND_INTERVAL, over)
            if response is None:
                return None
            found[name] = response.values[0] if response.values else ParameterValue()
        return found
    finally:
        client.close()
