# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Context managers that several threads are in at once: the first enters, the last one leaves.

What a control loop changes of its process or of the middleware's threads belongs to all loops of
the process; the end of one must not undo it for the others.
"""

from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager, ExitStack
from dataclasses import dataclass, field
import threading
from typing import Any, TypeVar

Value = TypeVar('Value')


@dataclass
class _Held:
    users: int = 0
    stack: ExitStack = field(default_factory=ExitStack)
    value: Any = None


_held: dict[Hashable, _Held] = {}
_lock = threading.RLock()           # one shared context may enter another


@contextmanager
def shared(key: Hashable, make: Callable[[], AbstractContextManager[Value]]) -> Iterator[Value]:
    """
    Enter a context that all threads of this process share.

    Entering and leaving it are serialised with those of all other shared contexts.

    :param key: what is shared.
    :param make: makes the context manager; called by the first user only, and what it raises is
        raised.
    :returns: the value of the context, shared by all its users.
    """
    with _lock:
        held = _held.setdefault(key, _Held())
        if not held.users:
            try:
                held.value = held.stack.enter_context(make())
            except BaseException:
                del _held[key]
                raise
        held.users += 1
    try:
        yield held.value
    finally:
        with _lock:
            held.users -= 1
            if not held.users:
                del _held[key]
                held.stack.close()
