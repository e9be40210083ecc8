# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Publisher of reference, tracking error, parts of the effort and phase of a controller."""

import time
from typing import Any

from numpy import ndarray
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.time import Time
from sensor_msgs.msg import JointState
from std_msgs.msg import UInt8

from ..middleware import qos
from ..middleware.heard_timer import HeardTimer
from ...control.controller.controller import Controller
from ...control.controller.cycle_telemetry import CycleTelemetry, TelemetryReader

EFFORT_PARTS = 'gravity', 'friction', 'law', 'limits'
PHASE = '~/phase'
TOPICS = ('~/reference', '~/tracking_error', *(f'~/effort_{part}' for part in EFFORT_PARTS))


class TelemetryPublisher:
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
        self._node, self._sim_time = node, sim_time
        self._reader, self._published = TelemetryReader(controller), 0
        self._names = list(controller.model.joint_names)
        self._publishers: dict[str, Publisher] = {
            topic: node.create_publisher(kind, topic, qos.TELEMETRY) for topic, kind in (
                *((topic, JointState) for topic in TOPICS), (PHASE, UInt8))} if rate else {}
        #: Publishes while there is a subscriber.
        self.timer = HeardTimer(node, rate, self._publishers.values(), self._publish)

    def close(self) -> None:
        """Destroy timer and publishers."""
        self.timer.close()
        for publisher in self._publishers.values():
            self._node.destroy_publisher(publisher)

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
