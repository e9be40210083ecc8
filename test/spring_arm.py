# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A simulated arm without brakes and its controller, in lockstep on simulated time."""

import numpy as np
from robodyn_ros import Controller, load_urdf, Settings
from robodyn_ros.driver import DriverFacts, DriverReader
from robodyn_ros.driver_loop import with_facts
from robodyn_ros.simulation.driver import SimulatedArm

RATE = 500.0        # Hz
STEP = 0.38e-3      # rad, of the encoders of such drives
RESTING_VELOCITY = 0.02     # rad/s | m/s


class SpringArm(SimulatedArm):
    """
    Simulated arm without brakes, whose drives have a spring and a damping, as in MIT mode.

    The spring holds the arm from the start, until :meth:`fade` lets go.

    :param stiffness: [N·m/rad | N/m] of the drives; ``damping`` [N·m·s/rad | N·s/m].
    """

    facts = DriverFacts(brakes=False, obeys=True)

    def __init__(self, model, rate=1000.0, position=(), timeout=0.1, stiffness=40.0,
                 damping=2.0):
        super().__init__(model, rate, position, timeout)
        self._stiffness, self._damping = stiffness, damping
        self._share, self._damps = 1.0, False
        plant, held = self._drive.plant, self._drive.state()
        self._pose = held.position + held.effort / stiffness    # the spring carries g(q)
        self._set_springs(stiffness)
        plant.joint_damping, self._drive.braking = damping, False

    def _set_springs(self, stiffness):
        plant = self._drive.plant
        plant._mj.jnt_stiffness[plant._joints] = stiffness
        plant._mj.qpos_spring[plant._joints] = self._pose

    def advance(self):
        """Simulate a period; return the state there, with the effort of the whole drive."""
        reading, plant = super().advance(), self._drive.plant
        position, velocity, effort = np.array(reading[:3], float)
        own = (self._share * self._stiffness * (self._pose - position)
               - plant.joint_damping * velocity)
        return reading._replace(effort=effort + own)

    def enable(self):
        """Hold the pose in the spring, unless it does so already."""
        if self._share == 0.0:
            self._pose = self._drive.plant.state().position

    def fade(self, share):
        """Leave this share of the spring, from the next :meth:`write` on."""
        self._share = share

    def rest(self, dt):
        """Damp the arm from the next :meth:`write` on."""
        self._damps = True
        return bool((abs(self._drive.plant.state().velocity) < RESTING_VELOCITY).all())

    def write(self, tau):
        """Apply efforts, spring and damping from the next period on."""
        with self._lock:
            plant, share = self._drive.plant, 1.0 if self._damps else self._share
            self._set_springs(self._share * self._stiffness)
            if share * self._damping != plant.joint_damping:
                plant.joint_damping = share * self._damping
        self._damps = False
        super().write(tau)


class PlayedDrives:
    """
    An arm, its controller, and what the control loop does between them.

    :param kind: class of the driver; ``settings``: of the controller.
    :param damping: of the drives.
    :param step: of the measured velocities [rad/s], which are up to two steps off.
    """

    def __init__(self, name, pose, kind=SpringArm, step=0.0, damping=2.0, **settings):
        model, settings = with_facts(kind.facts, load_urdf(name), Settings(rate=RATE, **settings))
        self.controller = Controller(model, settings, specialize=False)
        self.driver = kind(model, RATE, pose, timeout=1e9, damping=damping)
        self.driver.reading = 'inline'
        self.told = []
        self.reader = DriverReader(self.driver, self.controller, 1, self.told.append,
                                   self.controller.report_drives)
        self.time, self.velocity, self.valid = 0.0, np.zeros(model.nv), True
        self.position = np.array(pose)
        self._step, self._random = step, np.random.default_rng(0)

    def cycle(self):
        """Run a cycle; while the state is not `valid`, the controller gets none."""
        reading, state = self.driver.advance(), self.controller.state
        self.time += 1.0 / RATE
        self.position, self.velocity = reading.position, reading.velocity
        if self.valid:
            state['position'], state['velocity'] = reading.position, reading.velocity
            if self._step:
                off = self._random.integers(-2, 3, len(self.velocity))
                state['velocity'] = self._step * (np.round(self.velocity / self._step) + off)
                state['position'] = STEP * np.round(self.position / STEP)
            state['effort'] = np.nan if reading.effort is None else reading.effort
            state['received'], state['sequence'] = self.time, round(self.time * RATE)
        if self.controller.step(self.time):
            self.reader.write(self.controller.tau.copy())
        else:
            self.reader.idle()

    def until(self, over, seconds=30.0):
        """Run until `over()`; return the fastest velocity [rad/s]."""
        fastest, end = 0.0, self.time + seconds
        while not over():
            assert self.time < end, (self.controller.phase, self.controller.arming_refusal)
            self.cycle()
            fastest = max(fastest, np.abs(self.velocity).max())
        return fastest

    def arm(self):
        """Arm; return the fastest velocity until it runs."""
        self.controller.arm()
        return self.until(lambda: self.controller.phase == 2)
