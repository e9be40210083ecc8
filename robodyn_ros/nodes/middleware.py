# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Start of rclpy, with what Fast DDS needs before the first node."""

from collections.abc import Iterator
from contextlib import contextmanager
import os
import time
from typing import Any
from weakref import WeakSet

import rclpy
from rclpy.context import Context
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.utilities import get_default_context

from .fastdds_profile import hear_answers
from .raw_subscription import RCLError
from .shared_memory import remove_unfinished_ports

SENT = 0.05     # s, in which what others have to know is sent, also on a busy machine
_hearing: WeakSet[Context] = WeakSet()      # contexts whose nodes hear answers
_begun: dict[Context, float] = {}           # when discovery began, within `discovering` [s]


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
def discovering() -> Iterator[None]:
    """
    Let the default context discover other nodes within the block, in which its own are made.

    The participant of a context begins with its first node. Here that is a hidden one without
    services or topics of its own; the participant outlives it, because other nodes are made within
    the block. Without it, discovery begins with those.
    """
    if (first := _hidden_node('start', get_default_context())) is None:
        yield
        return
    _begun[first.context] = time.monotonic()
    try:
        yield
    finally:
        del _begun[first.context]
        first.destroy_node()


@contextmanager
def farewell(context: Context | None = None) -> Iterator[None]:
    """
    Let others hear at once of all that ends within the block, the nodes of a context.

    With the profile another thread sends. What it has not sent yet when the participant ends, with
    the last node of its context, is lost, and others count its publishers for 20 s more.

    :param context: None: the default one.
    """
    context = context or get_default_context()
    last = _hidden_node('end', context) if context in _hearing and context.ok() else None
    try:
        yield
    finally:
        if last is not None:
            time.sleep(SENT)
            last.destroy_node()


def _hidden_node(what: str, context: Context) -> Node | None:
    """Make a node without services or topics of its own, None where that is not permitted."""
    try:
        return rclpy.create_node(
            f'_robodyn_{what}_{os.getpid()}', context=context, use_global_arguments=False,
            enable_rosout=False, start_parameter_services=False, parameter_overrides=[
                Parameter('start_type_description_service', value=False)])
    except RCLError:                # a security policy, for example, knows only the others
        return None


def discovering_since(node: Node) -> float:
    """Return since when a node just made discovers others, on the steady clock [s]."""
    return _begun.get(node.context, time.monotonic())


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
            with farewell(context):
                node.destroy_node()
        context.try_shutdown()
