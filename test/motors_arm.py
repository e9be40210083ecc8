# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A desk arm on a bench, some of whose motors are reversed or have an offset."""

from robodyn_ros.drivers.arm import arm_of
from robodyn_ros.testing.desk_arm import Bench, desk_arm, POSES, RATE
from robodyn_ros.testing.mit_motors import MotorBus

DAMIAO = ['DM4340'] * 3 + ['DM4310'] * 3
ROBSTRIDE = ['RS06'] * 3 + ['RS00'] * 3


def desktop_arm(types=DAMIAO, **changes):
    """Return the description of its motors."""
    robstride = types[0].startswith('RS')
    return arm_of('desktop', {
        'bus': {'channel': 'can0'}, **changes, 'motors': [
            {'joint': f'joint{i + 1}', 'id': i + 1, 'reply': 0xFD if robstride else 0x11 + i,
             'type': kind, 'sign': -1 if i in (1, 4) else 1, 'offset': 0.3 * (i == 2),
             'limit': 0.9 * (27.0 if i < 3 else 9.0), 'velocity_limit': 6.0}
            for i, kind in enumerate(types)]})


class MotorsArm(Bench):
    """
    Such an arm and its controller.

    :param arm: description of the motors; ``settings``: of the controller.
    """

    def __init__(self, arm=None, rate=RATE, noise=(0.0, 0.0, 0.0), friction=0.2, **settings):
        arm = arm or desktop_arm()
        super().__init__(arm, MotorBus(arm, desk_arm(), POSES[0], friction))
        for motor in self.plant.motors:
            motor.noise = noise
        self.connect()
        self.control(**{'rate': rate, 'motor_test_effort': 0.0, **settings})
