# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A controller node under test, over real DDS: in lockstep on simulation time, or in real time."""

from dataclasses import fields
import os
import signal
import struct
import time
from typing import Any

import numpy as np
from numpy import ndarray
from rclpy.serialization import serialize_message
from rclpy.task import Future
from robodyn_ros.control.references.trajectory import Waypoints
from robodyn_ros.control.settings.settings import Settings
from robodyn_ros.control.steps import guard
from robodyn_ros.verification.plant_step import TICK
from robodyn_ros.verification.sensing import Sample
from robodyn_ros.verification.tick import CYCLE
from robodyn_ros.verification.world import World
from robodyn_ros.wire.effort import ACCEPTED, EffortDecoder
from robodyn_ros.wire.joint_state import JointStateEncoder
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from .fleet import Link, LIVE

ANSWER = 100_000_000        # ns to wait for an answer that is expected
PACE = 1_000_000            # ns that a tick takes where none is
SPIN, TIME = 20, 10         # ticks between two looks at callbacks, and two messages on /clock
SETTLED = 0.12              # s after which a change of the phase is known
LEAD = 0.1                  # s from now that a trajectory starts
EMPTY = 3000                # ticks that stopping and arming may take
CLOCK = b'\0\1\0\0'         # of a Clock message, before its time: CDR, little endian


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
        message = JointTrajectory(joint_names=list(waypoints.joint_names))
        start = round(1e9 * (self._world.now + LEAD))
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(start, 1_000_000_000)
        velocities = waypoints.velocities
        for k, seconds in enumerate(waypoints.times):
            point = JointTrajectoryPoint(positions=waypoints.positions[k].tolist())
            if velocities is not None:
                point.velocities = velocities[k].tolist()
            point.time_from_start.sec = int(seconds)
            point.time_from_start.nanosec = int(seconds % 1.0 * 1e9)
            message.points.append(point)
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
        from rcl_interfaces.msg import Parameter, ParameterValue
        from rcl_interfaces.srv import SetParameters

        request = SetParameters.Request(parameters=[
            Parameter(name='mode', value=ParameterValue(type=99))])
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
