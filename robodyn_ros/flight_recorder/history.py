# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What the ring of the flight recorder refers to, and how it is read while cycles go on."""

from typing import NamedTuple

import numpy as np
from numpy import ndarray

from ..control.ring_buffer import SPARE, Flight
from ..control.settings import Settings
from ..control.trajectory_tracking import Points
from ..dynamics.model_data import ModelData

LARGEST = 1 << 24           # bytes of settings, and of references, that are kept for the ring


class Version(NamedTuple):
    """Settings, and what a cycle reads of them."""

    robot: ModelData
    joints: ndarray         # (nv,) JOINT
    record: ndarray         # (1,) SETTINGS
    settings: Settings


class Snapshot(NamedTuple):
    """C cycles, oldest first, and all that they were computed from and have left behind."""

    cycles: ndarray                     # (C,) CYCLE
    state: ndarray                      # (C, nv) STATE
    memory: ndarray                     # (C + 1,) MEMORY, at the boundaries of the cycles
    vectors: ndarray                    # (C + 1, K, nv) likewise
    tau: ndarray                        # (C + 1, nv) likewise
    versions: dict[int, Version]        # by their numbers in `cycles`
    points: dict[int, Points]           # likewise, by serial


class History:
    """
    Keeps the settings and references which cycles in the ring were computed with.

    One thread adds and takes; the ring is filled by another.
    """

    def __init__(self, flight: Flight):
        self.flight = flight
        self._versions: dict[int, Version] = {}
        self._points: dict[int, Points] = {}

    def begin(self, version: Version, points: Points) -> None:
        """Know of these only: the ring is empty, and nobody fills it."""
        self._versions, self._points = {}, {}
        self.add(version)
        self.add(points)

    def add(self, new: Version | Points) -> None:
        """Keep it; what no cycle of the ring refers to any more is forgotten."""
        ring, count = self.flight, int(self.flight.done[0])
        if not (n := len(ring.cycles)):
            return
        oldest = ring.cycles[max(0, count - n + 1) % n]
        version, serial = (oldest['version'], oldest['serial']) if count else (0, 0)
        if isinstance(new, Version):
            _keep(self._versions, int(new.record['version'][0]), new, int(version))
        else:
            _keep(self._points, int(new.header['serial'][0]), new, int(serial))

    def take(self) -> Snapshot:
        """
        Copy the ring while it may be filled on.

        Left out are cycles that were overwritten meanwhile, and those before a change so large, or
        so many changes, that not all is kept of them.
        """
        ring, n = self.flight, len(self.flight.cycles)
        if not n:
            return Snapshot(*ring[1:6], versions={}, points={})
        versions, points = dict(self._versions), dict(self._points)
        last = int(ring.done[0])
        first = max(0, last + SPARE - n)
        taken = [_rows(a, np.arange(first, last + 1) % n) for a in ring[1:6]]
        # Cycle number `done` is in work, and writes to its own slot and to the boundary after it
        gone = max(0, int(ring.done[0]) + SPARE - n) - first if last else 0
        unknown = np.flatnonzero(~(np.isin(taken[0]['version'][:-1], [*versions])
                                   & np.isin(taken[0]['serial'][:-1], [*points])))
        begin = min(max(gone, unknown[-1] + 1 if len(unknown) else 0), last - first)
        cycles, state, memory, vectors, tau = (a[begin:] for a in taken)
        return Snapshot(
            cycles[:-1], state[:-1], memory, vectors, tau,
            {i: versions[i] for i in map(int, np.unique(cycles['version'][:-1]))},
            {i: points[i] for i in map(int, np.unique(cycles['serial'][:-1]))})


def _rows(a: ndarray, slots: ndarray) -> ndarray:
    """Copy slots as bare words, for which numpy is quick and lets other threads run."""
    words = a.view(np.int64).reshape(len(a), -1).take(slots, axis=0)
    return words.view(a.dtype).reshape(len(slots), *a.shape[1:])


def _keep(kept: dict, number: int, new: Version | Points, oldest: int) -> None:
    """Add it; forget what is older than the oldest, or too much."""
    kept[number] = new
    total = 0
    for other in sorted(kept, reverse=True):
        total += _size(kept[other])
        if other < oldest or (total > LARGEST and other != number):
            del kept[other]


def _size(thing: Version | Points) -> int:
    arrays = ((*thing.robot, thing.joints, thing.record) if isinstance(thing, Version) else thing)
    return sum(a.nbytes for a in arrays)
