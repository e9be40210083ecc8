# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Many compositions, in several processes: library ones side by side with those through nodes."""

from collections.abc import Iterator
import multiprocessing
import queue
import time
import traceback
from typing import NamedTuple

from robodyn_ros.verification.features import FAULT
from robodyn_ros.verification.play import play

from .composition import Composition, composition, path_of, SECONDS
from .table import Subjects

IN_NODES = ('native', 'python')
PATIENCE = 300.0            # s for a composition: what takes longer hangs


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


def _seeds(first: int, count: int | None, nodes: bool, share: tuple[int, int]) -> Iterator[int]:
    """Yield the seeds of a worker: it is ``share[0]`` of ``share[1]`` of its kind."""
    seed, number = first, 0
    while count is None or seed < first + count:
        if (path_of(seed) in IN_NODES) == nodes:
            if number % share[1] == share[0]:
                yield seed
            number += 1
        seed += 1


def _work(first: int, count: int | None, until: float, nodes: bool, share: tuple[int, int],
          results: multiprocessing.Queue) -> None:
    players = Players()
    try:
        for seed in _seeds(first, count, nodes, share):
            if time.time() > until:
                break
            results.put(players.play(composition(seed)))
    finally:
        players.close()
        results.put(None)


def campaign(first: int, count: int | None, minutes: float | None, jobs: int) -> Iterator[Result]:
    """Yield results as they come in; one job is for the nodes, the others are for the library."""
    until = float('inf') if minutes is None else time.time() + 60.0 * minutes
    if count is not None and count <= 10 and minutes is None:
        yield from _here(range(first, first + count))
        return
    context = multiprocessing.get_context('spawn')
    results: multiprocessing.Queue = context.Queue()
    alone = max(1, jobs - 1)
    workers = [context.Process(target=_work, args=(first, count, until, nodes, share, results),
                               daemon=False)
               for nodes, share in [(True, (0, 1)), *((False, (i, alone)) for i in range(alone))]]
    for worker in workers:
        worker.start()
    try:
        running = len(workers)
        while running:
            try:
                result = results.get(timeout=PATIENCE)
            except queue.Empty:
                raise RuntimeError('a worker hangs') from None
            if result is None:
                running -= 1
            else:
                yield result
    finally:
        for worker in workers:
            worker.terminate()
            worker.join()


def _here(seeds: range) -> Iterator[Result]:
    players = Players()
    try:
        for seed in seeds:
            yield players.play(composition(seed))
    finally:
        players.close()
