# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`drive`: a controller and a driver without ROS."""

import threading

import numpy as np
import pytest
from robodyn_ros import Controller, drive, load_urdf, Settings
from robodyn_ros.control.steps import guard
from robodyn_ros.driver import WAITLESS
from robodyn_ros.simulation.driver import SimulatedArm

POSE = [0.3, 0.5]


class Arm(SimulatedArm):
    """Remembers its efforts; fails when it is told to."""

    def __init__(self, model):
        super().__init__(model, rate=200.0, position=POSE, timeout=1.0)
        self.efforts, self.closed, self.broken = [], False, ''

    def read(self):
        reading = super().read()
        if self.broken == 'read':
            raise OSError('unplugged')
        return reading

    def write(self, tau):
        if self.broken == 'write':
            self.broken = ''                    # once: zeros can be written again
            raise OSError('bus off')
        super().write(tau)
        self.efforts.append(tau)

    def close(self):
        self.closed = True


class ImpatientArm(Arm):
    """Its ``read`` returns the latest state at once, as `get_state()` of many SDKs does."""

    def __init__(self, model):
        super().__init__(model)
        self.reads, self._latest = 0, super().read()
        threading.Thread(target=self._go, daemon=True).start()

    def _go(self):
        while not self.closed:
            self._latest = super().read()

    def read(self):
        self.reads += 1
        return self._latest


@pytest.fixture
def arm():
    return Arm(load_urdf('two_link'))


@pytest.fixture
def controller():
    # A busy machine must not look like a broken arm
    settings = Settings(rate=200.0, state_timeout=1.0, missed_limit=5000, late_limit=1.0,
                        fault_hold_time=0.05)
    return Controller(load_urdf('two_link'), settings, specialize=False)


def running_for(controller, cycles):
    """Return what is true once the controller has run for so many cycles."""
    seen = []

    def over():
        if controller.phase == guard.RUNNING:
            seen.append(controller.tau.copy())
        return len(seen) >= cycles or controller.phase == guard.FAULT
    return over


def test_it_holds_the_arm_and_ends_at_rest(arm, controller):
    told = []
    drive(controller, arm, running_for(controller, 40), told.append)
    assert controller.phase == guard.INACTIVE and controller.reason == 'none' and told == []
    assert np.abs(arm.read().position - POSE).max() < 0.05
    assert arm.closed and arm.efforts[-1].tolist() == [0.0, 0.0]


def test_an_arm_that_is_read_without_waiting_is_read_once_a_period(controller):
    arm, told = ImpatientArm(load_urdf('two_link')), []
    drive(controller, arm, running_for(controller, 40), told.append)
    assert controller.phase == guard.INACTIVE and controller.reason == 'none' and told == []
    assert np.abs(arm._latest.position - POSE).max() < 0.05
    assert arm.reads < 4 * WAITLESS     # what follows is one a period


def test_an_arm_that_is_read_no_more_is_a_fault(arm, controller):
    told = []

    def over():
        if controller.phase == guard.RUNNING:
            arm.broken = 'read'
        return controller.phase == guard.FAULT and not controller.driving
    drive(controller, arm, over, told.append)
    assert 'state is stale' in controller.reason
    assert told[0] == 'read() of the driver raised OSError: unplugged'
    assert arm.closed and arm.efforts[-1].tolist() == [0.0, 0.0]


def test_an_arm_that_takes_no_efforts_ends_it(arm, controller):
    def over():
        arm.broken = 'write' * (controller.phase == guard.RUNNING)
        return False
    with pytest.raises(OSError, match='bus off'):
        drive(controller, arm, over, [].append)
    assert arm.closed and arm.efforts[-1].tolist() == [0.0, 0.0]
