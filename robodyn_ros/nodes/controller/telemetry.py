# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Publishers of a controller: telemetry of its cycles, and estimated external efforts."""

from collections.abc import Collection
import time
from typing import Any

from geometry_msgs.msg import Vector3, WrenchStamped
import numpy as np
from numpy import ndarray
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.time import Time
from rclpy.timer import Timer
from sensor_msgs.msg import JointState
from std_msgs.msg import UInt8

from ..middleware import qos
from ...control.controller.controller import Controller
from ...control.controller.status import CycleTelemetry, TelemetryReader
from ...dynamics import Dynamics
from ...dynamics.external_wrench import external_wrench
from ...errors import ParameterError
from ...model.robot import RobotModel

EFFORT_PARTS = 'gravity', 'friction', 'law', 'limits'
PHASE = '~/phase'
TOPICS = ('~/reference', '~/tracking_error', *(f'~/effort_{part}' for part in EFFORT_PARTS))


class HeardPublisher:
    """
    Publisher of several topics, on a timer of the steady clock while one of them has a subscriber.

    Looking for subscribers in the timer itself would cost a turn of the executor each time, which
    holds the GIL for much longer than a control cycle.

    :param rate: [Hz]; 0: it never publishes.
    """

    def __init__(self, node: Node, rate: float, publishers: Collection[Publisher]):
        self._node, self._rate, self._all = node, rate, publishers
        self._timer: Timer | None = None

    def _publish(self) -> None:
        """Publish once."""
        raise NotImplementedError

    def look(self) -> None:
        """Start or stop the timer by the present subscribers; for the executor, occasionally."""
        heard = self._rate > 0.0 and any(p.get_subscription_count() for p in self._all)
        if heard and self._timer is None:
            self._timer = self._node.create_timer(
                1.0 / self._rate, self._publish, clock=Clock(clock_type=ClockType.STEADY_TIME))
        elif not heard:
            self._end()

    def _end(self) -> None:
        if self._timer is not None:
            self._node.destroy_timer(self._timer)
            self._timer = None

    def close(self) -> None:
        """Destroy timer and publishers."""
        self._end()
        for publisher in self._all:
            self._node.destroy_publisher(publisher)


class TelemetryPublisher(HeardPublisher):
    """
    Publisher of the newest control cycle, run by the executor of a node, not by the loop.

    - ``~/reference`` (sensor_msgs/JointState): position and velocity of the reference, NaN while
      there is none, and the commanded ``effort``, NaN while there is none;
    - ``~/tracking_error`` (sensor_msgs/JointState): the reference minus the state in use, and the
      commanded minus the measured effort;
    - ``~/effort_gravity``, ``~/effort_friction``, ``~/effort_law``, ``~/effort_limits``
      (sensor_msgs/JointState): the state in use, and one part of the commanded effort, see
      :class:`.CycleTelemetry`;
    - ``~/phase`` (std_msgs/UInt8): index in :data:`~robodyn_ros.control.steps.guard.PHASES`.

    Joint states are stamped with the time of their cycle. No array is empty: some releases of
    PlotJuggler read beyond the end of an empty one. Topics without subscriber cost nothing, and
    nothing is published while no cycle runs.

    :param rate: [Hz]; 0: nothing is ever published.
    :param sim_time: whether the cycles are on ROS time.
    """

    def __init__(self, node: Node, controller: Controller, rate: float, *, sim_time: bool):
        self._sim_time = sim_time
        self._reader, self._published = TelemetryReader(controller), 0
        self._names = list(controller.model.joint_names)
        self._publishers: dict[str, Publisher] = {
            topic: node.create_publisher(kind, topic, qos.TELEMETRY) for topic, kind in (
                *((topic, JointState) for topic in TOPICS), (PHASE, UInt8))} if rate else {}
        super().__init__(node, rate, self._publishers.values())

    def _publish(self) -> None:
        heard = [topic for topic, publisher in self._publishers.items()
                 if publisher.get_subscription_count()]
        if not heard or (cycles := self._reader.cycles) == self._published:
            return
        self._published, cycle = cycles, self._reader.read()
        messages = self._messages(cycle)
        for topic in heard:
            self._publishers[topic].publish(messages[topic])

    def _messages(self, cycle: CycleTelemetry) -> dict[str, Any]:
        stamp = self._stamp(cycle.time)

        def joints(position: ndarray, velocity: ndarray, effort: ndarray) -> JointState:
            message = JointState(name=self._names, position=position.tolist(),
                                 velocity=velocity.tolist(), effort=effort.tolist())
            message.header.stamp = stamp
            return message
        return {
            '~/reference': joints(cycle.target, cycle.target_qd, cycle.commanded),
            '~/tracking_error': joints(
                cycle.target - cycle.position, cycle.target_qd - cycle.velocity,
                cycle.commanded - cycle.measured),
            **{f'~/effort_{part}': joints(cycle.position, cycle.velocity, getattr(cycle, part))
               for part in EFFORT_PARTS},
            PHASE: UInt8(data=cycle.phase)}

    def _stamp(self, cycle_time: float) -> Any:
        """Return the ROS time of a cycle whose time [s] is ROS or steady time."""
        if self._sim_time:
            return Time(seconds=cycle_time).to_msg()
        age = max(0.0, time.monotonic() - cycle_time)
        now = self._node.get_clock().now().nanoseconds
        return Time(nanoseconds=now - round(1e9 * age)).to_msg()


QUEUE_DEPTH = 1       # the newest estimate counts


def check_frame(model: RobotModel, frame: str) -> None:
    """
    Refuse a frame of the wrench that the robot does not have; '' stands for none.

    :raises ParameterError: naming the frames that there are.
    """
    if frame and frame not in model.frames:
        raise ParameterError(f'{model.name} has no frame {frame}', name='external_wrench_frame',
                             value=frame, remedy='name one of ' + ', '.join(model.frames))


class ExternalEffortPublisher(HeardPublisher):
    """
    Publisher of ``~/external_torque`` and ``~/external_wrench``, run by the executor of a node.

    ``~/external_torque`` (sensor_msgs/JointState) has position, velocity and, as ``effort``, the
    external effort of each joint; ``~/external_wrench`` (geometry_msgs/WrenchStamped) the wrench
    that explains them on a frame, in its axes, and ``~/external_wrench_confidence``, of the same
    type, the share in [0, 1] of each component that the joints can show. Nothing is published
    while there is no estimate.

    :param rate: [Hz]; 0: nothing is ever published.
    :param frame: of the wrench, which :func:`check_frame` has accepted; '' for none.
    """

    def __init__(self, node: Node, controller: Controller, rate: float, frame: str):
        self._controller, self._frame = controller, frame
        model = controller.model
        self._dynamics = Dynamics(model)
        if frame:       # compile its kernels before the arm is driven
            external_wrench(self._dynamics, [0.0] * model.nv, [0.0] * model.nv, frame)
        self._torque = node.create_publisher(JointState, '~/external_torque', QUEUE_DEPTH)
        self._wrench = [node.create_publisher(WrenchStamped, topic, QUEUE_DEPTH) for topic in (
            '~/external_wrench', '~/external_wrench_confidence')] if frame and rate else []
        super().__init__(node, rate, (self._torque, *self._wrench))

    def _publish(self) -> None:
        (q, qd), effort = self._controller.joint_state, self._controller.external_effort
        if np.isnan(effort).any():
            return
        message = JointState(name=self._controller.model.joint_names, position=q.tolist(),
                             velocity=qd.tolist(), effort=effort.tolist())
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._torque.publish(message)
        if not self._wrench:
            return
        for publisher, values in zip(self._wrench, external_wrench(self._dynamics, q, effort,
                                                                   self._frame), strict=True):
            wrench = WrenchStamped(header=message.header)
            wrench.header.frame_id = self._frame
            wrench.wrench.force, wrench.wrench.torque = _vector(values[:3]), _vector(values[3:])
            publisher.publish(wrench)


def _vector(values: ndarray) -> Vector3:
    x, y, z = values.tolist()
    return Vector3(x=x, y=y, z=z)
