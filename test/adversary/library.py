# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The compiled controller of the library under test, in lockstep on simulated time."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy import ndarray
from robodyn_ros import RobotModel
from robodyn_ros.control.controller.controller import Controller
from robodyn_ros.control.references.trajectory import Waypoints
from robodyn_ros.control.settings.settings import Settings
from robodyn_ros.errors import RobodynError

from . import features
from .plant import TICK
from .sensing import Sample
from .world import World

QUEUE = 10              # samples that the middleware keeps
LEAD = 0.002            # s from now that a trajectory starts
RELEASE = 50            # ticks in which what has braked a joint is let go again


class Library:
    """
    One controller, for many runs.

    :param known: the model it is to believe in.
    :param specialize: compile the dynamics for this robot.
    """

    def __init__(self, known: RobotModel, settings: Settings, *, specialize: bool = True):
        self.controller = Controller(known, settings, specialize=specialize)
        self._outside = self.controller.cycle_input.copy()

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
        return True

    @property
    def stalled(self) -> bool:
        return self._world.time < self._until

    @property
    def phase(self) -> int:
        return self.controller.phase

    @property
    def reason_code(self) -> str:
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
        before = features.braking_cycles(self.controller)
        published = self.controller.advance(now)
        if features.braking_cycles(self.controller) != before:
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
        for name, value in (('position', sample.position), ('velocity', sample.velocity),
                            ('effort', sample.effort), ('received', now),
                            ('sequence', self._number)):
            state[name] = value
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
        pass

    def braking(self) -> bool:
        return self._cut != 0

    def use(self, **changes: Any) -> bool:
        try:
            self.controller.use(replace(self.controller.settings, **changes))
        except RobodynError:
            return False
        return True

    def follow(self, waypoints: Waypoints) -> bool:
        try:
            self.controller.follow(waypoints, self._world.now + LEAD)
        except RobodynError:
            return False
        return True

    def stall(self, seconds: float) -> None:
        self._until = self._world.time + seconds

    def stop(self) -> None:
        self.controller.stop()

    def tell(self, **fields: Any) -> None:
        features.tell(self.controller, **fields)

    def second_publisher(self, there: bool) -> None:
        names = self._outside.dtype.names or ()
        if 'command_publishers' in names:
            alone = self._outside['command_publishers'][0]
            self.tell(command_publishers=2 if there else alone)

    def malformed_request(self) -> None:
        raise NotImplementedError
