# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A desk arm of nobody's make, of the size, mass and motors of a YAM, and a bench to run it on."""

from collections.abc import Callable, Sequence
from functools import partial
from math import inf, pi
from typing import Any

import numpy as np
from numpy import ndarray

from .mit_motors import LockstepBus, MotorBus
from ..control.controller.controller import Controller
from ..control.settings.settings import Settings
from ..control.steps import guard
from ..driver import DriverReader, note_age
from ..driver_loop import with_facts
from ..drivers.arm import Arm
from ..drivers.mit_can import in_order, MitCan
from ..errors import SimulationError
from ..model.dh import DhLink, from_dh
from ..model.robot import RobotModel

RATE = 500.0    # [Hz]
LONGEST_WAIT = 60.0    # [s] of simulated time for a phase of the guard
LETS_GO = 0.05    # [s] for which the motors are on before a person lets go of the arm

BIG: dict[str, Any] = {'armature': 0.032, 'coulomb': 0.3}
SMALL: dict[str, Any] = {'armature': 0.0018, 'coulomb': 0.06}
#: Poses in which the joints carry weight, and less than their springs [rad].
POSES = [[0.3, 1.6, -1.0, 0.2, -1.0, -1.0], [0.1, 1.5, 1.0, 1.5, 1.4, 0.1],
         [-0.5, 0.2, 1.9, 0.4, 1.2, 0.9]]


def desk_arm() -> RobotModel:
    """Return the arm: six joints, 3.6 kg, 0.6 m."""
    rows = [(0.1, 0.02, pi / 2, 0.12, (-0.02, 0, 0), BIG),
            (0.0, 0.264, 0.0, 1.25, (-0.13, 0, 0.03), BIG),
            (0.0, 0.245, 0.0, 0.85, (-0.12, 0, -0.03), BIG),
            (0.0, 0.075, pi / 2, 0.46, (-0.03, 0, 0.02), SMALL),
            (0.0, 0.0, -pi / 2, 0.35, (0, 0.02, 0.03), SMALL),
            (0.09, 0.0, 0.0, 0.6, (0.01, 0, 0.03), SMALL)]
    return from_dh([DhLink(theta=0, d=d, a=a, alpha=alpha, mass=mass, com=com,
                           inertia=(2e-3 * mass,) * 3, offset=pi / 2 if i == 4 else 0.0, **motor)
                    for i, (d, a, alpha, mass, com, motor) in enumerate(rows)], name='desk_arm')


class Bench:
    """
    Motors on a bus, the person who carries their arm, a driver and a controller in lockstep.

    :param arm: as the driver knows it, as ``model``; None: the desk arm.
    :param plant: the motors, and the arm that they move; None: those of arm and model.
    """

    def __init__(self, arm: Arm, plant: MotorBus | None = None, model: RobotModel | None = None):
        self.arm, self.model = arm, desk_arm() if model is None else model
        in_order(arm, self.model)       # or an error
        self.plant = MotorBus(arm, self.model, POSES[0]) if plant is None else plant
        self.bus = LockstepBus(self.plant)
        #: Makes a driver of an arm and a model on this bus.
        self.make = partial(MitCan, bus=self.bus, clock=self.bus.clock, sleep=self.bus.sleep)
        #: What the driver tells, and readings in which a motor has not answered in time.
        self.told: list[str] = []
        self.incomplete = 0

    def carry(self, pose: Sequence[float] | ndarray) -> None:
        """Carry the arm to a pose, and let go of it soon after its motors are on."""
        self.plant.place(pose, LETS_GO)

    def support(self) -> None:
        """Take hold of the arm."""
        self.plant.place(self.plant.q, inf)

    def connect(self, *, accept_unconfirmed: bool = False) -> MitCan:
        """Return a new driver; the motors are off."""
        self.driver = self.make(self.arm, self.model, accept_unconfirmed=accept_unconfirmed)
        return self.driver

    def control(self, *, rate: float = RATE, **settings: Any) -> None:
        """Make a controller of the driver."""
        self.model, agreed = with_facts(self.driver.facts, self.model,
                                        Settings(rate=rate, **settings))
        self.controller = Controller(self.model, agreed, specialize=False)
        self.reader = DriverReader(self.driver, self.controller, 1, self.told.append,
                                   self.controller.report_drives)
        self.reader._interval = 0.0         # simulated time is not that of the reader

    @property
    def phase(self) -> guard.Phase:
        """Phase of the guard."""
        return self.controller.phase

    def cycle(self) -> None:
        """Read, step and write once, as the control loop does."""
        controller, state = self.controller, self.controller.state
        if self.reader.wait(0) and (taken := self.reader.take()):
            self.incomplete += bool((taken.age > 1.5 * self.driver.period).any())
            state['position'], state['velocity'], state['effort'] = taken.reading[:3]
            before = state['received'].copy()
            state['received'], state['sequence'] = self.bus.clock(), taken.number
            note_age(state, before, self.bus.clock(), taken.age)
        if controller.step(self.bus.clock()):
            self.reader.write(controller.tau.copy())
        else:
            self.reader.idle()

    def until(self, over: Callable[[], bool], wait: float = LONGEST_WAIT) -> float:
        """
        Run cycles until something is so; return the highest velocity of a joint [rad/s].

        :raises SimulationError: it is not so in time [s].
        """
        fastest, end = 0.0, self.bus.clock() + wait
        while not over():
            if self.bus.clock() > end:
                raise SimulationError(
                    f'{self.phase.name}: {self.controller.reason} '
                    f'{self.controller.arming_refusal} {self.told[-3:]}', name=self.arm.name,
                    remedy='file an issue with this line')
            self.cycle()
            fastest = max(fastest, float(np.abs(self.plant.qd).max()))
        return fastest

    def run(self, seconds: float) -> float:
        """Run for a time; return as :meth:`until`."""
        end = self.bus.clock() + seconds
        return self.until(lambda: self.bus.clock() >= end, inf)

    def start(self) -> float:
        """Arm; return the highest velocity until it runs."""
        self.controller.begin()
        self.controller.arm()
        return self.until(lambda: self.phase == guard.RUNNING)
