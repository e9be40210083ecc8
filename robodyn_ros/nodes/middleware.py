# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Start of rclpy, with what Fast DDS needs before the first node."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import rclpy
from rclpy.context import Context
from rclpy.node import Node

from .fastdds_profile import hear_answers
from .shared_memory import remove_unfinished_ports


def start(**arguments: Any) -> None:
    """Call ``rclpy.init`` with these arguments, so that its nodes start and soon know others."""
    remove_unfinished_ports()
    rclpy.init(**arguments)
    hear_answers()


@contextmanager
def lone_node(name: str) -> Iterator[Node]:
    """Yield a node of a context of its own, without arguments of ROS, and end both."""
    context = Context()
    start(args=[], context=context)
    node = rclpy.create_node(name, context=context)
    try:
        yield node
    finally:
        # In this order: a node that goes after its context may crash the middleware
        if context.ok():
            node.destroy_node()
        context.try_shutdown()
