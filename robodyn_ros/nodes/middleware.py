# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Start of rclpy, with what Fast DDS needs before the first node."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakSet

import rclpy
from rclpy.context import Context
from rclpy.node import Node
from rclpy.utilities import get_default_context

from .fastdds_profile import hear_answers
from .shared_memory import remove_unfinished_ports

_hearing: WeakSet[Context] = WeakSet()      # contexts whose nodes hear answers


def start(**arguments: Any) -> None:
    """Call ``rclpy.init`` with these arguments, so that its nodes start and soon know others."""
    remove_unfinished_ports()
    rclpy.init(**arguments)
    if hear_answers():
        _hearing.add(arguments.get('context') or get_default_context())


def hears_answers(node: Node) -> bool:
    """Return whether a node mostly discovers others at once, see :mod:`.fastdds_profile`."""
    return node.context in _hearing


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
