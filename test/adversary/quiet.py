# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""False alarms: hours of healthy motion, in which no fault may latch."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from rich.table import Table
from robodyn_ros.control.laws.registry import find
from robodyn_ros.control.settings.settings import VELOCITY_TIME
from robodyn_ros.control.steps.guard import FAULT
from robodyn_ros.control.steps.motion_checks import EXACT_FOLLOWING_ERROR
from robodyn_ros.parallel import in_processes
from robodyn_ros.verification.arm import MODES
from robodyn_ros.verification.injection import Scene
from robodyn_ros.verification.plant_step import TICK
from robodyn_ros.verification.sensing import Conditions
from robodyn_ros.verification.trial import rise
from robodyn_ros.verification.world import Motion, World

from . import arms
from .table import Subjects

STRETCH = 20.0              # s of one run
TURN = 2.0, 5.0             # s between two changes of what goes on
PUSH = 0.04                 # of the effort limit
FOLLOWING = 50.0            # 1/s², minimum gain that leaves the arm near a trajectory
SHORTEST = 0.5              # s, of a trajectory whose accelerations the drives can give
SAG = 0.1                   # rad
FAST = 0.375                # velocity limits, of a usual trajectory


@dataclass(frozen=True)
class Kind:
    """A way to be healthy: settings that fit the rate of the states."""

    name: str
    conditions: Conditions
    settings: dict[str, Any]
    trigger: str = 'state'
    slowness: tuple[float, float] = (2.0, 5.0)
    share: tuple[float, float] = (-2.3, -1.2)   # powers of ten: gains, of the highest accepted


NOISE = {'position_noise': 1e-4, 'velocity_noise': 1e-2}
# Without the test of the motors, which 1 of 5 sound arms fails at this rate
SLOW = {'loop_delay': 0.045, 'state_timeout': 0.2, 'motor_test_effort': 0.0}
KINDS = (
    Kind('1 kHz', Conditions(delay=0.001, latency=0.0005, loss=0.02, **NOISE), {}),
    Kind('1 kHz, timer', Conditions(delay=0.002, latency=0.001, loss=0.05, **NOISE), {}, 'timer'),
    # g(q) that acts late drives an arm that nothing damps: at this rate it has its friction
    Kind('25 Hz', Conditions(rate=25.0, delay=0.001, friction=True, **NOISE),
         {**SLOW, 'rate': 25.0}, slowness=(6.0, 12.0), share=(-1.2, -0.4)),
    Kind('25 Hz, timer', Conditions(rate=25.0, delay=0.001, friction=True, **NOISE), SLOW,
         'timer', (6.0, 12.0), (-1.2, -0.4)),
    Kind('16 bit', Conditions(delay=0.001, resolution=1e-4, friction=True), {}),
    Kind('each reading twice', Conditions(delay=0.001, renewal=500.0, friction=True), {}))


class Stretch(NamedTuple):
    """What came of a run; ``reason`` is empty where no fault latched."""

    seed: int
    robot: str
    kind: str
    seconds: float
    reason: str


class Healthy(Motion):
    """Trajectories, holding, a hand that guides or pushes, in changing modes."""

    def __init__(self, world: World, kind: Kind):
        super().__init__('still', world.plant, world.random)
        self._kind, self._until, self._pushed = kind, -np.inf, 0.0
        n = world.arm.model.nv
        self._push, self._mass = np.zeros(n), np.zeros((n, n))

    def act(self, world: World) -> None:
        """Go on, or change over to something else."""
        if world.time >= self._until:
            self._change(world)
        if self.kind == 'trajectory':
            if world.time >= self._asked + self.lasts + 0.2:
                self._asked = world.time
                if not self.ask(world, world.random.uniform(*self._kind.slowness),
                                shortest=SHORTEST):
                    self.lasts = -0.1       # soon again: perhaps the mode was just changed
            self.due = min(self._until, self._asked + self.lasts + 0.2)
        elif self.kind == 'push':
            world.plant.external += self._pushed_by_hand(world)
            self.due = -np.inf
        else:
            super().act(world)
            self.due = self._until

    def _pushed_by_hand(self, world: World) -> np.ndarray:
        """Pushes of a hand that brings the arm back in between (nv,) [N·m | N]."""
        plant, limit = world.plant, world.arm.model.effort_limit
        plant.dynamics.kernels.mass_matrix(plant.q, self._mass)
        if world.time >= self._pushed:
            self._pushed = world.time + world.random.uniform(0.1, 0.4)
            # No joint is thrown, however light it is and whatever the others do
            fast = world.arm.model.velocity_limit / VELOCITY_TIME
            push = self._mass @ (world.random.uniform(-1.0, 1.0, len(fast)) * fast)
            self._push = push / max(1.0, (abs(push) / (PUSH * limit)).max())
        back = self._mass @ (2.0 * (self._centre - plant.q) - 2.0 * plant.qd)
        return self._push + back / max(1.0, (abs(back) / (2.0 * PUSH * limit)).max())

    def _change(self, world: World) -> None:
        # pd brings no gravity: it is for gains that hold the arm all the same
        sag = abs(world.plant.dynamics.gravity(world.plant.q)) / world.settings.stiffness
        plant, damping = world.plant, np.asarray(world.settings.damping)
        fast = FAST * world.arm.model.velocity_limit
        friction, mass = plant.dynamics.friction(fast), plant.dynamics.mass_matrix(plant.q)
        # adaptive takes friction for a payload, and holds where a mode change has stopped it:
        # it is for gains with which neither brings it far from its reference
        astray = (friction / (damping * world.settings.adaptive_bandwidth)
                  + fast * np.diag(mass) / damping)
        # near a straight arm friction alone moves joints of parallel axes far apart
        apart = abs(np.linalg.inv(mass)) @ friction
        gains = world.settings.acceleration_kp
        fit = {'pd': sag.max() < SAG, 'adaptive': astray.max() < EXACT_FOLLOWING_ERROR[0],
               'computed_torque': min(gains) >= FOLLOWING
               and (apart / gains).max() < 0.5 * EXACT_FOLLOWING_ERROR[0]}
        modes = [mode for mode in MODES if fit.get(mode, True)]
        mode = str(world.random.choice(modes))
        self._until = world.time + world.random.uniform(*TURN)
        if world.subject.use(mode=mode):
            floats = not find(mode).follows
            self.kind = str(world.random.choice(
                ('still', 'hand', 'push') if floats else ('still', 'push', *3 * ['trajectory'])))
        self._centre, self._began = world.plant.q.copy(), np.nan
        self._guide(world.plant, False)
        self._asked, self.lasts = -np.inf, 0.0
        room = 0.5 * np.minimum(world.arm.upper - self._centre, self._centre - world.arm.lower)
        self._amplitude = np.minimum(self._amplitude, np.maximum(room, 0.0))


class Hours(Subjects):
    """Plays stretches one after the other."""

    def stretch(self, seed: int) -> Stretch:
        """Play the stretch of a seed."""
        random = np.random.default_rng([seed, 3])
        robot, kind = arms.ROBOTS[seed % 3], KINDS[seed // 3 % len(KINDS)]
        settings = arms.settings(robot, 'gravity_compensation',
                                 share=float(10.0**random.uniform(*kind.share)), **kind.settings)
        world = World(arms.arm(robot), settings, kind.conditions, 'still', kind.trigger, [seed, 4])
        world.subject = subject = self(Scene(robot), settings)
        subject.begin(world)
        subject.arm()
        if not rise(world):
            return Stretch(seed, robot, kind.name, 0.0, f'not armed: '
                           f'{subject.controller.arming_refusal}')
        begin, world.motion, world.moving = world.time, Healthy(world, kind), True
        world.run(round(STRETCH / TICK), halt=(FAULT,))
        if subject.phase == FAULT:
            return Stretch(seed, robot, kind.name, world.time - begin, subject.controller.reason)
        return Stretch(seed, robot, kind.name, STRETCH, '')


def hours(minutes: float, seed: int, jobs: int) -> Iterator[Stretch]:
    """Yield stretches of so many minutes altogether, each robot and each kind in turn."""
    return in_processes(Hours, Hours.stretch, range(seed, seed + number(minutes)), jobs)


def number(minutes: float) -> int:
    """Return how many stretches so many minutes are."""
    return max(1, round(60.0 * minutes / STRETCH))


def shown(stretches: list[Stretch]) -> Table:
    """Return the hours of each robot, and the faults in them."""
    table = Table('robot', 'states', 'hours', 'faults', box=None, pad_edge=False)
    for robot in arms.ROBOTS:
        for kind in KINDS:
            there = [s for s in stretches if (s.robot, s.kind) == (robot, kind.name)]
            reasons = [s.reason for s in there if s.reason]
            told = ', '.join(f'{reasons.count(r)} x {r}' for r in sorted(set(reasons)))
            table.add_row(robot, kind.name, f'{sum(s.seconds for s in there) / 3600.0:.3f}',
                          told or '0', style='red' if told else None)
    return table
