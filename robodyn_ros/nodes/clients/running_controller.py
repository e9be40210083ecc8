# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Requests to a controller node that is running, and a client that waits for the responses."""

from collections.abc import Generator, Mapping, Sequence
import re
from typing import Any, NamedTuple

from diagnostic_msgs.msg import DiagnosticArray
from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import ChangeState, GetState
from rcl_interfaces.msg import Log, Parameter as ParameterMessage
from rcl_interfaces.srv import GetParameters, SetParametersAtomically
from rclpy.logging import LoggingSeverity
from rclpy.node import Node
from rclpy.parameter import Parameter as RosParameter, parameter_value_to_python
from std_msgs.msg import String
from std_srvs.srv import Trigger
import yaml

from ..controller import robot
from ..controller.parameters import law_parameters, settings, TABLE
from ..middleware import qos
from ..middleware.client_session import never, Services, Session
from ..middleware.parameters import Parameter, TYPES, WRITTEN
from ..topics.publishers import LOOP, TIMING
from ...control.cycle.compile_ahead import COMPILING
from ...control.laws import registry
from ...control.settings.settings import Settings
from ...errors import ParameterError, RobodynError, RosError, UnknownNameError
from ...model.robot import RobotModel

RETRY_INTERVAL = 0.2    # [s] of changes refused until their code is compiled
TRANSITION_TIMEOUT = 120.0      # [s]: configuring may compile, and an arm may be lowered to rest
TRANSITIONS = {'configure': Transition.TRANSITION_CONFIGURE,
               'activate': Transition.TRANSITION_ACTIVATE,
               'deactivate': Transition.TRANSITION_DEACTIVATE,
               'cleanup': Transition.TRANSITION_CLEANUP}
PARAMETERS = {p.name: p for p in TABLE}


def full(node: str) -> str:
    """Return the name of a node with the slash that it begins with."""
    return f'/{node.strip("/")}'


def beside(node: str, name: str) -> str:
    """Return the full name of a topic or node in the namespace of a node."""
    return f'{full(node).rpartition("/")[0]}/{name}'


SERVICES = {'change_state': ChangeState, 'get_parameters': GetParameters, 'get_state': GetState,
            'reset': Trigger, 'set_parameters_atomically': SetParametersAtomically}


class Call(NamedTuple):
    """A request to a service, with the longest time to wait for the response [s]."""

    kind: Any
    service: str        # full name
    request: Any
    within: float = 0.0     # at least that of the client


# Requests, whose responses are sent in, and pauses [s]; returns a result
Steps = Generator[Call | float, Any, Any]


class Requests:
    """
    What is asked of a controller node, for clients that wait for each response or do not.

    :param node: of the client; ``name``: of the controller, with its namespace.
    """

    def __init__(self, node: Node, name: str):
        self._node, self.name = node, full(name)

    def change(self, transition: str) -> Steps:
        """
        Change the state of the node by one of TRANSITIONS.

        :raises RosError: it refuses.
        """
        request = ChangeState.Request(transition=Transition(id=TRANSITIONS[transition]))
        answer = yield self._call('change_state', request, TRANSITION_TIMEOUT)
        if not answer.success:
            raise RosError(f'{self.name} does not {transition}', name=self.name,
                           remedy='see `robodyn status` and the log of the node')
        return ''

    def stop(self) -> Steps:
        """
        Deactivate the controller: bring the arm to rest, then end its efforts.

        :raises RosError: it is not active.
        """
        yield from self.change('deactivate')
        return 'deactivated'

    def arm(self) -> Steps:
        """
        Arm the controller: after a fault, or activate it, configured if necessary.

        A simulator in its namespace then releases its brakes.

        :raises RosError: one of them refuses.
        """
        state = (yield self._call('get_state', GetState.Request())).current_state.id
        if state == State.PRIMARY_STATE_ACTIVE:
            done = yield from self.trigger('reset')
        else:
            if state == State.PRIMARY_STATE_UNCONFIGURED:
                yield from self.change('configure')
            yield from self.change('activate')
            done = 'activated'
        space = self.name.rpartition('/')[0]
        for service, _ in self._node.get_service_names_and_types():
            if re.fullmatch(f'{re.escape(space)}/[^/]+/release_brakes', service):
                done += '; ' + (yield from self.trigger(service))
        return done

    def trigger(self, service: str) -> Steps:
        """
        Call a Trigger service, of the node or by a full name; return its message.

        :raises RosError: it refuses.
        """
        service = service if service.startswith('/') else f'{self.name}/{service}'
        answer = yield Call(Trigger, service, Trigger.Request(), TRANSITION_TIMEOUT)
        if not answer.success:
            raise RosError(f'{service} refused', name=service, remedy=answer.message)
        return answer.message

    def set(self, values: Mapping[str, Any]) -> Steps:  # noqa: A003
        """
        Set parameters, all of them or none; wait while what they need is being compiled.

        :raises ParameterError: the controller refuses them; the error has its reason.
        """
        request = SetParametersAtomically.Request(parameters=[
            _message(name, value) for name, value in values.items()])
        while not (result := (yield self._call('set_parameters_atomically',
                                                 request)).result).successful:
            if COMPILING not in result.reason:
                raise ParameterError('refused', name=self.name, remedy=result.reason)
            yield RETRY_INTERVAL
        return ', '.join(f'{name} = {written(value)}' for name, value in values.items())

    def get(self, names: Sequence[str]) -> Steps:
        """
        Return the values of parameters by name.

        :raises UnknownNameError: it has no parameter of a name.
        :raises RosError: the node is no controller.
        """
        answer = yield self._call('get_parameters', GetParameters.Request(names=list(names)))
        values: list[Any] = [parameter_value_to_python(value) for value in answer.values]
        if len(values) != len(names) or any(value is None for value in values):
            for name in names:
                if name not in PARAMETERS:
                    raise UnknownNameError('parameter', name, PARAMETERS)
            raise RosError(f'{self.name} does not return its parameters', name=self.name,
                           remedy='is it a controller of this package?')
        return {name: value if isinstance(value, (str, bool, int, float)) else list(value)
                for name, value in zip(names, values, strict=True)}

    def _call(self, service: str, request: Any, within: float = 0.0) -> Call:
        return Call(SERVICES[service], f'{self.name}/{service}', request, within)


class RunningController:
    """
    Client of a controller node, which waits for each response: ``do(requests.arm())``.

    :param name: with its namespace; ``within``: longest time to wait for an answer [s].
    """

    def __init__(self, here: Session, name: str, within: float):
        self._here, self._within = here, within
        self.requests, self.name = Requests(here.node, name), full(name)
        self._services = Services(here.node, here.poll)

    def model(self) -> RobotModel:
        """
        Return the model of the robot that it controls.

        :raises RobodynError: the node or its robot description does not answer.
        """
        return robot.controlled(*self._robot())

    def urdf(self) -> str:
        """
        Return the URDF text of that robot.

        :raises RobodynError: the node or its robot description does not answer.
        """
        return self._robot()[1]

    def _robot(self) -> tuple[dict[str, Any], str]:
        values = self.get([*PARAMETERS])
        try:
            text = robot.description(values)
        except RobodynError as error:
            error.begin_with(f'parameter urdf of {self.name}, whose file is read here, too')
            raise
        return values, text or self._description()

    def settings(self) -> Settings:
        """
        Return its current settings.

        :raises RosError: the node does not answer.
        :raises ParameterError: its law is of another package, and has not been loaded: a node
            must not be able to import a module.
        """
        values = self.get([*PARAMETERS])
        law = registry.find(values['mode'], load=False)
        own = [p.name for p in law_parameters(law) if p.name not in values]
        return settings(values | (self.get(own) if own else {}))

    def set(self, values: dict[str, Any]) -> None:  # noqa: A003
        """Set parameters, see :meth:`Requests.set` and :meth:`do`."""
        self.do(self.requests.set(values))

    def get(self, names: Sequence[str]) -> dict[str, Any]:
        """Return values of parameters by name, see :meth:`Requests.get` and :meth:`do`."""
        return self.do(self.requests.get(names))

    def report(self) -> dict[str, str]:
        """
        Return the newest diagnostics of its loop and their timing, with the 'message'.

        :raises RosError: it publishes none.
        """
        found: dict[str, dict[str, str]] = {}
        heard = self._here.node.create_subscription(
            DiagnosticArray, '/diagnostics',
            lambda message: found.update(reported(message, self.name)), 10)
        self._here.until(lambda: LOOP in found, self._within)
        self._here.node.destroy_subscription(heard)
        if LOOP not in found:
            raise RosError(f'no diagnostics of {self.name.strip("/")}', name=self.name,
                           remedy='start the controller, or name it with --node; both need the '
                           'same ROS_DOMAIN_ID')
        return found.get(TIMING, {}) | found[LOOP]

    def do(self, steps: Steps) -> Any:
        """
        Make requests, wait for their responses, and return the result.

        :raises RosError: the node does not answer: whether it has done it is unknown.
        :raises RobodynError: the node refuses.
        """
        response = None
        try:
            while True:
                step = steps.send(response)
                if isinstance(step, Call):
                    response = self._services.call(step.kind, step.service, step.request,
                                                   max(step.within, self._within), self._within)
                else:
                    self._here.until(never, step)
        except StopIteration as end:
            return end.value
        except TimeoutError as error:
            raise RosError(f'node {self.name} does not answer ({error})', name=self.name,
                           remedy='start the controller, or give its name; both need the same '
                           'ROS_DOMAIN_ID') from error

    def _description(self) -> str:
        """Return the URDF text of the topic robot_description in the namespace of the node."""
        found: list[str] = []

        def hear(message: String) -> None:
            found.append(message.data)

        heard = self._here.node.create_subscription(
            String, beside(self.name, 'robot_description'), hear, qos.DESCRIPTION)
        self._here.until(lambda: found, self._within)
        self._here.node.destroy_subscription(heard)
        return found[-1] if found else ''


def reported(message: DiagnosticArray, controller: str) -> dict[str, dict[str, str]]:
    """Return values, and the 'message', of what diagnostics say of a controller, by subject."""
    begin = f'{controller.strip("/")}: '
    return {status.name.removeprefix(begin): {
        **{pair.key: pair.value for pair in status.values}, 'message': status.message}
        for status in message.status if status.name.startswith(begin)}


def warning(message: Log, node: str) -> str:
    """Return a warning that a node has logged, '' for other lines of a log."""
    return message.msg if (message.level >= LoggingSeverity.WARN
                           and message.name == full(node)[1:].replace('/', '.')) else ''


def _message(name: str, value: Any) -> ParameterMessage:
    """Return a value of a parameter as a message; an empty list has the type of its parameter."""
    kind = TYPES[PARAMETERS[name].type] if value == [] and name in PARAMETERS else None
    return RosParameter(name, kind, value).to_parameter_msg()


def parsed(parameter: Parameter, text: str) -> Any:
    """
    Return the value of a parameter that a text stands for; numbers are separated by commas.

    :raises ParameterError: it is no value of the parameter.
    """
    kind, text = parameter.type, text.strip()
    value: Any
    try:
        if kind == list[float]:
            value = [] if text == '[]' else [float(one) for one in text.strip('[]').split(',')]
        elif kind in (str, int, float):
            value = kind(text)
        else:
            value = yaml.safe_load(text)
            if not (isinstance(value, bool) if kind is bool else isinstance(value, list)
                    and all(isinstance(one, kind.__args__) for one in value)):
                raise ValueError(text)
    except (ValueError, yaml.YAMLError) as error:
        raise ParameterError(f'{parameter.name} = {text!r} is not understood',
                             name=parameter.name, value=text,
                             remedy=f'write {WRITTEN[kind]}') from error
    parameter.check(value)
    return value


def written(value: Any) -> str:
    """Return a value of a parameter as text."""
    if isinstance(value, float):
        return f'{value:g}'
    return ', '.join(map(written, value)) if isinstance(value, list | tuple) else str(value)
