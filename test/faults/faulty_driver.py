# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A driver that misbehaves as a file tells it to, while the test runs."""

from pathlib import Path
import time

import numpy as np
from robodyn_ros.driver import DriverFacts, DriverLost, Fault, Reading
from robodyn_ros.simulation.driver import SimulatedArm


class FaultyArm(SimulatedArm):
    """
    A simulated arm at 200 Hz, whose brakes give way to each command.

    Its drives compensate no gravity, and have half the effort of the URDF.

    :param file: its text is the misbehaviour; empty: none.
    """

    def __init__(self, model, file):
        super().__init__(model, rate=200.0, position=[0.3, 0.5], timeout=0.3)
        self._file, self._effort = Path(file), np.zeros(model.nv)
        self.facts = DriverFacts(compensates_gravity=False, effort_limit=0.5 * model.effort_limit,
                                 obeys=True)

    def read(self):
        """Return a state, or what the file says."""
        reading, wrong = super().read(), self._file.read_text()
        if wrong == 'raise':
            raise OSError('the cable is out')
        if wrong == 'nan':
            return reading._replace(position=np.array([np.nan, 0.5]))
        if wrong == 'length':
            return Reading(np.zeros(3), np.zeros(3))
        if wrong == 'hot':
            return reading._replace(faults=[Fault('joint2', 'rotor too hot')])
        return reading

    def diagnostics(self):
        """Return what the drives say of themselves."""
        return {'temperature of joint1 [°C]': 41, 'efforts': self._effort.tolist()}

    def write(self, tau):
        """Take efforts, or not."""
        if self._file.read_text() == 'lost':
            raise DriverLost('the adapter is gone')
        if self._drive.held:
            self._drive.release(time.monotonic())
        super().write(tau)
        self._effort = tau.copy()
