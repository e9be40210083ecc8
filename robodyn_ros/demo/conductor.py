# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""ROS client of the demo: services, topics and diagnostics of both nodes."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import WrenchStamped
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from numpy import ndarray
from rcl_interfaces.srv import SetParametersAtomically
import rclpy
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.signals import SignalHandlerOptions
from rclpy.time import Time
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from .recorder import Recorder
from ..control.cycle.compile_ahead import COMPILING
from ..control.references.trajectory import Waypoints
from ..errors import DemoError
from ..model.robot import RobotModel
from ..nodes.clients.live_control import push_message
from ..nodes.clients.play import trajectory_message
from ..nodes.clients.processes import Child, undisturbed
from ..nodes.middleware import middleware
from ..nodes.middleware.client_session import until
from ..nodes.middleware.executor import CoarseClockExecutor
from ..nodes.middleware.executor_subscription import open_subscription
from ..nodes.middleware.services import Services
from ..viewer.wishes import Push

START_TIMEOUT = 60.0    # [s]: discovery, and compilation without cache
ANSWER_TIMEOUT = 20.0    # [s]; arming alone may take 5 s
RETRY_INTERVAL = 1.0    # [s] of changes refused until their code is compiled
RECORDING_QOS = QoSProfile(depth=1000, reliability=ReliabilityPolicy.BEST_EFFORT)
TRANSITIONS = {'configure': Transition.TRANSITION_CONFIGURE,
               'activate': Transition.TRANSITION_ACTIVATE,
               'deactivate': Transition.TRANSITION_DEACTIVATE}


class Diagnosis(NamedTuple):
    """Report of the controller's control loop on /diagnostics."""

    time: float         # s, on the clock of the controller
    message: str
    phase: str
    reason: str         # of a fault, in words
    code: str           # of the reason
    cycles: int
    missed: int
    refused: int

    @classmethod
    def read(cls, message: DiagnosticArray) -> Iterator['Diagnosis']:
        """Yield a report for each status of a running control loop."""
        stamp = message.header.stamp
        for status in message.status:
            values = {pair.key: pair.value for pair in status.values}
            if 'cycles' in values:
                yield cls(stamp.sec + stamp.nanosec * 1e-9, status.message, values['phase'],
                          values['reason'], values['reason code'], int(values['cycles']),
                          int(values['missed periods']), int(values['refused samples']))


class Conductor:
    """
    Client of the nodes `controller` and `simulator`, in one thread.

    Every wait has a deadline, and ends with :class:`DemoError` when a node has ended.

    :param tick: is called several times a second while waiting.
    :param simulated: whether the nodes run on simulation time.
    """

    def __init__(self, node: Node, model: RobotModel, children: Mapping[str, Child],
                 tick: Callable[[], None], *, simulated: bool = False):
        self.model = model
        self.diagnoses: list[Diagnosis] = []
        self._node, self._children, self._tick = node, children, tick
        self._executor = CoarseClockExecutor(node.context)
        self._executor.add_node(node)
        self._services = Services(node, self.poll)
        node.create_subscription(DiagnosticArray, '/diagnostics', self._on_diagnostics, 10)
        self._trajectory = node.create_publisher(JointTrajectory, 'controller/joint_trajectory', 1)
        self._push = node.create_publisher(WrenchStamped, 'simulator/push', 1)
        #: Messages of ``controller/external_torque``, until the list is cleared.
        self.external: list[JointState] = []
        node.create_subscription(JointState, 'controller/external_torque', self.external.append,
                                 RECORDING_QOS)
        self._states = open_subscription(node, JointState, 'joint_states', RECORDING_QOS)
        self.recorder = Recorder(self._states, model, simulated=simulated)

    def close(self) -> None:
        """End recording and leave the executor."""
        self.recorder.stop()
        self._states.destroy()
        self._executor.shutdown()

    # Waiting

    def poll(self) -> None:
        """Process what has been received; raise :class:`DemoError` if a node has ended."""
        self._executor.spin_once(timeout_sec=0.02)
        for child in self._children.values():
            child.check()
        self._tick()

    def happens(self, condition: Callable[[], bool], within: float) -> bool:
        """Wait until the condition holds, or not longer than ``within`` [s]; return whether."""
        return until(condition, within, self.poll)

    def wait_until(self, condition: Callable[[], bool], within: float, what: str,
                   who: str) -> None:
        """Wait for a condition that has to hold ``within`` [s], or raise :class:`DemoError`."""
        if not self.happens(condition, within):
            raise DemoError(f'{what} has not happened within {within:g} s', name=who,
                            remedy=f'see {self._children[who].log}')

    def watch(self, seconds: float) -> None:
        """Record states for some time."""
        self.happens(lambda: False, seconds)

    # Asking

    def change_state(self, transition: str) -> None:
        """Make the controller `configure`, `activate` or `deactivate`."""
        within = START_TIMEOUT if transition == 'configure' else ANSWER_TIMEOUT
        request = ChangeState.Request(transition=Transition(id=TRANSITIONS[transition]))
        before = len(self._children['controller'].output)
        if not self._call(ChangeState, 'controller/change_state', request, within).success:
            said = self._children['controller'].output[before:].strip().splitlines()
            raise DemoError(f'the controller does not {transition}', name='controller',
                            remedy=said[-1] if said else 'it does not say why')

    def set_parameters(self, node: str, values: Mapping[str, Any]) -> None:
        """Change parameters of a node, all or none; wait while what they need is compiled."""
        request = SetParametersAtomically.Request(parameters=[
            Parameter(name, value=value).to_parameter_msg() for name, value in values.items()])
        service = f'{node}/set_parameters_atomically'
        while True:
            result = self._call(SetParametersAtomically, service, request, ANSWER_TIMEOUT).result
            if result.successful or COMPILING not in result.reason:
                break
            self.watch(RETRY_INTERVAL)
        if not result.successful:
            raise DemoError(f'the {node} refuses parameters', name=node, value=dict(values),
                            remedy=result.reason)

    def trigger(self, service: str) -> None:
        """Call a Trigger service, e.g. `simulator/reset`."""
        answer = self._call(Trigger, service, Trigger.Request(), ANSWER_TIMEOUT)
        if not answer.success:
            raise DemoError(f'{service} failed', name=service, remedy=answer.message)

    def push(self, link: str, force: ndarray) -> None:
        """Push a link of the simulated arm with a force (3,) [N] in world axes."""
        self._publish(self._push, push_message(Push(link, force)), 'simulator', 'push on',
                      'push refused')

    def pull(self, link: str, force: ndarray) -> None:
        """Push as :meth:`push` does, repeatedly, without waiting for an answer."""
        self._push.publish(push_message(Push(link, force)))

    def send(self, waypoints: Waypoints, start: float) -> None:
        """Send the controller a trajectory that starts at ``start`` [s] on its clock."""
        message = trajectory_message(waypoints)
        message.header.stamp = Time(nanoseconds=round(start * 1e9)).to_msg()
        self._publish(self._trajectory, message, 'controller', 'following a trajectory',
                      'trajectory refused')

    def next_diagnosis(self) -> Diagnosis:
        """Wait for the controller's next report on /diagnostics and return it."""
        count = len(self.diagnoses)
        self.wait_until(lambda: len(self.diagnoses) > count, ANSWER_TIMEOUT,
                        'a report on /diagnostics', 'controller')
        return self.diagnoses[-1]

    def _call(self, kind: Any, service: str, request: Any, within: float) -> Any:
        try:
            return self._services.call(kind, service, request, within, START_TIMEOUT)
        except TimeoutError as error:
            who = service.partition('/')[0]
            raise DemoError(str(error), name=who,
                            remedy=f'see {self._children[who].log}') from error

    def _publish(self, publisher: Any, message: Any, who: str, taken: str, refused: str) -> None:
        """Publish, and wait until the log of the node shows its answer."""
        child = self._children[who]
        self.wait_until(lambda: publisher.get_subscription_count() > 0, START_TIMEOUT,
                        f'a subscription of {publisher.topic}', who)
        before = len(child.output)

        def lines() -> Iterable[str]:
            return child.output[before:].splitlines()
        publisher.publish(message)
        self.wait_until(lambda: any(taken in x or refused in x for x in lines()), ANSWER_TIMEOUT,
                        f'an answer to {publisher.topic}', who)
        for line in lines():
            if refused in line:
                raise DemoError(f'the {who} refuses {publisher.topic}', name=who,
                                remedy=line[line.index(refused):])

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        self.diagnoses.extend(Diagnosis.read(message))


@contextmanager
def conducting(model: RobotModel, children: Mapping[str, Child], tick: Callable[[], None], *,
               simulated: bool = False) -> Iterator[Conductor]:
    """Yield a :class:`Conductor` with a ROS context, which is shut down at the end."""
    middleware.start(args=[], signal_handler_options=SignalHandlerOptions.NO)
    node = conductor = None
    try:
        node = Node('demo')
        conductor = Conductor(node, model, children, tick, simulated=simulated)
        yield conductor
    finally:
        with undisturbed():
            if conductor is not None:
                conductor.close()
            if node is not None:
                with middleware.farewell():
                    node.destroy_node()
            rclpy.shutdown()
