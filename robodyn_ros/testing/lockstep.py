# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Simulated arm and its controller as nodes, which tests of other packages run and disturb."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, ExitStack
from math import inf
import os
from pathlib import Path
import signal
import sys
import tempfile
import time
from typing import Any, NamedTuple
import uuid

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import WrenchStamped
import numpy as np
from numpy import ndarray
from rclpy.serialization import deserialize_message
from rclpy.time import Time
from sensor_msgs.msg import JointState

from ..catalog.robots import CatalogRobot, load_robot, write_parameters
from ..control.references.trajectory import Waypoints
from ..control.steps import guard
from ..errors import ParameterError, RosError
from ..model.robot import RobotModel
from ..nodes.clients.live_control import push_message
from ..nodes.clients.play import Player
from ..nodes.clients.processes import Child, running
from ..nodes.clients.running_controller import reported, RunningController
from ..nodes.middleware import qos
from ..nodes.middleware.client_session import Session, session
from ..nodes.middleware.raw_subscription import open_subscription
from ..nodes.topics.publishers import LOOP, TIMING
from ..viewer.wishes import Push

# [s] of wall time: they end what hangs. A busy machine takes long to start Python and to compile.
START_TIMEOUT = ANSWER_TIMEOUT = 600.0
FAULT_TIMEOUT = 20.0    # [s] of wall time until a fault, or until a reset is granted
POLL_PERIOD = 0.01    # [s] in which states are looked for
RETRY_INTERVAL = 0.2    # [s] of refused calls
FAULT_SETTLE_TIME = 0.5    # [s] after the first report of a fault, for delayed older reports
DEFAULT_RATE = 1000.0    # [Hz] of the simulator's states
TIME_TOLERANCE = 1e-6    # [s] of simulation time
LOCKSTEP_BEGINS = 'lockstep begins'    # in the log of the simulator
AUTOSTART_ENDS = 'autostart ends: '     # in that of the controller, with the reason
# Values that lockstep needs, and a test on a busy machine
SIMULATOR = {'lockstep': True, 'lockstep_settle': 0.2, 'lockstep_timeout': 5.0,
             'publish_clock': True, 'command_timeout': 5.0}
CONTROLLER = {'trigger': 'state', 'use_sim_time': True, 'autostart': True, 'flight_recorder': 0.0,
              'state_timeout': 1.0, 'late_limit': 1.0, 'arming_timeout': 60.0}


class States(NamedTuple):
    """Joint states over simulation time, in the joint order of the model."""

    time: ndarray           # (N,) [s]
    position: ndarray       # (N, nv) [rad | m]
    velocity: ndarray       # (N, nv) [rad/s | m/s]
    effort: ndarray         # (N, nv) [N·m | N] of the motors, or of the brakes where they hold


class SimulatedArm:
    """
    A simulated arm with its controller; made by :func:`simulated_arm`.

    :ivar model: the robot; ``namespace``: of both nodes, with the leading slash.
    :ivar period: of the joint states [s].
    :ivar folder: of the logs and parameters of both nodes.
    :ivar node: rclpy node of the test, for publishers and clients of its own.
    :ivar report: values of the latest diagnostics of the control loop and of its timing.
    :ivar on_poll: called several times a second in each wait.
    """

    def __init__(self, here: Session, model: RobotModel, namespace: str,
                 folder: Path, processes: dict[str, Child], period: float,
                 active: bool):
        self.model, self.namespace, self.node = model, namespace, here.node
        self.folder = folder
        self.report: dict[str, str] = {}
        self.on_poll: Callable[[], None] = lambda: None
        #: Simulation time and wall time [s] of all calls of :meth:`run`.
        self.simulated = self.elapsed = 0.0
        self._here, self._processes, self.period = here, processes, period
        self._clients = {node: RunningController(here, f'{namespace}/{node}', START_TIMEOUT)
                         for node in ('controller', 'simulator')}
        # Wall time of the last report, and of the first in an unbroken series of fault reports
        self._reported, self._fault_begin = 0.0, inf
        here.node.create_subscription(DiagnosticArray, '/diagnostics', self._on_report, 10)
        self._player = Player(here, f'{namespace}/controller', within=START_TIMEOUT)
        self._push = here.node.create_publisher(WrenchStamped, f'{namespace}/simulator/push', 1)
        self._states = open_subscription(here.node, JointState, f'{namespace}/joint_states',
                                         qos.ALL_STATES)
        self._messages: list[bytes] = []
        self._heard = 0
        #: Whether the controller has been activated, and not deactivated since.
        self.active = self._autostart = active      # until another transition is asked for
        self._recording = self._stopped = False
        here.look = self._look

    def close(self) -> None:
        """End the subscription of the states."""
        self._states.destroy()

    # Simulation time

    @property
    def time(self) -> float:
        """Simulation time of the newest joint state [s], the first of which is waited for."""
        return float(self._newest().time[0])

    def position(self) -> ndarray:
        """Return the present positions (nv,) [rad | m]."""
        return self._newest().position[0]

    def pause(self) -> None:
        """Pause the simulation, until :meth:`run` or :meth:`resume`; receive its last state."""
        at = float(self.trigger('simulator/pause').split()[-2])
        self.set_parameters('simulator', pause_at=at)
        self._wait(lambda: self.time > at - TIME_TOLERANCE, f'simulation time {at:.3f} s')

    def resume(self) -> None:
        """Let the simulation go on."""
        self.set_parameters('simulator', pause_at=0.0)

    def run(self, seconds: float, **parameters: Any) -> States:
        """
        Let the simulation go on for ``seconds``, pause it there, and return all its states.

        :param parameters: of the simulator, which change at the beginning.
        :raises RosError: a process has ended, or states were lost.
        """
        begin, periods = self.time, max(1, round(seconds / self.period))
        end = begin + periods * self.period
        self._recording = True
        try:
            self.set_parameters('simulator', pause_at=end, **parameters)
            started = time.monotonic()
            self._wait(lambda: self.time > end - TIME_TOLERANCE, f'simulation time {end:.3f} s')
            states = self._decoded(self._messages)
        finally:
            self._recording = False
        self.simulated += end - begin
        self.elapsed += time.monotonic() - started
        inside = states.time > begin + TIME_TOLERANCE
        states = States(*(column[inside] for column in states))
        if lost := periods - len(states.time):
            raise RosError(f'{lost} of {periods} joint states were not received',
                           name=f'{self.namespace}/joint_states', value=lost,
                           remedy='see that nothing else publishes them')
        return states

    def watch(self, seconds: float = POLL_PERIOD) -> None:
        """Receive reports for some wall time, whether the simulation is paused or not."""
        self._here.until(lambda: False, seconds)

    # Phases and parameters

    def set_parameters(self, node: str, **values: Any) -> None:
        """
        Change parameters of the node, all or none, as soon as what they need is compiled.

        :param node: 'controller' or 'simulator'.
        :raises RosError: they are refused.
        """
        try:
            self._clients[node].set(values)
        except ParameterError as error:
            raise RosError(f'the {node} refuses parameters', name=node, value=values,
                           remedy=error.remedy) from error

    def change_state(self, transition: str) -> None:
        """
        Make the controller `configure`, `activate`, `deactivate` or `cleanup`.

        :raises RosError: it refuses; with what it has logged last.
        """
        before, self._autostart = len(self._processes['controller'].output), False
        client = self._clients['controller']
        try:
            client.do(client.requests.change(transition))
        except RosError as error:
            if error.name != client.name:       # a process has ended
                raise
            said = self._processes['controller'].output[before:].strip().splitlines()
            raise RosError(f'the controller does not {transition}', name='controller',
                           remedy=said[-1] if said else error.remedy) from error

    def activate(self, **parameters: Any) -> None:
        """Set parameters of the controller, activate it, and wait for RUNNING and lockstep."""
        if parameters:
            self.set_parameters('controller', **parameters)
        log = self._processes['simulator']
        before = log.output.count(LOCKSTEP_BEGINS)
        self.change_state('activate')
        self.active = True
        self.wait_for('RUNNING')
        self._here.until(lambda: log.output.count(LOCKSTEP_BEGINS) > before, ANSWER_TIMEOUT)

    def deactivate(self) -> None:
        """Bring the arm to rest and deactivate the controller."""
        self.resume()
        self.change_state('deactivate')
        self.active = False

    def start(self, mode: str, **parameters: Any) -> None:
        """
        Activate a law, with parameters, at the initial pose of the simulator, and pause there.

        Brakes hold the arm under gravity compensation, with which they agree for any time; law and
        motion begin in the last period before the pause.
        """
        if self.active:
            self.deactivate()
        self.resume()
        self.trigger('simulator/reset')
        self.trigger('simulator/engage_brakes')
        self._pass_time(0.1)        # states from before the reset have been received
        self.activate(**parameters, mode='gravity_compensation')
        self.pause()
        self.trigger('simulator/release_brakes')
        self.set_parameters('controller', mode=mode)
        self.run(self.period)       # no reference is accepted before the cycle that changes it

    def trigger(self, service: str) -> str:
        """
        Call a Trigger service, e.g. ``'simulator/reset'``; return its message.

        :raises RosError: it fails.
        """
        node, name = service.split('/')
        return self._clients[node].do(self._clients[node].requests.trigger(name))

    def wait_for(self, phase: str, within: float = START_TIMEOUT) -> None:
        """
        Wait until the diagnostics report a phase of the guard, e.g. ``'RUNNING'``.

        :param within: wall time [s].
        :raises RosError: another phase lasts, or a process has ended; with its output. RISING and
            RUNNING are not waited for in a fault, which lasts until a reset or a deactivation, nor
            after the end of autostart.
        """
        if phase not in guard.PHASES:
            raise RosError(f'no phase {phase!r}', name='phase', value=phase,
                           remedy='one of ' + ', '.join(guard.PHASES))
        self.report, self._fault_begin = {}, inf

        def in_vain() -> bool:
            return phase in ('RISING', 'RUNNING') and (
                self._autostart and AUTOSTART_ENDS in self._processes['controller'].output
                or self.report.get('phase') == 'FAULT'
                and self._reported > self._fault_begin + FAULT_SETTLE_TIME)

        if not self._here.until(lambda: self.report.get('phase') == phase or in_vain(),
                                within) or self.report.get('phase') != phase:
            raise RosError(f'not {phase}: the last report is {self.report.get("phase", "none")}\n'
                           f'{self.log()}', name=phase, value=self.report.get('phase'),
                           remedy='see the output above')

    def next_report(self) -> dict[str, str]:
        """Return the values of the next diagnostics: of this moment, where time is paused."""
        for _ in range(2):          # the first one may have been under way
            self.report = {}
            self._here.until(lambda: self.report, ANSWER_TIMEOUT)
        return self.report

    def reason_code(self) -> str:
        """Return the code of the fault in the latest report, '' if there is none."""
        return self.report.get('reason code', '')

    def reset(self, within: float = FAULT_TIMEOUT) -> str:
        """
        Call ``~/reset`` until it is granted, release the brakes, and return the message.

        It is refused for as long as the arm moves, as it does for a while after a fault. The
        brakes have engaged if no command came for a few seconds.

        :param within: wall time until the last call [s]; 0 to call once.
        :raises RosError: it is still refused, or the brakes are not released; with the reason.
        """
        end, self._autostart = time.monotonic() + within, False
        while True:
            try:
                message = self.trigger('controller/reset')
                break
            except RosError:
                if time.monotonic() >= end:
                    raise
            self.watch(RETRY_INTERVAL)
        self.trigger('simulator/release_brakes')
        return message

    # Motions and disturbances

    def move(self, target: Sequence[float], duration: float) -> None:
        """
        Move to a target, from rest to rest, and return half a second after the end.

        :param target: (nv,) [rad | m]; ``duration``: of the motion [s], simulation time.
        :raises TrajectoryError: the controller refuses it.
        :raises RosError: the controller is gone or not RUNNING.
        """
        rest = np.zeros((1, self.model.nv))
        self.follow(Waypoints(tuple(self.model.joint_names), np.array([duration]),
                              np.array([target], float), rest, rest))

    def follow(self, trajectory: Waypoints) -> None:
        """Follow a trajectory; errors are those of :meth:`move`."""
        self._player.find()
        self._player.play(trajectory, lambda at, end: None)

    def send(self, trajectory: Waypoints, start: float) -> None:
        """
        Have the controller accept a trajectory; errors are those of :meth:`move`.

        :param start: simulation time [s], for example ``arm.time + 1.0``.
        """
        if not self._player.listener:
            self._player.find()
        self._player.send(trajectory, Time(nanoseconds=round(1e9 * start)))

    def push(self, link: str, force: Sequence[float] | ndarray) -> None:
        """
        Push a link with a force (3,) [N] in world axes, for the simulator's `push_duration`.

        :raises RosError: the simulator refuses it.
        """
        child = self._processes['simulator']
        self._here.until(self._push.get_subscription_count, START_TIMEOUT)
        before = len(child.output)
        self._push.publish(push_message(Push(link, np.asarray(force, float))))
        self._here.until(lambda: 'push ' in child.output[before:], ANSWER_TIMEOUT)
        if 'push refused' in (said := child.output[before:]):
            raise RosError(f'the push on {link} is refused', name=link,
                           remedy=said.strip().splitlines()[-1])

    def second_state_publisher(self) -> None:
        """Publish joint states beside the simulator's, as a second driver would: a fault."""
        topic = f'{self.namespace}/joint_states'
        publisher = self.node.create_publisher(JointState, topic, qos.STATES_OUT)
        if not self._here.until(publisher.get_subscription_count, FAULT_TIMEOUT):
            raise RosError(f'no subscriber to {topic}', name=topic, remedy='see the log')
        nv = self.model.nv
        state = JointState(name=list(self.model.joint_names), position=[0.0] * nv,
                           velocity=[0.0] * nv)
        end = time.monotonic() + FAULT_TIMEOUT
        # The controller may not have discovered the publisher yet when it has been discovered
        while self.report.get('phase') != 'FAULT' and time.monotonic() < end:
            publisher.publish(state)
            self._here.until(lambda: self.report.get('phase') == 'FAULT', RETRY_INTERVAL)
        self.node.destroy_publisher(publisher)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Stop the process of the simulation (SIGSTOP): no joint states arrive."""
        child = self._processes['simulator']
        child.send(signal.SIGSTOP)
        try:
            yield
        finally:
            child.send(signal.SIGCONT)

    # Processes

    def log(self) -> str:
        """Return what both processes have printed."""
        return '\n'.join(f'--- {name}\n{child.output}' for name, child in self._processes.items())

    def stop(self) -> dict[str, int]:
        """End both processes as Ctrl-C does, the controller first; return their exit codes."""
        self._stopped = True
        return {name: child.stop() for name, child in reversed(self._processes.items())}

    def _wait(self, condition: Callable[[], object], what: str) -> None:
        """Wait until the condition holds, for as long as states arrive at all."""
        heard = -1
        while heard != self._heard:
            heard = self._heard
            end = time.monotonic() + START_TIMEOUT
            while heard == self._heard and time.monotonic() < end:
                if condition():
                    return
                self._here.poll(POLL_PERIOD)
        raise RosError(f'{what} is not reached: no joint state within {START_TIMEOUT:g} s',
                       name='simulator', remedy=f'see the log:\n{self.log()}')

    def _pass_time(self, seconds: float) -> None:
        end = self.time + seconds
        self._wait(lambda: self.time > end, f'simulation time {end:.3f} s')

    def _look(self) -> None:
        """Take the states that have arrived; raise :class:`RosError` if a process has ended."""
        new = self._states.drain()
        self._heard += len(new)
        self._messages += new
        if not self._recording:
            del self._messages[:-1]
        for name, child in self._processes.items():
            if child.code is not None and not self._stopped:
                raise RosError(f'the {name} has ended with exit code {child.code}', name=name,
                               value=child.code, remedy=f'see its log:\n{child.output}')
        self.on_poll()

    def _newest(self) -> States:
        self._look()
        if not self._messages:
            self._wait(lambda: self._messages, 'the first state')
        return self._decoded(self._messages[-1:])

    def _decoded(self, messages: Sequence[bytes]) -> States:
        names = self.model.joint_names
        stamps, rows = [], []
        for message in messages:
            state = deserialize_message(message, JointState)
            stamps.append(state.header.stamp.sec + 1e-9 * state.header.stamp.nanosec)
            at = [state.name.index(name) for name in names]
            rows.append([[values[i] for i in at] for values in (
                state.position, state.velocity, state.effort or state.velocity)])
        columns = np.array(rows, float).reshape(-1, 3, len(names))
        return States(np.array(stamps), *columns.transpose(1, 0, 2))

    def _on_report(self, message: DiagnosticArray) -> None:
        said = reported(message, f'{self.namespace}/controller')
        if LOOP not in said:
            return
        stamp = message.header.stamp
        self.report = said.get(TIMING, {}) | said[LOOP] | {
            'time': str(stamp.sec + 1e-9 * stamp.nanosec)}
        self._reported = time.monotonic()
        self._fault_begin = min(self._fault_begin, self._reported) if (
            self.report.get('phase') == 'FAULT') else inf


@contextmanager
def simulated_arm(robot: str | CatalogRobot = 'two_link', *,
                  controller: Mapping[str, Any] | None = None,
                  simulator: Mapping[str, Any] | None = None, position: Sequence[float] = (),
                  folder: Path | None = None, namespace: str | None = None
                  ) -> Iterator[SimulatedArm]:
    """
    Yield a simulated arm with its controller, which arms itself; both end with the context.

    :param robot: name of a robot, path of a URDF file, or a robot that was loaded.
    :param controller, simulator: parameters that differ from config/ROBOT.yaml.
    :param position: (nv,) at the start [rad | m]; empty: that of the configuration.
    :param folder: of logs and parameters; None: they are removed at the end.
    :param namespace: of both nodes; None: a unique one.
    :raises UrdfError: there is no such robot.
    :raises ParameterError: the position has another number of joints.
    """
    found = load_robot(robot, {}, position) if isinstance(robot, str) else robot
    namespace = f'/test_{uuid.uuid4().hex[:12]}' if namespace is None else namespace
    parameters = {'controller': {**found.parameters['controller'], 'urdf': str(found.path),
                                 **CONTROLLER, **(controller or {})},
                  'simulator': {**found.parameters['simulator'], **SIMULATOR,
                                **(simulator or {})}}
    with ExitStack() as stack:
        if folder is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        file = folder / f'{found.name}.yaml'
        write_parameters(file, parameters)
        remapped = ['-r', f'__ns:={namespace}', '-r', f'/clock:={namespace}/clock'] \
            if namespace else []
        processes = stack.enter_context(running({
            name: [sys.executable, '-m', f'robodyn_ros.nodes.{name}', '--ros-args', *remapped,
                   '--params-file', str(file)] for name in ('simulator', 'controller')},
            folder, {**os.environ, 'PYTHONUNBUFFERED': '1'}))
        here = stack.enter_context(session('test', sim_time=True, arguments=[
            '--ros-args', *remapped[2:]]))
        arm = SimulatedArm(here, found.model, namespace, folder, processes,
                           1.0 / parameters['simulator'].get('rate', DEFAULT_RATE),
                           parameters['controller']['autostart'])
        stack.callback(arm.close)
        yield arm
