# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The simulator: a node that looks like the drives of a real arm to a controller."""

from collections.abc import Callable
from pathlib import Path
import time
from typing import Any

from geometry_msgs.msg import WrenchStamped
import numpy as np
from rclpy.clock import Clock as SteadyClock, ClockType
from rclpy.node import Node
from rclpy.time import Time
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import Trigger

from .loop import obstacle_of, obstacle_parameters, put, SimulatorLoop
from .parameters import TABLE
from ..controller import robot
from ..middleware import node_main, qos
from ..middleware.parameters import Parameters
from ..middleware.raw_subscription import open_subscription
from ..topics.publishers import IncompatiblePublishers
from ...control.settings.settings import Settings
from ...errors import ParameterError, RobodynError
from ...model.friction_file import read_friction
from ...model.robot import initial_position, RobotModel
from ...simulation.drive import Drive, Noise
from ...simulation.plant import Plant, PlantState
from ...wire.codecs import JointStateEncoder


class Simulator(Node):
    """
    Publishes `joint_states` with measured efforts and takes efforts on `commands`.

    Joints that mimic others are in the states too, after those that move on their own and as
    computed from them, without effort; in the commands they are not.

    The plant lives on the thread of ``loop``; the executor only serves parameters, services
    (`~/release_brakes`, `~/engage_brakes`, `~/reset`, `~/pause`) and pushes: the force of a
    WrenchStamped on `~/push` acts at the origin of the link that its frame_id names, in world
    axes; its torque does not act. A pause ends when the parameter `pause_at` is set.
    """

    def __init__(self) -> None:
        super().__init__('simulator')
        self.parameters = Parameters(self, TABLE)
        self.parameters.warn_of_unread()
        p = self.parameters.values()
        model, urdf, drive = self._robot(p)
        self._simulation_time = p['lockstep'] or p['publish_clock']
        # What is published: every joint that moves, those that mimic another last
        order = [*model.leaders, *model.followers]
        self._encoder = JointStateEncoder([model.body_joint_names[i] for i in order])
        self._driver, self._ratio, self._shift = (
            column[order] for column in (model.driver, model.ratio, model.shift))
        self._drives = (np.arange(model.nb) < model.nv).astype(float)
        self._states = self.create_publisher(
            JointState, 'joint_states', qos.ALL_STATES if p['lockstep'] else qos.STATES_OUT)
        self._clock_publisher = (self.create_publisher(Clock, '/clock', qos.CLOCK_OUT)
                                 if p['publish_clock'] else None)
        if p['publish_description']:
            self.create_publisher(String, 'robot_description', qos.DESCRIPTION).publish(
                String(data=urdf))
        self._commands = open_subscription(self, Float64MultiArray, 'commands', qos.COMMANDS)
        self.loop = SimulatorLoop(
            drive, self._commands, self._publish, self.get_logger(),
            period_ns=round(1e9 / p['rate']), lockstep=p['lockstep'],
            lockstep_timeout=p['lockstep_timeout'], lockstep_settle=p['lockstep_settle'],
            real_time_factor=p['real_time_factor'])
        self.loop.pause_at = p['pause_at']
        for name, action in (('release_brakes', self._release), ('engage_brakes', self._engage),
                             ('reset', self._reset), ('pause', self._pause)):
            self.create_service(Trigger, f'~/{name}', self._service(action))
        self.create_subscription(WrenchStamped, '~/push', self._on_push, 10)
        self.create_timer(1.0, IncompatiblePublishers(self).look,
                          clock=SteadyClock(clock_type=ClockType.STEADY_TIME))
        put(drive.plant, obstacle_of(p, model.frame_names))
        self._obstacle = obstacle_parameters(p)
        self.parameters.accept = lambda values: obstacle_of(values, model.frame_names)
        self._pushed: dict[str, float] = {}         # when a link was pushed last
        self.parameters.changed = self._apply
        self.parameters.fixed = lambda: True
        self._ready = (f'simulator ready: {model.name}, {model.nv} joints '
                       f'({", ".join(model.joint_names)}), {p["rate"]:g} Hz'
                       f'{", lockstep" if p["lockstep"] else ""}, '
                       f'{"brakes engaged" if p["brakes"] else "no brakes"}'
                       f'{", compensates gravity" if p["compensates_gravity"] else ""}')

    def run(self, spin: Callable[[], None], over: Callable[[], bool]) -> None:
        """
        Simulate, and call ``spin``, until ``over``; raises what ended the simulation before.

        :raises SimulationError: the motion can no longer be followed.
        """
        node_main.freeze_garbage()
        self.loop.start()
        self.get_logger().info(self._ready)
        try:
            while self.loop.running and not over():
                spin()
        finally:
            self.loop.stop()
            self._commands.destroy()
        refused = ''.join(f'; {n} commands refused: {why}' for why, n in self.loop.refused.items())
        self.get_logger().info(f'simulator ends: {self.loop.missed} periods missed{refused}')
        if self.loop.error is not None:
            raise self.loop.error

    def _robot(self, p: dict[str, Any]) -> tuple[RobotModel, str, Drive]:
        if not (urdf := robot.description(p)):
            raise ParameterError('there is no robot', name='urdf',
                                 remedy='set the parameter urdf or robot_description')
        model, locked = robot.model(p, urdf), robot.locked(p)
        model, offset = read_friction(Path(p['friction_file']), model) if p['friction_file'] \
            else (model, None)
        model = Settings(armature=p['armature']).with_rotors(model)
        part = p['root'] or p['tip']        # of the URDF, which MuJoCo would read as a whole
        plant = Plant(model.to_urdf() if part else urdf, model=model,
                      locked={} if part else locked, substeps=p['substeps'],
                      friction_offset=offset,
                      timestep=1 / p['rate'] / p['substeps'], joint_damping=p['joint_damping'],
                      compensates_gravity=p['compensates_gravity'])
        for warning in (*model.warnings, *plant.warnings):
            self.get_logger().warning(warning)
        pose = initial_position(model, p['initial_position'])
        self.get_logger().info('initial position: ' + ', '.join(
            f'{name} {q:.4g}' for name, q in zip(model.joint_names, pose)))
        noise = Noise(p['position_noise'], p['velocity_noise'], p['effort_noise'], p['seed'],
                      p['position_resolution'])
        return model, urdf, Drive(plant, initial=pose, timeout=p['command_timeout'],
                                  braking=p['brakes'], delay=p['command_delay'], noise=noise,
                                  tell=lambda text: self.get_logger().info(text))

    def _publish(self, state: PlantState) -> None:
        # Wall time is that of the instant which physics has reached, however late this comes to it
        stamp = (round(1e9 * state.time) if self._simulation_time
                 else time.time_ns() - self.loop.lateness_ns)
        if self._clock_publisher is not None:
            self._clock_publisher.publish(Clock(clock=Time(nanoseconds=stamp).to_msg()))
        driver, ratio = self._driver, self._ratio
        self._states.publish(self._encoder.encode(
            stamp, ratio * state.position[driver] + self._shift, ratio * state.velocity[driver],
            self._drives * state.effort[driver]))

    def _service(self, action: Callable[[], str]) -> Callable:
        def answer(request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
            try:
                response.message, response.success = self.loop.call(action), True
            except RobodynError as error:
                response.message = str(error)
            return response
        return answer

    def _release(self) -> str:
        self.loop.drive.release(time.monotonic())
        return 'brakes released'

    def _engage(self) -> str:
        if not self.loop.drive.engage():
            raise ParameterError('the arm has no brakes', name='brakes', value=False,
                                 remedy='set the parameter brakes to true')
        self.loop.restart()
        return 'brakes engaged until they are released on request'

    def _reset(self) -> str:
        self.loop.drive.reset()
        self.loop.restart()
        return 'at the initial position'

    def _pause(self) -> str:
        plant = self.loop.drive.plant
        self.loop.pause_at = max(plant.time, plant.period)
        return f'paused at {self.loop.pause_at:.9f} s'

    def _on_push(self, message: WrenchStamped) -> None:
        f, duration = message.wrench.force, self.parameters['push_duration']
        link, force = message.header.frame_id, (f.x, f.y, f.z)
        try:
            self.loop.call(lambda: self.loop.drive.plant.push(link, force, duration))
        except RobodynError as error:
            self.get_logger().warning(f'push refused: {error}')
        else:
            now = time.monotonic()
            if now > self._pushed.get(link, -np.inf) + duration:    # not each of a long push
                self.get_logger().info(f'push on {link} for {duration:g} s: {force} N')
            self._pushed[link] = now

    def _apply(self) -> None:
        p, loop, drive = self.parameters.values(), self.loop, self.loop.drive

        def use() -> None:
            loop.pause_at = p['pause_at']
            if p['lockstep'] != loop.lockstep:
                loop.lockstep = p['lockstep']
                loop.restart()
            drive.braking = p['brakes']
            if p['joint_damping'] != drive.plant.joint_damping:
                drive.plant.joint_damping = p['joint_damping']
            if obstacle_parameters(p) != self._obstacle:
                put(drive.plant, obstacle_of(p, drive.plant.model.frame_names))
                self._obstacle = obstacle_parameters(p)
        loop.call(use)


def main(args: list[str] | None = None) -> int:
    """Run the node until SIGINT or SIGTERM."""
    return node_main.main(Simulator, args, TABLE)
