# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""An arm of simulated motors on a CAN bus and its controller, in lockstep on simulated time."""

import numpy as np
from robodyn_ros import Controller, DhLink, from_dh, Settings
from robodyn_ros.control.steps import guard
from robodyn_ros.driver import DriverReader, note_age
from robodyn_ros.driver_loop import with_facts
from robodyn_ros.drivers.arm import arm_of
from robodyn_ros.drivers.mit_can import MitCan
from robodyn_ros.testing.mit_motors import LockstepBus, MotorBus

RATE = 500.0        # Hz
POSE = np.array([0.1, -1.9, 1.5, 0.4, 0.2, 0.1])
DAMIAO = ['DM4340'] * 3 + ['DM4310'] * 3
ROBSTRIDE = ['RS06'] * 3 + ['RS00'] * 3


def desktop_model():
    """Return an arm of six joints of the size of a YAM, with rotors."""
    def link(a, d, alpha, mass, com, armature):
        return DhLink(0.0, d, a, alpha, mass=mass, com=com, armature=armature,
                      inertia=np.diag([2e-4, 2e-4, 2e-4]) + mass * np.diag([1e-3] * 3))
    return from_dh([
        link(0.0, 0.07, np.pi / 2, 0.3, (0.0, -0.02, 0.0), 0.03),
        link(0.26, 0.0, 0.0, 1.5, (-0.13, 0.0, 0.0), 0.03),
        link(0.25, 0.0, 0.0, 1.0, (-0.12, 0.0, 0.0), 0.03),
        link(0.08, 0.0, np.pi / 2, 0.5, (-0.02, 0.0, 0.0), 0.01),
        link(0.0, 0.0, np.pi / 2, 0.4, (0.0, 0.01, 0.0), 0.01),
        link(0.0, 0.1, 0.0, 0.5, (0.0, 0.0, -0.03), 0.01)], name='desktop')


def desktop_arm(types=DAMIAO, **changes):
    """Return the description of its motors, some of which are reversed or have an offset."""
    robstride = types[0].startswith('RS')
    return arm_of('desktop', {
        'bus': {'channel': 'can0'}, **changes, 'motors': [
            {'joint': f'joint{i + 1}', 'id': i + 1, 'reply': 0xFD if robstride else 0x11 + i,
             'type': kind, 'sign': -1 if i in (1, 4) else 1, 'offset': 0.3 * (i == 2),
             'limit': 0.9 * (27.0 if i < 3 else 9.0), 'velocity_limit': 6.0}
            for i, kind in enumerate(types)]})


class MotorsArm:
    """
    An arm, its controller, and what the control loop does between them.

    :param arm: description of the motors; ``settings``: of the controller.
    """

    def __init__(self, arm=None, rate=RATE, noise=(0.0, 0.0, 0.0), friction=0.2, **settings):
        self.arm, model = arm or desktop_arm(), desktop_model()
        self.plant = MotorBus(self.arm, model, POSE, friction=friction)
        for motor in self.plant.motors:
            motor.noise = noise
        self.bus = LockstepBus(self.plant)
        self.driver = MitCan(self.arm, model, bus=self.bus, clock=self.bus.clock,
                             sleep=self.bus.sleep)
        model, settings = with_facts(self.driver.facts, model, Settings(**{
            'rate': rate, 'motor_test_effort': 0.0, **settings}))
        self.controller, self.told = Controller(model, settings, specialize=False), []
        self.reader = DriverReader(self.driver, self.controller, 1, self.told.append,
                                   self.controller.report_drives)
        self.reader._interval = 0.0         # simulated time is not that of the reader
        self.number = self.incomplete = 0
        self.reading = None

    @property
    def phase(self):
        """Phase of the guard."""
        return self.controller.phase

    def cycle(self):
        """Run a cycle."""
        state = self.controller.state
        if self.reader.wait(0) and (taken := self.reader.take()):
            self.reading = taken.reading
            self.incomplete += bool((taken.age > 1.5 * self.driver.period).any())
            self.number += 1
            state['position'], state['velocity'], state['effort'] = taken.reading[:3]
            before = state['received'].copy()
            state['received'], state['sequence'] = self.bus.clock(), self.number
            note_age(state, before, self.bus.clock(), taken.age)
        if self.controller.step(self.bus.clock()):
            self.reader.write(self.controller.tau.copy())
        else:
            self.reader.idle()

    def until(self, over, seconds=10.0):
        """Run until `over()`; return the fastest velocity of the arm [rad/s]."""
        fastest, end = 0.0, self.bus.clock() + seconds
        while not over():
            assert self.bus.clock() < end, (self.phase, self.controller.arming_refusal,
                                            self.controller.reason, self.told[-3:])
            self.cycle()
            fastest = max(fastest, np.abs(self.plant.qd).max())
        return fastest

    def run(self, seconds):
        """Run for a time; return as above."""
        end = self.bus.clock() + seconds
        return self.until(lambda: self.bus.clock() > end, seconds + 1.0)

    def start(self):
        """Arm; return the fastest velocity until it runs."""
        self.controller.begin()
        self.controller.arm()
        return self.until(lambda: self.phase == guard.RUNNING)
