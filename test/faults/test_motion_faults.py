# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults that show in the motion of the arm, or in the test of its motors: one test a row."""

from faults.arm import Arm, PERIOD, running
from faults.rows import row
import numpy as np
import pytest
from robodyn_ros.control.settings.settings import Settings
from robodyn_ros.control.steps import motion_checks, motor_test
from robodyn_ros.errors import TrajectoryError

near = pytest.approx


@row('position outside its limits by more than a margin', 'POSITION_OUTSIDE',
     where=motion_checks.motion_fault, find='beyond_limits(_, _)', instead='False')
def test_position_outside_by_more_than_a_margin():
    """Pushed out of its limits: latched, also when it has come back; no arming outside."""
    arm = running(position_margin=[0.01])
    arm.velocity[0] = 7.0
    while arm.position[0] < 3.1:
        arm.moving(1)
    arm.velocity[0] = 0.5
    while arm.position[0] < 3.1516:
        assert arm.moving(1)[0].any()
    arm.moving(1)
    arm.velocity[0] = -0.2
    arm.moving(60)                 # back inside before the efforts of the fault have ended
    arm.velocity[0] = 0.0
    arm.until()
    arm.nothing()
    arm.faulted('POSITION_OUTSIDE', '(joint1): -3.1416 to 3.1416 rad, and position_margin 0.01')
    arm.position = np.array([3.2, 0.5])
    arm.effort = arm.gravity
    arm.forget()
    arm.refuses('raise position_margin; it is at 3.2')


@row('the arm does not follow its reference', 'FOLLOWING_ERROR', where=motion_checks.motion_fault,
     find='return FOLLOWING_ERROR, _', instead='pass')
def test_the_arm_does_not_follow_its_reference():
    """Gravity as soon as the reference is too far ahead, then zero; latched."""
    arm = running(mode='joint_impedance', following_error=[0.1, 0.05], stiffness=[40.0, 10.0],
                  damping=[4.0, 1.0], blocked_effort=0.0)
    arm.follow(arm.position + [0.05, 0.1], 0.5)
    efforts = arm.until()
    driven = abs(efforts - arm.gravity)[:, 1] > 0.1
    assert 220 < driven[:300].sum() < 265           # half of the way, in half of the time
    arm.faulted('FOLLOWING_ERROR', '(joint2)')
    arm.nothing()
    arm.resumes()


@row('a joint is driven and does not move', 'JOINT_BLOCKED', where=motion_checks.motion_fault,
     find='return JOINT_BLOCKED, _', instead='pass')
def test_a_joint_is_driven_and_does_not_move():
    """After half a second of 30 % of its effort limit besides gravity; latched."""
    arm = running(mode='joint_impedance')
    arm.follow(arm.position + [0.1, 0.0], 0.2)
    efforts = arm.until()
    driven = (efforts - arm.gravity)[:, 0] > 24.0
    assert 490 < driven.sum() < 550
    arm.faulted('JOINT_BLOCKED', '(joint1)')


@row('a joint accelerates against its effort', 'WRONG_DIRECTION', where=motion_checks.motion_fault,
     find='return WRONG_DIRECTION, _', instead='pass')
def test_a_joint_accelerates_against_its_effort():
    """An encoder that counts backward: found before the joint is fast; latched."""
    arm = running(mode='joint_impedance')
    q, qd, mirror = arm.position.copy(), np.array([0.0, 0.1]), np.array([1.0, -1.0])
    centre, fastest, effort = q.copy(), 0.0, arm.gravity
    for _ in range(300):
        qd = qd + PERIOD * arm.dynamics.forward_dynamics(q, qd, effort)
        q = q + PERIOD * qd
        arm.position, arm.velocity = centre + mirror * (q - centre), mirror * qd
        effort = arm.tick()
        fastest = max(fastest, abs(qd[1]))
        if not effort.any():
            break
    arm.faulted('WRONG_DIRECTION', '(joint2)')
    assert fastest < 8.0                # of 10, although its damping drives it for 70 ms more


@row('the effort oscillates at its limits', 'EFFORT_OSCILLATES', where=motion_checks.motion_fault,
     find='return EFFORT_OSCILLATES, _', instead='pass')
def test_the_effort_oscillates_at_its_limits():
    """What an unstable loop does, at 25 Hz: found in 0.3 s, long before `saturation_timeout`."""
    arm = running(mode='joint_impedance')
    efforts = []
    for k in range(300):
        arm.velocity[0] = 0.8 * np.sin(2.0 * np.pi * 25.0 * k * PERIOD)
        efforts.append(arm.moving(1)[0])
        if not efforts[-1].any():
            break
    assert np.ptp(np.array(efforts)[:100, 0]) > 5.0
    assert len(efforts) > 150           # four swings may be those of a reference
    arm.faulted('EFFORT_OSCILLATES', '(joint1)')


@row('mechanical power above its limit', 'POWER_ABOVE_LIMIT', where=motion_checks.motion_fault,
     find='return POWER_ABOVE_LIMIT, _', instead='pass')
def test_mechanical_power_above_its_limit():
    """More power than allowed for some milliseconds; less is no fault, however long."""
    arm = running(power_limit=20.0)
    arm.velocity[0] = 1.0
    assert arm.moving(60)[-1] == near(arm.gravity) and arm.gravity[0] < 18.0
    arm.velocity[0] = 1.6
    for _ in range(2):
        assert arm.moving(1)[0] == near(arm.gravity)
    assert arm.moving(10)[-1, 0] < arm.gravity[0] - 5.0
    arm.faulted('POWER_ABOVE_LIMIT')


@row('trajectory above the reduced speed', where=Settings.joint_records, find='_ *= _',
     instead='pass')
def test_trajectory_above_the_reduced_speed():
    """Refused with the limit in force, and the pose is held; a slower one is followed."""
    arm = running(mode='computed_torque', velocity_scale=0.1)
    with pytest.raises(TrajectoryError, match=r'velocity of joint\d .* outside 0\.'):
        arm.follow(arm.position + 0.4, 0.5)
    arm.steady()


HANGING, STRETCHED = np.array([-np.pi / 2.0, 0.0]), np.array([0.3, 0.5])
MOST = 3000             # ticks of the test
FRICTION, SLIP = np.array([4.0, 2.0]), 0.02     # N·m, rad/s


def rising(position, made=((1.0, 0.0), (0.0, 1.0)), pushed=lambda arm: 0.0):
    """Arm, and let the efforts, of which motors make others (2, 2), and a push move the arm."""
    arm = Arm(motor_test_effort=0.1)
    arm.position = position.copy()
    arm.controller.arm()
    while not arm.commands.any():
        arm.goes_on(effort=[])
    efforts, fastest = arm.tick(effort=[]), 0.0
    for _ in range(MOST):
        driven = (np.array(made, float) @ efforts + pushed(arm)
                  - FRICTION * np.tanh(arm.velocity / SLIP))
        arm.velocity = arm.velocity + PERIOD * arm.dynamics.forward_dynamics(
            arm.position, arm.velocity, driven)
        arm.position = arm.position + PERIOD * arm.velocity
        fastest = max(fastest, (abs(arm.velocity) / arm.model.velocity_limit).max())
        efforts = arm.tick(effort=[])
        if arm.phase != 'RISING':
            break
    return arm, fastest


@row('a motor is reversed, or swapped with another one', 'WRONG_DIRECTION', 'OTHER_JOINT_MOVES',
     where=motor_test.find_fault, find='return (WRONG_DIRECTION if _ else _), _', instead='pass')
def test_a_motor_is_reversed_or_swapped():
    """Hanging, where gravity needs no effort: the test shows it, and nothing becomes fast."""
    arm, fastest = rising(HANGING, np.eye(2)[::-1])
    arm.faulted('OTHER_JOINT_MOVES', '(joint1 moves joint2)')
    assert fastest < 0.3


@row('another joint moves by itself in the test of the motors', 'OTHER_JOINT_MOVES',
     where=motor_test.find_fault, find='suspect == own.suspect[_]', instead='True')
def test_another_joint_moves_by_itself_in_the_test():
    """Pushed by somebody while joint 1 is tested: it does not follow the opposite effort."""
    def pushed(arm):
        memory = arm.controller.memory[0]
        now = memory['test_round'] == memory['tested'] == 0 and abs(memory['test_effort']) > 2.0
        return np.array([0.0, 5.0 * now])
    arm, fastest = rising(HANGING, pushed=pushed)
    assert arm.phase == 'RUNNING', arm.controller.reason
    assert arm.controller.memory['test_round'][0] == 2 and fastest < 0.2


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
