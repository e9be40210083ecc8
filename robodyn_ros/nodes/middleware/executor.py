# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""An executor that no callback can end, and that `/clock` does not keep busy."""

from collections.abc import Callable
from inspect import signature
import time
import traceback
from typing import Any

from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.subscription import Subscription
from rosgraph_msgs.msg import Clock

BURST, RATE = 10.0, 1.0     # tracebacks at once, and per second for ever
RETRY_DELAY = 0.1    # [s] after an exception of the executor itself
# s of wall time between two messages of `/clock` that are taken, at least. Simulators publish up
# to a thousand a second, and each costs the executor up to 2 ms, in which it holds the GIL.
CLOCK_PERIOD = 0.02


def wraps_callbacks() -> bool:
    """Return whether rclpy makes the handler of a callback by the private method that we wrap."""
    make = getattr(SingleThreadedExecutor, '_make_handler', None)
    return make is not None and [*signature(make).parameters] == [
        'self', 'entity', 'node', 'take_from_wait_list']


class CoarseClockExecutor(SingleThreadedExecutor):
    """
    Take the newest message of `/clock` every CLOCK_PERIOD of wall time, not each of them.

    The clocks of its nodes are late by as much, at most; a control loop has its own.
    """

    def __init__(self, context: Context):
        super().__init__(context=context)
        self._clock_topic: Subscription | None = None
        self._clock_topic_due = 0.0

    def spin_once(self, timeout_sec: Any = None) -> None:
        """Wait for a callback and run it; on simulation time at most CLOCK_PERIOD."""
        if self._clock_topic is not None and (timeout_sec is None or timeout_sec > CLOCK_PERIOD):
            timeout_sec = CLOCK_PERIOD
        super().spin_once(timeout_sec)

    def can_execute(self, entity: Any) -> bool:
        """Return whether the callback of an entity may run; that of `/clock` when it is due."""
        if not super().can_execute(entity):
            return False
        if isinstance(entity, Subscription) and entity.msg_type is Clock:
            self._clock_topic = entity
        if self._clock_topic is None or time.monotonic() >= self._clock_topic_due:
            return True
        # Its events as well: Fast DDS wakes who waits for those of a subscription by messages, too
        events: Any = self._clock_topic.event_handlers      # annotated as a single one in Jazzy
        return entity is not self._clock_topic and entity not in events

    def _make_handler(self, entity: Any, *others: Any) -> Any:
        """Note when the next message of `/clock` is due."""
        if entity is self._clock_topic:
            self._clock_topic_due = time.monotonic() + CLOCK_PERIOD
        return super()._make_handler(entity, *others)


class TolerantExecutor(CoarseClockExecutor):
    """
    Log what the callbacks of a node raise, and go on.

    rclpy raises it out of ``spin_once``, and anybody who can call a service could end the node of
    a moving arm. What is raised before a callback, by a message that cannot be taken, would leave
    its callback group locked for ever.
    """

    def __init__(self, node: Node):
        super().__init__(node.context)
        self._node = node
        self._allowed, self._when, self._unsaid = BURST, time.monotonic(), 0
        # Private to rclpy
        self._wraps_callbacks = wraps_callbacks()
        if not self._wraps_callbacks:
            node.get_logger().warning('rclpy makes handlers of callbacks in an unknown way: a '
                                      'message that cannot be taken may stop others of its group, '
                                      'and each message of /clock is taken')
        self.add_node(node)

    def spin_once(self, timeout_sec: Any = None) -> None:
        """
        Wait for a callback and run it.

        :raises Exception: the context has ended.
        """
        try:
            super().spin_once(timeout_sec)
        except Exception:
            if not self.context.ok():
                raise
            self._log()
            time.sleep(RETRY_DELAY)      # what is raised by waiting is raised again at once

    def _make_handler(self, entity: Any, *others: Any) -> Any:
        """Run a callback so that rclpy sees no exception, and always releases its group."""
        if not self._wraps_callbacks:
            return super()._make_handler(entity, *others)
        *between, take_from_wait_list = others

        def take(entity: Any) -> Callable | None:
            try:
                execute = take_from_wait_list(entity)
            except Exception:
                self._log()
                return None
            return execute and (lambda: self._guarded(execute))
        return super()._make_handler(entity, *between, take)

    async def _guarded(self, execute: Callable) -> None:
        try:
            await execute()
        except Exception:
            self._log()

    def _log(self) -> None:
        """Log the exception under way; of a stream only some, or it would fill the disk."""
        now = time.monotonic()
        self._allowed = min(BURST, self._allowed + RATE * (now - self._when))
        self._when = now
        if self._allowed < 1.0:
            self._unsaid += 1
            return
        before = f' ({self._unsaid} more before it)' if self._unsaid else ''
        self._node.get_logger().error(
            f'exception in a callback; the node goes on{before}\n{traceback.format_exc()}')
        self._allowed, self._unsaid = self._allowed - 1.0, 0
