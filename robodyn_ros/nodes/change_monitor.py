# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What an executor is woken for, so that it may sleep otherwise: changes, and signals."""

import signal
import socket
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rclpy.executors import Executor
from rclpy.node import Node

AFTER_ERROR = 1.0       # s without a look after one that has failed


class Watch:
    """
    A thread that looks whether there is something to do, and lets the node's executor do it.

    A timer could look as often, but a turn of an executor in Python keeps interpreter and CPU for
    much longer than a control cycle takes, and twenty a second are in the way of more than one of
    a hundred cycles: with them the p99 of the loop's round trip was twice as high.

    :param period: s between two looks.
    :param look: whether there is something to do; called by the thread, however long the executor
        is busy.
    :param act: does it; called by the executor, whose node has one by then.
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
            except Exception:           # nobody would look any more
                self._node.get_logger().error(traceback.format_exc())
                self._over.wait(AFTER_ERROR)

    def close(self) -> None:
        """End the thread; before the executor ends."""
        self._over.set()
        self._thread.join()


@contextmanager
def woken_by_signals(executor: Executor) -> Iterator[None]:
    """
    Let a signal end what the executor waits for; for the main thread.

    Python runs handlers of signals on the main thread, and only when that comes back to it.
    """
    ours, theirs = socket.socketpair()

    def run() -> None:
        while ours.recv(1):
            executor.create_task(lambda: None)
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
