# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Motors that are tested while arming: one test a row of the table in docs/safety.md."""

from faults.arm import Arm
from faults.played_arm import PERIOD
from faults.rows import row
import numpy as np
from robodyn_ros.control.steps import motor_test

HANGING, STRETCHED = np.array([-np.pi / 2.0, 0.0]), np.array([0.3, 0.5])
MOST = 6000             # ticks of the test
FRICTION, SLIP = np.array([4.0, 2.0]), 0.02     # N·m, rad/s


def rising(position, made):
    """Arm, and let the efforts, of which motors make others (2, 2), move the arm."""
    arm = Arm(motor_test_effort=0.1)
    arm.position = position.copy()
    arm.controller.arm()
    while not arm.commands.any():
        arm.goes_on(effort=[])
    efforts, fastest = arm.tick(effort=[]), 0.0
    for _ in range(MOST):
        driven = np.array(made, float) @ efforts - FRICTION * np.tanh(arm.velocity / SLIP)
        arm.velocity = arm.velocity + PERIOD * arm.dynamics.forward_dynamics(
            arm.position, arm.velocity, driven)
        arm.position = arm.position + PERIOD * arm.velocity
        fastest = max(fastest, (abs(arm.velocity) / arm.model.velocity_limit).max())
        efforts = arm.tick(effort=[])
        if not efforts.any():
            break
    return arm, fastest


@row('a motor is reversed, or swapped with another one', 'WRONG_DIRECTION', 'OTHER_JOINT_MOVES',
     where=motor_test.find_fault, find='return (ARM_MOVES if _ else _), _', instead='pass')
def test_a_motor_is_reversed_or_swapped():
    """Hanging, where gravity needs no effort: the test shows it, and nothing becomes fast."""
    arm, fastest = rising(HANGING, np.eye(2)[::-1])
    arm.faulted('OTHER_JOINT_MOVES', '(joint1 moves joint2)')
    assert fastest < 0.3


@row('a motor drives the arm while it rises', 'WRONG_DIRECTION', 'OTHER_JOINT_MOVES',
     where=motor_test.find_fault, find='return by_pattern(_, MIN_DRIVEN_VELOCITY, _)',
     instead='pass')
def test_a_motor_drives_the_arm_while_it_rises():
    """Gravity compensation of a reversed motor: its efforts end before it is tested."""
    arm, fastest = rising(STRETCHED, np.diag([-1.0, 1.0]))
    arm.faulted('WRONG_DIRECTION', '(joint1)')
    assert fastest < 0.4
    arm.nothing()


@row('a joint does not move in the test of the motors', 'JOINT_BLOCKED',
     where=motor_test.find_fault, find='return JOINT_BLOCKED, _', instead='pass')
def test_a_joint_does_not_move_in_the_test():
    """A dead motor; the other one has passed."""
    arm, fastest = rising(HANGING, np.diag([0.0, 1.0]))
    arm.faulted('JOINT_BLOCKED', '(joint1)')
    assert fastest < 0.1
