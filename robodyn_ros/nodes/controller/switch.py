# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Hand-over between the controllers of ros2_control, by services of its controller manager.

The forward controller, which passes the commands on to the drives, is activated while the commands
hold the arm. The same switch deactivates the controllers that held it before. They take over again
when this controller is deactivated and the arm is at rest. A forward controller that is already
active, because an earlier process was killed, is not switched again. While the arm is driven, the
states of the controllers are polled once a second.
"""

from collections.abc import Callable, Mapping, Sequence
import threading
import time
from typing import Any

from builtin_interfaces.msg import Duration
from rclpy.node import Node

from ..middleware.polled_client import never, POLL_PERIOD, PolledClient
from ...control.steps import guard
from ...errors import ParameterError

ANSWER_TIMEOUT = 5.0    # [s] of the controller manager
RESEND_INTERVAL = 0.5    # [s] of requests for the controller states
SWITCH_TIMEOUT = 2    # [s] after which the controller manager aborts a switch
ACTIVE = 'active'
MISSING_MESSAGES_REMEDY = (
    'install ros-<distro>-controller-manager-msgs, or leave controller_manager empty and '
    'switch by hand: ros2 control switch_controllers')


class NoSwitch:
    """Stand-in without controller manager: the user switches controllers."""

    #: Command interfaces of the forward controller; (): not known.
    interfaces: Sequence[str] = ()
    #: Why the commands do not reach the drives; '': not known.
    trouble = ''

    def begin(self) -> None:
        """Do nothing."""

    def ask(self, over: Callable[[], bool]) -> str:
        """Return '': nothing is refused."""
        return ''

    def take_over(self, phase: Callable[[], int], within: float, over: Callable[[], bool]) -> str:
        """Return '': nothing is refused."""
        return ''

    def look(self) -> None:
        """Do nothing."""

    def hand_back(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


class ControllerSwitch:
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
        #: Command interfaces of the forward controller; (): not known.
        self.interfaces: Sequence[str] = ()
        #: Why the commands do not reach the drives, '' if they do, or before :meth:`take_over`.
        self.trouble = ''
        # Created early: the response to a new client may be lost in discovery
        name = manager.rstrip('/')
        self._lister = PolledClient(node, ListControllers, f'{name}/list_controllers')
        self._switcher = PolledClient(node, SwitchController, f'{name}/switch_controller')

    def begin(self) -> None:
        """Clear :attr:`trouble` until :meth:`take_over`."""
        self._watched, self.trouble = False, ''

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

    def take_over(self, phase: Callable[[], int], within: float, over: Callable[[], bool]) -> str:
        """
        Activate the forward controller once the arm is RUNNING; return a refusal or ''.

        :param phase: returns the phase of the guard; ``within``: time for it to be RUNNING [s].
        :param over: returns whether the process is about to end.
        """
        self.trouble = self._take_over(phase, within, over)
        self._watched = not self.trouble
        return self.trouble

    def _take_over(self, phase: Callable[[], int], within: float, over: Callable[[], bool]) -> str:
        end = time.monotonic() + within
        while phase() == guard.RISING and time.monotonic() < end and not over():
            time.sleep(POLL_PERIOD)
        if phase() != guard.RUNNING:
            return f'{self._forwarder} is not activated: the arm is {guard.PHASES[phase()]}'
        if (controllers := self._controllers()) is None:
            return self._silence(self._lister)
        if phase() != guard.RUNNING:        # the manager may have taken seconds
            return f'{self._forwarder} is not activated: the arm is {guard.PHASES[phase()]}'
        active = self._active(controllers)
        self._switched = True               # the switch may happen without a response
        replaced = [name for name in self._replaced if name in active]
        activated = [name for name in [self._forwarder] if name not in active]
        if refusal := self._request(activated, replaced):
            return refusal
        self._log.info(f'{self._forwarder} is active')
        return ''

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
        self._switched = False
        self.begin()
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
        return (f'{self._switcher.name} refuses to activate {", ".join(activate) or "nothing"}'
                f'{_without(deactivate)}: {getattr(answer, "message", "") or "no reason"}; '
                'ros2 control list_controllers says what is loaded')

    def _silence(self, client: PolledClient) -> str:
        return (f'{client.name} has not answered within {ANSWER_TIMEOUT:g} s: is this the '
                'controller manager?')


def _by_name(response: Any) -> dict[str, Any]:
    return {found.name: found for found in response.controller}


def _without(deactivated: Sequence[str]) -> str:
    return f' without {", ".join(deactivated)}' if deactivated else ''


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
    if p['motor_test_effort']:
        raise ParameterError(
            'with controller_manager the forward controller is activated once the arm is RUNNING, '
            'and the efforts of the test of the motors, before, do not reach the drives',
            name='motor_test_effort', value=p['motor_test_effort'], remedy='set it to 0.0')
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
