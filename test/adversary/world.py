# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The world of one run: an arm, the way to its controller, motion, and what is injected."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy import ndarray
from robodyn_ros.control.references.trajectory import Waypoints
from robodyn_ros.control.settings.settings import Settings

from .arms import Arm
from .injection import Active, ASKED, PLANT, SEEN
from .motion import Motion
from .plant import Plant, SILENCE, TICK
from .sensing import Channel, Conditions, Sample

# s without a sample after which what the arm does is not the controller's, and until it is again
HEARING, REACTION = 0.01, 0.01
START = 100.0           # s, time when a world begins: zero would be no time on simulation time


class Subject(Protocol):
    """A controller under test: the library's, or a node."""

    @property
    def alive(self) -> bool:
        """Whether it has not ended."""

    @property
    def stalled(self) -> bool:
        """Whether it stands still, as a suspended process does."""

    @property
    def phase(self) -> int:
        """Phase, as far as it is known."""

    @property
    def reason_code(self) -> str:
        """Code of the reason of the latest fault."""

    def tick(self, world: 'World', arrivals: list[Sample]) -> list[ndarray]:
        """Take what arrives and return what is published in this tick."""

    def settle(self) -> None:
        """Wait until the phase and the reason are those of now."""

    def braking(self) -> bool:
        """Whether the efforts of the last tick may be those of braking at a limit."""

    def use(self, **changes: object) -> bool:
        """Change settings; False: refused."""

    def follow(self, waypoints: Waypoints) -> bool:
        """Follow a trajectory from now on; False: refused."""

    def stall(self, seconds: float) -> None:
        """Stand still, as a suspended process does."""

    def stop(self) -> None:
        """Come to rest."""

    def tell(self, **fields: object) -> None:
        """Tell the cycle something of the outside: library alone."""

    def second_publisher(self, there: bool) -> None:
        """Let somebody else publish commands too."""

    def malformed_request(self) -> None:
        """Ask for a parameter of a type that does not exist: nodes alone."""


class World:
    """
    Everything but the controller, in ticks of 1 ms.

    :param trigger: timer or state, of the controller's cycle.
    :param kind: of the healthy motion.
    """

    def __init__(self, arm: Arm, settings: Settings, conditions: Conditions, kind: str,
                 trigger: str, seed: int | Sequence[int]):
        self.arm, self.settings, self.trigger = arm, settings, trigger
        self.effort_rate = settings.joint_records(arm.model)['effort_rate_limit']   # in force
        self.random = np.random.default_rng(seed)
        silence = max(SILENCE, 2.0 * settings.state_timeout)
        self.plant = Plant(arm, arm.pose(self.random), conditions.delay, silence,
                           conditions.friction)
        self.channel = Channel(conditions, self.random)
        self.motion = Motion(kind, self.plant, self.random)
        self.active: list[Active] = []
        self.subject: Subject
        self.intruded: list[ndarray] = []       # commands of somebody else in this tick
        self.unheard = False                    # nobody hears the commands, the plant neither
        # Times of the newest sample that the controller got, before that, and when it was deaf
        self.heard = self._heard_before = self._deaf = START
        self.ticks, self._offset, self.moving = 0, 0.0, False

    @property
    def time(self) -> float:
        """Time of the world [s], which knows no jumps."""
        return START + self.ticks * TICK

    @property
    def now(self) -> float:
        """Time on the controller's clock, and on that of the time stamps [s]."""
        return self.time + self._offset

    def jump(self, seconds: float) -> None:
        """Let these clocks jump."""
        self._offset += seconds

    @property
    def simulated(self) -> bool:
        """Whether its clocks are those of a simulation."""
        return any(a.what.clock for a in self.active)

    @property
    def throwing(self) -> bool:
        """
        Whether something in force may move joints beyond their limits by itself.

        So do states that are frozen while the arm is at rest: they are those of an arm at rest.
        """
        return any((a.what.throws or a.memory.get('unseen')) and -1e-9 <= a.since
                   and (not a.over or a.since < 2.0 * TICK) for a in self.active)

    @property
    def disobeying(self) -> bool:
        """Whether joints do not do what their efforts ask for."""
        return any(a.what.disobeys and -1e-9 <= a.since and not a.over for a in self.active)

    @property
    def lied_to(self) -> bool:
        """Whether the states, too, are not those of the arm."""
        return any(a.what.hook == SEEN and -1e-9 <= a.since for a in self.active)

    @property
    def gap(self) -> float:
        """Seconds between the two newest samples that the controller got."""
        return self.heard - self._heard_before

    @property
    def deaf(self) -> bool:
        """Whether the controller got no sample for HEARING, or did so within REACTION."""
        return self.time - self._deaf <= REACTION

    def _hear(self, arrivals: list[Sample]) -> None:
        if arrivals and not self.subject.stalled:
            self._heard_before, self.heard = self.heard, self.time
        if self.time - self.heard > HEARING:
            self._deaf = self.time

    def tick(self) -> list[ndarray]:
        """Let a tick pass; return what the controller published in it."""
        self.plant.external[:] = 0.0
        self.intruded = []
        if self.moving:
            self.motion.act(self)
        for a in self.active:
            a.apply(PLANT, self.plant)
        for a in self.active:
            a.apply(ASKED, self)
        sample = self.channel.measure(self.plant, self.ticks, self.time, self.now)
        if sample is not None and not sample.lost:
            for a in self.active:
                a.apply(SEEN, sample)
            self.channel.send(sample)
        arrivals = self.channel.arrivals(self.time)
        self._hear(arrivals)
        published = self.subject.tick(self, arrivals)
        for tau in (*published, *self.intruded) if not self.unheard else ():
            self.plant.command(self.time, tau)
        self.plant.advance(self.time)
        self.ticks += 1
        return published
