# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Start of rclpy, with what Fast DDS needs before the first node.

Profiles for Fast DDS, the XML files beside this one, give faster discovery, and fewer wake-ups of
the writer of commands:

A new participant sends its first announcement before its receivers are registered
(eProsima/Fast-DDS#980). Others answer an announcement once, on the same machine in a fraction of a
millisecond. An earlier answer is lost, and they are discovered with their next periodic
announcement, up to three seconds later. This is rare if another thread sends the announcements
(`benchmarks/discovery.py`), which a flow controller in the profile of a participant causes: one
whose limit is never reached, and that no writer has to use.

With each sample, a reliable writer of Fast DDS restarts a timer, during which it ignores negative
acknowledgements. By default it expires at once and wakes the event thread, mostly while the sample
is still being sent. With a duration well above the period it hardly ever expires. Lost samples are
resent, at the latest when it expires.

Readers acknowledge samples on request of the writer, by default every three seconds. Here the
writer requests acknowledgements ten times a second.

Fast DDS reads the profiles from a file named in the environment, before it creates the first
participant of a process.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
import os
from pathlib import Path
import re
import sys
import time
from typing import Any
from weakref import WeakSet

import rclpy
from rclpy.context import Context
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.utilities import get_default_context, get_rmw_implementation_identifier

from .raw_subscription import RCLError
from ...realtime.scheduling import middleware_threads

VARIABLES = 'FASTDDS_DEFAULT_PROFILES_FILE', 'FASTRTPS_DEFAULT_PROFILES_FILE'
# Fast DDS reads these files in the working directory as well
FILES = 'DEFAULT_FASTDDS_PROFILES.xml', 'DEFAULT_FASTRTPS_PROFILES.xml'
# These variables may select another discovery protocol
OTHER_DISCOVERY = ('ROS_DISCOVERY_SERVER', 'ROS_SUPER_CLIENT', 'ROS2_EASY_MODE',
                   'FASTDDS_ENVIRONMENT_FILE')
LIBRARY = re.compile(r'/lib(fastdds|fastrtps)[-\w]*\.so[.\d]*$', re.MULTILINE)
# Environment variable that names the profiles, by the library, which changed in version 3
NAMED_BY = dict(zip(('fastdds', 'fastrtps'), VARIABLES))

_named: list[bool] = []     # once the file is named: whether it speeds up discovery


def use_profiles() -> bool:
    """
    Name the profiles of this package in the environment, for participants created later.

    Call it before the first node of the process. It does nothing with another middleware, if the
    user has profiles in the environment or working directory, or if Fast DDS has participants
    already: it reads profiles once.

    :returns: whether the discovery profile is active. It is left out if the environment may select
        another discovery protocol.
    """
    other_discovery = any(map(os.environ.get, OTHER_DISCOVERY))
    if not _named and (library := _library()):
        suffix = '_without_discovery' if other_discovery else ''
        path = str(Path(__file__).with_name(f'{library}{suffix}.xml'))
        if (any(os.environ.get(variable) not in (None, '', path) for variable in VARIABLES)
                or any(Path(file).exists() for file in FILES) or middleware_threads()):
            return False
        os.environ[NAMED_BY[library]] = path
        _named.append(not other_discovery)
    return _named == [True] and not other_discovery


def _library() -> str:
    """Return the Fast DDS library used by this process, '' with another middleware."""
    if not get_rmw_implementation_identifier().startswith('rmw_fastrtps'):  # which is loaded now
        return ''
    with suppress(OSError):             # not Linux, or not readable
        if found := LIBRARY.search(Path('/proc/self/maps').read_text()):
            return found[1]
    return ''


SHARED_MEMORY = Path('/dev/shm')
INITIALIZING = b'', bytes(4), b'\1\0\0\0'     # first bytes of a port that is being made
PORT_CREATION_TIMEOUT = 1.0    # [s]
ADVICE = ('{} is unfinished, perhaps because its process was killed. If this process hangs now, '
          'end all ROS nodes of this machine, run `fastdds shm clean`, and delete the file if it '
          'is still there')
# [s] for writers to send pending messages, and at most, where their thread gets no processor
SEND_TIME, LONGEST_SEND_TIME = 0.05, 3.0
_hearing: WeakSet[Context] = WeakSet()      # contexts whose nodes hear answers
_arguments: dict[Context, Sequence[str]] = {}     # of :func:`start`
_begun: dict[Context, float] = {}           # when discovery began, within `discovering` [s]


def start(**arguments: Any) -> None:
    """Call ``rclpy.init`` with these arguments, so that its nodes start and soon know others."""
    for port in unfinished_ports():
        print(ADVICE.format(port), file=sys.stderr, flush=True)
    hearing = use_profiles()
    rclpy.init(**arguments)
    context = arguments.get('context') or get_default_context()
    _arguments[context] = arguments.get('args') or sys.argv
    if hearing:
        _hearing.add(context)


def arguments_of(node: Node) -> Sequence[str]:
    """Return the arguments that the nodes of a context were started with."""
    return _arguments.get(node.context, sys.argv)


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
    """Return whether a node mostly discovers others at once, see above."""
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
            end = time.monotonic() + LONGEST_SEND_TIME
            time.sleep(SEND_TIME)
            while _is_sending() and time.monotonic() < end:
                time.sleep(SEND_TIME)
            last.destroy_node()


def _is_sending() -> bool:
    """Return whether a thread of the middleware waits for a processor."""
    for thread in middleware_threads():
        with suppress(OSError):         # it has just ended
            stat = Path(f'/proc/self/task/{thread}/stat').read_text()
            if stat.rpartition(')')[2].split()[0] == 'R':
                return True
    return False


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
def lone_node(name: str, arguments: Sequence[str] = (), **options: Any) -> Iterator[Node]:
    """
    Yield a node of a context of its own, and end both.

    :param arguments: of ROS, beginning with ``--ros-args``.
    :param options: of ``rclpy.create_node``.
    """
    context = Context()
    try:
        start(args=[*arguments], context=context)
        node = rclpy.create_node(name, context=context, **options)
        try:
            yield node
        finally:
            # In this order: a node that goes after its context may crash the middleware
            if context.ok():
                with farewell(context):
                    node.destroy_node()
    finally:
        context.try_shutdown()
