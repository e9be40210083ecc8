# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Hand-over between the controllers of ros2_control, by the service of its controller manager.

The forward controller, which passes the commands on to the drives, is activated while it is being
told efforts that hold the arm, in one switch with the controllers that have held it so far. They
take over again when this controller is deactivated and the arm is at rest.
"""

from collections.abc import Callable, Mapping, Sequence
import time
from typing import Any

from builtin_interfaces.msg import Duration
from rclpy.node import Node

from ..control import guard
from ..errors import ParameterError

ANSWER = 5.0        # s, in which the manager has to answer
TIMEOUT = 2         # s, after which it gives up a switch by itself
POLL = 0.002        # s
WITHOUT = ('install ros-<distro>-controller-manager-msgs, or leave controller_manager empty and '
           'switch by hand: ros2 control switch_controllers')


class NoSwitch:
    """Stand-in where no controller manager is named: a person switches."""

    def take_over(self, phase: Callable[[], int], within: float, over: Callable[[], bool]) -> str:
        """Return '': nothing is refused."""
        return ''

    def hand_back(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


class ControllerSwitch:
    """
    Client of ``SwitchController`` of a controller manager, for use by callbacks of the executor.

    :param manager: name of the controller manager.
    :param forwarder: name of the forward controller.
    :param replaced: names of the controllers that hold the arm without it.
    """

    def __init__(self, node: Node, manager: str, forwarder: str, replaced: Sequence[str]):
        from controller_manager_msgs.srv import SwitchController
        self._kind, self._log, self._node = SwitchController, node.get_logger(), node
        self._forwarder, self._replaced = [forwarder], list(replaced)
        self._switched = False
        # Made now: a response to a client that has just been made may be lost in discovery
        self._client: Any = node.create_client(
            SwitchController, f'{manager.rstrip("/")}/switch_controller')

    def take_over(self, phase: Callable[[], int], within: float, over: Callable[[], bool]) -> str:
        """
        Activate the forward controller once the arm is RUNNING; return a refusal, '' if it is.

        :param phase: returns the phase of the guard; ``within``: time for it to be RUNNING [s].
        :param over: returns whether the process is about to end.
        """
        end = time.monotonic() + within
        while phase() == guard.RISING and time.monotonic() < end and not over():
            time.sleep(POLL)
        if phase() != guard.RUNNING:
            return f'{self._forwarder[0]} is not activated: the arm is {guard.PHASES[phase()]}'
        self._switched = True               # perhaps, from here on
        answer = self._switch(self._forwarder, self._replaced)
        if answer is not None and answer.ok:
            self._log.info(f'{self._forwarder[0]} is active')
            return ''
        if answer is None:
            return (f'{self._client.srv_name} has not answered within {ANSWER:g} s: is this the '
                    'controller manager?')
        self._switched = False
        return (f'{self._client.srv_name} refuses to activate {self._forwarder[0]}'
                f'{self._without(self._replaced)}: {getattr(answer, "message", "") or "no reason"}'
                '; ros2 control list_controllers says what is loaded')

    def hand_back(self) -> None:
        """Deactivate the forward controller, and activate those that it had replaced."""
        if not self._switched:
            return
        self._switched = False
        answer = self._switch(self._replaced, self._forwarder)
        if answer is not None and answer.ok:
            self._log.info(f'{self._forwarder[0]} is inactive')
        else:
            self._log.error(f'{self._forwarder[0]} may still be active, and keeps its last effort')

    def close(self) -> None:
        """Destroy the client."""
        self._node.destroy_client(self._client)

    def _switch(self, activate: Sequence[str], deactivate: Sequence[str]) -> Any:
        """Return the response of a strict switch, None without one; it is asked once."""
        request = self._kind.Request(
            activate_controllers=list(activate), deactivate_controllers=list(deactivate),
            strictness=self._kind.Request.STRICT, activate_asap=True,
            timeout=Duration(sec=TIMEOUT))
        end, asked = time.monotonic() + ANSWER, False
        while time.monotonic() < end:
            if not asked and self._client.service_is_ready():
                self._client.handle.send_request(request)
                asked = True
            if asked:
                _, response = self._client.handle.take_response(self._kind.Response)
                if response is not None:
                    return response
            time.sleep(POLL)
        return None

    def _without(self, replaced: Sequence[str]) -> str:
        return f' without {", ".join(replaced)}' if replaced else ''


def open_switch(node: Node, p: Mapping[str, Any], commands: str) -> ControllerSwitch | NoSwitch:
    """
    Return the switch that the parameters ask for.

    :param p: parameters of the node; ``commands``: resolved topic of the commands.
    :raises ParameterError: see :func:`check_switch`.
    """
    if not p['controller_manager']:
        return NoSwitch()
    check_switch(p, commands)
    return ControllerSwitch(node, p['controller_manager'], commands.split('/')[-2],
                            p['replaced_controllers'])


def check_switch(p: Mapping[str, Any], commands: str) -> None:
    """
    Refuse parameters with which a switch cannot be, or would drop the arm.

    :raises ParameterError: naming the parameter and the remedy.
    """
    check_hand_over(p, commands)
    if not p['controller_manager']:
        return
    try:
        import controller_manager_msgs.srv  # noqa: F401
    except ImportError as error:
        raise ParameterError(
            f'controller_manager needs controller_manager_msgs ({error})',
            name='controller_manager', value=p['controller_manager'], remedy=WITHOUT) from None


def check_hand_over(p: Mapping[str, Any], commands: str) -> None:
    """As :func:`check_switch`, whatever is installed."""
    manager, replaced = p['controller_manager'], p['replaced_controllers']
    if not manager and replaced:
        raise ParameterError('replaced_controllers without controller_manager', value=replaced,
                             name='replaced_controllers',
                             remedy='name the manager, e.g. /controller_manager')
    if not manager:
        return
    if not commands.endswith('/commands') or commands.count('/') < 2:
        raise ParameterError(
            f'the efforts go to {commands}, which is no topic of a forward controller',
            name='controller_manager', value=manager,
            remedy='remap commands to /forward_effort_controller/commands')
    if replaced and p['stop_with'] != 'gravity' and not p['robot_compensates_gravity']:
        raise ParameterError(
            'between the last effort, of zero, and the switch to '
            f'{", ".join(replaced)} nobody would hold the arm', name='stop_with',
            value=p['stop_with'], remedy='set stop_with: gravity')
