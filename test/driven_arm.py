# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A simulated arm with a driver, and a controller of it, for tests of `drive`."""

from robodyn_ros import Controller, load_urdf, Settings
from robodyn_ros.control.steps import guard
from robodyn_ros.driver import DriverLost
from robodyn_ros.simulation.driver import SimulatedArm

POSE = [0.3, 0.5]


class Arm(SimulatedArm):
    """Remembers its efforts; fails when it is told to."""

    def __init__(self, model):
        super().__init__(model, rate=200.0, position=POSE, timeout=1.0)
        self.efforts, self.closed, self.broken = [], False, ''

    def read(self):
        reading = super().read()
        if self.broken in ('read', 'read lost'):
            raise (OSError if self.broken == 'read' else DriverLost)('unplugged')
        return reading

    def write(self, tau):
        if self.broken == 'write':
            raise OSError('bus off')
        if self.broken == 'lost':
            self.broken = ''                    # once: zeros can be written again
            raise DriverLost('unplugged')
        super().write(tau)
        self.efforts.append(tau)

    def close(self):
        self.closed = True


def driven_arm(kind=Arm):
    """Return a new arm and its controller, for which a busy machine looks like no broken arm."""
    model = load_urdf('two_link')
    settings = Settings(rate=200.0, state_timeout=1.0, missed_limit=5000, late_limit=1.0,
                        fault_hold_time=0.05)
    return kind(model), Controller(model, settings, specialize=False)


def fault_is_over(controller):
    """Return whether the efforts of a fault have ended."""
    return controller.phase == guard.FAULT and not controller.driving
