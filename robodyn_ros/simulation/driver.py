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
from ..driver import Reading
from ..model.robot import initial_position, RobotModel

MAX_PHYSICS_STEP = 0.25e-3    # [s]


class SimulatedArm:
    """
    Simulated arm with brakes and a command timeout, in real time.

    :param model: the robot.
    :param rate: of the states [Hz].
    :param position: (nv,) at the start [rad | m]; empty: as :func:`.initial_position`.
    :param timeout: without efforts, after which the brakes engage [s].
    :raises SimulationError: MuJoCo rejects the robot.
    """

    def __init__(self, model: RobotModel, rate: float = 1000.0, position: Sequence[float] = (),
                 timeout: float = 0.1):
        substeps = int(np.ceil(1.0 / rate / MAX_PHYSICS_STEP - 1e-9))
        plant = Plant(model.to_urdf(), model=model, timestep=1.0 / rate / substeps,
                      substeps=substeps)
        self._drive = Drive(plant, initial=initial_position(model, list(position)),
                            timeout=timeout)
        self._period = 1.0 / rate
        self._lock = threading.Lock()       # read and write are called by two threads
        self._next = time.monotonic()

    def read(self) -> Reading:
        """Wait for the end of the period; return the state there."""
        self._next = max(self._next + self._period, time.monotonic() - self._period)
        time.sleep(max(0.0, self._next - time.monotonic()))
        with self._lock:
            self._drive.watch(time.monotonic())
            self._drive.advance()
            state = self._drive.state()
        return Reading(state.position, state.velocity, state.effort)

    def write(self, tau: ndarray) -> None:
        """Apply efforts from the next period on."""
        with self._lock:
            self._drive.command(tau.copy(), time.monotonic())

    def close(self) -> None:
        """Do nothing: there is no connection."""
