# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Controller nodes under test, over real DDS: in lockstep on simulation time, or in real time."""

from collections.abc import Callable
from dataclasses import fields
import os
from pathlib import Path
import signal
import struct
from tempfile import TemporaryDirectory
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
import numpy as np
from numpy import ndarray
import processes
from rcl_interfaces.msg import Parameter as ParameterMessage
from rcl_interfaces.msg import ParameterValue
from rcl_interfaces.srv import SetParameters, SetParametersAtomically
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.serialization import serialize_message
from rclpy.task import Future
from robodyn_ros.catalog.robots import write_parameters
from robodyn_ros.control.references.trajectory import Waypoints
from robodyn_ros.control.settings.settings import Settings
from robodyn_ros.control.steps import guard
from robodyn_ros.nodes.clients.play import trajectory_message
from robodyn_ros.nodes.middleware.raw_subscription import SerializedSubscription
from robodyn_ros.nodes.middleware.services import Services
from robodyn_ros.verification.plant_step import TICK
from robodyn_ros.verification.sensing import Sample
from robodyn_ros.verification.tick import CYCLE
from robodyn_ros.verification.world import World
from robodyn_ros.wire.effort import ACCEPTED, EffortDecoder
from robodyn_ros.wire.joint_state import JointStateEncoder
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
STARTING = ('rate', 'robot_compensates_gravity', 'loop_delay', 'fault_hold_time',
            'fault_ramp_time', 'state_timeout', 'damping_rate')
NUMBERS = (float, int)
ANSWER = 100_000_000        # ns to wait for an answer that is expected
PACE = 1_000_000            # ns that a tick takes where none is
SPIN, TIME = 20, 10         # ticks between two looks at callbacks, and two messages on /clock
SETTLED = 0.12              # s after which a change of the phase is known
LEAD = 0.1                  # s from now that a trajectory starts
EMPTY = 3000                # ticks that stopping and arming may take
CLOCK = b'\0\1\0\0'         # of a Clock message, before its time: CDR, little endian


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
        end = time.monotonic() + WITHIN
        while not condition():
            assert time.monotonic() < end, f'{what}: not within {WITHIN:g} s'
            self.spin(0.02)

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


class Link:
    """A controller process in a namespace of its own, and the topics and services to it."""

    def __init__(self, fleet: Fleet, number: int, robot: str, path: str, trigger: str,
                 settings: Settings, simulated: bool):
        self.fleet, self.name = fleet, f'{path}{number}'
        node, ns = fleet.node, f'/{self.name}'
        given = {'robot_description': arms.urdf(robot), 'use_sim_time': simulated,
                 'trigger': trigger, 'data_path': path, 'flight_recorder': 0.0,
                 'arming_timeout': 3.0, 'stop_timeout': 0.5,
                 **{name: getattr(settings, name) for name in STARTING}}
        if locked := arms.LOCKED.get(robot):
            given |= {'locked_joints': [*locked], 'locked_positions': [*locked.values()]}
        parameters = Path(fleet.folder.name, f'{self.name}.yaml')
        write_parameters(parameters, {'controller': given})
        env = {**os.environ, 'PYTHONUNBUFFERED': '1', 'ROS_LOG_DIR': fleet.folder.name}
        self.process = processes.Process(
            [*processes.node('controller'), '--ros-args', '-r', f'__ns:={ns}', '-r',
             '/clock:=clock', '-r', '/diagnostics:=diagnostics', '--params-file', str(parameters)],
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


class Node:
    """
    One run of a controller process; the next begins with ``begin``.

    :param paced: the world goes on with the wall clock, whatever is answered.
    """

    def __init__(self, link: Link, paced: bool = False):
        self.link, self.paced = link, paced
        self._spin = link.fleet.spin
        self._pending: list[Future] = []
        self._world: World | None = None
        self._base = 0.0

    def begin(self, world: World) -> None:
        """Come to rest in the world before, set the parameters, and go over to this one."""
        link, model = self.link, world.arm.model
        self._encoder = JointStateEncoder(model.joint_names)
        self._decoder = EffortDecoder(model.nv)
        self._lively, self._halted, self._wall = False, np.inf, time.monotonic()
        if self._world is not None:
            self._rest(self._world)
        values = {name: value for name, value in _parameters(world.settings).items()
                  if link.set.get(name, None) != value}
        if values:
            answer = link.set_parameters(**values)
            link.fleet.until(answer.done, 'setting parameters')
            assert answer.result().result.successful, answer.result().result.reason
            link.set.update(values)
        link.commands.drain()
        self._world = world
        # Time never goes back between runs; in real time it is that of the wall
        world.jump(self._base if not self.paced else time.time() - world.now)

    def _rest(self, world: World) -> None:
        """Deactivate, while the arm goes on moving as it does."""
        link = self.link
        world.active, world.moving = [], False
        for publisher in (link.intruder, link.foreign):
            if publisher is not None:
                link.fleet.node.destroy_publisher(publisher)
        link.intruder = link.foreign = None
        world.plant.wrecked = False
        world.plant.qd[:] = 0.0
        asked = link.change('deactivate')
        for _ in range(EMPTY):
            if asked.done():
                break
            world.run(1)
            self._spin()
        link.fleet.until(asked.done, 'deactivating')
        self._base = world.now - world.time + world.ticks * TICK + 1.0
        for _ in range(SPIN):           # what it has told before is over
            self._spin()
        link.phase = guard.INACTIVE

    def arm(self) -> None:
        """Ask to rise."""
        self._pending.append(self.link.change('activate'))

    @property
    def alive(self) -> bool:
        return self.link.alive

    @property
    def phase(self) -> int:
        return self.link.phase

    @property
    def reason_code(self) -> str:
        return self.link.reason_code

    def settle(self) -> None:
        """Wait until the node has told of its phase."""
        end = time.monotonic() + SETTLED
        while time.monotonic() < end:
            self._spin(0.02)

    def run(self, world: World, ticks: int, first: int) -> int:
        """Run ticks from a step on; return their number."""
        for k in range(ticks):
            world.data.numbers['halted'] = np.isfinite(self._halted) and world.time < self._halted
            world.plant.run(0, 1, first, CYCLE)
            world.finish(self._exchange(world, world.channel.arrivals()))
            if world.over:
                return k + 1
        return ticks

    def _exchange(self, world: World, arrivals: list[Sample]) -> list[ndarray]:
        """Send what arrives and return what is published in this tick."""
        link = self.link
        if world.time >= self._halted:
            os.kill(link.process.popen.pid, signal.SIGCONT)
            self._halted = np.inf
        if world.ticks % TIME == 0 or not arrivals:
            link.clock.publish(CLOCK + struct.pack('<iI', *divmod(round(1e9 * world.now),
                                                                  1_000_000_000)))
        if world.ticks % SPIN == 0 or not self._lively:
            self._spin()
        published = []
        for sample in arrivals:
            self._send(sample)
            published += self._answers(ANSWER if self._lively and not self.paced else 0)
        if self.paced:
            self._wall += TICK
            link.commands.wait(round(1e9 * max(0.0, self._wall - time.monotonic())))
            time.sleep(max(0.0, self._wall - time.monotonic()))
        if self.paced or not published:
            published += self._answers(0 if self.paced or self._lively and arrivals else PACE)
            self._lively = bool(published) and published[-1].any()
        elif not published[-1].any():
            self._lively = False
        return published

    def _send(self, s: Sample) -> None:
        link, stamp = self.link, round(1e9 * max(0.0, s.stamp))
        message = self._encoder.encode(stamp, s.position, s.velocity, s.effort)
        if s.malformed:
            self._lively = False
            message = malformed(s, self._encoder_names, message)
        if s.foreign:
            link.foreign = link.foreign or link.publisher(JointState, 'joint_states')
            link.foreign.publish(message)
        link.states.publish(message)

    @property
    def _encoder_names(self) -> tuple[str, ...]:
        assert self._world is not None
        return self._world.arm.model.joint_names

    def _answers(self, timeout: int) -> list[ndarray]:
        if timeout and not self.link.commands.wait(timeout):
            return []
        efforts = []
        for message in self.link.commands.drain():
            tau = np.zeros(len(self._encoder_names))
            if self._decoder.decode(message, tau) != ACCEPTED:
                tau[:] = np.nan
            efforts.append(tau)
        return efforts

    def use(self, **changes: Any) -> bool:
        self.link.set.update(dict.fromkeys(changes))        # unknown now: set again before a run
        self._pending.append(self.link.set_parameters(**changes))
        return True

    def follow(self, waypoints: Waypoints) -> bool:
        assert self._world is not None
        message = trajectory_message(waypoints)
        start = round(1e9 * (self._world.now + LEAD))
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(start, 1_000_000_000)
        self.link.trajectories.publish(message)
        return True

    def stall(self, seconds: float) -> None:
        assert self._world is not None
        os.kill(self.link.process.popen.pid, signal.SIGSTOP)
        self._halted, self._lively = self._world.time + seconds, False

    def stop(self) -> None:
        raise NotImplementedError

    def tell(self, **fields: Any) -> None:
        raise NotImplementedError

    def second_publisher(self, there: bool) -> None:
        if there and self.link.intruder is None:
            self.link.intruder = self.link.publisher(Float64MultiArray, 'commands')

    def malformed_request(self) -> None:
        """Ask for a parameter of a type that no parameter has."""
        request = SetParameters.Request(parameters=[
            ParameterMessage(name='mode', value=ParameterValue(type=99))])
        self._pending.append(self.link.fleet.services.ask(
            SetParameters, f'/{self.link.name}/controller/set_parameters', request, 5.0))


def _parameters(settings: Settings) -> dict[str, Any]:
    known = {f.name for f in fields(Settings)}
    return {name: getattr(settings, name) for name in LIVE if name in known}


def malformed(s: Sample, names: tuple[str, ...], message: bytes) -> bytes:
    """Return a message that no decoder may accept."""
    if s.malformed == 'cut':
        return message[:-8]
    state = JointState(name=list(names), position=s.position.tolist())
    if s.malformed == 'names':
        state.name = [names[0]] * len(names)
    else:
        state.position = state.position[:-1]
    return serialize_message(state)
