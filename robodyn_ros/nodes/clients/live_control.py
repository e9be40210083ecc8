# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Changes of a running controller, and pushes of a simulated arm, that a page asks for."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import PoseStamped, TwistStamped, WrenchStamped
import numpy as np
from numpy import ndarray
from rcl_interfaces.msg import Log
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.task import Future
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool

from .play import slowed, trajectory_message
from .running_controller import (
    Call, full, PARAMETERS, parsed, Requests, SERVICES, Steps, warning, written)
from ..controller.robot import named_poses
from ..middleware.qos import LATCHED_STOP, STATES_IN
from ..middleware.raw_subscription import open_subscription
from ...control.laws import registry
from ...control.references.trajectory import gentle_motion
from ...control.settings.settings import Settings
from ...errors import ParameterError, RobodynError
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
        self._names, self._controller = tuple(joint_names), controller.strip('/')
        self._latest: dict[str, tuple[float, JointState]] = {}
        for topic in ('tracking_error', 'external_torque') if controller else ():
            node.create_subscription(JointState, f'{full(controller)}/{topic}',
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
        Take the received messages; return whether all joints have a state that is not old.

        :param now: time [s] on any clock that does not go back.
        """
        self._now = now
        for message in self._states.drain():
            self._decoder.decode(message, now)      # a malformed one changes nothing
        return not self._decoder.missing and self._age <= STATE_TIMEOUT

    @property
    def _age(self) -> float:
        """Age of the oldest state of a joint [s]."""
        return self._now - float(self._decoder.state['received'].min())

    def report(self) -> list[Line]:
        """Return what is missing or old, and the statuses of the diagnostics."""
        lines = []
        if missing := self._decoder.missing:
            lines.append(Line(f'waiting for {", ".join(missing)} on {self.topic}', True))
        elif self._age > STATE_TIMEOUT:
            lines.append(Line(f'no joint states for {self._age:.0f} s: the picture is old', True))
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
            if (key in self._heard or len(self._heard) < MAX_STATUSES
                    or status.name.startswith(f'{self._controller}: ')):    # of many robots
                self._heard[key] = self._now, status


SERVICE_TIMEOUT = 10.0    # [s] of what is not known to take longer
DISCOVERY_TIMEOUT = 1.0    # [s] of a service
PARAMETER_PERIOD = 1.0    # [s] between two readings
SENDING_TIME = 1.0      # [s] from the publication of a motion to its arrival, at most
PUSH_INTERVAL = 0.1     # s between two messages of a push that lasts; the simulator's is longer
PAYLOAD = 'payload_mass', 'payload_com', 'payload_frame'
SPEED = 'velocity_limit', 'velocity_scale'
BASE = ('mode', 'task_frame', 'poses', 'emergency_stop', *PAYLOAD, *SPEED)
GAINS = tuple(dict.fromkeys(f.name for law in registry.BUILT_IN for f in law.declared))


@dataclass(eq=False)
class Job:
    """Requests under way; ``what`` they are for, '' where no answer is shown."""

    what: str
    steps: Steps
    deadline: float = 0.0
    call: Call | None = None
    future: Future | None = None        # of the response to the call, once it is sent


class LiveControl:
    """
    Client of a controller, and of a simulator if there is one; it never waits.

    :param controller, simulator: names of the nodes, with their namespace.
    :param model: the robot of the page.
    """

    def __init__(self, node: Node, controller: str, simulator: str, model: RobotModel):
        self._node, self._model = node, model
        self._requests = Requests(node, controller)
        self._controller, self._simulator = self._requests.name, full(simulator)
        # By the full name of the service; those made now are known to it when they are used
        self._clients: dict[str, Any] = {}
        for service, kind in SERVICES.items():
            self._client(Call(kind, f'{self._controller}/{service}', None))
        # By topic: publisher, what it is to send, time [s]
        self._brief: dict[str, tuple[Any, Any, float]] = {}
        self._targets: tuple[Any, Any] | None = None    # publishers of target poses and twists
        self._push = node.create_publisher(WrenchStamped, f'{self._simulator}/push', 1)
        node.create_subscription(Log, '/rosout', self._hear, 100)
        self._jobs: list[Job] = []
        self._arming: Job | None = None
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
        if wish in (Command.STOP, Command.EMERGENCY_STOP) and self._arming in self._jobs:
            self._jobs.remove(self._arming)     # or its next request would follow the stop
        if isinstance(wish, Change):
            self._begin(', '.join(wish.texts), self._change(wish), now)
        elif wish is Command.ARM:
            self._arming = self._begin('arm', self._requests.arm(), now)
        elif wish is Command.STOP:
            self._begin('stop', self._requests.stop(), now)
        elif isinstance(wish, Go):
            self._go(wish, now)
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
        for job in [*self._jobs]:
            self._continue(job, now)
        if now > self._read + PARAMETER_PERIOD and not self._jobs:
            self._read = now
            self._begin('', self._read_parameters(), now)
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

    def poses(self) -> dict[str, ndarray]:
        """Return the named poses (nv,) [rad | m]; none if the controller has another robot."""
        try:
            return named_poses(self.in_force.get('poses', []), self._model)
        except ParameterError:
            return {}

    def _begin(self, what: str, steps: Steps, now: float) -> Job:
        self._jobs.append(job := Job(what, steps))
        self._advance(job, None, now)
        return job

    def _continue(self, job: Job, now: float) -> None:
        """Send a request whose service is there, take a response, or give it up."""
        call, future = job.call, job.future
        if future is not None and future.done():
            self._advance(job, future.result(), now)
        elif call is not None and future is None and (
                client := self._client(call)).service_is_ready():
            job.future = client.call_async(call.request)
            job.deadline = now + max(SERVICE_TIMEOUT, call.within)
        elif now > job.deadline and call is None:       # a pause is over
            self._advance(job, None, now)
        elif now > job.deadline:
            self._end(job, (f'{job.what}: no answer; whether it is in force is not known'
                            if future is not None else
                            f'{job.what}: {self._controller} does not answer; is it running?'))

    def _advance(self, job: Job, response: Any, now: float) -> None:
        """Go on with a job after a response, or a pause."""
        try:
            step = job.steps.send(response)
        except StopIteration as end:
            self._end(job, end.value, False)
        except RobodynError as error:
            self._end(job, str(error))
        else:
            job.call, pause = (step, DISCOVERY_TIMEOUT) if isinstance(step, Call) else (None, step)
            job.future, job.deadline = None, now + pause
            self._continue(job, now)

    def _end(self, job: Job, text: str, problem: bool = True) -> None:
        self._jobs.remove(job)
        if job.what:
            self._answer(text, problem)

    def _client(self, call: Call) -> Any:
        if call.service not in self._clients:
            self._clients[call.service] = self._node.create_client(call.kind, call.service)
        return self._clients[call.service]

    def _go(self, wish: Go, now: float) -> None:
        """Send a motion that is slow by the limits of the controller."""
        try:
            own = Settings(**{name: self.in_force[name] for name in SPEED})
            robot = slowed(self._model, own)
        except (KeyError, ParameterError) as error:
            self._answer(f'the arm is not moved: {error}' if self.in_force else
                         f'{self._controller} has not sent its velocity limits')
            return
        self._send('joint_trajectory', trajectory_message(gentle_motion(
            robot, wish.start, wish.goal)), 1, now)

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

    def _change(self, wish: Change) -> Steps:
        try:
            done = yield from self._requests.set({
                name: parsed(PARAMETERS[name], text) for name, text in wish.texts.items()})
        except ParameterError:
            self.refused += wish.texts
            raise
        finally:
            self._read = -PARAMETER_PERIOD
        return f'accepted: {done}'

    def _read_parameters(self) -> Steps:
        self.in_force = yield from self._requests.get([*dict.fromkeys([*BASE, *GAINS])])

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

    def _hear(self, message: Log) -> None:
        for node in self._controller, self._simulator:
            if text := warning(message, node):
                self._answer(text)


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
