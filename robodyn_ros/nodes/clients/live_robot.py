# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Joint states and diagnostics of a robot that is running, for a picture of it."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
import numpy as np
from numpy import ndarray
from rclpy.node import Node
from sensor_msgs.msg import JointState

from ..middleware.executor_subscription import open_subscription
from ..middleware.qos import STATES_IN
from ...wire.joint_state import JointStateDecoder

STATE_TIMEOUT = 0.5    # [s] without a state of some joint
STATUS_TIMEOUT = 5.0    # [s] after which an unrepeated status is dropped
MAX_STATUSES = 12
# Values of the diagnostics that the page shows: of the loop, of its timing
DETAILS = ('phase', 'mode', 'reason', 'rate [Hz]', 'nominal rate [Hz]', 'missed periods',
           'scheduling', 'data path', 'refused samples', 'implausible samples',
           'saturated cycles', 'rate-limited cycles', 'cycles at position or velocity limits',
           *(f'{what} {figure} [us]' for what in ('wake-up error', 'cycle time',
                                                  'state to effort')
             for figure in ('p50', 'p99', 'max')))


class Line(NamedTuple):
    """A line of the report, and whether it is a problem."""

    text: str
    problem: bool


class LiveRobot:
    """
    Listener to the joint states and the diagnostics; it publishes nothing.

    It asks no publisher to wait or to send again (best effort), and decodes the newest messages
    only when it is asked to.

    :param joint_names: joints of the robot, in the order of :attr:`position`.
    :param topic: of the joint states.
    :param controller: name of the controller node, with its namespace, for its tracking error and
        its estimate of external efforts; '' for none.
    """

    def __init__(self, node: Node, joint_names: Sequence[str], topic: str, controller: str = ''):
        self.topic = node.resolve_topic_name(topic)
        self._decoder = JointStateDecoder(joint_names)
        self._states = open_subscription(node, JointState, topic, STATES_IN)
        self._heard: dict[tuple[str, str], tuple[float, DiagnosticStatus]] = {}
        self._now = 0.0
        self._diagnostics = node.create_subscription(DiagnosticArray, '/diagnostics', self._hear,
                                                     STATES_IN)
        self._names = tuple(joint_names)
        self._latest: dict[str, tuple[float, JointState]] = {}
        for topic in ('tracking_error', 'external_torque') if controller else ():
            node.create_subscription(JointState, f'/{controller.strip("/")}/{topic}',
                                     partial(self._keep, topic), STATES_IN)

    def _keep(self, topic: str, message: JointState) -> None:
        self._latest[topic] = self._now, message

    @property
    def position(self) -> ndarray:
        """Newest positions (nv,) [rad | m], NaN of joints without any state yet."""
        return self._decoder.state['position'].copy()

    @property
    def effort(self) -> ndarray:
        """Newest measured efforts (nv,) [N·m | N], NaN where the states carry none."""
        return self._decoder.state['effort'].copy()

    @property
    def tracking_error(self) -> ndarray:
        """
        Reference minus position (nv,) [rad | m], NaN while no trajectory is followed.

        It is that of one cycle of the controller: the newest messages of states and reference are
        of different times, which at speed is a larger error than that of the controller.
        """
        return self._of('tracking_error', 'position')

    @property
    def external_effort(self) -> ndarray:
        """Estimated external efforts (nv,) [N·m | N], NaN while there is no estimate."""
        return self._of('external_torque', 'effort')

    def _of(self, topic: str, field: str) -> ndarray:
        """Return values (nv,) of a message in the order of the model, NaN if it is old."""
        received, message = self._latest.get(topic, (-np.inf, JointState()))
        values = dict(zip(message.name, getattr(message, field)))
        if self._now - received > STATE_TIMEOUT:
            values = {}
        return np.array([values.get(name, np.nan) for name in self._names])

    def details(self) -> list[tuple[str, str]]:
        """Return names and values of the diagnostics that are not old, of each status."""
        return [(f'{status.name.partition(": ")[0]}: {pair.key}', pair.value)
                for _, (heard, status) in sorted(self._heard.items())
                if self._now - heard <= STATUS_TIMEOUT
                for pair in status.values if pair.key in DETAILS and pair.value]

    def update(self, now: float) -> bool:
        """
        Take the received messages; return whether all joints have a state.

        :param now: time [s] on any clock that does not go back.
        """
        self._now = now
        for message in self._states.drain():
            self._decoder.decode(message, now)      # a malformed one changes nothing
        return not self._decoder.missing

    def report(self) -> list[Line]:
        """Return what is missing or old, and the statuses of the diagnostics."""
        lines = []
        if missing := self._decoder.missing:
            lines.append(Line(f'waiting for {", ".join(missing)} on {self.topic}', True))
        elif (age := self._now - float(self._decoder.state['received'].min())) > STATE_TIMEOUT:
            lines.append(Line(f'no joint states for {age:.0f} s: the picture is old', True))
        for (hardware, name), (heard, status) in sorted(self._heard.items()):
            if self._now - heard <= STATUS_TIMEOUT:
                lines.append(Line(f'{hardware} {name}: {status.message}',
                                  status.level != DiagnosticStatus.OK))
        return lines

    def _hear(self, message: DiagnosticArray) -> None:
        for status in message.status:
            key = status.hardware_id, status.name
            if key in self._heard or len(self._heard) < MAX_STATUSES:
                self._heard[key] = self._now, status
