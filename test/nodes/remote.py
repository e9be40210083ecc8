# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A test's own node: asks the nodes under test over ROS, and hears what they publish."""

from collections.abc import Callable, Iterable
import re
import threading
import time

from diagnostic_msgs.msg import DiagnosticArray
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState, GetState
import numpy as np
from processes import DEADLINE, Process
from rcl_interfaces.msg import Parameter as ParameterMessage, ParameterValue
from rcl_interfaces.srv import SetParameters, SetParametersAtomically
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.serialization import deserialize_message
from rclpy.task import Future
from robodyn_ros.control.cycle.compile_ahead import COMPILING
from robodyn_ros.nodes.middleware import middleware
from robodyn_ros.nodes.middleware.client_session import Services
from robodyn_ros.nodes.middleware.raw_subscription import Sample, SerializedSubscription
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

TRANSITIONS = {'configure': Transition.TRANSITION_CONFIGURE,
               'activate': Transition.TRANSITION_ACTIVATE,
               'deactivate': Transition.TRANSITION_DEACTIVATE,
               'cleanup': Transition.TRANSITION_CLEANUP}


class Recorder:
    """Takes every message of a topic on a thread of its own, however fast they come."""

    def __init__(self, node, kind: type, topic: str):
        self._kind = kind
        self._samples: list[Sample] = []
        self._messages: list = []
        self._over, self._news = threading.Event(), threading.Event()
        self._subscription = SerializedSubscription(node, kind, topic, 5000)
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        # A test may drop its node without `close`: waits then return at once, for ever
        while not self._over.is_set() and self._subscription.alive:
            self._subscription.wait(100_000_000)
            taken = self._subscription.drain_numbered()
            self._samples.extend(taken)     # not `+=`, which would undo a `forget` meanwhile
            self._news.set()

    def wait(self, number: int, seconds: float) -> bool:
        """Return whether there are so many within some time."""
        end = time.monotonic() + seconds
        while len(self._samples) < number:
            if (left := end - time.monotonic()) <= 0.0:
                return False
            self._news.clear()
            if len(self._samples) < number:
                self._news.wait(left)
        return True

    def messages(self) -> list:
        """Everything since `forget`, oldest first."""
        for sample in self._samples[len(self._messages):]:
            self._messages.append(deserialize_message(sample.message, self._kind))
        return self._messages

    def __len__(self) -> int:
        """Return the number of them, without looking into any."""
        return len(self._samples)

    def since(self, instant: int) -> list:
        """Those that were published after a time [ns], by the clock of their publisher."""
        samples = list(self._samples)
        return [message for message, sample in zip(self.messages(), samples)
                if sample.published > instant]

    def newest(self) -> object:
        """Return the last of them, None if there is none; quick, however many there are."""
        samples = self._samples[-1:]
        return deserialize_message(samples[0].message, self._kind) if samples else None

    def forget(self) -> None:
        """Start anew."""
        self._samples, self._messages = [], []

    def close(self) -> None:
        """End the thread."""
        self._over.set()
        self._subscription.wake()
        self._thread.join()
        self._subscription.destroy()


class Remote:
    """
    Everything that a test hears, oldest first, and the calls it makes.

    :param namespace: of the nodes that it asks, and whose reports are `diagnostics`.
    :param processes: returns those that it waits for: the end of one is the end of waiting.
    """

    def __init__(self, name: str = 'test', args: list[str] | None = None, namespace: str = '',
                 processes: Callable[[], Iterable[Process]] = tuple):
        self._processes, self._failed, self._looked = processes, list[Process](), time.monotonic()
        self.context = rclpy.Context()
        middleware.start(args=args, context=self.context)
        # Nobody asks this node: the nodes under test need not discover twenty more endpoints
        self.node = rclpy.create_node(
            name, context=self.context, namespace=namespace, enable_rosout=False,
            start_parameter_services=False, parameter_overrides=[
                Parameter('start_type_description_service', value=False)])
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self._commands = Recorder(self.node, Float64MultiArray, 'commands')
        self._states = Recorder(self.node, JointState, 'joint_states')
        self.diagnostics: dict[str, str] = {}
        self.timing: dict[str, str] = {}
        self.reports = 0                # diagnostics heard so far
        self._services = Services(self.node, lambda: self._turn(0.05))
        self.node.create_subscription(DiagnosticArray, '/diagnostics', self._on_diagnostics, 10)

    def ignore_commands(self) -> None:
        """Be no listener of the commands any more."""
        self._commands.close()

    def ignore_states(self) -> None:
        """Stop listening to the states: a test that publishes them need not hear them."""
        self._states.close()

    def hear_commands(self, topic: str = 'commands') -> None:
        """Be one again; the list of commands starts anew."""
        self._commands = Recorder(self.node, Float64MultiArray, topic)

    def close(self) -> None:
        """Release everything."""
        self._commands.close()
        self._states.close()
        nodes = list(self.executor.get_nodes())     # a test may have added one
        self.executor.shutdown()
        for node in nodes:
            node.destroy_node()
        self.context.shutdown()

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        self.reports += 1
        ours = [status for status in message.status
                if '/' + status.name.rpartition('/')[0] == self.node.get_namespace()]
        for status in ours:
            told = {v.key: v.value for v in status.values}
            told['level'], told['message'] = str(ord(status.level)), status.message
            if status.name.endswith(': timing'):
                self.timing = told
            else:
                self.diagnostics = told

    def trajectories(self):
        """Return a publisher of trajectories that the controller hears."""
        publisher = self.node.create_publisher(JointTrajectory, 'controller/joint_trajectory', 1)
        self.until(publisher.get_subscription_count, 'the controller')
        return publisher

    def until(self, condition: Callable[[], object], what: str = 'it',
              deadline: float = DEADLINE, poll: float = 0.05) -> None:
        """Listen until a condition holds, which is checked after each event or ``poll`` [s]."""
        end = time.monotonic() + deadline
        while not condition():
            assert time.monotonic() < end, f'{what}: not within {deadline:g} s'
            self._turn(poll)

    def _turn(self, poll: float) -> None:
        """Listen for one event; fail if a process has ended by itself, a second ago or more."""
        self.executor.spin_once(poll)
        if time.monotonic() > self._looked + 1.0:
            self._looked, before = time.monotonic(), self._failed
            self._failed = [process for process in self._processes() if process.failed]
            for process in self._failed:
                if process in before:
                    raise process.failure('the process has ended')

    def until_line(self, process: Process, pattern: str) -> None:
        """Listen, and let timers publish, until a process has printed a line."""
        self.until(lambda: re.search(pattern, process.text, re.MULTILINE),
                   f'{pattern!r} in {process.output}')

    def listen(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0.0:
            self.executor.spin_once(min(0.02, left))

    @property
    def now(self) -> float:
        """Return the stamp of the last state [s]; in lockstep a busy machine slows it down."""
        self.until(self.newest_state, 'states')
        stamp = self.newest_state().header.stamp
        return stamp.sec + 1e-9 * stamp.nanosec

    def pass_time(self, seconds: float) -> None:
        """Listen until states are so much later."""
        end = self.now + seconds
        self.until(lambda: self.now > end, f'{seconds:g} s later', poll=0.002)

    def ask(self, kind: type, name: str, request: object) -> Future:
        """Call a service and return its answer-to-be."""
        return self._services.ask(kind, name, request, DEADLINE)

    def call(self, kind: type, name: str, request: object) -> object:
        """Call a service and return its answer."""
        return self._services.call(kind, name, request, DEADLINE, DEADLINE)

    def trigger(self, name: str) -> tuple[bool, str]:
        """Call a Trigger service: success and message."""
        answer = self.call(Trigger, name, Trigger.Request())
        return answer.success, answer.message

    def begin(self, transition: str) -> Future:
        """Ask the controller for a lifecycle transition, which may take its time."""
        request = ChangeState.Request(transition=Transition(id=TRANSITIONS[transition]))
        return self.ask(ChangeState, 'controller/change_state', request)

    def change(self, transition: str) -> bool:
        """Ask the controller for a lifecycle transition and wait for it."""
        future = self.begin(transition)
        self.until(future.done, transition)
        return future.result().success

    def state(self) -> str:
        """Lifecycle state of the controller."""
        return self.call(GetState, 'controller/get_state', GetState.Request()).current_state.label

    def set(self, node: str, **values: object) -> str:  # noqa: A003
        """Set parameters as one set; the reason of a refusal, or ''; wait while they compile."""
        request = SetParametersAtomically.Request(
            parameters=[Parameter(k, value=v).to_parameter_msg() for k, v in values.items()])
        while True:
            reason = self.call(SetParametersAtomically, f'{node}/set_parameters_atomically',
                               request).result.reason
            if COMPILING not in reason:
                return reason
            time.sleep(1.0)

    def malformed_is_refused(self, node: str) -> None:
        """Check that both services refuse a parameter of a type that there is not, and why."""
        wrong = ParameterMessage(name='mode', value=ParameterValue(type=99))
        answer = self.call(SetParameters, f'{node}/set_parameters', SetParameters.Request(
            parameters=[wrong, wrong]))
        assert [result.successful for result in answer.results] == [False, False]
        assert 'type 99' in answer.results[0].reason
        answer = self.call(SetParametersAtomically, f'{node}/set_parameters_atomically',
                           SetParametersAtomically.Request(parameters=[wrong]))
        assert not answer.result.successful and 'type 99' in answer.result.reason

    @property
    def commands(self) -> list[list[float]]:
        """Efforts heard since the last `forget`."""
        return [list(m.data) for m in self._commands.messages()]

    def commands_since(self, instant: int) -> list[list[float]]:
        """Efforts published after an instant of `time.time_ns`, however late others came."""
        return [list(m.data) for m in self._commands.since(instant)]

    def command(self, number: int, seconds: float) -> list[float] | None:
        """One of them, counted from 0; None if it does not come within some time."""
        if not self._commands.wait(number + 1, seconds):
            return None
        return list(self._commands.messages()[number].data)

    @property
    def states(self) -> list[JointState]:
        """Joint states heard since then."""
        return self._states.messages()

    @property
    def command_count(self) -> int:
        """Return the number of efforts heard since the last `forget`."""
        return len(self._commands)

    @property
    def state_count(self) -> int:
        """Return the number of joint states heard since then."""
        return len(self._states)

    def newest_state(self) -> JointState | None:
        return self._states.newest()

    def newest_command(self) -> list[float] | None:
        """Return the last efforts heard, None if there are none."""
        message = self._commands.newest()
        return None if message is None else list(message.data)

    def forget(self) -> None:
        """Start the lists of commands and states anew."""
        self._commands.forget()
        self._states.forget()

    def position(self) -> np.ndarray:
        """Return the last position heard (nv,), which is waited for."""
        self.until(self.newest_state, 'states')
        return np.array(self.newest_state().position)

    def positions(self) -> np.ndarray:
        """Return positions heard so far (K, nv), of one state at least, which is waited for."""
        self.until(self.newest_state, 'states')
        return np.array([m.position for m in self.states])
