# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Controller nodes under test, over real DDS: in lockstep on simulation time, or in real time."""

import os
from pathlib import Path
import signal
import struct
from tempfile import TemporaryDirectory
import time
from typing import Any

from nodes.remote import Remote
import numpy as np
from numpy import ndarray
import processes
from rcl_interfaces.msg import Parameter as ParameterMessage, ParameterValue
from rcl_interfaces.srv import SetParameters, SetParametersAtomically
from rclpy.parameter import Parameter
from rclpy.serialization import serialize_message
from rclpy.task import Future
from robodyn_ros.catalog.robots import write_parameters
from robodyn_ros.control.references.trajectory import Waypoints
from robodyn_ros.control.settings.settings import GAINS, Settings
from robodyn_ros.control.steps import guard
from robodyn_ros.nodes.clients.play import trajectory_message
from robodyn_ros.nodes.middleware.raw_subscription import SerializedSubscription
from robodyn_ros.verification.plant import CYCLE
from robodyn_ros.verification.plant_step import TICK
from robodyn_ros.verification.sensing import Sample
from robodyn_ros.verification.world import World
from robodyn_ros.wire.codecs import EffortDecoder, JointStateEncoder
from robodyn_ros.wire.decoders import ACCEPTED
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from . import arms

WITHIN = 240.0      # s for a node to start, compile and be met, on a busy machine
# Settings that a node takes while it is configured: the others are given at its start
LIVE = ('mode', *GAINS, 'effort_rate_limit', 'payload_mass', 'payload_frame', 'friction_offset',
        'friction_compensation', 'coulomb_friction', 'friction_velocity')
STARTING = ('rate', 'robot_compensates_gravity', 'loop_delay', 'fault_hold_time',
            'fault_ramp_time', 'state_timeout', 'damping_rate')
ANSWER = 100_000_000        # ns to wait for an answer that is expected
PACE = 1_000_000            # ns that a tick takes where none is
SPIN, TIME = 20, 10         # ticks between two looks at callbacks, and two messages on /clock
SETTLED = 0.12              # s after which a change of the phase is known
LEAD = 0.1                  # s from now that a trajectory starts
EMPTY = 3000                # ticks that stopping and arming may take
CLOCK = b'\0\1\0\0'         # of a Clock message, before its time: CDR, little endian


class Nodes:
    """Controllers in processes of their own, which are started when they are first asked for."""

    def __init__(self) -> None:
        self._domain = None
        if 'PYTEST_CURRENT_TEST' not in os.environ:         # conftest.py has claimed one
            domain, self._domain = processes.claim_domain()
            os.environ['ROS_DOMAIN_ID'] = str(domain)
        os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
        self._folder = TemporaryDirectory()
        self._nodes: dict[tuple, Node] = {}

    def node(self, scene: Any, settings: Settings) -> 'Node':
        """Return the controller of a scene, started and configured."""
        key = scene.robot, scene.path, scene.trigger, settings.loop_delay, settings.rate
        if key in self._nodes and not self._nodes[key].alive:
            self._nodes.pop(key).close()
        if key not in self._nodes:
            folder = Path(self._folder.name, f'{scene.path}{len(self._nodes)}')
            folder.mkdir()
            self._nodes[key] = Node(scene, settings, folder)
        return self._nodes[key]

    def close(self) -> None:
        """End everything."""
        for node in self._nodes.values():
            node.close()
        if self._domain:
            self._domain.close()
        self._folder.cleanup()


class Node:
    """
    Controller in a process and a namespace of its own; each run begins with ``begin``.

    With the trigger ``timer`` it is paced: the world goes on with the wall clock, whatever is
    answered.

    :param scene: with its robot, path and trigger; ``folder``: for its files.
    """

    def __init__(self, scene: Any, settings: Settings, folder: Path):
        self.paced = scene.trigger == 'timer'
        self.remote = remote = Remote('adversary', namespace=f'/{folder.name}',
                                      processes=lambda: [self.process])
        remote.ignore_commands()
        remote.ignore_states()
        self._spin = remote.executor.spin_once
        given = {'robot_description': arms.urdf(scene.robot), 'use_sim_time': not self.paced,
                 'trigger': scene.trigger, 'data_path': scene.path, 'flight_recorder': 0.0,
                 'arming_timeout': 3.0, 'stop_timeout': 0.5,
                 **{name: getattr(settings, name) for name in STARTING}}
        if locked := arms.LOCKED.get(scene.robot):
            given |= {'locked_joints': [*locked], 'locked_positions': [*locked.values()]}
        write_parameters(folder / 'parameters.yaml', {'controller': given})
        self.process = processes.Process(
            [*processes.node('controller'), '--ros-args', '-r', f'__ns:=/{folder.name}', '-r',
             '/clock:=clock', '--params-file', str(folder / 'parameters.yaml')],
            folder / 'output.txt',
            {**os.environ, 'PYTHONUNBUFFERED': '1', 'ROS_LOG_DIR': str(folder)})
        self.commands = SerializedSubscription(remote.node, Float64MultiArray, 'commands', 500)
        self.states = self._publisher(JointState, 'joint_states')
        self.clock = self._publisher(Clock, 'clock')
        self.trajectories = self._publisher(JointTrajectory, 'controller/joint_trajectory')
        self.intruder: Any = None
        self.foreign: Any = None
        self._set: dict[str, Any] = {}              # live parameters as they were set last
        self._pending: list[Future] = []
        self._world: World | None = None
        self._base = 0.0
        configured = remote.begin('configure')
        remote.until(configured.done, 'configuring', WITHIN)
        assert configured.result().success, self.process.text
        remote.until(lambda: self.states.get_subscription_count()
                     and (self.paced or self.clock.get_subscription_count())
                     and self.commands.publisher_count(), 'the controller', WITHIN)

    def close(self) -> None:
        """Kill the process and forget its topics."""
        self.process.kill()
        self.commands.destroy()
        self.remote.close()

    def _publisher(self, kind: type, topic: str) -> Any:
        return self.remote.node.create_publisher(kind, topic, 10)

    def _set_parameters(self, values: dict[str, Any]) -> Future:
        """Ask for other parameters as one set; lists without numbers have a type too."""
        parameters = [Parameter(name, value=value) if isinstance(value, (str, float, int))
                      else Parameter(name, Parameter.Type.DOUBLE_ARRAY, [float(x) for x in value])
                      for name, value in values.items()]
        return self.remote.ask(
            SetParametersAtomically, 'controller/set_parameters_atomically',
            SetParametersAtomically.Request(parameters=[p.to_parameter_msg() for p in parameters]))

    def begin(self, world: World) -> None:
        """Come to rest in the world before, set the parameters, and go over to this one."""
        model = world.arm.model
        self._encoder = JointStateEncoder(model.joint_names)
        self._decoder = EffortDecoder(model.nv)
        self._lively, self._halted, self._wall = False, np.inf, time.monotonic()
        if self._world is not None:
            self._rest(self._world)
        values = {name: getattr(world.settings, name) for name in LIVE}
        values = {name: value for name, value in values.items() if self._set.get(name) != value}
        if values:
            answer = self._set_parameters(values)
            self.remote.until(answer.done, 'setting parameters', WITHIN)
            assert answer.result().result.successful, answer.result().result.reason
            self._set.update(values)
        self.commands.drain()
        self._world = world
        # Time never goes back between runs; in real time it is that of the wall
        world.jump(self._base if not self.paced else time.time() - world.now)

    def _rest(self, world: World) -> None:
        """Deactivate, while the arm goes on moving as it does."""
        world.active, world.moving = [], False
        for publisher in (self.intruder, self.foreign):
            if publisher is not None:
                self.remote.node.destroy_publisher(publisher)
        self.intruder = self.foreign = None
        world.plant.wrecked = False
        world.plant.qd[:] = 0.0
        asked = self.remote.begin('deactivate')
        for _ in range(EMPTY):
            if asked.done():
                break
            world.run(1)
            self._spin(0.0)
        self.remote.until(asked.done, 'deactivating', WITHIN)
        self._base = world.now - world.time + world.ticks * TICK + 1.0
        for _ in range(SPIN):           # what it has told before is over
            self._spin(0.0)
        self.remote.diagnostics = {}

    def arm(self) -> None:
        """Ask to rise."""
        self._pending.append(self.remote.begin('activate'))

    @property
    def alive(self) -> bool:
        return self.process.popen.poll() is None

    @property
    def phase(self) -> int:
        return guard.PHASES.index(self.remote.diagnostics.get('phase', 'INACTIVE'))

    @property
    def reason_code(self) -> str:
        return self.remote.diagnostics.get('reason code', 'NO_REASON')

    def settle(self) -> None:
        """Wait until the node has told of its phase."""
        self.remote.listen(SETTLED)

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
        if world.time >= self._halted:
            os.kill(self.process.popen.pid, signal.SIGCONT)
            self._halted = np.inf
        if world.ticks % TIME == 0 or not arrivals:
            self.clock.publish(CLOCK + struct.pack('<iI', *divmod(round(1e9 * world.now),
                                                                  1_000_000_000)))
        if world.ticks % SPIN == 0 or not self._lively:
            self._spin(0.0)
        published = []
        for sample in arrivals:
            self._send(sample)
            published += self._answers(ANSWER if self._lively and not self.paced else 0)
        if self.paced:
            self._wall += TICK
            self.commands.wait(round(1e9 * max(0.0, self._wall - time.monotonic())))
            time.sleep(max(0.0, self._wall - time.monotonic()))
        if self.paced or not published:
            published += self._answers(0 if self.paced or self._lively and arrivals else PACE)
            self._lively = bool(published) and published[-1].any()
        elif not published[-1].any():
            self._lively = False
        return published

    def _send(self, s: Sample) -> None:
        stamp = round(1e9 * max(0.0, s.stamp))
        message = self._encoder.encode(stamp, s.position, s.velocity, s.effort)
        if s.malformed:
            self._lively = False
            message = malformed(s, self._encoder_names, message)
        if s.foreign:
            self.foreign = self.foreign or self._publisher(JointState, 'joint_states')
            self.foreign.publish(message)
        self.states.publish(message)

    @property
    def _encoder_names(self) -> tuple[str, ...]:
        assert self._world is not None
        return self._world.arm.model.joint_names

    def _answers(self, timeout: int) -> list[ndarray]:
        if timeout and not self.commands.wait(timeout):
            return []
        efforts = []
        for message in self.commands.drain():
            tau = np.zeros(len(self._encoder_names))
            if self._decoder.decode(message, tau) != ACCEPTED:
                tau[:] = np.nan
            efforts.append(tau)
        return efforts

    def use(self, **changes: Any) -> bool:
        self._set.update(dict.fromkeys(changes))            # unknown now: set again before a run
        self._pending.append(self._set_parameters(changes))
        return True

    def follow(self, waypoints: Waypoints) -> bool:
        assert self._world is not None
        message = trajectory_message(waypoints)
        start = round(1e9 * (self._world.now + LEAD))
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(start, 1_000_000_000)
        self.trajectories.publish(message)
        return True

    def stall(self, seconds: float) -> None:
        assert self._world is not None
        os.kill(self.process.popen.pid, signal.SIGSTOP)
        self._halted, self._lively = self._world.time + seconds, False

    def stop(self) -> None:
        raise NotImplementedError

    def tell(self, **fields: Any) -> None:
        raise NotImplementedError

    def second_publisher(self, there: bool) -> None:
        if there and self.intruder is None:
            self.intruder = self._publisher(Float64MultiArray, 'commands')

    def malformed_request(self) -> None:
        """Ask for a parameter of a type that no parameter has."""
        request = SetParameters.Request(parameters=[
            ParameterMessage(name='mode', value=ParameterValue(type=99))])
        self._pending.append(self.remote.ask(SetParameters, 'controller/set_parameters', request))


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
