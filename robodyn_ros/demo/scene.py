# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Common parts of the demo's scenes: activation of a law, reports, checks."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from .conductor import Conductor, Diagnosis
from .results import Check, Results
from ..catalog.robots import CatalogRobot
from ..control.settings.settings import Settings
from ..control.settings.suggested_gains import suggest_gains
from ..dynamics import Dynamics
from ..report.units import units

Step = Callable[[str, float], AbstractContextManager]


class Scene:
    """
    Scene with one robot.

    :param step: ``step(text, seconds)`` is entered for each step, for a progress bar.
    """

    results: Results

    def __init__(self, robot: CatalogRobot, dynamics: Dynamics, conductor: Conductor, step: Step):
        self.robot, self.dynamics, self.conductor = robot, dynamics, conductor
        self.step = step
        self.model, self.pose = robot.model, robot.pose
        self.small_unit, self.unit = (units(self.model, prefix)[0] for prefix in ('m', ''))
        self.speed_unit = self.small_unit.replace(' |', '/s |') + '/s'
        self.gains = suggest_gains(self.model, self.pose, Settings())
        self._faults: list[str] = []
        self._mode = ''

    @property
    def duration(self) -> float:
        """About how long :meth:`run` takes [s]."""
        raise NotImplementedError

    def run(self) -> Results:
        """Run all steps and return the results."""
        raise NotImplementedError

    def activate(self, mode: str, **parameters: Any) -> Diagnosis:
        """Activate a control law, with further parameters, while brakes hold the arm."""
        self._mode = mode
        self.conductor.set_parameters('controller', {
            **{name: gain.tolist() for name, gain in self.gains._asdict().items()},
            **parameters, 'mode': mode})
        self.conductor.change_state('activate')
        return self.report()

    def report(self) -> Diagnosis:
        """Return the controller's next report, and note any fault in it."""
        diagnosis = self.conductor.next_diagnosis()
        if diagnosis.phase == 'FAULT':
            self._faults.append(f'{diagnosis.message} in {self._mode}')
        return diagnosis

    def furthest(self, position: np.ndarray) -> float:
        """Return how far any joint has been from ``position`` (nv,) while it was recorded."""
        return float(np.abs(self.conductor.recorder.recording().position - position).max())

    def check(self, what: str, measured: str, required: str, passed: bool) -> None:
        """Record whether a condition holds."""
        self.results.checks.append(Check(what, measured, required, bool(passed)))

    def check_faults(self) -> None:
        """Check that the controller has reported no fault."""
        self.check('no fault of the controller', self._faults[0] if self._faults else 'none',
                   'none', not self._faults)
