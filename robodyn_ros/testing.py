# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Fixtures for tests of other packages: an arm in MuJoCo, its controller, trajectories and faults.

Simulator and controller are the real nodes, in separate processes and a unique namespace. They
advance in lockstep on simulation time, so that a busy machine makes a test slow but not wrong.

    def test_my_law_holds_the_arm():
        with simulated_arm('two_link', controller={'mode': 'joint_impedance'}) as arm:
            arm.wait_for('RUNNING')
            arm.move([0.5, 0.2], duration=1.0)
            assert abs(arm.position() - [0.5, 0.2]).max() < 0.05
            arm.second_state_publisher()
            arm.wait_for('FAULT')
            assert arm.reason_code() == 'TWO_STATE_PUBLISHERS'
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, ExitStack
from math import inf
import os
from pathlib import Path
import signal
import sys
import tempfile
import time
from typing import Any
import uuid

from diagnostic_msgs.msg import DiagnosticArray
import numpy as np
from numpy import ndarray
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from .catalog.robots import load_robot, write_parameters
from .control.references.trajectory import Waypoints
from .control.steps import guard
from .errors import RosError
from .model.robot import RobotModel
from .nodes.clients.play import Player
from .nodes.clients.processes import Child, running
from .nodes.middleware import qos
from .nodes.middleware.client_session import Session, session
from .nodes.middleware.services import Services

START_TIMEOUT = 120.0    # [s]: start of Python, compilation, discovery
ANSWER_TIMEOUT = 20.0    # [s] of a service
RETRY_INTERVAL = 0.2    # [s] of refused calls
FAULT_SETTLE_TIME = 0.5    # [s] after the first report of a fault, for delayed older reports
# Values that lockstep needs, and a test on a busy machine
SIMULATOR = {'lockstep': True, 'lockstep_settle': 0.05, 'publish_clock': True,
             'command_timeout': 5.0}
CONTROLLER = {'trigger': 'state', 'use_sim_time': True, 'autostart': True, 'flight_recorder': 0.0}


class SimulatedArm:
    """
    A simulated arm with its controller; made by :func:`simulated_arm`.

    :ivar model: the robot; ``namespace``: of both nodes, with the leading slash.
    :ivar node: rclpy node of the test, for publishers and clients of its own.
    """

    def __init__(self, here: Session, model: RobotModel, namespace: str,
                 processes: dict[str, Child]):
        self.model, self.namespace, self.node = model, namespace, here.node
        self._here, self._processes = here, processes
        self._services = Services(here.node, here.poll)
        self._report: dict[str, str] = {}
        # Wall time of the last report, and of the first in an unbroken series of fault reports
        self._reported, self._fault_begin = 0.0, inf
        self._name = f'{namespace.strip("/")}/controller: control loop'
        here.node.create_subscription(DiagnosticArray, '/diagnostics', self._on_report, 10)
        self._player = Player(here, f'{namespace}/controller/joint_trajectory',
                              f'{namespace}/joint_states', confirm=True, within=START_TIMEOUT)

    def wait_for(self, phase: str, within: float = START_TIMEOUT) -> None:
        """
        Wait until the diagnostics report a phase of the guard, e.g. ``'RUNNING'``.

        :param within: wall time [s].
        :raises RosError: another phase lasts, or a process has ended; with its output. RISING and
            RUNNING are not waited for in a fault, which lasts until a reset or a deactivation.
        """
        if phase not in guard.PHASES:
            raise RosError(f'no phase {phase!r}', name='phase', value=phase,
                           remedy='one of ' + ', '.join(guard.PHASES))
        self._report, self._fault_begin = {}, inf

        def in_vain() -> bool:
            return phase in ('RISING', 'RUNNING') and self._report.get('phase') == 'FAULT' and (
                self._reported > self._fault_begin + FAULT_SETTLE_TIME)

        if not self._here.until(lambda: self._report.get('phase') == phase or in_vain()
                                or self._ended(), within) or self._report.get('phase') != phase:
            ended = self._ended()
            raise RosError(f'{"the process has ended" if ended else "not " + phase}: the last '
                           f'report is {self._report.get("phase", "none")}\n{self.log()}',
                           name=ended or phase, value=self._report.get('phase'),
                           remedy='see the output above')

    def position(self) -> ndarray:
        """Return the present positions (nv,) [rad | m]; raise RosError if there is no state."""
        return self._player.pose(self.model.joint_names)

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

    def second_state_publisher(self) -> None:
        """Publish joint states beside the simulator's, as a second driver would: a fault."""
        topic = f'{self.namespace}/joint_states'
        publisher = self.node.create_publisher(JointState, topic, qos.STATES_OUT)
        if not self._here.until(publisher.get_subscription_count, ANSWER_TIMEOUT):
            raise RosError(f'no subscriber to {topic}', name=topic, remedy='see the log')
        nv = self.model.nv
        state = JointState(name=list(self.model.joint_names), position=[0.0] * nv,
                           velocity=[0.0] * nv)
        end = time.monotonic() + ANSWER_TIMEOUT
        # The controller may not have discovered the publisher yet when it has been discovered
        while self._report.get('phase') != 'FAULT' and time.monotonic() < end:
            publisher.publish(state)
            self._here.until(lambda: self._report.get('phase') == 'FAULT', RETRY_INTERVAL)
        self.node.destroy_publisher(publisher)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Pause the simulation (SIGSTOP): no joint states arrive, and time stops."""
        child = self._processes['simulator']
        child.send(signal.SIGSTOP)
        try:
            yield
        finally:
            child.send(signal.SIGCONT)

    def reset(self, within: float = ANSWER_TIMEOUT) -> str:
        """
        Call ``~/reset`` until it is granted, release the brakes, and return the message.

        It is refused for as long as the arm moves, as it does for a while after a fault. The
        brakes have engaged if no command came for a few seconds.

        :param within: wall time until the last call [s]; 0 to call once.
        :raises RosError: it is still refused, or the brakes are not released; with the reason.
        """
        name, end = f'{self.namespace}/controller/reset', time.monotonic() + within
        while True:
            answer = self._services.call(Trigger, name, Trigger.Request(), ANSWER_TIMEOUT,
                                         START_TIMEOUT)
            if answer.success:
                brakes = f'{self.namespace}/simulator/release_brakes'
                released = self._services.call(Trigger, brakes, Trigger.Request(), ANSWER_TIMEOUT,
                                               START_TIMEOUT)
                if not released.success:
                    raise RosError(f'the brakes stay engaged: {released.message}', name=brakes,
                                   remedy=released.message)
                return str(answer.message)
            if time.monotonic() >= end:
                raise RosError(f'reset refused: {answer.message}', name=name,
                               remedy=answer.message)
            self._here.until(lambda: False, RETRY_INTERVAL)

    def reason_code(self) -> str:
        """Return the code of the fault in the latest report, '' if there is none."""
        return self._report.get('reason code', '')

    def log(self) -> str:
        """Return what both processes have printed."""
        return '\n'.join(f'--- {name}\n{child.output}' for name, child in self._processes.items())

    def stop(self) -> dict[str, int]:
        """End both processes as Ctrl-C does, the controller first; return their exit codes."""
        return {name: child.stop() for name, child in reversed(self._processes.items())}

    def _ended(self) -> str:
        return ', '.join(name for name, child in self._processes.items()
                         if child.code is not None)

    def _on_report(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if status.name == self._name:
                self._report = {pair.key: pair.value for pair in status.values}
                self._reported = time.monotonic()
                self._fault_begin = min(self._fault_begin, self._reported) if (
                    self._report.get('phase') == 'FAULT') else inf


@contextmanager
def simulated_arm(robot: str = 'two_link', *, controller: Mapping[str, Any] | None = None,
                  simulator: Mapping[str, Any] | None = None,
                  position: Sequence[float] = ()) -> Iterator[SimulatedArm]:
    """
    Yield a simulated arm with its controller, which arms itself; both end with the context.

    :param robot: name of a robot, or path of a URDF file.
    :param controller, simulator: parameters that differ from config/ROBOT.yaml.
    :param position: (nv,) at the start [rad | m]; empty: that of the configuration.
    :raises UrdfError: there is no such robot.
    :raises ParameterError: the position has another number of joints.
    """
    found = load_robot(robot, {}, position)
    namespace = f'/test_{uuid.uuid4().hex[:12]}'
    parameters = {'controller': {**found.parameters['controller'], 'urdf': str(found.path),
                                 **CONTROLLER, **(controller or {})},
                  'simulator': {**found.parameters['simulator'], **SIMULATOR,
                                **(simulator or {})}}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        write_parameters(folder / 'parameters.yaml', parameters)
        processes = stack.enter_context(running({
            name: [sys.executable, '-m', f'robodyn_ros.nodes.{name}', '--ros-args', '-r',
                   f'__ns:={namespace}', '-r', f'/clock:={namespace}/clock', '--params-file',
                   str(folder / 'parameters.yaml')] for name in ('simulator', 'controller')},
            folder, {**os.environ, 'PYTHONUNBUFFERED': '1'}))
        here = stack.enter_context(session('test', sim_time=True, arguments=[
            '--ros-args', '-r', f'/clock:={namespace}/clock']))
        yield SimulatedArm(here, found.model, namespace, processes)
