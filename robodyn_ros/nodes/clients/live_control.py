# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Changes of a running controller, and pushes of a simulated arm, that a page asks for."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import PoseStamped, TwistStamped, WrenchStamped
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState, GetState
import numpy as np
from numpy import ndarray
from rcl_interfaces.msg import Log
from rcl_interfaces.srv import GetParameters, SetParametersAtomically
from rclpy.duration import Duration
from rclpy.logging import LoggingSeverity
from rclpy.node import Node
from rclpy.parameter import parameter_value_to_python
from rclpy.task import Future
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool
from std_srvs.srv import Trigger
import yaml

from .play import trajectory_message
from .running_controller import DONE, parameter_request, TRANSITION_TIMEOUT, transitions_to_active
from ..controller.parameters import TABLE
from ..controller.robot import named_poses
from ..middleware.parameters import Parameter, WRITTEN
from ..middleware.qos import LATCHED_STOP, STATES_IN
from ..middleware.raw_subscription import open_subscription
from ..topics.publishers import told_name
from ...control.laws import registry
from ...errors import ParameterError
from ...model.robot import RobotModel
from ...viewer.wishes import Aim, Change, Command, Field, Go, Push, Target, Wish
from ...wire.codecs import JointStateDecoder

STATE_TIMEOUT = 0.5    # [s] without a state of some joint
STATUS_TIMEOUT = 5.0    # [s] after which an unrepeated status is dropped
MAX_STATUSES = 12
# Values of the diagnostics that the page shows: of the loop, of its timing
DETAILS = ('phase', 'mode', 'reason', 'rate [Hz]', 'nominal rate [Hz]', 'missed periods',
           'scheduling', 'data path', 'refused samples', 'implausible samples',
           'saturated cycles', 'rate-limited cycles', 'cycles at position or velocity limits',
           *(f'{what} {figure} [us]' for what in ('wake-up error', 'cycle time',
                                                  'state to effort')
             for figure in ('p50', 'p99', 'max')))


class Line(NamedTuple):
    """A line of the report, and whether it is a problem."""

    text: str
    problem: bool


class LiveRobot:
    """
    Listener to the joint states and the diagnostics; it publishes nothing.

    It asks no publisher to wait or to send again (best effort), and decodes the newest messages
    only when it is asked to.

    :param joint_names: joints of the robot, in the order of :attr:`position`.
    :param topic: of the joint states.
    :param controller: name of the controller node, with its namespace, for its tracking error and
        its estimate of external efforts; '' for none.
    """

    def __init__(self, node: Node, joint_names: Sequence[str], topic: str, controller: str = ''):
        self.topic = node.resolve_topic_name(topic)
        self._decoder = JointStateDecoder(joint_names)
        self._states = open_subscription(node, JointState, topic, STATES_IN)
        self._heard: dict[tuple[str, str], tuple[float, DiagnosticStatus]] = {}
        self._now = 0.0
        self._diagnostics = node.create_subscription(DiagnosticArray, '/diagnostics', self._hear,
                                                     STATES_IN)
        self._names, self._controller = tuple(joint_names), told_name('', controller)
        self._latest: dict[str, tuple[float, JointState]] = {}
        for topic in ('tracking_error', 'external_torque') if controller else ():
            node.create_subscription(JointState, f'/{controller.strip("/")}/{topic}',
                                     partial(self._keep, topic), STATES_IN)

    def _keep(self, topic: str, message: JointState) -> None:
        self._latest[topic] = self._now, message

    @property
    def position(self) -> ndarray:
        """Newest positions (nv,) [rad | m], NaN of joints without any state yet."""
        return self._decoder.state['position'].copy()

    @property
    def effort(self) -> ndarray:
        """Newest measured efforts (nv,) [N·m | N], NaN where the states carry none."""
        return self._decoder.state['effort'].copy()

    @property
    def tracking_error(self) -> ndarray:
        """
        Reference minus position (nv,) [rad | m], NaN while no trajectory is followed.

        It is that of one cycle of the controller: the newest messages of states and reference are
        of different times, which at speed is a larger error than that of the controller.
        """
        return self._of('tracking_error', 'position')

    @property
    def external_effort(self) -> ndarray:
        """Estimated external efforts (nv,) [N·m | N], NaN while there is no estimate."""
        return self._of('external_torque', 'effort')

    def _of(self, topic: str, field: str) -> ndarray:
        """Return values (nv,) of a message in the order of the model, NaN if it is old."""
        received, message = self._latest.get(topic, (-np.inf, JointState()))
        values = dict(zip(message.name, getattr(message, field)))
        if self._now - received > STATE_TIMEOUT:
            values = {}
        return np.array([values.get(name, np.nan) for name in self._names])

    @property
    def phase(self) -> str:
        """Phase that the controller has reported, '' while it is not active."""
        name = f'{self._controller}: control loop'
        return next((pair.value for _, (heard, status) in self._heard.items()
                     if status.name == name and self._now - heard <= STATUS_TIMEOUT
                     for pair in status.values if pair.key == 'phase'), '')

    def details(self) -> list[tuple[str, str]]:
        """Return names and values of the diagnostics that are not old, of each status."""
        return [(f'{status.name.partition(": ")[0]}: {pair.key}', pair.value)
                for _, (heard, status) in sorted(self._heard.items())
                if self._now - heard <= STATUS_TIMEOUT
                for pair in status.values if pair.key in DETAILS and pair.value]

    def update(self, now: float) -> bool:
        """
        Take the received messages; return whether all joints have a state.

        :param now: time [s] on any clock that does not go back.
        """
        self._now = now
        for message in self._states.drain():
            self._decoder.decode(message, now)      # a malformed one changes nothing
        return not self._decoder.missing

    def report(self) -> list[Line]:
        """Return what is missing or old, and the statuses of the diagnostics."""
        lines = []
        if missing := self._decoder.missing:
            lines.append(Line(f'waiting for {", ".join(missing)} on {self.topic}', True))
        elif (age := self._now - float(self._decoder.state['received'].min())) > STATE_TIMEOUT:
            lines.append(Line(f'no joint states for {age:.0f} s: the picture is old', True))
        # Timing matters for an arm whose loop has a problem, such as missed periods
        troubled = {hardware for (hardware, name), (_, status) in self._heard.items()
                    if status.level != DiagnosticStatus.OK and not name.endswith(': timing')}
        for (hardware, name), (heard, status) in sorted(self._heard.items()):
            if self._now - heard <= STATUS_TIMEOUT:
                lines.append(Line(f'{hardware} {name}: {status.message}', (
                    hardware in troubled if name.endswith(': timing')
                    else status.level != DiagnosticStatus.OK)))
        return lines

    def _hear(self, message: DiagnosticArray) -> None:
        for status in message.status:
            key = status.hardware_id, status.name
            if key in self._heard or len(self._heard) < MAX_STATUSES:
                self._heard[key] = self._now, status


SERVICES = {'set_parameters_atomically': SetParametersAtomically, 'get_state': GetState,
            'get_parameters': GetParameters, 'reset': Trigger, 'change_state': ChangeState}
SERVICE_TIMEOUT = 10.0    # [s]; arming alone may take 5 s
PARAMETER_PERIOD = 1.0    # [s] between two readings
SENDING_TIME = 1.0      # [s] from the publication of a motion to its arrival, at most
PUSH_INTERVAL = 0.1     # s between two messages of a push that lasts; the simulator's is longer
PAYLOAD = 'payload_mass', 'payload_com', 'payload_frame'
BASE = ('mode', 'task_frame', 'poses', 'emergency_stop', *PAYLOAD)
PARAMETERS = {p.name: p for p in TABLE}
GAINS = tuple(dict.fromkeys(f.name for law in registry.BUILT_IN for f in law.declared))


class Pending(NamedTuple):
    """A request under way, and what becomes of its response."""

    what: str
    future: Future
    deadline: float
    done: Callable[[Any], None]


class LiveControl:
    """
    Client of a controller, and of a simulator if there is one; it never waits.

    :param controller, simulator: names of the nodes, with their namespace.
    """

    def __init__(self, node: Node, controller: str, simulator: str):
        self._node = node
        self._controller, self._simulator = (f'/{name.strip("/")}' for name in (
            controller, simulator))
        self._clients: dict[str, Any] = {
            name: node.create_client(kind, f'{self._controller}/{name}')
            for name, kind in SERVICES.items()}
        self._clients['release_brakes'] = node.create_client(
            Trigger, f'{self._simulator}/release_brakes')
        # By topic: publisher, what it is to send, time [s]
        self._brief: dict[str, tuple[Any, Any, float]] = {}
        self._targets: tuple[Any, Any] | None = None    # publishers of target poses and twists
        self._push = node.create_publisher(WrenchStamped, f'{self._simulator}/push', 1)
        node.create_subscription(Log, '/rosout', self._hear, 100)
        self._pending: list[Pending] = []
        self._answers: list[Line] = []
        self._read, self._pushed = -PARAMETER_PERIOD, 0.0
        #: Current parameters by name, empty until the controller has answered.
        self.in_force: dict[str, Any] = {}
        #: Names of parameters whose change was refused since the last call of :meth:`answers`.
        self.refused: list[str] = []

    @property
    def simulated(self) -> bool:
        """Whether a simulator takes pushes."""
        return self._push.get_subscription_count() > 0

    def do(self, wish: Wish, now: float) -> None:
        """Do what the page asks for; its answer comes with a later :meth:`answers`."""
        if isinstance(wish, Change):
            self._change(wish, now)
        elif wish is Command.ARM:
            self._call('get_state', GetState.Request(), 'arm', now,
                       lambda response: self._arm(response.current_state.id, now))
        elif wish is Command.STOP:
            self._transit([Transition.TRANSITION_DEACTIVATE], now)
        elif isinstance(wish, Go):
            self._send('joint_trajectory', trajectory_message(wish.motion), 1, now)
        elif wish is Command.EMERGENCY_STOP:
            self._send('emergency_stop', Bool(data=True), LATCHED_STOP, now)
        elif isinstance(wish, Aim):
            self._aim(wish.used)
        elif isinstance(wish, Push):
            self._pull(wish, now)
        elif self._targets is not None:
            pose, twist = self._targets
            if isinstance(wish, Target):
                pose.publish(pose_message(wish))
            else:
                twist.publish(TwistStamped())

    def close(self) -> None:
        """Stop following targets of the page."""
        if self._targets is not None:
            twist = self._targets[1]
            twist.publish(TwistStamped())
            twist.wait_for_all_acked(Duration(seconds=1))
            self._aim(False)

    def answers(self, now: float) -> list[Line]:
        """Return the answers that have come, and read the parameters now and then."""
        self._send_waiting(now)
        for one in [one for one in self._pending if one.future.done()]:
            self._pending.remove(one)
            one.done(one.future.result())
        for one in [one for one in self._pending if now > one.deadline]:
            self._pending.remove(one)
            if one.what:
                self._answer(f'{one.what}: no answer; whether it is in force is not known')
        if now > self._read + PARAMETER_PERIOD and not self._pending:
            self._read = now
            if self._clients['get_parameters'].service_is_ready():
                names = list(dict.fromkeys([*BASE, *GAINS]))
                self._call('get_parameters', GetParameters.Request(names=names), '', now,
                           lambda response: self._take(names, response))
        told, self._answers = self._answers, []
        return told

    def gains(self) -> list[Field]:
        """Return the gains of the present mode; none of a user-defined law."""
        try:
            law = registry.find(self.in_force.get('mode', ''), load=False)
        except ParameterError:
            return []
        return [self._field(field.name) for field in law.declared
                if field.name in self.in_force and field.name in PARAMETERS]

    def payload(self) -> list[Field]:
        """Return the present payload."""
        return [self._field(name) for name in PAYLOAD if name in self.in_force]

    def poses(self, model: RobotModel) -> dict[str, ndarray]:
        """Return the named poses (nv,) [rad | m]; none if the controller has another robot."""
        try:
            return named_poses(self.in_force.get('poses', []), model)
        except ParameterError:
            return {}

    def _arm(self, state: int, now: float) -> None:
        """Reset an active controller, else activate it, configured if need be."""
        if transitions := transitions_to_active(state):
            self._transit(transitions, now)
        else:
            def told(response: Any) -> None:
                self._answer(f'reset{" refused" * (not response.success)}: {response.message}',
                             not response.success)
                if response.success:
                    self._release_brakes(now)
            self._call('reset', Trigger.Request(), 'reset', now, told)

    def _release_brakes(self, now: float) -> None:
        """Release the brakes of the simulator, if there is one, once the controller is armed."""
        if self._clients['release_brakes'].service_is_ready():
            self._call('release_brakes', Trigger.Request(), 'brakes', now,
                       lambda response: self._answer(response.message, not response.success))

    def _transit(self, transitions: Sequence[int], now: float) -> None:
        """Change the state of the node by the first of these, then by the others."""
        first, *others = transitions
        what = DONE[first]

        def told(response: Any) -> None:
            self._answer(what if response.success else f'not {what}: refused',
                         not response.success)
            if response.success and others:
                self._transit(others, now)
            elif response.success and first == Transition.TRANSITION_ACTIVATE:
                self._release_brakes(now)
        self._call('change_state', ChangeState.Request(transition=Transition(id=first)), what, now,
                   told, TRANSITION_TIMEOUT)

    def _send(self, topic: str, message: Any, qos: Any, now: float) -> None:
        """Send a message in place of one that waits, once the controller listens."""
        if topic in self._brief:
            self._node.destroy_publisher(self._brief[topic][0])
        self._brief[topic] = (self._node.create_publisher(
            type(message), f'{self._controller}/{topic}', qos), message, now)

    def _send_waiting(self, now: float) -> None:
        """Publish what waits for the controller, then let others publish."""
        for topic, (publisher, message, since) in list(self._brief.items()):
            if message is not None and publisher.get_subscription_count():
                publisher.publish(message)
                self._brief[topic] = publisher, None, now
            elif now > since + (SENDING_TIME if message is None else SERVICE_TIMEOUT):
                if message is not None:
                    self._answer(f'{self._controller} does not listen to {topic}: nothing is sent')
                self._node.destroy_publisher(publisher)
                del self._brief[topic]

    def _field(self, name: str) -> Field:
        return Field(name, written(self.in_force[name]), PARAMETERS[name].unit,
                     PARAMETERS[name].description)

    def _aim(self, used: bool) -> None:
        """Create the publishers of targets while they are used, unless others publish."""
        if used and self._targets is None:
            pose, twist = (self._node.create_publisher(kind, f'{self._controller}/{topic}', 1)
                           for kind, topic in ((PoseStamped, 'target_pose'),
                                               (TwistStamped, 'target_twist')))
            self._targets = pose, twist
        elif not used and self._targets is not None:
            for publisher in self._targets:
                self._node.destroy_publisher(publisher)
            self._targets = None

    def _change(self, wish: Change, now: float) -> None:
        try:
            values = {name: parsed(PARAMETERS[name], text) for name, text in wish.texts.items()}
        except ParameterError as error:
            self._refuse(wish, str(error))
            return
        request = parameter_request(values)
        what = ', '.join(f'{name} = {written(value)}' for name, value in values.items())

        def told(response: Any) -> None:
            if response.result.successful:
                self._answer(f'accepted: {what}', False)
            else:
                self._refuse(wish, response.result.reason)
            self._read = -PARAMETER_PERIOD
        self._call('set_parameters_atomically', request, what, now, told)

    def _refuse(self, wish: Change, reason: str) -> None:
        self.refused += wish.texts
        self._answer(f'refused: {reason}')
        self._read = -PARAMETER_PERIOD

    def _pull(self, wish: Push, now: float) -> None:
        ends = not wish.force.any()
        if not ends and now < self._pushed + PUSH_INTERVAL:
            return
        if not self.simulated:
            self._answer('there is no simulator: a link is not pushed')
            return
        self._pushed = now
        self._push.publish(push_message(wish))

    def _answer(self, text: str, problem: bool = True) -> None:
        self._answers.append(Line(text, problem))

    def _call(self, service: str, request: Any, what: str, now: float,
              done: Callable[[Any], None], within: float = SERVICE_TIMEOUT) -> None:
        if not (client := self._clients[service]).service_is_ready():
            self._answer(f'{what}: {self._controller} does not answer; is it running?')
            return
        self._pending.append(Pending(what, client.call_async(request), now + within, done))

    def _take(self, names: Sequence[str], response: Any) -> None:
        values = [parameter_value_to_python(value) for value in response.values]
        if len(values) == len(names):
            self.in_force = {name: value for name, value in zip(names, values)
                             if value is not None}

    def _hear(self, message: Log) -> None:
        if message.level >= LoggingSeverity.WARN and message.name in (
                told_name('', name).replace('/', '.') for name in (self._controller,
                                                                   self._simulator)):
            self._answer(message.msg)


def parsed(parameter: Parameter, text: str) -> Any:
    """
    Return the value of a parameter that a text stands for; numbers are separated by commas.

    :raises ParameterError: it is no value of the parameter.
    """
    kind, text = parameter.type, text.strip()
    value: Any
    try:
        if kind == list[float]:
            value = [float(one) for one in text.strip('[]').split(',')]
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


def pose_message(wish: Target) -> PoseStamped:
    """Return a target pose in axes of the base."""
    message = PoseStamped()
    p, o = message.pose.position, message.pose.orientation
    p.x, p.y, p.z = _floats(wish.position)
    o.w, o.x, o.y, o.z = _floats(wish.wxyz)
    return message


def push_message(wish: Push) -> WrenchStamped:
    """Return a push of a link."""
    message = WrenchStamped()
    message.header.frame_id = wish.link
    f = message.wrench.force
    f.x, f.y, f.z = _floats(wish.force)
    return message


def _floats(values: ndarray) -> list[float]:
    return [float(value) for value in values]
