# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Requests of a user of the page, from the threads of the server to the one that has the node."""

from collections import deque
from enum import Enum
from threading import Lock
from typing import NamedTuple

from numpy import ndarray

MAX_QUEUED = 100


class Field(NamedTuple):
    """A parameter as the page shows it; ``text`` is its value."""

    name: str
    text: str
    unit: str = ''
    doc: str = ''


class Change(NamedTuple):
    """Parameters of the controller to be changed together: texts by name."""

    texts: dict[str, str]


class Command(Enum):
    """Request without further words."""

    ARM = 'after a fault, or activate the controller'
    STOP = 'deactivate it: the arm comes to rest, and its efforts end'
    EMERGENCY_STOP = 'publish an emergency stop'
    HOLD = 'bring the reference of the task frame to rest'


class Go(NamedTuple):
    """Move the joints from where they are: positions (nv,) [rad | m]."""

    start: ndarray
    goal: ndarray


class Target(NamedTuple):
    """Pose that the task frame shall move to: position (3,) [m] and w, x, y, z (4,)."""

    position: ndarray
    wxyz: ndarray


class Aim(NamedTuple):
    """Start or stop sending targets; a controller accepts one publisher only."""

    used: bool


class Push(NamedTuple):
    """Force (3,) [N], in axes of the base, on the origin of a link; zero ends it."""

    link: str
    force: ndarray


Wish = Change | Command | Go | Aim | Target | Push


class Wishes:
    """Queue of wishes; of consecutive targets or pushes the newest alone is kept."""

    def __init__(self) -> None:
        self._queue: deque[Wish] = deque(maxlen=MAX_QUEUED)
        self._lock = Lock()

    def add(self, wish: Wish) -> None:
        """Add a wish, from any thread."""
        with self._lock:
            if wish in (Command.STOP, Command.EMERGENCY_STOP):
                # Before what waits, which must not arm the arm again
                waiting = [one for one in self._queue if one is not Command.ARM]
                self._queue.clear()
                self._queue.extend(waiting)
                self._queue.appendleft(wish)
                return
            last = self._queue[-1] if self._queue else None
            if isinstance(wish, Target) and isinstance(last, Target) or (
                    isinstance(wish, Push) and isinstance(last, Push)
                    and wish.link == last.link):
                self._queue.pop()
            self._queue.append(wish)

    def take(self) -> list[Wish]:
        """Return what has come since the last call, oldest first."""
        with self._lock:
            taken = list(self._queue)
            self._queue.clear()
        return taken
