# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""World of one run: an arm, the channel to its controller, its motion, and injected faults."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy import ndarray

from .arm import Arm
from .injection import Active, ASKED, PLANT, SEEN
from .motion import Motion
from .plant import Drives, IDEAL, Plant, SILENCE, TICK, with_gear_friction
from .sensing import Channel, Conditions, Sample
from ..control.references.trajectory import Waypoints
from ..control.settings.settings import Settings
from ..dynamics import Dynamics

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
        """Whether it is suspended."""

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
        """Suspend it for a time [s]."""

    def stop(self) -> None:
        """Come to rest."""

    def tell(self, **fields: object) -> None:
        """Set fields of the cycle input; library only."""

    def second_publisher(self, there: bool) -> None:
        """Add or remove a second publisher of commands."""

    def malformed_request(self) -> None:
        """Request a parameter of an unknown type; nodes only."""


class World:
    """
    Everything except the controller, in ticks of 1 ms.

    :param arm: as the controller believes it to be.
    :param trigger: timer or state, of the controller's cycle.
    :param kind: of the healthy motion.
    :param true_arm: the arm that moves; None: ``arm``, with the friction of gears if the
        conditions say so.
    :param pose: (nv,) [rad | m] initial position; None: a random one.
    """

    def __init__(self, arm: Arm, settings: Settings, conditions: Conditions, kind: str,
                 trigger: str, seed: int | Sequence[int], *, true_arm: Arm | None = None,
                 drives: Drives = IDEAL, pose: ndarray | None = None):
        self.arm, self.settings, self.trigger = arm, settings, trigger
        self.effort_rate = settings.joint_records(arm.model)['effort_rate_limit']   # in force
        self.random = np.random.default_rng(seed)
        silence = max(SILENCE, 2.0 * settings.state_timeout)
        moved = true_arm or (replace(arm, dynamics=Dynamics(with_gear_friction(arm.model)))
                             if conditions.friction else arm)
        self.plant = Plant(moved, moved.pose(self.random) if pose is None else pose,
                           conditions.delay, silence, drives)
        self.channel = Channel(conditions, self.random)
        self.motion = Motion(kind, self.plant, self.random)
        self.active: list[Active] = []
        self.subject: Subject
        self.intruded: list[ndarray] = []       # commands of another publisher in this tick
        self.unheard = False                    # commands reach no subscriber, the plant neither
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
        """Move these clocks by some seconds."""
        self._offset += seconds

    @property
    def simulated(self) -> bool:
        """Whether its clocks are those of a simulation."""
        return any(a.what.clock for a in self.active)

    @property
    def throwing(self) -> bool:
        """
        Whether an active injection may itself move joints beyond their limits.

        States that freeze while the arm rests count too: they look like those of an arm at rest.
        """
        return any((a.what.throws or a.memory.get('unseen')) and -1e-9 <= a.since
                   and (not a.over or a.since < 2.0 * TICK) for a in self.active)

    @property
    def disobeying(self) -> bool:
        """Whether joints do not follow their efforts."""
        return any(a.what.disobeys and -1e-9 <= a.since and not a.over for a in self.active)

    @property
    def lied_to(self) -> bool:
        """Whether the states are not those of the arm."""
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
        """Advance by a tick; return what the controller published in it."""
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
