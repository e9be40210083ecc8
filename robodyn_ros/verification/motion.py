# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Motion of a healthy arm: guiding by hand, trajectories, or rest."""

from typing import TYPE_CHECKING

import numpy as np
from numpy import ndarray

from .plant import Plant
from ..control.references.trajectory import Waypoints
from ..identification.excitation.taught_motion import QUINTIC_ACCELERATION

if TYPE_CHECKING:
    from .world import World

GRIP = 8.0              # 1/s, of the hand
STRENGTH = 0.15         # of the effort limit, at most
BETWEEN = 0.25          # s between two trajectories
SHORTEST = 0.3          # s, of a trajectory
GOALS, HELD = 100, 0.7  # random goals; gravity takes at most this share of the effort limits


class Motion:
    """Motion of a healthy arm: ``still``, ``hand`` or ``trajectory``."""

    def __init__(self, kind: str, plant: Plant, random: np.random.Generator):
        self.kind, self._random = kind, random
        model, n = plant.arm.model, plant.q.shape[0]
        self._centre = plant.q.copy()
        self._pace = random.uniform(1.5, 4.0, n)        # 1/s
        room = 0.5 * np.minimum(plant.arm.upper - plant.q, plant.q - plant.arm.lower)
        fast = 0.3 * model.velocity_limit / self._pace
        self._amplitude = np.minimum(np.minimum(0.4, room), fast)
        self.lasts = 0.0                                # s, of the latest trajectory
        self._mass, self._began, self._asked = np.zeros((n, n)), np.nan, -np.inf

    def act(self, world: 'World') -> None:
        """Push the plant, or ask the controller for the next trajectory."""
        if np.isnan(self._began):
            self._began = world.time
        t = world.time - self._began
        if self.kind == 'hand':
            world.plant.external += self._hand(world.plant, t)
        elif self.kind == 'trajectory' and t - self._asked >= BETWEEN:
            self._asked = t
            self.ask(world, self._random.uniform(2.0, 4.0))

    def _hand(self, plant: Plant, t: float) -> ndarray:
        """Efforts of a hand that guides every joint along a sine (nv,) [N·m | N]."""
        wave = self._pace * t
        gap = self._centre + self._amplitude * np.sin(wave) - plant.q
        rate = self._amplitude * self._pace * np.cos(wave) - plant.qd
        plant.dynamics.kernels.mass_matrix(plant.q, self._mass)
        limit = STRENGTH * plant.arm.model.effort_limit
        effort = self._mass @ (GRIP**2 * gap + 2.0 * GRIP * rate)
        return effort / max(1.0, (abs(effort) / limit).max())

    def ask(self, world: 'World', slowness: float, *, near: bool = False,
            everywhere: bool = False) -> bool:
        """
        Request a motion to a random pose; return whether it was accepted.

        :param slowness: 1.5 times this many velocity limits would be the mean velocity.
        :param near: a goal in the neighbourhood, soon; ``everywhere``: up to the limits.
        """
        arm, n = world.arm, world.plant.q.shape[0]
        range_ = arm.upper - arm.lower
        inside = self._random.uniform(*((0.0, 1.0) if everywhere else (0.15, 0.85)), n)
        goal = arm.lower + range_ * inside
        if near:
            goal = np.clip(world.plant.q + self._random.uniform(-0.1, 0.1, n), arm.lower,
                           arm.upper)
        way = abs(goal - world.plant.q) / arm.model.velocity_limit
        self.lasts = max(0.05, slowness * way.max())
        return world.subject.follow(Waypoints(
            arm.model.joint_names, np.array([self.lasts]), goal[None], np.zeros((1, n))))


class Tour(Motion):
    """
    Quintic trajectories to random poses with pauses between them, or given waypoints.

    They are within the acceleration limit of the settings. Other kinds are those of
    :class:`Motion`. The last motion has ended at ``until``, a time of the world [s].

    :param slowness: 15/8 divided by it is the peak velocity in velocity limits; from and to.
    :param waypoints: that the arm starts at; None: random poses.
    """

    def __init__(self, kind: str, plant: Plant, random: np.random.Generator,
                 slowness: tuple[float, float] = (2.5, 6.0), waypoints: Waypoints | None = None):
        super().__init__(kind, plant, random)
        self._slowness, self._waypoints, self._ready = slowness, waypoints, -np.inf
        self.refused, self.until = False, np.inf

    def act(self, world: 'World') -> None:
        """Ask for the next motion once the arm has rested after the last one."""
        if self.kind != 'tour':
            if world.time < self.until:
                super().act(world)
            return
        if world.time < self._ready:
            return
        if self._waypoints is not None:
            self.lasts = float(self._waypoints.times[-1])
            self.refused = not world.subject.follow(self._waypoints)
            self._ready = np.inf
            return
        left = self.until - world.time
        slowness = self._random.uniform(*self._slowness)
        goal = self._goal(world, slowness, left)
        if goal is not None:
            n = len(goal)
            self.refused |= not world.subject.follow(Waypoints(
                world.arm.model.joint_names, np.array([self.lasts]), goal[None],
                np.zeros((1, n)), np.zeros((1, n))))
        self._ready = world.time + self.lasts + BETWEEN if goal is not None else np.inf

    def _goal(self, world: 'World', slowness: float, left: float) -> ndarray | None:
        """Return a random pose that is reached in the time left [s]; None if it is too short."""
        arm, q = world.arm, world.plant.q
        for _ in range(GOALS):
            goal = arm.lower + (arm.upper - arm.lower) * self._random.uniform(0.1, 0.9, len(q))
            if (abs(arm.dynamics.gravity(goal)) <= HELD * arm.model.effort_limit).all():
                break
        else:
            return None
        limit = arm.model.velocity_limit
        most = world.settings.acceleration(arm.model, limit)
        way = abs(goal - q)
        lasts = max(SHORTEST, slowness * float((way / limit).max()),
                    float(np.sqrt(QUINTIC_ACCELERATION * way / most).max()))
        if left < SHORTEST:
            return None
        self.lasts = min(lasts, left)
        return q + (goal - q) * (self.lasts / lasts)**2         # at no greater acceleration
