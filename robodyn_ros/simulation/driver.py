# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Driver of an arm that MuJoCo simulates: the example of a driver, and a stand-in for tests."""

from __future__ import annotations

from collections.abc import Sequence
import threading
import time

import numpy as np
from numpy import ndarray

from .drive import Drive
from .plant import Plant
from ..driver import DriverFacts, LATEST, Reading, WAITS
from ..model.robot import initial_position, RobotModel

MAX_PHYSICS_STEP = 0.25e-3    # [s]
MAX_LAG = 0.1    # [s] of real time that the simulation catches up with


class SimulatedArm:
    """
    Simulated arm with brakes and a command timeout, in real time.

    :param model: the robot.
    :param rate: of the states [Hz].
    :param position: (nv,) at the start [rad | m]; empty: as :func:`.initial_position`.
    :param timeout: without efforts, after which the brakes engage [s].
    :param reading: how it is read, see :class:`.Driver`: ``'latest'`` returns the newest state at
        once, with its age; the others wait for the next one.
    :raises SimulationError: MuJoCo rejects the robot.
    """

    facts = DriverFacts(obeys=True)

    def __init__(self, model: RobotModel, rate: float = 1000.0, position: Sequence[float] = (),
                 timeout: float = 0.1, reading: str = WAITS):
        substeps = int(np.ceil(1.0 / rate / MAX_PHYSICS_STEP - 1e-9))
        plant = Plant(model.to_urdf(), model=model, timestep=1.0 / rate / substeps,
                      substeps=substeps)
        self._drive = Drive(plant, initial=initial_position(model, list(position)),
                            timeout=timeout)
        self.reading, self._period = reading, 1.0 / rate
        self._newest: Reading | None = None
        self._lock = threading.Lock()       # read and write are called by two threads
        self._next = time.monotonic()

    def read(self) -> Reading:
        """Return the state at the end of a period: wait for it, or the newest one."""
        if self.reading == LATEST:
            return self._read_newest(time.monotonic())
        self._next = max(self._next + self._period, time.monotonic() - self._period)
        time.sleep(max(0.0, self._next - time.monotonic()))
        with self._lock:
            self._drive.watch(time.monotonic())
            return self.advance()

    def _read_newest(self, now: float) -> Reading:
        with self._lock:
            self._drive.watch(now)
            self._next = max(self._next, now - MAX_LAG)
            while self._newest is None or self._next + self._period <= now:
                self._next += self._period
                self._newest = self.advance()
            return self._newest._replace(age=max(0.0, now - self._next))

    def advance(self) -> Reading:
        """Simulate a period, whatever time it is; return the state there."""
        self._drive.advance()
        state = self._drive.state()
        return Reading(state.position, state.velocity, state.effort)

    def write(self, tau: ndarray) -> None:
        """Apply efforts from the next period on."""
        with self._lock:
            self._drive.command(tau.copy(), time.monotonic())

    def close(self) -> None:
        """Do nothing: there is no connection."""
