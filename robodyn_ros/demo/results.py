# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Measurements of the demo and their checks."""

from dataclasses import dataclass, field
from math import nan

import numpy as np
from numpy import ndarray

from .conductor import Diagnosis

RESOLUTION = 1e-6       # rad | m: smaller distances are below what an encoder resolves


def thousandths(value: float) -> str:
    """Return a distance in mrad or mm, `< 0.001` below the resolution of encoders."""
    return f'{1e3 * value:.3g}' if value >= RESOLUTION else f'< {1e3 * RESOLUTION:g}'


@dataclass(frozen=True)
class Loop:
    """Statistics of the control loop during one activation."""

    rate: float                 # Hz
    missed: int                 # periods
    refused: int                # samples
    busy: float                 # share of the periods that were missed

    @classmethod
    def between(cls, first: Diagnosis, last: Diagnosis) -> 'Loop':
        """Return the statistics between two reports of one activation."""
        seconds, cycles = last.time - first.time, last.cycles - first.cycles
        missed = last.missed - first.missed
        return cls(cycles / seconds if seconds > 0 else nan, missed,
                   last.refused - first.refused, missed / max(missed + cycles, 1))


@dataclass(frozen=True)
class Floating:
    """Arm under gravity compensation without external forces."""

    drift: float                # rad | m, of the joint that went furthest
    loop: Loop


@dataclass(frozen=True, eq=False)
class Tracking:
    """Trajectory under one control law: time [s] from its start, references and states."""

    mode: str
    time: ndarray               # (N,)
    error: ndarray              # (N, nv) [rad | m] measured less reference
    effort: ndarray             # (N, nv) [N·m | N]
    loop: Loop
    position: ndarray           # (N, nv) [rad | m]

    @property
    def rms(self) -> float:
        """Root of the mean square over time and joints [rad | m]."""
        return float(np.sqrt(np.mean(np.square(self.error))))

    @property
    def peak(self) -> float:
        """Largest error of any joint [rad | m]."""
        return float(np.abs(self.error).max())


@dataclass(frozen=True)
class Check:
    """Condition that must hold, and whether it does."""

    what: str
    measured: str
    required: str
    passed: bool


@dataclass
class Results:
    """Measurements and checks of one run, in chronological order."""

    floating: Floating | None = None
    trackings: list[Tracking] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether every check has passed."""
        return all(check.passed for check in self.checks)

    @property
    def busy(self) -> float:
        """Largest share of the periods that the controller missed in one motion."""
        return max((tracking.loop.busy for tracking in self.trackings), default=0.0)
