# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Checks of the nodes that receive the commands, and hand-over between controllers of ros2_control.

A command is an array without names and units. ``forward_command_controller`` of ros2_control maps
its elements to the parameter ``joints``, in that order, and to the interface ``interface_name``.
With another order, efforts would reach the wrong joints; with ``position``, N·m would be read as
rad.

A discovered subscriber may receive no data: Fast DDS uses shared memory on one machine, which
processes of another user or in a container cannot open. Every subscribing node with parameter
services therefore has to answer.

Hand-over is by services of the controller manager. The forward controller, which passes the
commands on to the drives, is activated while the commands hold the arm. The same switch
deactivates the controllers that held it before. They take over again when this controller is
deactivated and the arm is at rest. A forward controller that is already active, because an earlier
process was killed, is not switched again. While the arm is driven, the states of the controllers
are polled once a second.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
import threading
import time
from typing import Any

from builtin_interfaces.msg import Duration
from rcl_interfaces.msg import ParameterValue
from rcl_interfaces.srv import GetParameters
from rclpy.node import Node

from ..middleware.client_session import never, PolledClient, REPLY_POLL_PERIOD
from ..middleware.raw_subscription import RCLError
from ..topics.publishers import full_name, NAMELESS
from ...control.controller.controller import Controller
from ...control.steps import guard
from ...errors import ParameterError

PARAMETERS_TIMEOUT = 3.0    # [s]
NAME_TIMEOUT = 1.0    # [s] until the name of a subscriber is known
PARAMETERS_RESEND_INTERVAL = 0.3    # [s]; the first answer may be lost in discovery
# Names of hardware_interface for commands in N·m or N
EFFORT_INTERFACES = 'effort', 'torque', 'force'
# Parameters of forward controllers: of several joints, and (multi-interface) of one joint
QUERIED_PARAMETERS = 'joints', 'interface_name', 'joint', 'interface_names'


def forwarding_refusal(node: Node, topic: str, joint_names: Sequence[str],
                       interfaces: Sequence[str] = (),
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
                    f'{PARAMETERS_TIMEOUT:g} s: commands may not reach it either. If it runs, '
                    'give both processes the same user and the same /dev/shm, or start both with '
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
        time.sleep(REPLY_POLL_PERIOD)
    return sorted(names)


def _services(node: Node, forwarder: str, over: Callable[[], bool]) -> set[str]:
    """Return the known services, once those of a forward controller are among them."""
    end = time.monotonic() + PARAMETERS_TIMEOUT
    while True:
        services = {service for service, _ in node.get_service_names_and_types()}
        if (not forwarder or f'{forwarder}/get_parameters' in services or over()
                or time.monotonic() > end):
            return services
        time.sleep(REPLY_POLL_PERIOD)


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
    with closing(client):
        for name in QUERIED_PARAMETERS:  # singly: rclcpp may return nothing if one is missing
            response = client.call(GetParameters.Request(names=[name]), PARAMETERS_TIMEOUT,
                                   PARAMETERS_RESEND_INTERVAL, over)
            if response is None:
                return None
            found[name] = response.values[0] if response.values else ParameterValue()
        return found


ANSWER_TIMEOUT = 5.0    # [s] of the controller manager
RESEND_INTERVAL = 0.5    # [s] of requests for the controller states
SWITCH_TIMEOUT = 2    # [s] after which the controller manager aborts a switch
ACTIVE = 'active'
MISSING_MESSAGES_REMEDY = (
    'install ros-<distro>-controller-manager-msgs, or leave controller_manager empty and '
    'switch by hand: ros2 control switch_controllers')


class NoSwitch:
    """Hand-over without controller manager: the user switches controllers."""

    #: Command interfaces of the forward controller; (): not known.
    interfaces: Sequence[str] = ()
    #: Why the commands do not reach the drives; '': they do, or it is not known.
    trouble = ''

    def begin(self, controller: Controller) -> None:
        """Do nothing."""

    def ask(self, over: Callable[[], bool]) -> str:
        """Return '': nothing is refused."""
        return ''

    def take_over(self, controller: Controller, within: float, over: Callable[[], bool]) -> str:
        """Return '': nothing is refused."""
        return ''

    def look(self) -> None:
        """Do nothing."""

    def hand_back(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


class ControllerSwitch(NoSwitch):
    """
    Client of a controller manager, for use by callbacks of the executor.

    :param manager: name of the controller manager.
    :param forwarder: name of the forward controller.
    :param replaced: names of the controllers that hold the arm without it.
    """

    def __init__(self, node: Node, manager: str, forwarder: str, replaced: Sequence[str]):
        from controller_manager_msgs.srv import ListControllers, SwitchController
        self._list, self._switch, self._log = ListControllers, SwitchController, node.get_logger()
        self._forwarder, self._replaced = forwarder, list(replaced)
        self._switched = self._watched = False
        self._lock = threading.Lock()       # of the lister, which two threads use
        # Created early: the response to a new client may be lost in discovery
        name = manager.rstrip('/')
        self._lister = PolledClient(node, ListControllers, f'{name}/list_controllers')
        self._switcher = PolledClient(node, SwitchController, f'{name}/switch_controller')

    def begin(self, controller: Controller) -> None:
        """Clear :attr:`trouble`, and have the motor test wait, until :meth:`take_over`."""
        self._watched, self.trouble = False, ''
        controller.cycle_input['awaited'] = 1

    def ask(self, over: Callable[[], bool]) -> str:
        """
        Read the command interfaces of the forward controller; return a refusal or ''.

        :param over: returns whether to stop waiting.
        """
        if (controllers := self._controllers(over)) is None:
            return self._silence(self._lister)
        found = controllers.get(self._forwarder)
        self.interfaces = () if found is None else list(found.required_command_interfaces)
        return ''

    def take_over(self, controller: Controller, within: float, over: Callable[[], bool]) -> str:
        """
        Activate the forward controller once the efforts hold the arm; return a refusal or ''.

        They do when it is RUNNING, or the motor test waits for the drives.

        :param within: time until then [s].
        :param over: returns whether the process is about to end.
        """
        self.trouble = self._take_over(controller, within, over)
        self._watched = not self.trouble
        if self._watched:
            controller.cycle_input['awaited'] = 0
        return self.trouble

    def _take_over(self, controller: Controller, within: float, over: Callable[[], bool]) -> str:
        end = time.monotonic() + within
        while (controller.phase == guard.RISING and not _held(controller)
               and time.monotonic() < end and not over()):
            time.sleep(REPLY_POLL_PERIOD)
        if not _held(controller):
            return self._not_activated(controller)
        if (controllers := self._controllers()) is None:
            return self._silence(self._lister)
        if not _held(controller):           # the manager may have taken seconds
            return self._not_activated(controller)
        active = self._active(controllers)
        self._switched = True               # the switch may happen without a response
        replaced = [name for name in self._replaced if name in active]
        activated = [name for name in [self._forwarder] if name not in active]
        if refusal := self._request(activated, replaced):
            return refusal
        self._log.info(f'{self._forwarder} is active')
        return ''

    def _not_activated(self, controller: Controller) -> str:
        return (f'{self._forwarder} is not activated: the arm is '
                f'{guard.PHASES[controller.phase]}')

    def look(self) -> None:
        """Poll whether the forward controller is still active, without waiting."""
        if not self._watched:
            return
        with self._lock:
            if (response := self._lister.take()) is not None:
                found = _by_name(response).get(self._forwarder)
                state = 'not loaded' if found is None else found.state
                self.trouble = '' if state == ACTIVE else f'{self._forwarder} is {state}'
            self._lister.send(self._list.Request())

    def hand_back(self) -> None:
        """
        Deactivate the forward controller, and activate those that it had replaced.

        Nothing is switched where it is not active: somebody else has decided what drives the arm.
        """
        if not self._switched:
            return
        self._switched = self._watched = False
        self.trouble = ''
        controllers = self._controllers()
        refusal = self._silence(self._lister) if controllers is None else ''
        if controllers is not None and self._forwarder in (active := self._active(controllers)):
            refusal = self._request([name for name in self._replaced if name not in active],
                                    [self._forwarder])
        if refusal:
            self._log.error(f'{self._forwarder} may still be active, and keeps its last effort: '
                            f'{refusal}')
        else:
            self._log.info(f'{self._forwarder} is inactive')

    def close(self) -> None:
        """Destroy the clients."""
        self._lister.close()
        self._switcher.close()

    def _controllers(self, over: Callable[[], bool] = never) -> dict[str, Any] | None:
        """Return the ControllerState of each loaded controller by its name, None: no answer."""
        with self._lock:
            response = self._lister.call(self._list.Request(), ANSWER_TIMEOUT, RESEND_INTERVAL,
                                         over)
        return None if response is None else _by_name(response)

    def _active(self, controllers: Mapping[str, Any]) -> set[str]:
        return {name for name, found in controllers.items() if found.state == ACTIVE}

    def _request(self, activate: Sequence[str], deactivate: Sequence[str]) -> str:
        """Switch strictly, once, if there is anything to switch; return a refusal or ''."""
        if not activate and not deactivate:
            return ''
        # Not as soon as possible: the new controller would write in the cycle after the switch
        answer = self._switcher.call(self._switch.Request(
            activate_controllers=list(activate), deactivate_controllers=list(deactivate),
            strictness=self._switch.Request.STRICT, activate_asap=False,
            timeout=Duration(sec=SWITCH_TIMEOUT)), ANSWER_TIMEOUT)
        if answer is None:
            return self._silence(self._switcher)
        if answer.ok:
            return ''
        self._switched = False
        without = f' without {", ".join(deactivate)}' if deactivate else ''
        return (f'{self._switcher.name} refuses to activate {", ".join(activate) or "nothing"}'
                f'{without}: {getattr(answer, "message", "") or "no reason"}; '
                'ros2 control list_controllers says what is loaded')

    def _silence(self, client: PolledClient) -> str:
        return (f'{client.name} has not answered within {ANSWER_TIMEOUT:g} s: is this the '
                'controller manager?')


def _held(controller: Controller) -> bool:
    """Return whether the efforts hold the arm."""
    return controller.phase == guard.RUNNING or controller.phase == guard.RISING and bool(
        controller.memory['awaiting'][0])


def _by_name(response: Any) -> dict[str, Any]:
    return {found.name: found for found in response.controller}


def open_switch(node: Node, p: Mapping[str, Any], commands: str) -> NoSwitch:
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
            name='controller_manager', value=p['controller_manager'],
            remedy=MISSING_MESSAGES_REMEDY) from None


def check_hand_over(p: Mapping[str, Any], commands: str) -> None:
    """Check as :func:`check_switch`, also without the message package."""
    manager, replaced = p['controller_manager'], p['replaced_controllers']
    if not manager and replaced:
        raise ParameterError('replaced_controllers without controller_manager', value=replaced,
                             name='replaced_controllers',
                             remedy='name the manager, e.g. /controller_manager')
    if not manager:
        return
    if not commands.endswith('/commands') or commands.count('/') < 2:
        raise ParameterError(
            f'the efforts go to {commands}, which is not the topic of a forward controller',
            name='controller_manager', value=manager,
            remedy='remap commands to /forward_effort_controller/commands')
    if replaced and p['stop_with'] != 'gravity' and not p['robot_compensates_gravity']:
        raise ParameterError(
            'between the last effort, of zero, and the switch to '
            f'{", ".join(replaced)} nobody would hold the arm', name='stop_with',
            value=p['stop_with'], remedy='set stop_with: gravity')
