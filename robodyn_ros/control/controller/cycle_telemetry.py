# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Reference, tracking error and parts of the effort of one control cycle, for displays."""

from typing import NamedTuple

import numpy as np
from numpy import ndarray

from .controller import Controller
from ..laws import registry
from ..settings.settings import Settings
from ..steps import guard
from ..steps.cycle_data import Vectors

DRIVEN_PHASES = guard.RISING, guard.RUNNING, guard.STOPPING


class CycleTelemetry(NamedTuple):
    """
    What one cycle has used and commanded; arrays are (nv,), NaN where there is no value.

    Efforts are in N·m | N, and ``commanded`` = ``gravity`` + ``friction`` + ``law`` + ``limits``.
    """

    time: float             # s, on the clock of the cycles
    phase: int              # index in guard.PHASES
    position: ndarray       # in use [rad | m]
    velocity: ndarray       # in use [rad/s | m/s]
    target: ndarray         # reference position, while the law in force follows one
    target_qd: ndarray      # likewise, velocity
    measured: ndarray       # effort, where the joint states carry it
    commanded: ndarray      # effort, while one is published
    gravity: ndarray        # gravity term: g(q), 0 where the robot adds it
    friction: ndarray       # friction compensation
    law: ndarray            # the rest of what the law, the rise, the stop or the fault requests
    limits: ndarray         # what the limits have added; in a fault it is part of `law`


class TelemetryReader:
    """
    Reader of the newest cycle of a controller, from another thread than that of the cycles.

    All values are of one cycle, which the flight recorder's ring holds; without a flight recorder
    they may be of two consecutive ones.
    """

    def __init__(self, controller: Controller):
        self._controller = controller
        self._settings: Settings | None = None
        self._share = self._offset = np.zeros(controller.model.nv)

    @property
    def cycles(self) -> int:
        """Return the number of cycles since the controller has begun."""
        return int(self._controller.memory['cycles'][0])

    def read(self) -> CycleTelemetry:
        """Return a copy of the newest cycle."""
        controller = self._controller
        m, v, tau = controller.history.newest(controller.memory, controller.tau)
        phase = int(m['phase'])
        nothing = np.full_like(tau, np.nan)
        mode = int(m['mode'])
        follows = phase == guard.RUNNING and registry.find(registry.mode_name(mode)).follows
        commanded = tau if m['publishing'] else nothing
        friction = self._friction(v, phase, mode)
        limits = tau - v.requested if phase in DRIVEN_PHASES else np.zeros_like(tau)
        return CycleTelemetry(
            time=float(m['time']), phase=phase,
            position=v.q, velocity=v.qd, target=v.target if follows else nothing,
            target_qd=v.target_qd if follows else nothing, measured=v.measured,
            commanded=commanded, gravity=v.tau_gravity, friction=friction,
            law=commanded - v.tau_gravity - friction - limits, limits=limits)

    def _friction(self, v: Vectors, phase: int, mode: int) -> ndarray:
        settings = self._controller.settings
        if settings is not self._settings:
            joints = settings.joint_records(self._controller.model)
            self._share, self._offset = (joints['friction_compensation'].copy(),
                                         joints['friction_offset'].copy())
            self._settings = settings
        if phase != guard.RUNNING or mode != registry.number(settings.mode):
            return np.zeros_like(self._share)
        return self._share * (v.friction + self._offset)


def receipt_offset(controller: Controller) -> float:
    """Return receipt, on the clock of the cycles, minus time stamp of the newest sample [s]."""
    return float(Vectors.of(controller.history.flight.present).plausibility.last_offset[0])
