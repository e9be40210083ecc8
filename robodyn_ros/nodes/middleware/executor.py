# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Executor that survives exceptions of callbacks and throttles `/clock`."""

from collections.abc import Callable
from inspect import signature
import time
import traceback
from typing import Any

from rclpy.context import Context
from rclpy.exceptions import InvalidHandle
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.subscription import Subscription
from rosgraph_msgs.msg import Clock

BURST, RATE = 10.0, 1.0     # tracebacks at once, and per second
RETRY_DELAY = 0.1    # [s] after an exception of the executor itself
# [s] of wall time between two messages of `/clock`. Simulators publish up to a thousand a second,
# and for each the executor holds the GIL for up to 2 ms.
CLOCK_PERIOD = 0.02


def wraps_callbacks() -> bool:
    """Return whether rclpy has the private method that creates the handlers of callbacks."""
    make = getattr(SingleThreadedExecutor, '_make_handler', None)
    return make is not None and [*signature(make).parameters] == [
        'self', 'entity', 'node', 'take_from_wait_list']


class CoarseClockExecutor(SingleThreadedExecutor):
    """
    Executor that takes the newest message of `/clock` once every CLOCK_PERIOD of wall time.

    The clocks of its nodes lag by at most as much; a control loop has its own clock.
    """

    def __init__(self, context: Context):
        super().__init__(context=context)
        self._clock_topic: Subscription | None = None
        self._clock_topic_due = 0.0

    def spin_once(self, timeout_sec: Any = None) -> None:
        """Wait for a callback and run it; on simulation time at most CLOCK_PERIOD."""
        if self._clock_topic is not None:
            # Taken without a wait, which takes a millisecond for all the entities of a controller
            if time.monotonic() >= self._clock_topic_due:
                self._clock_topic_due = time.monotonic() + CLOCK_PERIOD
                self._take_clock(self._clock_topic)
            timeout_sec = CLOCK_PERIOD if timeout_sec is None else min(timeout_sec, CLOCK_PERIOD)
        super().spin_once(timeout_sec)

    def can_execute(self, entity: Any) -> bool:
        """Return whether the callback of an entity may run, other than that of `/clock`."""
        if not super().can_execute(entity):
            return False
        if isinstance(entity, Subscription) and entity.msg_type is Clock:
            self._clock_topic = entity
        if self._clock_topic is None:
            return True
        # Its events as well: in Fast DDS, messages also wake waits for events of a subscription
        events: Any = self._clock_topic.event_handlers      # annotated as a single one in Jazzy
        return entity is not self._clock_topic and entity not in events

    @staticmethod
    def _take_clock(topic: Any) -> None:
        try:
            with topic.handle:
                taken = topic.handle.take_message(topic.msg_type, topic.raw)
        except InvalidHandle:       # simulation time has been given up
            return
        if taken is not None:
            topic.callback(taken[0])


class TolerantExecutor(CoarseClockExecutor):
    """
    Executor that logs exceptions of callbacks and continues.

    rclpy raises them out of ``spin_once``: any caller of a service could end the node of a moving
    arm. An exception before the callback, by a message that cannot be taken, would leave its
    callback group locked.
    """

    def __init__(self, node: Node):
        super().__init__(node.context)
        self._node = node
        self._allowed, self._when, self._unsaid = BURST, time.monotonic(), 0
        # Private to rclpy
        self._wraps_callbacks = wraps_callbacks()
        if not self._wraps_callbacks:
            node.get_logger().warning('unknown rclpy executor: a message that cannot be taken may '
                                      'block its callback group')
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
            time.sleep(RETRY_DELAY)      # waiting would raise again at once

    def _make_handler(self, entity: Any, *others: Any) -> Any:
        """Run a callback without raising, and always release its group."""
        make: Any = super()._make_handler
        if not self._wraps_callbacks:
            return make(entity, *others)
        *between, take_from_wait_list = others

        def take(entity: Any) -> Callable | None:
            try:
                execute = take_from_wait_list(entity)
            except Exception:
                self._log()
                return None
            return execute and (lambda: self._guarded(execute))
        return make(entity, *between, take)

    async def _guarded(self, execute: Callable) -> None:
        try:
            await execute()
        except Exception:
            self._log()

    def _log(self) -> None:
        """Log the current exception, at a limited rate."""
        now = time.monotonic()
        self._allowed = min(BURST, self._allowed + RATE * (now - self._when))
        self._when = now
        if self._allowed < 1.0:
            self._unsaid += 1
            return
        before = f' ({self._unsaid} more before it)' if self._unsaid else ''
        self._node.get_logger().error(
            f'exception in a callback; the node continues{before}\n{traceback.format_exc()}')
        self._allowed, self._unsaid = self._allowed - 1.0, 0
