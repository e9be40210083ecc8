# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Common parts of the demo's scenes: activation of a law, checks."""

from collections.abc import Callable
from contextlib import AbstractContextManager
import re
from typing import Any

from .results import Check, Results, thousandths
from ..catalog.robots import CatalogRobot
from ..control.references.trajectory import Waypoints
from ..control.settings.settings import GAINS, Settings
from ..control.settings.suggested_gains import suggest_gains
from ..dynamics import Dynamics
from ..errors import DemoError
from ..report.run_figure import units
from ..testing import SimulatedArm, States, TIME_TOLERANCE

Step = Callable[[str], AbstractContextManager]
START_DELAY = 1.0    # [s] from the release of the brakes to the start of a trajectory


class Scene:
    """
    Scene with one robot, on simulation time: its results do not depend on the machine.

    :param step: ``step(text)`` is entered for each step, for a progress bar.
    """

    #: Simulation time of :meth:`run` [s].
    duration: float

    def __init__(self, robot: CatalogRobot, dynamics: Dynamics, arm: SimulatedArm, step: Step):
        self.dynamics, self.arm, self.step = dynamics, arm, step
        self.model, self.pose = robot.model, robot.pose
        self.small_unit, self.unit = (units(self.model, prefix)[0] for prefix in ('m', ''))
        self.results = Results()
        self.fault_expected = False
        self._gains = {name: gain.tolist() for name, gain in suggest_gains(
            self.model, self.pose, Settings(rate=1.0 / arm.period))._asdict().items()
            if name in GAINS}

    def run(self) -> None:
        """Run all steps."""
        raise NotImplementedError

    def look(self) -> None:
        """Raise :class:`DemoError` if the controller reports a fault that is not expected."""
        report = self.arm.report
        if report.get('phase') == 'FAULT' and not self.fault_expected:
            raise DemoError(f'FAULT {report["reason code"]}: {report["reason"]}',
                            name=report['reason code'],
                            remedy=f'see {self.arm.folder}/controller.log')

    def configure(self) -> None:
        """Configure the controller with the suggested gains: those of the robot need its rate."""
        self.arm.set_parameters('controller', **self._gains)
        self.arm.change_state('configure')

    def begin(self, mode: str, **parameters: Any) -> None:
        """Activate a control law, with further parameters, at the initial pose, and pause."""
        self.arm.start(**parameters, mode=mode)

    def follow(self, asked: Waypoints, seconds: float) -> States:
        """Return the states of a trajectory, ``seconds`` long; its start has the time 0."""
        start = self.arm.time + START_DELAY
        self.arm.send(asked, start)
        states = self.arm.run(START_DELAY + seconds)
        inside = states.time > start - TIME_TOLERANCE
        states = States(*(column[inside] for column in states))
        return states._replace(time=states.time - start)

    def check_faults(self, *expected: str) -> None:
        """End the scene; check that the controller has logged the expected faults only."""
        self.arm.deactivate()
        codes = re.findall(r'FAULT (\w+):', self.arm.log())
        self.check('no fault of the controller', ', '.join(codes) or 'none',
                   ', '.join(expected) or 'none', codes == [*expected])

    def below(self, what: str, value: float, limit: float, unit: str) -> None:
        """Check a distance or speed in thousandths of a unit."""
        self.check(what, f'{thousandths(value)} {unit}', f'< {1e3 * limit:g}', value < limit)

    def check(self, what: str, measured: str, required: str, passed: bool) -> None:
        """Record whether a condition holds."""
        self.results.checks.append(Check(what, measured, required, bool(passed)))
