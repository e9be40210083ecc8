# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Dragging of links with the mouse: exclusive access, force, and guaranteed end."""

from threading import Lock

import numpy as np
from numpy import ndarray

MAX_PUSH_DURATION = 10.0    # [s] without a release from the browser
DRAG_STIFFNESS = 200.0    # [N/m] between a link and the mouse


class Holder:
    """
    The one tab that drags: others wait for its end, or until it has been silent for long.

    Methods may be called from any thread.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._tab: int | None = None
        self._what, self._since, self._seen = '', 0.0, 0.0

    @property
    def what(self) -> str:
        """Return what is dragged, '' for nothing."""
        return self._what

    def grab(self, tab: int, what: str, now: float) -> bool:
        """Start a drag; return False if another tab drags."""
        with self._lock:
            if self._tab not in (None, tab) and now <= self._seen + MAX_PUSH_DURATION:
                return False
            self._tab, self._what, self._since, self._seen = tab, what, now, now
            return True

    def holds(self, tab: int, what: str, now: float) -> bool:
        """Return whether this tab goes on dragging what it has grabbed."""
        with self._lock:
            held = self._tab == tab and self._what == what
            self._seen = now if held else self._seen
            return held

    def release(self, tab: int | None = None) -> str:
        """Return what this tab dragged, '' for nothing, and let it go; None: any tab."""
        with self._lock:
            if self._tab is None or tab not in (None, self._tab):
                return ''
            what, self._tab, self._what = self._what, None, ''
            return what

    def too_long(self, now: float) -> bool:
        """Return whether the drag takes longer than :data:`MAX_PUSH_DURATION`."""
        with self._lock:
            return self._tab is not None and now > self._since + MAX_PUSH_DURATION


def force_of(start: ndarray, end: ndarray, limit: float) -> ndarray:
    """
    Return the force (3,) [N] of a spring from the point of a link to that of the mouse.

    :param start, end: (3,) [m]; ones that are not finite give no force.
    :param limit: [N] of its magnitude.
    """
    force = DRAG_STIFFNESS * (np.asarray(end, float) - np.asarray(start, float))
    if force.shape != (3,) or not np.isfinite(force).all():
        return np.zeros(3)
    size = float(np.linalg.norm(force))
    return force * (limit / size) if size > limit else force
