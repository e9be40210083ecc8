# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A driver that misbehaves as a file tells it to, while the test runs."""

from pathlib import Path
import time

import numpy as np
from robodyn_ros.driver import Reading
from robodyn_ros.simulation.driver import SimulatedArm


class FaultyArm(SimulatedArm):
    """
    A simulated arm at 200 Hz, whose brakes give way to each command.

    :param file: its text is the misbehaviour; empty: none.
    """

    def __init__(self, model, file):
        super().__init__(model, rate=200.0, position=[0.3, 0.5], timeout=0.3)
        self._file = Path(file)

    def read(self):
        """Return a state, or what the file says."""
        reading, wrong = super().read(), self._file.read_text()
        if wrong == 'raise':
            raise OSError('the cable is out')
        if wrong == 'stall':
            time.sleep(0.1)
            return None
        if wrong == 'nan':
            return reading._replace(position=np.array([np.nan, 0.5]))
        if wrong == 'length':
            return Reading(np.zeros(3), np.zeros(3))
        if wrong == 'nothing':
            return 'no reading'
        return reading

    def write(self, tau):
        """Take efforts, or not."""
        if self._file.read_text() == 'write':
            raise OSError('the bus is off')
        if self._drive.held:
            self._drive.release(time.monotonic())
        super().write(tau)
