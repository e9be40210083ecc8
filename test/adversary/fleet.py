# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The harness's own ROS node, and the controller processes that it keeps over many runs."""

from collections.abc import Callable
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
import processes
from rcl_interfaces.srv import SetParametersAtomically
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.task import Future
from robodyn_ros.control.settings.settings import Settings
from robodyn_ros.control.steps import guard
from robodyn_ros.nodes.middleware.raw_subscription import SerializedSubscription
from robodyn_ros.nodes.middleware.services import Services
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from . import arms

WITHIN = 240.0      # s for a node to start, compile and be met, on a busy machine
# Settings that a node takes while it is configured: the others are given at its start
LIVE = ('mode', *('stiffness', 'damping', 'acceleration_kp', 'acceleration_kd'),
        'observer_bandwidth', 'adaptive_bandwidth', 'adaptation_mass',
        'effort_rate_limit', 'payload_mass', 'payload_frame', 'friction_offset',
        'friction_compensation', 'coulomb_friction', 'friction_velocity')
NUMBERS = (float, int)


def parameter(name: str, value: Any) -> Parameter:
    """Return a parameter as the node has declared it; a list without numbers has a type too."""
    if isinstance(value, (str, *NUMBERS)):
        return Parameter(name, value=value)
    return Parameter(name, Parameter.Type.DOUBLE_ARRAY, [float(x) for x in value])


class Fleet:
    """Everything that a process of the campaign shares among its controllers."""

    def __init__(self) -> None:
        self._domain = None
        if 'PYTEST_CURRENT_TEST' not in os.environ:         # conftest.py has claimed one
            domain, self._domain = processes.claim_domain()
            os.environ['ROS_DOMAIN_ID'] = str(domain)
        os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
        self.folder = TemporaryDirectory()
        self.context = rclpy.Context()
        self.context.init([])
        self.node = rclpy.create_node('adversary', context=self.context)
        self._executor = SingleThreadedExecutor(context=self.context)
        self._executor.add_node(self.node)
        self.links: dict[tuple, Link] = {}
        self.services = Services(self.node, lambda: self.spin(0.05))

    def spin(self, seconds: float = 0.0) -> None:
        """Take what has come in for callbacks."""
        self._executor.spin_once(seconds)

    def until(self, condition: Callable[[], object], what: str) -> None:
        """Spin until a condition holds."""
        assert rclpy_until(condition, self.spin), f'{what}: not within {WITHIN:g} s'

    def link(self, robot: str, path: str, trigger: str, settings: Settings,
             simulated: bool = True) -> 'Link':
        """Return the controller of a robot, started and configured."""
        key = robot, path, trigger, settings.loop_delay, settings.rate, simulated
        if key in self.links and not self.links[key].alive:
            self.links.pop(key).close()
        if key not in self.links:
            self.links[key] = Link(self, len(self.links), robot, path, trigger, settings,
                                   simulated)
        return self.links[key]

    def close(self) -> None:
        """End everything."""
        for link in self.links.values():
            link.close()
        self._executor.shutdown()
        self.node.destroy_node()
        self.context.shutdown()
        if self._domain:
            self._domain.close()
        self.folder.cleanup()


def rclpy_until(condition: Callable[[], object], spin: Callable[[float], None]) -> bool:
    """Spin until a condition holds; False: it does not."""
    import time

    end = time.monotonic() + WITHIN
    while not condition():
        if time.monotonic() > end:
            return False
        spin(0.02)
    return True


class Link:
    """A controller process in a namespace of its own, and the topics and services to it."""

    def __init__(self, fleet: Fleet, number: int, robot: str, path: str, trigger: str,
                 settings: Settings, simulated: bool):
        self.fleet, self.name = fleet, f'{path}{number}'
        node, ns = fleet.node, f'/{self.name}'
        given = {'use_sim_time': simulated, 'trigger': trigger, 'data_path': path,
                 'flight_recorder': 0.0, 'arming_timeout': 3.0, 'rate': settings.rate,
                 'robot_compensates_gravity': settings.robot_compensates_gravity,
                 'loop_delay': settings.loop_delay, 'stop_timeout': 0.5,
                 'fault_hold_time': settings.fault_hold_time,
                 'fault_ramp_time': settings.fault_ramp_time,
                 'state_timeout': settings.state_timeout,
                 'damping_rate': settings.damping_rate}
        text = Path(fleet.folder.name, f'{self.name}.yaml')
        locked = arms.LOCKED.get(robot, {})
        lines = [f'    {k}: {str(v).lower() if isinstance(v, bool) else v}'
                 for k, v in given.items()]
        lines += [f'    {name}: [{", ".join(map(str, values))}]' for name, values in (
            ('locked_joints', locked), ('locked_positions', locked.values())) if locked]
        lines += ['    robot_description: |', *(f'      {line}' for line in
                                                arms.urdf(robot).splitlines())]
        text.write_text('/**:\n  ros__parameters:\n' + '\n'.join(lines) + '\n')
        env = {**os.environ, 'PYTHONUNBUFFERED': '1', 'ROS_LOG_DIR': fleet.folder.name}
        self.process = processes.Process(
            [*processes.node('controller'), '--ros-args', '-r', f'__ns:={ns}', '-r',
             '/clock:=clock', '-r', '/diagnostics:=diagnostics', '--params-file', str(text)],
            Path(fleet.folder.name, f'{self.name}.txt'), env)
        self.commands = SerializedSubscription(node, Float64MultiArray, f'{ns}/commands', 500)
        self.states = node.create_publisher(JointState, f'{ns}/joint_states', 10)
        self.clock = node.create_publisher(Clock, f'{ns}/clock', 10)
        self.trajectories = node.create_publisher(JointTrajectory,
                                                  f'{ns}/controller/joint_trajectory', 1)
        self._diagnostics = node.create_subscription(
            DiagnosticArray, f'{ns}/diagnostics', self._heard, 10)
        self.phase, self.reason_code, self.reports = guard.INACTIVE, 'NO_REASON', 0
        self._ns = ns
        self.set: dict[str, Any] = {}               # live parameters as they were set last
        self.intruder: Any = None
        self.foreign: Any = None
        configured = self.change('configure')
        fleet.until(configured.done, 'configuring')
        assert configured.result().success, self.process.text
        fleet.until(lambda: self.states.get_subscription_count()
                    and self.clock.get_subscription_count() >= simulated
                    and self.commands.publisher_count(), 'the controller')

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self.process.popen.poll() is None

    def _heard(self, message: DiagnosticArray) -> None:
        for status in message.status:
            told = {v.key: v.value for v in status.values}
            if status.name.endswith(': timing'):
                continue
            self.phase = guard.PHASES.index(told.get('phase', 'INACTIVE'))
            self.reason_code = told.get('reason code', 'NO_REASON')
            self.reports += 1

    def change(self, transition: str) -> Future:
        """Ask for a lifecycle transition."""
        number = getattr(Transition, f'TRANSITION_{transition.upper()}')
        return self.fleet.services.ask(ChangeState, f'{self._ns}/controller/change_state',
                                       ChangeState.Request(transition=Transition(id=number)),
                                       WITHIN)

    def set_parameters(self, **values: Any) -> Future:
        """Ask for other parameters, as one set."""
        request = SetParametersAtomically.Request(
            parameters=[parameter(k, v).to_parameter_msg() for k, v in values.items()])
        return self.fleet.services.ask(
            SetParametersAtomically, f'{self._ns}/controller/set_parameters_atomically', request,
            WITHIN)

    def publisher(self, kind: type, topic: str) -> Any:
        """Return another publisher of a topic of the controller."""
        return self.fleet.node.create_publisher(kind, f'{self._ns}/{topic}', 10)

    def close(self) -> None:
        """Kill the process and forget its topics."""
        self.process.kill()
        self.commands.destroy()
        for publisher in (self.states, self.clock, self.trajectories, self.intruder,
                          self.foreign):
            if publisher is not None:
                self.fleet.node.destroy_publisher(publisher)
        self.fleet.node.destroy_subscription(self._diagnostics)
