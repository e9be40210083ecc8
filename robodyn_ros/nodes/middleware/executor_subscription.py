# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Fallback subscription built on rclpy's public API only."""

from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import rclpy
from rclpy.exceptions import InvalidHandle
from rclpy.executors import ExternalShutdownException, ShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile

from .raw_subscription import (
    missing_names,
    RCLError,
    Sample,
    sample,
    SampleQueue,
    SerializedSubscription,
    UNBOUNDED_DRAIN,
)


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
        """
        Block until a message is there, the time is over [ns] or :meth:`wake` is called.

        Return whether a message is there.
        """
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
