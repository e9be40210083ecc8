# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Compiled controller of the library under test, in lockstep on simulated time."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy import ndarray

from . import features
from .plant import TICK
from .sensing import Sample
from .world import World
from ..control.controller.controller import Controller
from ..control.references.trajectory import Waypoints
from ..control.settings.settings import Settings
from ..errors import RobodynError
from ..model.robot import RobotModel

QUEUE = 10              # samples that the middleware keeps
LEAD = 0.002            # s from now that a trajectory starts
RELEASE = 50            # ticks in which what has braked a joint is let go again


class Library:
    """
    One controller, for many runs.

    :param known: the model of the controller.
    :param specialize: compile the dynamics for this robot.
    :param recorded: cycles that the flight recorder keeps; 0: none.
    """

    def __init__(self, known: RobotModel, settings: Settings, *, specialize: bool = True,
                 recorded: int = 0):
        self.controller = Controller(known, settings, specialize=specialize, recorded=recorded)
        self._outside = self.controller.cycle_input.copy()
        state = self.controller.state
        self._position, self._velocity, self._effort, self._received, self._sequence = (
            state[name] for name in ('position', 'velocity', 'effort', 'received', 'sequence'))
        self._limited = self.controller.memory['joint_limited']

    def begin(self, world: World) -> None:
        """Start anew in another world, INACTIVE."""
        controller = self.controller
        controller.begin()
        controller.use(world.settings)
        controller.state[...] = np.nan
        controller.tau[:] = 0.0
        controller.cycle_input[...] = self._outside
        self._world, self._every = world, max(1, round(1.0 / world.settings.rate / TICK))
        self._waiting: list[Sample] = []
        self._stepped = self._until = -np.inf
        self._number = self._cut = 0
        self.tell(simulated_time=int(world.simulated))

    def arm(self) -> None:
        """Ask to rise."""
        self.controller.arm()

    @property
    def alive(self) -> bool:
        """Return True: the controller lives in this process."""
        return True

    @property
    def stalled(self) -> bool:
        """Return whether the loop stands still."""
        return self._world.time < self._until

    @property
    def phase(self) -> int:
        """Return the phase, an index of guard.PHASES."""
        return self.controller.phase

    @property
    def reason_code(self) -> str:
        """Return the code of the latest fault."""
        return self.controller.reason_code

    def tick(self, world: World, arrivals: list[Sample]) -> list[ndarray]:
        """Take what arrives and return what is published in this tick."""
        self._waiting = (self._waiting + arrivals)[-QUEUE:]
        if world.time < self._until:
            return []
        now, gap = world.now, 0.0
        if np.isfinite(self._until):
            gap, self._until = world.time - self._stepped, -np.inf
        accepted = [self._take(sample, now) for sample in self._waiting]
        self._waiting = []
        if not self._due(world, any(accepted)):
            return []
        if gap:
            late = int(gap * world.settings.rate) - 1
            self.tell(stalled=gap, missed=late if world.trigger == 'timer' else 0)
        self._stepped = world.time
        before = self._limited[0]
        published = self.controller.advance(now)
        if self._limited[0] != before:
            self._cut = RELEASE
        self._cut = max(0, self._cut - 1)
        if gap:
            self.tell(stalled=0.0, missed=0)
        return [self.controller.tau.copy()] if published else []

    def _take(self, sample: Sample, now: float) -> bool:
        """Write a sample as the decoder would; False: it is refused."""
        state = self.controller.state
        if sample.foreign:
            state['other'] = now
        if not np.isfinite(sample.position).all():
            return False
        self._number += 1
        self._position[:], self._velocity[:] = sample.position, sample.velocity
        self._effort[:], self._received[:], self._sequence[:] = sample.effort, now, self._number
        features.write_stamp(state, sample.stamp)
        return True

    def _due(self, world: World, accepted: bool) -> bool:
        """Tell whether a cycle runs now: on the grid, or for a state or its absence."""
        if world.trigger == 'timer':
            return world.ticks % self._every == 0
        s = world.settings
        silence = 1.0 / s.rate if self.phase == features.FAULT else s.state_timeout
        return accepted or world.time - self._stepped > silence + 1e-9

    def settle(self) -> None:
        """Do nothing: phase and reason are those of now."""

    def braking(self) -> bool:
        """Return whether a position or velocity limit has recently changed the efforts."""
        return self._cut != 0

    def use(self, **changes: Any) -> bool:
        """Change settings; return False where they are refused."""
        try:
            self.controller.use(replace(self.controller.settings, **changes))
        except RobodynError:
            return False
        return True

    def follow(self, waypoints: Waypoints) -> bool:
        """Follow waypoints from LEAD on; return False where they are refused."""
        try:
            self.controller.follow(waypoints, self._world.now + LEAD)
        except RobodynError:
            return False
        return True

    def stall(self, seconds: float) -> None:
        """Run no cycle for a time [s]."""
        self._until = self._world.time + seconds

    def stop(self) -> None:
        """Bring the arm to rest."""
        self.controller.stop()

    def tell(self, **fields: Any) -> None:
        """Write fields of the cycle input."""
        features.tell(self.controller, **fields)

    def second_publisher(self, there: bool) -> None:
        """Let the cycle see another publisher of commands, or none."""
        names = self._outside.dtype.names or ()
        if 'command_publishers' in names:
            alone = self._outside['command_publishers'][0]
            self.tell(command_publishers=2 if there else alone)

    def malformed_request(self) -> None:
        """Raise NotImplementedError: requests reach nodes only."""
        raise NotImplementedError
