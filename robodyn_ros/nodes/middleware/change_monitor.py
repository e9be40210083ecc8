# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Wake-up of a sleeping executor by changes and by signals."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
import signal
import socket
import threading
import traceback

from rclpy.node import Node

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
