# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Compiled controller of the library under test, in lockstep on simulated time."""

from dataclasses import replace
from typing import Any

import numpy as np

from .controller_step import DONE
from .plant_step import TICK
from .tick import CYCLE, END
from .world import World
from ..compiler.tuple_reference import TupleMemory
from ..control.controller.controller import Controller
from ..control.cycle.compile import CYCLE_INPUTS
from ..control.references.trajectory import Waypoints
from ..control.settings.settings import Settings
from ..errors import RobodynError
from ..model.robot import RobotModel

LEAD = 0.002            # s from now that a trajectory starts


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
        self._inputs = TupleMemory(CYCLE_INPUTS)

    def begin(self, world: World) -> None:
        """Start anew in another world, INACTIVE."""
        controller, m = self.controller, world.plant.data.numbers
        controller.begin()
        controller.use(world.settings)
        controller.state[...] = np.nan
        controller.tau[:] = 0.0
        controller.cycle_input[...] = self._outside
        world.plant.give(tau=controller.tau)
        self._world = world
        m['rate'], m['state_timeout'] = world.settings.rate, world.settings.state_timeout
        m['on_timer'] = world.trigger == 'timer'
        m['period_ticks'] = max(1, round(1.0 / world.settings.rate / TICK))
        m['stepped'] = m['stalled_until'] = -np.inf
        self.tell(simulated_time=int(world.simulated))

    def arm(self) -> None:
        """Ask to rise."""
        self.controller.arm()

    @property
    def alive(self) -> bool:
        """Return True: the controller lives in this process."""
        return True

    @property
    def phase(self) -> int:
        """Return the phase, an index of guard.PHASES."""
        return self.controller.phase

    @property
    def reason_code(self) -> str:
        """Return the code of the latest fault."""
        return self.controller.reason_code

    def run(self, world: World, ticks: int, first: int) -> int:
        """Run ticks from a step on, see :mod:`.tick`; return their number."""
        if self.controller.compiled.step is not None:
            return world.plant.run(self.controller.write_inputs(), ticks, first, END)
        for k in range(ticks):              # the cycle in plain Python
            self._inputs.write(self.controller.inputs)
            world.plant.run(self._inputs.address, 1, first, CYCLE)
            m = world.plant.data.numbers
            if m['due']:
                m['published'], m['due'] = self.controller.advance(world.now), DONE
            world.plant.run(self._inputs.address, 1, CYCLE, END)
            if world.over:
                return k + 1
        return ticks

    def settle(self) -> None:
        """Do nothing: phase and reason are those of now."""

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
        self._world.plant.data.numbers['stalled_until'] = self._world.time + seconds

    def stop(self) -> None:
        """Bring the arm to rest."""
        self.controller.stop()

    def tell(self, **fields: Any) -> None:
        """Write fields of the cycle input."""
        for name, value in fields.items():
            self.controller.cycle_input[name] = value

    def second_publisher(self, there: bool) -> None:
        """Let the cycle see another publisher of commands, or none."""
        self.tell(command_publishers=2 if there else self._outside['command_publishers'][0])

    def malformed_request(self) -> None:
        """Raise NotImplementedError: requests reach nodes only."""
        raise NotImplementedError
