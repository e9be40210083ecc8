# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A subscription that hands out bytes to one thread of its own; the executor leaves it alone."""

from collections.abc import Mapping
from math import nan
from typing import Any, NamedTuple

from rclpy.callback_groups import CallbackGroup
from rclpy.exceptions import InvalidHandle
from rclpy.node import Node
from rclpy.qos import QoSProfile

from ...errors import DataPathError

try:
    # The extension module of rclpy, without which its public classes do all
    from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
except ImportError:
    _rclpy: Any = None                  # type: ignore[no-redef]

RCLError: Any = getattr(_rclpy, 'RCLError', RuntimeError)       # which is derived from it

UNBOUNDED_DRAIN = 1000      # messages a drain may take where the QoS gives no depth


class LeftAlone(CallbackGroup):
    """A group whose entities no executor waits for."""

    def can_execute(self, entity: Any) -> bool:
        """No."""
        return False

    def beginning_execution(self, entity: Any) -> bool:
        """No."""
        return False


class Sample(NamedTuple):
    """A message that was taken."""

    message: bytes
    number: float           # that its publisher counts by, NaN where there is none
    published: int          # when it was published [ns] on CLOCK_REALTIME there, 0 if not known


def sample(message: bytes, info: Mapping[str, Any]) -> Sample:
    """Return a message with what rclpy tells of it."""
    number = info['publication_sequence_number']
    return Sample(message, nan if number is None else number, info['source_timestamp'] or 0)


def missing_names() -> list[str]:
    """Return the private names of rclpy that a SerializedSubscription needs and that it lacks."""
    return [name for name, parts in (
        ('GuardCondition', ('trigger_guard_condition', 'destroy_when_not_in_use')),
        ('WaitSet', ('clear_entities', 'add_subscription', 'add_guard_condition', 'wait',
                     'get_ready_entities', 'destroy_when_not_in_use')),
        ('Subscription', ('take_message',)))
        if not all(hasattr(getattr(_rclpy, name, None), part) for part in parts)]


class SampleQueue:
    """Messages that wait to be taken."""

    most: int       #: messages that :meth:`drain` takes at most

    def take(self) -> Sample | None:
        """Take the oldest message, None if there is none; never block."""
        raise NotImplementedError

    def drain(self) -> list[bytes]:
        """Take what has come in, oldest first, at most :attr:`most` messages; never block."""
        return [sample.message for sample in self.drain_numbered()]

    def drain_numbered(self) -> list[Sample]:
        """Drain; with each message its number and time."""
        samples: list[Sample] = []
        while len(samples) < self.most and (taken := self.take()):
            samples.append(taken)
        return samples


class SerializedSubscription(SampleQueue):
    """
    Serialized messages of one topic, waited for and taken by one thread without an executor.

    Once it, its node or its context is gone there are simply no messages any more, and a wait
    returns at once. Any thread may call :meth:`wake`, :meth:`publisher_count`, :attr:`alive`,
    :meth:`destroy`.

    :param type: message class, e.g. sensor_msgs.msg.JointState.
    :param qos: a profile, or the depth of a reliable one.
    :raises DataPathError: rclpy lacks one of the private names that this class uses.
    """

    def __init__(self, node: Node, type: Any, topic: str, qos: QoSProfile | int):  # noqa: A002
        if missing := missing_names():
            raise DataPathError(f'rclpy lacks {", ".join(missing)}', name='data_path',
                                remedy='the executor data path does the same')
        self._node, self._type = node, type
        self._context = node.context
        depth = qos if isinstance(qos, int) else qos.depth
        # The middleware holds no more than these at a time; a publisher that is faster than the
        # drain could keep it going for ever.
        self.most = depth or UNBOUNDED_DRAIN
        self._subscription = node.create_subscription(
            type, topic, never_called, qos, callback_group=LeftAlone(), raw=True)
        context = self._context.handle
        assert context is not None      # the node stands in it
        with context:
            self._guard = _rclpy.GuardCondition(context)
            self._wait_set = _rclpy.WaitSet(1, 1, 0, 0, 0, 0, context)
        self._context.on_shutdown(self.wake)

    @property
    def handle(self) -> Any:
        """Handle of rclpy, for who takes messages in another way."""
        return self._subscription.handle

    def take(self) -> Sample | None:
        """Take the oldest message that has come in, None if there is none; never block."""
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
        """End the wait under way, or the next one if there is none, before its time."""
        try:
            with self._guard:
                self._guard.trigger_guard_condition()
        except InvalidHandle:
            return                      # destroyed: nobody waits

    def publisher_count(self) -> int:
        """Return how many publishers of the topic are known now."""
        try:
            return self._subscription.get_publisher_count()
        except (InvalidHandle, RCLError):
            if self.alive:
                raise
            return 0

    def destroy(self) -> None:
        """Give up the subscription; a wait under way in another thread is ended."""
        self.wake()
        self._node.destroy_subscription(self._subscription)
        self._wait_set.destroy_when_not_in_use()
        self._guard.destroy_when_not_in_use()

    @property
    def alive(self) -> bool:
        """Whether messages may still come: it, its node and its context are there."""
        try:
            with self._subscription.handle:
                return self._context.ok()
        except InvalidHandle:
            return False


def never_called(message: bytes) -> None:
    """Stand where a callback is asked for."""
    raise AssertionError('an executor took a message of a subscription that it must leave alone')
