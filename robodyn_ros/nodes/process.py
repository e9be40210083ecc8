# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The life of a node's process: from rclpy's start to an exit code, whatever ends it."""

import signal
import sys
import threading
from collections.abc import Callable
from typing import Protocol

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from ..errors import RobodynError


class Runnable(Protocol):
    """A node with threads of its own."""

    def run(self, spin: Callable[[], None], over: Callable[[], bool]) -> None:
        """Call ``spin`` until ``over``; leave nothing running, close topics that are waited on."""


def main(make: Callable[[], Node], args: list[str] | None) -> int:
    """
    Run a node until SIGINT or SIGTERM and return the exit code.

    Signals only set a flag: the node comes to its end in order, an arm at rest before the loop
    ends, the loop before the topics, and those before ROS. A :class:`RobodynError` is one line.
    """
    over = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: over.set())
    # Otherwise the executor may keep the interpreter for 5 ms while the node's thread waits
    sys.setswitchinterval(1e-4)
    rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO)
    try:
        node = make()
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        node.run(lambda: executor.spin_once(timeout_sec=0.1), over.is_set)      # type: ignore
        executor.shutdown()
        node.destroy_node()
    except RobodynError as error:
        print(f'error: {error}', file=sys.stderr)
        return 1
    finally:
        rclpy.shutdown()
    return 0
