# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subscriptions of serialized messages for one thread: outside of executors, or with its own."""

from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from math import nan
from typing import Any, NamedTuple

from numpy import ndarray
import rclpy
from rclpy.callback_groups import CallbackGroup
from rclpy.exceptions import InvalidHandle
from rclpy.executors import ExternalShutdownException, ShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rosgraph_msgs.msg import Clock

from . import qos
from ...errors import DataPathError
from ...wire.decoders import stamp_of

try:
    # The extension module of rclpy; without it, only its public classes are used
    from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
except ImportError:
    _rclpy: Any = None                  # type: ignore[no-redef]

RCLError: Any = getattr(_rclpy, 'RCLError', RuntimeError)       # its base class

UNBOUNDED_DRAIN = 1000      # messages a drain may take where the QoS gives no depth


class LeftAlone(CallbackGroup):
    """Callback group that executors ignore."""

    def can_execute(self, entity: Any) -> bool:
        """Return False: executors must not run these entities."""
        return False

    def beginning_execution(self, entity: Any) -> bool:
        """Return False: executors must not run these entities."""
        return False


class Sample(NamedTuple):
    """Received message."""

    message: bytes
    number: float           # publication sequence number, NaN if unknown
    published: int          # [ns] time of publication, CLOCK_REALTIME of the publisher; 0: unknown
    age: ndarray | None = None      # [s] since the joints were measured, where a driver states it


def sample(message: bytes, info: Mapping[str, Any]) -> Sample:
    """Return a message with its metadata from rclpy."""
    number = info['publication_sequence_number']
    return Sample(message, nan if number is None else number, info['source_timestamp'] or 0)


def missing_names() -> list[str]:
    """Return the private names required by SerializedSubscription that rclpy lacks."""
    return [name for name, parts in (
        ('GuardCondition', ('trigger_guard_condition', 'destroy_when_not_in_use')),
        ('WaitSet', ('clear_entities', 'add_subscription', 'add_guard_condition', 'wait',
                     'get_ready_entities', 'destroy_when_not_in_use')),
        ('Subscription', ('take_message',)))
        if not all(hasattr(getattr(_rclpy, name, None), part) for part in parts)]


class SampleQueue:
    """Queue of received messages."""

    most: int       #: maximum number of messages that :meth:`drain` takes
    #: Whether drives may still have to damp the arm once no efforts are published.
    resting = False

    def idle(self) -> None:
        """Do what a cycle without efforts requires: nothing."""

    def take(self) -> Sample | None:
        """Take the oldest message, None if there is none; never block."""
        raise NotImplementedError

    def drain(self) -> list[bytes]:
        """Take up to :attr:`most` messages, oldest first; never block."""
        return [sample.message for sample in self.drain_numbered()]

    def drain_numbered(self) -> list[Sample]:
        """Drain messages with their metadata."""
        samples: list[Sample] = []
        while len(samples) < self.most and (taken := self.take()):
            samples.append(taken)
        return samples


class SerializedSubscription(SampleQueue):
    """
    Serialized messages of one topic, received by one thread without an executor.

    After the destruction of the subscription, its node or its context, :meth:`take` returns None
    and waits return at once. :meth:`wake`, :meth:`publisher_count`, :attr:`alive` and
    :meth:`destroy` are thread-safe.

    :param type: message class, e.g. sensor_msgs.msg.JointState.
    :param qos: a profile, or the depth of a reliable one.
    :raises DataPathError: rclpy lacks a required private name.
    """

    def __init__(self, node: Node, type: Any, topic: str, qos: QoSProfile | int):  # noqa: A002
        if missing := missing_names():
            raise DataPathError(f'rclpy lacks {", ".join(missing)}', name='data_path',
                                remedy='the executor data path does the same')
        self._node, self._type = node, type
        self._context = node.context
        depth = qos if isinstance(qos, int) else qos.depth
        # The depth of the queue; a fast publisher could otherwise keep a drain from ending
        self.most = depth or UNBOUNDED_DRAIN
        self._subscription = node.create_subscription(
            type, topic, never_called, qos, callback_group=LeftAlone(), raw=True)
        context = self._context.handle
        assert context is not None      # the node has one
        with context:
            self._guard = _rclpy.GuardCondition(context)
            self._wait_set = _rclpy.WaitSet(1, 1, 0, 0, 0, 0, context)
        self._context.on_shutdown(self.wake)

    @property
    def handle(self) -> Any:
        """The rclpy handle, for callers that take messages themselves."""
        return self._subscription.handle

    def take(self) -> Sample | None:
        """Take the oldest message, None if there is none; never block."""
        try:
            handle = self._subscription.handle
            with handle:
                taken = handle.take_message(self._type, True)
                return sample(*taken) if taken else None
        except (InvalidHandle, RCLError):
            if self.alive:
                raise
        return None

    def wait(self, timeout_ns: int) -> bool:
        """
        Block until a message is there, the time is over [ns] or :meth:`wake` is called.

        Return whether a message is there.
        """
        try:
            with self._subscription.handle, self._guard, self._wait_set:
                self._wait_set.clear_entities()
                self._wait_set.add_subscription(self._subscription.handle)
                self._wait_set.add_guard_condition(self._guard)
                self._wait_set.wait(max(0, timeout_ns))     # negative would mean for ever
                return bool(self._wait_set.get_ready_entities('subscription'))
        except (InvalidHandle, RCLError):
            if self.alive:
                raise
            return False

    def wake(self) -> None:
        """Interrupt the current wait, or the next one."""
        try:
            with self._guard:
                self._guard.trigger_guard_condition()
        except InvalidHandle:
            return                      # already destroyed

    def publisher_count(self) -> int:
        """Return the number of known publishers of the topic."""
        try:
            return self._subscription.get_publisher_count()
        except (InvalidHandle, RCLError):
            if self.alive:
                raise
            return 0

    def destroy(self) -> None:
        """Destroy the subscription; end a wait in another thread."""
        self.wake()
        self._node.destroy_subscription(self._subscription)
        self._wait_set.destroy_when_not_in_use()
        self._guard.destroy_when_not_in_use()

    @property
    def alive(self) -> bool:
        """Whether the subscription, its node and its context still exist."""
        try:
            with self._subscription.handle:
                return self._context.ok()
        except InvalidHandle:
            return False


def never_called(message: bytes) -> None:
    """Raise: required callback that must never run."""
    raise AssertionError('an executor took a message of a subscription that it must ignore')


def open_subscription(node: Node, type: Any, topic: str,  # noqa: A002
                      qos: QoSProfile | int) -> 'SerializedSubscription | ExecutorSubscription':
    """
    Return the serialized messages of a topic, for one thread without an executor.

    If rclpy lacks private names, a warning is logged and an executor of its own takes them.
    """
    if missing := missing_names():
        node.get_logger().warning(f'rclpy lacks {", ".join(missing)}; falling back to executors, '
                                  'which take longer', once=True)
        return ExecutorSubscription(node, type, topic, qos)
    return SerializedSubscription(node, type, topic, qos)


def own_executor(node: Node, suffix: str) -> tuple[Node, SingleThreadedExecutor]:
    """Return a companion of a node, without services, and its executor."""
    own = rclpy.create_node(
        f'{node.get_name()}_{suffix}', context=node.context, namespace=node.get_namespace(),
        use_global_arguments=False, enable_rosout=False, start_parameter_services=False)
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(own)
    return own, executor


class ExecutorSubscription(SampleQueue):
    """
    Serialized messages of one topic, taken by an executor that its one thread spins.

    Slower substitute of :class:`.raw_subscription.SerializedSubscription` that uses only public
    classes of rclpy.

    :param node: resolves the topic name; the subscription belongs to a companion node, which no
        other executor spins.
    """

    def __init__(self, node: Node, type: Any, topic: str,  # noqa: A002
                 qos: QoSProfile | int):
        depth = qos if isinstance(qos, int) else qos.depth
        self._context, self.most = node.context, depth or UNBOUNDED_DRAIN
        self._node, self._executor = own_executor(
            node, topic.rpartition('/')[2].removeprefix('joint_'))
        self._taken: deque[Sample] = deque()
        # The annotations of Jazzy lack the second argument
        callback: Any = self._on_message
        self._subscription = self._node.create_subscription(
            type, node.resolve_topic_name(topic), callback, qos, raw=True)
        # Executor.wake() lets the executor look again, and wait on; this ends the wait
        self._guard = self._node.create_guard_condition(lambda: None)
        self._context.on_shutdown(self.wake)

    def _on_message(self, message: bytes, info: Mapping[str, Any]) -> None:
        self._taken.append(sample(message, info))

    def _spin(self, timeout_ns: int) -> bool:
        """Spin once; return whether a message was received."""
        before = len(self._taken)
        try:
            self._executor.spin_once(timeout_sec=max(0, timeout_ns) * 1e-9)
        except (ExternalShutdownException, InvalidHandle, RCLError, ShutdownException):
            if self._context.ok():
                raise
        return len(self._taken) > before

    def take(self) -> Sample | None:
        """Take the oldest message, None if there is none; never block."""
        if not self._taken:
            self._spin(0)
        return self._taken.popleft() if self._taken else None

    def wait(self, timeout_ns: int) -> bool:
        """Block and return as :meth:`SerializedSubscription.wait`."""
        return bool(self._taken) or self._spin(timeout_ns)

    def wake(self) -> None:
        """Interrupt the current wait, or the next one."""
        with suppress(InvalidHandle):       # already destroyed
            self._guard.trigger()

    def publisher_count(self) -> int:
        """Return the number of known publishers of the topic."""
        return self._subscription.get_publisher_count()

    def destroy(self) -> None:
        """Destroy the subscription, while no thread waits for it."""
        self._executor.shutdown()
        self._node.destroy_node()


class SimulationClock:
    """
    Clock that receives `/clock` in :meth:`now`, for use by one thread.

    The clock of rclpy stops while the executor is in a callback, as during arming and stopping.
    """

    def __init__(self, node: Node):
        self.subscription = open_subscription(node, Clock, '/clock', qos.CLOCK_IN)
        self._time = 0.0

    def now(self) -> float:
        """Return the latest time [s]; 0 before the first message."""
        for message in self.subscription.drain():
            self._time = stamp_of(message)          # a Clock is a stamp and nothing else
        return self._time

    def destroy(self) -> None:
        """Destroy the subscription."""
        self.subscription.destroy()
