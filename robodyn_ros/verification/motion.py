# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Motion of a healthy arm: guiding by hand, trajectories, or rest."""

from typing import TYPE_CHECKING

import numpy as np
from numpy import ndarray

from .injection import FAR
from .judge_step import ARMING_TICKS
from .plant import Plant
from .plant_step import START, TICK
from ..control.laws import registry
from ..control.references.trajectory import Waypoints
from ..identification.excitation.taught_motion import QUINTIC_ACCELERATION

if TYPE_CHECKING:
    from .world import World

BETWEEN = 0.25          # s between two trajectories
SHORTEST = 0.3          # s, of a trajectory
SETTLING = 0.6          # s at the end of a world without a motion
SETTLED = 0.1           # s of these in which the arm has to be at rest
SLOWNESS = 2.5, 6.0     # 15/8 divided by it is the peak velocity of a tour in velocity limits
NO_MODE = -1            # number of a mode that none is
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
        self._began, self._asked = np.nan, -np.inf
        self.due = -np.inf                              # s, when it acts again

    def undisturbed(self, now: int) -> int:
        """Return the number of ticks from ``now`` before it acts."""
        return int(max(0.0, min((self.due - START) / TICK - now, FAR)))

    def act(self, world: 'World') -> None:
        """Let a hand guide the plant, or ask the controller for the next trajectory."""
        if np.isnan(self._began):
            self._began, self.due = world.time, np.inf
            self._guide(world.plant, self.kind == 'hand')
        t = world.time - self._began
        if self.kind == 'trajectory':
            if t - self._asked >= BETWEEN:
                self._asked = t
                self.ask(world, self._random.uniform(2.0, 4.0))
            self.due = self._began + self._asked + BETWEEN

    def _guide(self, plant: Plant, guided: bool) -> None:
        """Let a hand guide every joint along a sine from now on, or none."""
        p, m = plant.data.plant, plant.data.numbers
        p.centre[:], p.amplitude[:], p.pace[:] = self._centre, self._amplitude, self._pace
        m['hand_since'] = self._began if guided else np.inf

    def ask(self, world: 'World', slowness: float, *, near: bool = False,
            everywhere: bool = False, shortest: float = 0.05) -> bool:
        """
        Request a motion to a random pose; return whether it was accepted.

        :param slowness: 1.5 times this many velocity limits would be the mean velocity.
        :param near: a goal in the neighbourhood, soon; ``everywhere``: up to the limits.
        :param shortest: minimum duration [s]; a short motion has great accelerations.
        """
        arm, n = world.arm, world.plant.q.shape[0]
        range_ = arm.upper - arm.lower
        inside = self._random.uniform(*((0.0, 1.0) if everywhere else (0.15, 0.85)), n)
        goal = arm.lower + range_ * inside
        if near:
            goal = np.clip(world.plant.q + self._random.uniform(-0.1, 0.1, n), arm.lower,
                           arm.upper)
        way = abs(goal - world.plant.q) / arm.model.velocity_limit
        self.lasts = max(shortest, slowness * way.max())
        return world.subject.follow(Waypoints(
            arm.model.joint_names, np.array([self.lasts]), goal[None], np.zeros((1, n))))


class Tour(Motion):
    """
    Quintic trajectories to random poses with pauses between them, or given waypoints.

    They are within the acceleration limit of the settings. Other kinds are those of
    :class:`Motion`. The distance from the reference is observed from the beginning on, and the
    rest after the end of the last motion at ``until``, a time of the world [s].

    :param seconds: of the world, of which the last SETTLING are without a motion.
    :param waypoints: of a tour, that the arm starts at; None: random poses.
    """

    def __init__(self, kind: str, world: 'World', seconds: float,
                 waypoints: Waypoints | None = None):
        super().__init__(kind, world.plant, world.random)
        self._seconds, self._waypoints = seconds, waypoints
        self.refused, self.until = False, np.inf

    def act(self, world: 'World') -> None:
        """Observe from now on; ask for the next motion once the arm has rested after the last."""
        m = world.data.numbers
        if self.until == np.inf:
            self.until = world.time + self._seconds - SETTLING
            m['observed'], m['late_from'] = 1, self.until + SETTLING - SETTLED
            world.data.observed.lower[:], world.data.observed.upper[:] = np.inf, -np.inf
            m['balanced_from'] = m['ticks'] + ARMING_TICKS
            law = world.settings.law_in_force
            m['observed_mode'] = registry.number(world.settings.mode) if law.follows else NO_MODE
        if self.kind != 'tour':
            m['hand_until'] = self.until
            super().act(world)
            return
        if world.time < self.due:
            return
        if self._waypoints is not None:
            self.lasts = float(self._waypoints.times[-1])
            self.refused = not world.subject.follow(self._waypoints)
            self.due = np.inf
            return
        left = self.until - world.time
        slowness = self._random.uniform(*SLOWNESS)
        goal = self._goal(world, slowness, left)
        if goal is not None:
            n = len(goal)
            self.refused |= not world.subject.follow(Waypoints(
                world.arm.model.joint_names, np.array([self.lasts]), goal[None],
                np.zeros((1, n)), np.zeros((1, n))))
        self.due = world.time + self.lasts + BETWEEN if goal is not None else np.inf

    def _goal(self, world: 'World', slowness: float, left: float) -> ndarray | None:
        """Return a random pose that is reached in the time left [s]; None if it is too short."""
        arm, q = world.arm, world.plant.q
        for _ in range(GOALS):
            goal = arm.lower + (arm.upper - arm.lower) * self._random.uniform(0.0, 1.0, len(q))
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
