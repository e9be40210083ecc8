# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Healthy motion, in which faults are injected: a hand that guides, trajectories, or rest."""

from typing import TYPE_CHECKING

import numpy as np
from numpy import ndarray
from robodyn_ros.control.references.trajectory import Waypoints

from .plant import Plant

if TYPE_CHECKING:
    from .world import World

GRIP = 8.0              # 1/s, of the hand
STRENGTH = 0.15         # of the effort limit, at most
BETWEEN = 0.25          # s between two trajectories


class Motion:
    """What goes on while nothing is wrong: ``still``, ``hand``, ``trajectory`` or ``hold``."""

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
        Ask for a motion to a random pose; say whether it was accepted.

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
