# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Random compositions of faults: everything about one follows from its seed."""

from dataclasses import dataclass

import numpy as np
from robodyn_ros.control.laws.registry import FOLLOWING
from robodyn_ros.control.settings.settings import Settings
from robodyn_ros.verification.arm import MODES
from robodyn_ros.verification.catalogue import CATALOGUE
from robodyn_ros.verification.injection import FOR_EVER, Injection
from robodyn_ros.verification.play import Planned
from robodyn_ros.verification.sensing import Conditions
from robodyn_ros.verification.world import World

from . import arms

PATHS, SHARES = ('library', 'native', 'python'), (0.8, 0.1, 0.1)
ROBOTS, OFTEN = (*arms.ROBOTS, arms.CONTINUOUS), (0.4, 0.3, 0.2, 0.1)
SECONDS = 1.2           # after the first injection
LEVELS = 4                      # of the gains, in a decade: each is checked once
SENSOR_NOISE = 1e-4, 1e-2       # rad, rad/s


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
        """Return the world in which it happens."""
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
    """Return the composition of a seed."""
    random, path = np.random.default_rng([seed, 0]), path_of(seed)
    robot = str(random.choice(ROBOTS, p=OFTEN))
    if path != 'library' and robot == arms.CONTINUOUS:
        robot = 'two_link'
    mode = str(random.choice(MODES))
    trigger = str(random.choice(('state', 'timer')))
    if path != 'library':               # one process for each; in lockstep no grid decides
        trigger = 'inline' if path == 'native' and robot != 'panda' else 'state'
    floats = mode not in FOLLOWING
    motion = str(random.choice(('hand', 'still') if floats else ('trajectory', 'hand', 'still'),
                               p=(0.7, 0.3) if floats else (0.7, 0.2, 0.1)))
    rough, noisy = random.uniform(size=2) < 0.5
    noise = random.uniform(0.0, 1.0) * noisy
    conditions = Conditions(
        latency=random.uniform(0.0, 0.002), delay=random.uniform(0.0, 0.003),
        loss=random.uniform(0.0, 0.2) * rough, position_noise=noise * SENSOR_NOISE[0],
        velocity_noise=noise * SENSOR_NOISE[1])
    nv, fit = arms.arm(robot).model.nv, candidates(path, robot)
    planned = tuple(
        Planned(fit[i], float(random.uniform(0.0, 0.4)),
                FOR_EVER if random.uniform() < 0.4 else float(random.uniform(0.02, 0.6)),
                int(random.integers(nv)))
        for i in random.choice(len(fit), random.integers(1, 4), replace=False))
    return Composition(seed, path, robot, mode, trigger, motion,
                       10.0**(round(random.uniform(-2.0, 0.0) * LEVELS) / LEVELS), conditions,
                       planned)


def candidates(path: str, robot: str) -> list[Injection]:
    """Return the injections that make sense there, by name."""
    return [what for _, what in sorted(CATALOGUE.items())
            if what.random and path in what.paths and (not what.robots or robot in what.robots)]
