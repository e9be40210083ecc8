# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Executor that survives exceptions of callbacks, throttles `/clock`, and can be woken up."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import signature
import signal
import socket
import threading
import time
import traceback
from typing import Any

from rclpy.context import Context
from rclpy.exceptions import InvalidHandle
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.subscription import Subscription
from rosgraph_msgs.msg import Clock

from .raw_subscription import RCLError

ERROR_PAUSE = 1.0    # [s] without polling after an exception


class ChangeMonitor:
    """
    Thread that polls a condition and runs an action in the node's executor when it holds.

    A timer of the executor would do, but each turn of a Python executor holds the GIL for much
    longer than a control cycle: twenty a second double the p99 of the loop's round trip.

    :param period: time between two polls [s].
    :param look: the condition; called by the thread, also while the executor is busy.
    :param act: the action, called by the executor.
    """

    def __init__(self, node: Node, period: float, look: Callable[[], bool],
                 act: Callable[[], None]):
        self._node, self._period, self._look, self._act = node, period, look, act
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name='watch', daemon=True)
        self._thread.start()

    def _run(self) -> None:
        task = None
        while not self._over.wait(self._period):
            executor = self._node.executor
            try:
                if executor and self._look() and (task is None or task.done()):
                    task = executor.create_task(self._act)
            except Exception:           # the thread must continue
                self._node.get_logger().error(traceback.format_exc())
                self._over.wait(ERROR_PAUSE)

    def close(self) -> None:
        """End the thread; to be called before the executor ends."""
        self._over.set()
        self._thread.join()


@contextmanager
def woken_by_signals(wake: Callable[[], object]) -> Iterator[None]:
    """
    Call ``wake`` on signals, in a thread of its own; for use in the main thread.

    Python runs signal handlers in the main thread, and only between bytecodes, not while an
    executor waits in C.
    """
    ours, theirs = socket.socketpair()

    def run() -> None:
        while ours.recv(1):
            wake()
    theirs.setblocking(False)
    thread = threading.Thread(target=run, name='signals', daemon=True)
    thread.start()
    before = signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        theirs.close()
        thread.join()
        ours.close()


BURST, RATE = 10.0, 1.0     # tracebacks at once, and per second
RETRY_DELAY = 0.1    # [s] after an exception of the executor itself
# [s] of wall time between two messages of `/clock`. Simulators publish up to a thousand a second,
# and for each the executor holds the GIL for up to 2 ms.
CLOCK_PERIOD = 0.02


class Throttle:
    """
    Rate limiter of log lines, which counts those it suppresses (token bucket).

    :param burst: number of lines at once.
    :param rate: lines per second in the long run.
    """

    def __init__(self, burst: float, rate: float):
        self._burst, self._rate = burst, rate
        self._left, self._when, self._unsaid = burst, time.monotonic(), 0

    def line(self, text: str) -> str:
        """Return the line to log, with the number of suppressed ones before it, or ''."""
        now = time.monotonic()
        self._left = min(self._burst, self._left + self._rate * (now - self._when))
        self._when = now
        if self._left < 1.0:
            self._unsaid += 1
            return ''
        before = f' ({self._unsaid} more before it)' if self._unsaid else ''
        self._left, self._unsaid = self._left - 1.0, 0
        return f'{text}{before}'


def wraps_callbacks() -> bool:
    """Return whether rclpy has the private method that creates the handlers of callbacks."""
    make = getattr(SingleThreadedExecutor, '_make_handler', None)
    return make is not None and [*signature(make).parameters] == [
        'self', 'entity', 'node', 'take_from_wait_list']


class CoarseClockExecutor(SingleThreadedExecutor):
    """
    Executor that takes the newest message of `/clock` once every CLOCK_PERIOD of wall time.

    The clocks of its nodes lag by at most as much; a control loop has its own clock. A thread
    takes the messages: a turn of the executor takes two milliseconds for all the entities of a
    controller.
    """

    def __init__(self, context: Context):
        super().__init__(context=context)
        self._clock_topic: Subscription | None = None
        self._clock_thread = threading.Thread(target=self._take_clock, name='clock', daemon=True)
        self._over = threading.Event()

    def shutdown(self, timeout_sec: Any = None) -> bool:
        """End the thread and the executor."""
        self._over.set()
        if self._clock_thread.is_alive():
            self._clock_thread.join()
        return super().shutdown(timeout_sec)

    def can_execute(self, entity: Any) -> bool:
        """Return whether the callback of an entity may run, other than that of `/clock`."""
        if not super().can_execute(entity):
            return False
        if isinstance(entity, Subscription) and entity.msg_type is Clock:
            self._clock_topic = entity
            if self._clock_thread.ident is None:
                self._clock_thread.start()
        if self._clock_topic is None:
            return True
        # Its events as well: in Fast DDS, messages also wake waits for events of a subscription
        events: Any = self._clock_topic.event_handlers      # annotated as a single one in Jazzy
        return entity is not self._clock_topic and entity not in events

    def _take_clock(self) -> None:
        while not self._over.wait(CLOCK_PERIOD):
            topic: Any = self._clock_topic
            try:
                with topic.handle:
                    taken = topic.handle.take_message(topic.msg_type, topic.raw)
                if taken is not None:
                    topic.callback(taken[0])
            except (InvalidHandle, RCLError):   # simulation time, the node or its context is gone
                continue


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
        self._exceptions = Throttle(BURST, RATE)
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
        if line := self._exceptions.line('exception in a callback; the node continues'):
            self._node.get_logger().error(f'{line}\n{traceback.format_exc()}')
