# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Settings, references and policies of recorded cycles, and snapshots of the ring."""

from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from ..cycle.ring_buffer import SPARE_SLOTS
from ..inputs.partner import Policy
from ..inputs.pose_tracking import Points, PosePoints
from ..inputs.task import Bounds, Task
from ..settings.settings import Settings
from ..steps.cycle_data import Flight, LawMemory, Vectors
from ...dynamics.model_data import ModelData

MAX_HISTORY_BYTES = 1 << 24    # of each of the four kinds that are kept for the ring
# Fields of CYCLE with their numbers, in the order of `Snapshot`
NUMBER_FIELDS = 'version', 'serial', 'policy', 'pose'
KEPT_FIELDS = 'versions', 'points', 'policies', 'poses'     # of a snapshot, in the same order


class Version(NamedTuple):
    """Settings, and the records that a cycle reads of them."""

    robot: ModelData
    joints: ndarray         # (nv,) JOINT
    record: ndarray         # (1,) SETTINGS
    settings: Settings
    law: LawMemory          # with the gains
    task: Task              # with the settings
    bounds: Bounds          # of the motion in space


class Snapshot(NamedTuple):
    """Inputs and results of C consecutive cycles, oldest first."""

    cycles: ndarray                     # (C,) CYCLE
    inputs: ndarray                     # (C,) CYCLE_INPUT
    state: ndarray                      # (C, nv) STATE
    memory: ndarray                     # (C + 1,) CONTROLLER_STATE, at the cycles' boundaries
    vectors: ndarray                    # (C + 1, K, nv) vectors there
    tau: ndarray                        # (C + 1, nv) efforts there
    partner: ndarray                    # (C, 5, nv) rows of the partner
    versions: dict[int, Version]        # by their numbers in `cycles`
    points: dict[int, Points]           # by serial
    policies: dict[int, Policy]         # by serial
    poses: dict[int, PosePoints]        # by serial
    absent: frozenset[str] = frozenset()  # fields and vectors that the version before had not


class History:
    """
    Settings, references and policies that cycles in the ring were computed with.

    Thread safety: one thread calls the methods, another one fills the ring.
    """

    def __init__(self, flight: Flight):
        self.flight = flight
        #: The four kinds, by their field in CYCLE and their number.
        self.kept: dict[str, dict[int, Any]] = {name: {} for name in NUMBER_FIELDS}

    def begin(self, version: Version, points: Points, policy: Policy,
              poses: PosePoints) -> None:
        """Forget all others; call it while the ring is empty and not being filled."""
        self.kept = {name: {} for name in NUMBER_FIELDS}
        for first in (version, points, policy, poses):
            self.add(first)

    def add(self, new: Version | Points | Policy | PosePoints) -> None:
        """Keep one of the four, and forget those that no cycle of the ring refers to."""
        ring, count = self.flight, int(self.flight.done[0])
        if not (n := len(ring.cycles)):
            return
        oldest = ring.cycles[max(0, count - n + 1) % n]
        name = ('version' if isinstance(new, Version) else 'serial' if isinstance(new, Points)
                else 'policy' if isinstance(new, Policy) else 'pose')
        number = new.record['version'] if isinstance(new, Version) else new.header['serial']
        _keep(self.kept[name], int(number[0]), new, int(oldest[name]) if count else 0)

    def newest(self, memory: ndarray, tau: ndarray) -> tuple[ndarray, Vectors, ndarray]:
        """
        Return copies of ``CONTROLLER_STATE``, vectors and efforts, all after the newest cycle.

        Without a ring they are of now, and those of two cycles may be mixed.

        :param memory, tau: of the controller.
        """
        ring = self.flight
        vectors, record = ring.present, memory[0]
        if n := len(ring.cycles):
            slot = int(ring.done[0]) % n        # boundary after the newest complete cycle
            record, vectors, tau = ring.memory[slot], ring.vectors[slot], ring.tau[slot]
        return (record.copy(), Vectors.of(vectors.copy()), tau.copy())

    def take(self) -> Snapshot:
        """
        Return a copy of the ring, which may be filled meanwhile.

        Cycles are left out that were overwritten while copying, or whose settings or reference
        have been dropped to stay within MAX_HISTORY_BYTES.
        """
        ring, n = self.flight, len(self.flight.cycles)
        if not n:
            all_kept: dict[str, Any] = dict(zip(KEPT_FIELDS, self.kept.values()))
            return Snapshot(*ring[1:8], **all_kept)
        kept = {name: dict(things) for name, things in self.kept.items()}
        last = int(ring.done[0])
        first = max(0, last + SPARE_SLOTS - n)
        taken = [_rows(a, np.arange(first, last + 1) % n) for a in ring[1:8]]
        # Cycle number `done` is in work, and writes to its own slot and to the boundary after it
        gone = max(0, int(ring.done[0]) + SPARE_SLOTS - n) - first if last else 0
        unknown = np.flatnonzero(~np.all([
            np.isin(taken[0][name][:-1], [*things]) for name, things in kept.items()], axis=0))
        begin = min(max(gone, unknown[-1] + 1 if len(unknown) else 0), last - first)
        cycles, inputs, state, memory, vectors, tau, partner = (a[begin:] for a in taken)
        used: dict[str, Any] = {
            field: {i: things[i] for i in map(int, np.unique(cycles[name][:-1]))}
            for field, (name, things) in zip(KEPT_FIELDS, kept.items())}
        return Snapshot(cycles[:-1], inputs[:-1], state[:-1], memory, vectors, tau, partner[:-1],
                        **used)


def _rows(a: ndarray, slots: ndarray) -> ndarray:
    """Return copied slots; as bare words, NumPy copies them fast and without the GIL."""
    words = a.view(np.int64).reshape(len(a), -1).take(slots, axis=0)
    return words.view(a.dtype).reshape(len(slots), *a.shape[1:])


def _keep(kept: dict, number: int, new: Version | Points | Policy | PosePoints,
          oldest: int) -> None:
    """Add an entry; drop those older than ``oldest``, and the oldest above MAX_HISTORY_BYTES."""
    kept[number] = new
    total = 0
    for other in sorted(kept, reverse=True):
        total += _size(kept[other])
        if other < oldest or (total > MAX_HISTORY_BYTES and other != number):
            del kept[other]


def _size(thing: Version | Points | Policy | PosePoints) -> int:
    arrays = ((*thing.robot, *thing.law, *thing.task, *thing.bounds, thing.joints, thing.record)
              if isinstance(thing, Version) else thing)
    return sum(a.nbytes for a in arrays)
