# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Robot and settings of a controller node that is running, read from its parameters."""

from collections.abc import Mapping, Sequence
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import ChangeState, GetState
from rcl_interfaces.srv import GetParameters, SetParametersAtomically
from rclpy.parameter import Parameter, parameter_value_to_python
from std_msgs.msg import String
from std_srvs.srv import Trigger

from ..controller import robot
from ..controller.parameters import law_parameters, settings, TABLE
from ..middleware import qos
from ..middleware.client_session import Services, Session
from ..topics.publishers import LOOP, TIMING
from ...control.cycle.compile_ahead import COMPILING
from ...control.laws import registry
from ...control.settings.settings import Settings
from ...errors import ParameterError, RosError
from ...model.robot import RobotModel

RETRY_INTERVAL = 0.2    # [s] of changes refused until their code is compiled
TRANSITION_TIMEOUT = 120.0      # [s]: configuring may compile, and an arm may be lowered to rest
DONE = {Transition.TRANSITION_CONFIGURE: 'configured', Transition.TRANSITION_ACTIVATE: 'activated',
        Transition.TRANSITION_DEACTIVATE: 'deactivated'}


class RunningController:
    """
    Client of the parameters of a controller node.

    :param name: with its namespace; ``within``: longest time to wait for an answer [s].
    """

    def __init__(self, here: Session, name: str, within: float):
        self._here, self._name, self._within = here, f'/{name.lstrip("/")}', within
        self._services = Services(here.node, here.poll)

    def model(self) -> RobotModel:
        """
        Return the model of the robot that it controls.

        :raises RobodynError: the node or its robot description does not answer.
        """
        return robot.controlled(self.get([p.name for p in TABLE]), self.urdf())

    def urdf(self) -> str:
        """
        Return the URDF text of that robot.

        :raises RobodynError: the node or its robot description does not answer.
        """
        values = self.get([p.name for p in TABLE])
        return robot.description(values) or self._description()

    def settings(self) -> Settings:
        """
        Return its current settings.

        :raises RosError: the node does not answer.
        :raises ParameterError: its law is of another package, and has not been loaded: a node
            must not be able to import a module.
        """
        values = self.get([p.name for p in TABLE])
        law = registry.find(values['mode'], load=False)
        own = [p.name for p in law_parameters(law) if p.name not in values]
        return settings(values | (self.get(own) if own else {}))

    def set(self, values: dict[str, Any]) -> None:  # noqa: A003
        """
        Set parameters, all of them or none; wait while what they need is being compiled.

        :raises ParameterError: the controller refuses them; the error has its reason.
        :raises RosError: the node does not answer: whether they apply is unknown.
        """
        request = parameter_request(values)
        while not (result := self.call(SetParametersAtomically, 'set_parameters_atomically',
                                       request).result).successful:
            if COMPILING not in result.reason:
                raise ParameterError(f'{self._name} refuses it', name=self._name,
                                     remedy=result.reason)
            self._here.until(lambda: False, RETRY_INTERVAL)

    def get(self, names: Sequence[str]) -> dict[str, Any]:
        """
        Return the values of these parameters.

        :raises RosError: the node does not answer, or lacks one of them.
        """
        answer = self.call(GetParameters, 'get_parameters',
                           GetParameters.Request(names=list(names)))
        values: list[Any] = [parameter_value_to_python(value) for value in answer.values]
        if len(values) != len(names) or any(value is None for value in values):
            raise RosError(f'{self._name} does not return its parameters', name=self._name,
                           remedy='is it a controller of this package?')
        return {name: value if isinstance(value, (str, bool, int, float)) else list(value)
                for name, value in zip(names, values, strict=True)}

    def report(self) -> dict[str, str]:
        """
        Return the newest diagnostics of its loop and their timing, with the 'message'.

        :raises RosError: it publishes none.
        """
        found: dict[str, dict[str, str]] = {}
        heard = self._here.node.create_subscription(
            DiagnosticArray, '/diagnostics',
            lambda message: found.update(reported(message, self._name)), 10)
        self._here.until(lambda: LOOP in found, self._within)
        self._here.node.destroy_subscription(heard)
        if LOOP not in found:
            raise RosError(f'no diagnostics of {self._name.strip("/")}', name=self._name,
                           remedy='start the controller, or name it with --node; both need the '
                           'same ROS_DOMAIN_ID')
        return found.get(TIMING, {}) | found[LOOP]

    def arm(self) -> str:
        """
        Arm the controller: after a fault, or activate it, configured if necessary; return how.

        :raises RosError: the node does not answer, or refuses.
        """
        state = self.call(GetState, 'get_state', GetState.Request()).current_state.id
        if not (transitions := transitions_to_active(state)):
            answer = self.call(Trigger, 'reset', Trigger.Request())
            if not answer.success:
                raise RosError(f'{self._name} is not armed', name=self._name,
                               remedy=answer.message)
            return answer.message
        for transition in transitions:
            self._change(transition)
        return 'activated'

    def release_brakes(self) -> str:
        """
        Release the brakes of a simulator in the namespace; return its answer, '' without one.

        :raises RosError: it does not answer.
        """
        space = self._name.rpartition('/')[0]
        found = [name for name, _ in self._here.node.get_service_names_and_types()
                 if name.startswith(f'{space}/') and name.endswith('/release_brakes')
                 and name.count('/') == space.count('/') + 2]
        return '; '.join(self.call(Trigger, name, Trigger.Request()).message for name in found)

    def stop(self) -> None:
        """
        Deactivate the controller: bring the arm to rest, then end its efforts.

        :raises RosError: the node does not answer, or is not active.
        """
        self._change(Transition.TRANSITION_DEACTIVATE)

    def _change(self, transition: int) -> None:
        request = ChangeState.Request(transition=Transition(id=transition))
        if not self.call(ChangeState, 'change_state', request, TRANSITION_TIMEOUT).success:
            raise RosError(f'{self._name} was not {DONE[transition]}', name=self._name,
                           remedy='see `robodyn status` and the log of the node')

    def call(self, kind: Any, service: str, request: Any, within: float = 0.0) -> Any:
        """Return the response of a service of the node; raise :class:`RosError` without one."""
        try:
            return self._services.call(
                kind, service if service.startswith('/') else f'{self._name}/{service}', request,
                max(within, self._within), self._within)
        except TimeoutError as error:
            raise RosError(f'node {self._name} does not answer ({error})', name=self._name,
                           remedy='start the controller, or give its name; both need the same '
                           'ROS_DOMAIN_ID') from error

    def _description(self) -> str:
        """Return the URDF text of the topic robot_description in the namespace of the node."""
        found: list[str] = []
        topic = f'{self._name.rpartition("/")[0]}/robot_description'

        def hear(message: String) -> None:
            found.append(message.data)

        heard = self._here.node.create_subscription(String, topic, hear, qos.DESCRIPTION)
        self._here.until(lambda: found, self._within)
        self._here.node.destroy_subscription(heard)
        return found[-1] if found else ''


def reported(message: DiagnosticArray, controller: str) -> dict[str, dict[str, str]]:
    """Return values, and the 'message', of what diagnostics say of a controller, by subject."""
    begin = f'{controller.strip("/")}: '
    return {status.name.removeprefix(begin): {
        **{pair.key: pair.value for pair in status.values}, 'message': status.message}
        for status in message.status if status.name.startswith(begin)}


def transitions_to_active(state: int) -> tuple[int, ...]:
    """Return the transitions that activate a node in a state of its life cycle; none if it is."""
    activate = Transition.TRANSITION_ACTIVATE
    return {State.PRIMARY_STATE_ACTIVE: (), State.PRIMARY_STATE_UNCONFIGURED: (
        Transition.TRANSITION_CONFIGURE, activate)}.get(state, (activate,))


def parameter_request(values: Mapping[str, Any]) -> SetParametersAtomically.Request:
    """Return the request to set parameters, all of them or none."""
    return SetParametersAtomically.Request(parameters=[
        Parameter(name, value=value).to_parameter_msg() for name, value in values.items()])
