# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Start of rclpy, with what Fast DDS needs before the first node."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
import os
from pathlib import Path
import sys
import time
from typing import Any
from weakref import WeakSet

import rclpy
from rclpy.context import Context
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.utilities import get_default_context

from .fastdds_profile import use_profiles
from .raw_subscription import RCLError

SHARED_MEMORY = Path('/dev/shm')
INITIALIZING = b'', bytes(4), b'\1\0\0\0'     # first bytes of a port that is being made
PORT_CREATION_TIMEOUT = 1.0    # [s]
ADVICE = ('{} is unfinished, perhaps because its process was killed. If this process hangs now, '
          'end all ROS nodes of this machine, run `fastdds shm clean`, and delete the file if it '
          'is still there')
SEND_TIME = 0.05    # [s] for writers to send pending messages, also on a busy machine
_hearing: WeakSet[Context] = WeakSet()      # contexts whose nodes hear answers
_begun: dict[Context, float] = {}           # when discovery began, within `discovering` [s]


def start(**arguments: Any) -> None:
    """Call ``rclpy.init`` with these arguments, so that its nodes start and soon know others."""
    for port in unfinished_ports():
        print(ADVICE.format(port), file=sys.stderr, flush=True)
    hearing = use_profiles()
    rclpy.init(**arguments)
    if hearing:
        _hearing.add(arguments.get('context') or get_default_context())


def unfinished_ports(folder: Path = SHARED_MEMORY) -> list[Path]:
    """
    Return the shared-memory ports of Fast DDS whose process has not finished making them.

    Other processes that need such a port wait for its process without a limit, also if that was
    killed. Nothing is removed: the port may belong to a process that is alive.
    """
    ports = []
    for path in folder.glob('fast*_port*[0-9]'):
        with suppress(OSError):         # gone meanwhile, or of another user
            with path.open('rb') as file:
                begin = file.read(4)
            if (begin in INITIALIZING
                    and abs(time.time() - path.stat().st_mtime) > PORT_CREATION_TIMEOUT):
                ports.append(path)
    return sorted(ports)


def hears_answers(node: Node) -> bool:
    """Return whether a node mostly discovers others at once, see :mod:`.fastdds_profile`."""
    return node.context in _hearing


@contextmanager
def discovering() -> Iterator[None]:
    """
    Start discovery for the nodes of the default context created within the block.

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
    Announce at once the end of the nodes destroyed within the block.

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
            time.sleep(SEND_TIME)
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
