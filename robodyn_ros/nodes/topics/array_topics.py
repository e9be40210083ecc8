# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Stamped arrays that a control law reads, as std_msgs/Float64MultiArray: policies, coupled arms.

``data`` begins with the time stamp [s] of a joint state. Of a policy (``layout.data_offset`` is
1), which was planned from that state, one row a joint follows: effort u with g(q), position and
velocity x̂, and the row of the gain K, of the position errors of all joints and then of their
velocity errors. ``layout.dim`` has the rows, labelled with the joint names separated by commas,
and the 3 + 2 nv columns.

Between coupled arms, the index of the role (leader, follower) and the status come after the stamp
(``layout.data_offset`` is 3), followed by the rows of :data:`..control.partner.QUANTITIES`.
``layout.dim`` has the rows, labelled with these names, and the columns, labelled with the names
that the leader has for the joints, separated by commas.
"""

from collections.abc import Callable, Sequence
import time
from typing import Any

import numpy as np
from numpy import ndarray
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message
from std_msgs.msg import Float64MultiArray, MultiArrayDimension

from .publishers import LET_ONE_REMAIN, several
from .trajectory_subscriber import BURST, clock_offset, Follower, RATE
from ..middleware import raw_waitable
from ..middleware.executor import Throttle
from ...control.controller.controller import Controller
from ...control.inputs.partner import ALIGNED, AWAY, COUPLING_ROLE, CouplingState, QUANTITIES
from ...errors import ArgumentError

MAX_MESSAGE_BYTES = 1 << 17    # a feedback policy of 80 joints
MAX_STAMP_OFFSET = 0.5    # [s]; a larger offset is of another clock
PUBLISHER_CHECK_PERIOD = 0.1    # [s]

#: Uses a message; the last argument returns the time of a stamp on the clock of the controller.
Use = Callable[[Controller, Float64MultiArray, Callable[[float], float]], None]


class ArraySubscriber:
    """
    Subscriber of std_msgs/Float64MultiArray; a refused message is logged and has no effect.

    With a second publisher all are refused.

    :param follower: returns the loop whose controller uses them, None while there is none.
    :param name: of what they are, for messages.
    :param use: raises :class:`ArgumentError` where it refuses one.
    :param quiet: whether messages are silently ignored while they are not used.
    """

    def __init__(self, node: Node, follower: Callable[[], Follower | None], topic: str, name: str,
                 use: Use, profile: QoSProfile | int = 1, quiet: bool = False):
        self._node, self._follower, self._name, self._use = node, follower, name, use
        self._quiet = quiet
        self._topic = node.resolve_topic_name(topic)
        self._warnings = Throttle(BURST, RATE)
        self._trouble, self._looked = '', -PUBLISHER_CHECK_PERIOD
        self._messages = raw_waitable.subscribe(
            node, Float64MultiArray, topic, profile, MAX_MESSAGE_BYTES, self._take)

    def _take(self, data: ndarray, size: int) -> None:
        try:
            self._accept(data, size)
        except ArgumentError as error:
            if line := self._warnings.line(f'{self._name} refused: {error}'):
                self._node.get_logger().warning(line)

    def _accept(self, data: ndarray, size: int) -> None:
        follower = self._follower()
        if follower is None and self._quiet:
            return
        if follower is None:
            raise ArgumentError('the controller is not active', name=self._name,
                                remedy='activate it first')
        if size > len(data):
            raise ArgumentError(f'a message of {size} bytes', name=self._name,
                                remedy=f'use at most {MAX_MESSAGE_BYTES}')
        if (now := time.monotonic()) >= self._looked + PUBLISHER_CHECK_PERIOD:
            self._looked = now
            self._trouble = several(self._node, self._topic, self._name)
        if self._trouble:
            raise ArgumentError(self._trouble, name=self._name, remedy=LET_ONE_REMAIN)
        try:
            message: Any = deserialize_message(data.tobytes(), Float64MultiArray)
        except RuntimeError as error:
            raise ArgumentError(f'the message cannot be read ({error})', name=self._name,
                                remedy='send a std_msgs/Float64MultiArray') from error
        self._use(follower.controller, message, lambda stamp: self._time(follower, stamp))

    def _time(self, follower: Follower, stamp: float) -> float:
        """Return the time of a stamp on the clock of the controller [s]."""
        measured = stamp + clock_offset(self._node, follower)
        if not abs(ahead := measured - follower.now()) <= MAX_STAMP_OFFSET:
            raise ArgumentError(f'the time stamp of the {self._name} is {ahead:.3f} s from now',
                                name='stamp', value=stamp, remedy='stamp it with the time of the '
                                'joint state that it belongs to')
        return measured


def policy_message(joint_names: Sequence[str], stamp: float, effort: ndarray, position: ndarray,
                   velocity: ndarray, gain: ndarray) -> Float64MultiArray:
    """
    Return the message of a policy, τ = u + K (x̂ - x).

    :param joint_names: all joints of the model, in its order.
    :param stamp: time of the state that it was planned from [s], ROS time.
    :param effort: (nv,) u [N·m | N], with g(q); ``position``, ``velocity`` (nv,) x̂.
    :param gain: (nv, 2 nv) K.
    """
    rows = np.column_stack([effort, position, velocity, gain])
    message = Float64MultiArray(data=[stamp, *rows.ravel()])
    message.layout.data_offset = 1
    message.layout.dim = [
        MultiArrayDimension(label=','.join(joint_names), size=rows.shape[0], stride=rows.size),
        MultiArrayDimension(label='effort,position,velocity,gain', size=rows.shape[1],
                            stride=rows.shape[1])]
    return message


def policy_rows(message: Float64MultiArray, joint_names: Sequence[str]) -> tuple[float, ndarray]:
    """
    Return the time stamp [s] and the rows (nv, 3 + 2 nv) of a message.

    :param joint_names: of the model, in its order.
    :raises ArgumentError: it is not a message of :func:`policy_message` for these joints.
    """
    n, layout = len(joint_names), message.layout
    columns = 3 + 2 * n
    if layout.data_offset != 1 or [d.size for d in layout.dim] != [n, columns]:
        sizes = [d.size for d in layout.dim]
        raise ArgumentError(f'the policy has data_offset {layout.data_offset} and size {sizes}',
                            name='layout', remedy=f'use data_offset 1 and size {[n, columns]}')
    if layout.dim[0].label != ','.join(joint_names):
        raise ArgumentError(f'the rows of the policy are {layout.dim[0].label[:200]!r}',
                            name='layout', remedy=f'use {",".join(joint_names)!r}')
    if len(message.data) != 1 + n * columns:
        raise ArgumentError(f'the policy has {len(message.data)} numbers', name='data',
                            remedy=f'use {1 + n * columns}')
    data = np.array(message.data, float)
    return float(data[0]), data[1:].reshape(n, columns)


def follow_policy(controller: Controller, message: Float64MultiArray,
                  time: Callable[[float], float]) -> None:
    """Apply the policy of a message; after a refused one, the one before it grows stale."""
    stamp, rows = policy_rows(message, controller.model.joint_names)
    effort, position, velocity = rows.T[:3]
    controller.follow_policy(time(stamp), effort, position, velocity, rows[:, 3:])


LABEL = ','.join(QUANTITIES)
HEADER_NUMBERS = 3    # before the rows


def coupling_message(state: CouplingState, stamp: float) -> Float64MultiArray:
    """Return the message of a state; ``stamp`` is its ROS time [s]."""
    rows, columns = state.rows.shape
    message = Float64MultiArray(data=[stamp, float(COUPLING_ROLE.index(state.role)),
                                      float(state.status), *state.rows.ravel()])
    message.layout.data_offset = HEADER_NUMBERS
    message.layout.dim = [
        MultiArrayDimension(label=LABEL, size=rows, stride=rows * columns),
        MultiArrayDimension(label=','.join(state.joint_names), size=columns, stride=columns)]
    return message


def coupling_state(message: Float64MultiArray) -> tuple[CouplingState, float]:
    """
    Return the state and the time stamp [s] of a message.

    :raises ArgumentError: it is not a message of :func:`coupling_message`.
    """
    layout = message.layout
    sizes, labels = [d.size for d in layout.dim], [d.label for d in layout.dim]
    names = tuple(labels[-1].split(',')) if labels else ()
    if (layout.data_offset != HEADER_NUMBERS or labels[:-1] != [LABEL]
            or sizes != [len(QUANTITIES), len(names)]
            or len(message.data) != HEADER_NUMBERS + sizes[0] * sizes[1]):
        raise ArgumentError(f'the message has data_offset {layout.data_offset}, size {sizes} and '
                            f'{len(message.data)} numbers', name='layout',
                            remedy='remap ~/partner to ~/coupling of the other controller')
    data = np.array(message.data, float)
    role, status = data[1:HEADER_NUMBERS]
    if role not in (0.0, 1.0) or status not in range(AWAY, ALIGNED + 1):
        raise ArgumentError(f'role {role:g} and status {status:g} have no meaning', name='status',
                            value=float(status), remedy='use the same version of this package on '
                            'both sides')
    return CouplingState(COUPLING_ROLE[int(role)], int(status), names,
                         data[HEADER_NUMBERS:].reshape(sizes)), float(data[0])


# A message that is lost is not sent again: the next one is newer
QOS = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)


class CouplingTopics:
    """
    Publisher of ``~/coupling`` and subscriber of ``~/partner``, the same of the other arm.

    States are published at ``coupling_rate`` while the present law couples arms.

    :param follower: returns the loop of an active controller, None while there is none.
    """

    def __init__(self, node: Node, follower: Callable[[], Follower | None]):
        self._node, self._follower = node, follower
        self._publisher = node.create_publisher(Float64MultiArray, '~/coupling', QOS)
        self._subscriber = ArraySubscriber(node, self._coupled, '~/partner', 'partner',
                                           follow_partner, QOS, quiet=True)
        self._timer: Any = None

    def update(self, rate: float) -> None:
        """
        Start or stop publishing, as the present law requires.

        :param rate: [Hz]; 0: publish nothing.
        """
        if self._timer is not None:
            self._node.destroy_timer(self._timer)
            self._timer = None
        if rate:
            self._timer = self._node.create_timer(
                1.0 / rate, self._publish, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def _coupled(self) -> Follower | None:
        follower = self._follower()
        return follower if follower and follower.controller.couples else None

    def _publish(self) -> None:
        if (follower := self._coupled()) is None:
            return
        controller = follower.controller
        state = controller.coupling_state()
        stamp = float(controller.memory['time'][0]) - clock_offset(self._node, follower)
        self._publisher.publish(coupling_message(state, stamp))


def follow_partner(controller: Controller, message: Float64MultiArray,
                   time: Callable[[float], float]) -> None:
    """Update the partner state from a message."""
    state, stamp = coupling_state(message)
    controller.follow_partner(state, time(stamp))
