# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Many compositions: those of the library in several processes, then those through nodes."""

from collections.abc import Iterator
import itertools
from math import inf
import time
import traceback
from typing import NamedTuple

from robodyn_ros.parallel import in_processes
from robodyn_ros.verification.features import FAULT
from robodyn_ros.verification.play import play

from .composition import Composition, composition, path_of, SECONDS
from .table import Subjects

IN_NODES = ('native', 'python')


class Result(NamedTuple):
    """What came of a composition; ``reason`` of the fault, if there was one."""

    seed: int
    path: str
    injections: list[str]
    armed: bool
    reason: str
    violations: dict[str, str]


class Players(Subjects):
    """Plays compositions one after the other."""

    def play(self, c: Composition) -> Result:
        """Play one; what breaks the harness is a violation too."""
        try:
            settings = c.settings()
            run = play(self(c, settings), c.world(settings), list(c.planned), SECONDS)
        except Exception:
            text = traceback.format_exc(limit=-3)
            return Result(c.seed, c.path, c.names, True, '', {'exception': text})
        faulted = run.figures.phase == FAULT
        return Result(c.seed, c.path, c.names, run.armed,
                      run.figures.reason if faulted else '', run.violations)


def campaign(first: int, count: int | None, minutes: float | None, jobs: int) -> Iterator[Result]:
    """Yield the results of library compositions, in several processes; then those of the nodes."""
    def seeds(nodes: bool) -> Iterator[int]:
        until = inf if minutes is None else time.time() + 30.0 * minutes
        for seed in itertools.count(first) if count is None else range(first, first + count):
            if time.time() > until:
                return
            if (path_of(seed) in IN_NODES) == nodes:
                yield seed

    few = count is not None and count <= 10
    yield from in_processes(Players, _play, seeds(nodes=False), 1 if few else jobs)
    players = Players()
    try:
        for seed in seeds(nodes=True):
            yield _play(players, seed)
    finally:
        players.close()


def _play(players: Players, seed: int) -> Result:
    return players.play(composition(seed))
