# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A YAM of simulated motors on simulated time, and the person who carries it."""

from dataclasses import replace
from functools import partial

import numpy as np
from robodyn_ros.drivers.arm import load_arm
from robodyn_ros.drivers.mit_can import MitCan
from robodyn_ros.testing.desk_arm import desk_arm, POSES
from robodyn_ros.testing.mit_motors import LockstepBus, MotorBus

LETS_GO = 0.05      # s after which a person lets go of an arm whose motors are on


class HeldArm:
    """
    Motors, their bus and their driver.

    :param plant: the model that moves; ``arm``: whose ids and signs the motors really have.
    """

    def __init__(self, plant=None, arm=None, **motors):
        self.model, self.arm = desk_arm(), load_arm('yam')
        self.plant = MotorBus(arm or self.arm, plant or self.model, POSES[0], **motors)
        self.bus = LockstepBus(self.plant)
        self.make = partial(MitCan, bus=self.bus, clock=self.bus.clock, sleep=self.bus.sleep)
        self.poses = iter(POSES)

    def driver(self):
        """Return a new driver of it."""
        return self.make(self.arm, self.model)

    def support(self, text=''):
        """Take hold of the arm."""
        self.plant.place(self.plant.q, np.inf)

    def carry(self, *_, **__):
        """Bring it to the next pose; its motors have it soon after they are on."""
        self.plant.place(next(self.poses), LETS_GO)
        return ''


def swapped(arm, a, b):
    """Return the arm with the ids of two motors exchanged."""
    motors = list(arm.motors)
    motors[a], motors[b] = (replace(motors[i], id=motors[k].id, reply=motors[k].reply)
                            for i, k in ((a, b), (b, a)))
    return replace(arm, motors=tuple(motors))
