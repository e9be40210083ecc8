# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Nodes of the command-line tools: own context, waits with a timeout, Ctrl-C as a flag."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
import signal
import threading
import time

import rclpy
from rclpy.context import Context
from rclpy.node import Node
from rclpy.parameter import Parameter

from . import middleware
from .executor import CoarseClockExecutor

POLL_PERIOD = 0.05    # [s]


class Session:
    """
    Node of a command with its executor, for use by one thread.

    :ivar over: set by SIGINT and SIGTERM.
    :ivar look: called in each :meth:`poll`; what it raises ends the wait.
    """

    def __init__(self, node: Node, executor: CoarseClockExecutor, over: threading.Event):
        self.node, self.over, self._executor = node, over, executor
        self.look: Callable[[], None] = lambda: None

    def poll(self, within: float = POLL_PERIOD) -> None:
        """Run a callback, due ``within`` [s]; raise :class:`KeyboardInterrupt` after a signal."""
        self._executor.spin_once(timeout_sec=within)
        if self.over.is_set():
            raise KeyboardInterrupt
        self.look()

    def until(self, condition: Callable[[], object], within: float) -> bool:
        """Wait at most ``within`` [s] until the condition holds; return whether it does."""
        return until(condition, within, self.poll)


def until(condition: Callable[[], object], within: float, poll: Callable[[], None]) -> bool:
    """Poll at most ``within`` [s] until the condition holds; return whether it does."""
    end = time.monotonic() + within
    while not condition():
        if time.monotonic() > end:
            return False
        poll()
    return True


@contextmanager
def session(name: str, sim_time: bool = False,
            arguments: Sequence[str] = ()) -> Iterator[Session]:
    """
    Yield a session, whose node has no parameter services, and end it afterwards.

    :param arguments: of ROS, beginning with ``--ros-args``.
    """
    over = threading.Event()
    before = {number: signal.signal(number, lambda *_: over.set())
              for number in (signal.SIGINT, signal.SIGTERM)}
    context = Context()
    try:
        middleware.start(args=[*arguments], context=context)
        node = rclpy.create_node(
            name, context=context, enable_rosout=False, start_parameter_services=False,
            parameter_overrides=[Parameter('use_sim_time', value=sim_time)])
        executor = CoarseClockExecutor(context)
        executor.add_node(node)
        try:
            yield Session(node, executor, over)
        finally:
            executor.shutdown()
            with middleware.farewell(context):
                node.destroy_node()
    finally:
        context.try_shutdown()
        for number, handler in before.items():
            signal.signal(number, handler)
