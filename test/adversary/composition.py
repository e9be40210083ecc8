# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Random compositions of faults that follow from their seeds; their campaign and summary."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
import itertools
from math import inf
import time
import traceback
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table
from robodyn_ros.control.laws.registry import FOLLOWING
from robodyn_ros.control.settings.settings import Settings
from robodyn_ros.control.steps.guard import FAULT
from robodyn_ros.parallel import in_processes
from robodyn_ros.verification.arm import MODES
from robodyn_ros.verification.catalogue import drawable
from robodyn_ros.verification.injection import FOR_EVER
from robodyn_ros.verification.sensing import Conditions
from robodyn_ros.verification.trial import Planned, play
from robodyn_ros.verification.world import World

from . import arms
from .table import Subjects

PATHS, SHARES = ('library', 'native', 'python'), (0.8, 0.1, 0.1)
ROBOTS, OFTEN = (*arms.ROBOTS, arms.CONTINUOUS), (0.4, 0.3, 0.2, 0.1)
SECONDS = 1.2           # after the first injection
LEVELS = 4                      # of the gains, in a decade: each is checked once
SENSOR_NOISE = 1e-4, 1e-2       # rad, rad/s
MOST_SHOWN = 30         # violations told of at once; all are in the JSON


@dataclass(frozen=True)
class Composition:
    """What happens in one run."""

    seed: int
    path: str
    robot: str
    mode: str
    trigger: str
    motion: str
    share: float
    conditions: Conditions
    planned: tuple[Planned, ...]

    def settings(self) -> Settings:
        """Return what the controller is to be set to."""
        return arms.settings(self.robot, self.mode, share=self.share)

    def world(self, settings: Settings) -> World:
        world = World(arms.arm(self.robot), settings, self.conditions, self.motion, self.trigger,
                      [self.seed, 1])
        if self.path != 'library':       # in a simulation, silence is noticed within two timeouts
            world.plant.silence *= 2.0
        return world

    @property
    def names(self) -> list[str]:
        """Its injections."""
        return [p.what.name for p in self.planned]

    def __str__(self) -> str:
        whats = ', '.join(f'{p.what.name} ({1e3 * p.start:.0f} ms'
                          + (f' + {1e3 * p.duration:.0f}' if p.duration < FOR_EVER else '')
                          + f', joint {p.joint})' for p in self.planned)
        c = self.conditions
        return (f'{self.path} {self.robot} {self.mode} {self.trigger} {self.motion}, gains '
                f'{self.share:.2g}, delay {1e3 * (c.delay + c.latency):.1f} ms, loss {c.loss:.2f}:'
                f' {whats}')


def path_of(seed: int) -> str:
    """Return whether a composition is played in the library or through a node."""
    return str(np.random.default_rng([seed, 2]).choice(PATHS, p=SHARES))


def composition(seed: int) -> Composition:
    random, path = np.random.default_rng([seed, 0]), path_of(seed)
    robot = str(random.choice(ROBOTS, p=OFTEN))
    if path != 'library' and robot == arms.CONTINUOUS:
        robot = 'two_link'
    mode = str(random.choice(MODES))
    trigger = str(random.choice(('state', 'timer')))
    if path != 'library':               # one process for each; in lockstep no grid decides
        trigger = 'state'
    floats = mode not in FOLLOWING
    motion = str(random.choice(('hand', 'still') if floats else ('trajectory', 'hand', 'still'),
                               p=(0.7, 0.3) if floats else (0.7, 0.2, 0.1)))
    rough, noisy = random.uniform(size=2) < 0.5
    noise = random.uniform(0.0, 1.0) * noisy
    conditions = Conditions(
        latency=random.uniform(0.0, 0.002), delay=random.uniform(0.0, 0.003),
        loss=random.uniform(0.0, 0.2) * rough, position_noise=noise * SENSOR_NOISE[0],
        velocity_noise=noise * SENSOR_NOISE[1])
    nv, fit = arms.arm(robot).model.nv, [*drawable(path, robot).values()]
    planned = tuple(
        Planned(fit[i], float(random.uniform(0.0, 0.4)),
                FOR_EVER if random.uniform() < 0.4 else float(random.uniform(0.02, 0.6)),
                int(random.integers(nv)))
        for i in random.choice(len(fit), random.integers(1, 4), replace=False))
    return Composition(seed, path, robot, mode, trigger, motion,
                       10.0**(round(random.uniform(-2.0, 0.0) * LEVELS) / LEVELS), conditions,
                       planned)


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
            if (path_of(seed) != 'library') == nodes:
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


def followed(results: Iterable[Result], console: Console) -> Iterator[Result]:
    """Pass results on; show their number, and each violation with what plays it again."""
    violating, number, begin = 0, 0, time.monotonic()
    with console.status('') as status:
        for number, result in enumerate(results, 1):
            violating += bool(result.violations)
            status.update(f'{number} compositions, {violating} violations')
            if result.violations and violating <= MOST_SHOWN:
                console.print(f'{composition(result.seed)}', soft_wrap=True)
                for kind, what in result.violations.items():
                    console.print(f'  {kind}: {what}', soft_wrap=True)
                console.print(f'  again: make adversary ARGS="--seed {result.seed} '
                              f'--compositions 1"', soft_wrap=True)
            yield result
    console.print(f'{number} compositions in {time.monotonic() - begin:.0f} s')


def summary(results: list[Result]) -> Iterator[Table]:
    paths = Table('path', 'compositions', 'not armed', 'faults', 'with violations', box=None,
                  pad_edge=False)
    for path in PATHS:
        there = [r for r in results if r.path == path]
        paths.add_row(path, *(str(n) for n in (
            len(there), sum(not r.armed for r in there), sum(bool(r.reason) for r in there),
            sum(bool(r.violations) for r in there))))
    yield paths
    for what, found in (
            ('fault', (r.reason for r in results if r.reason)),
            ('violated', (kind for r in results for kind in r.violations)),
            ('injection in violations',
             (name for r in results if r.violations for name in r.injections))):
        table = Table(what, 'compositions', box=None, pad_edge=False)
        for name, number in Counter(found).most_common():
            table.add_row(name, str(number))
        if table.rows:
            yield table
