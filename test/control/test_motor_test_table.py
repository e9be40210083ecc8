# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Each decision of the motor test, on both sides of its bounds, without a cycle around it."""

from math import exp

from control.one_cycle import played
import numpy as np
import pytest
from robodyn_ros.control.steps import guard, motor_test
from robodyn_ros.control.steps.guard import (
    ARM_MOVES, JOINT_BLOCKED, OTHER_JOINT_MOVES, WRONG_DIRECTION)

NONE = (guard.NO_REASON, -1)
DT = 0.01       # s; the time constant of the effort is 40 ms

BEFORE = {'m_tested': 1, 'm_test_effort': 1.0, 'm_test_time': 1.0, 'm_window_time': 1.0,
          'v_q': [0.25, -0.5]}
AT_REST = {'m_test_effort': 0.0, 'm_window_time': 0.0, 't_test_pose': [0.25, -0.5]}


def test_the_test_begins():
    played(lambda c: motor_test.begin(c.controller, c.vectors), {
        **BEFORE, 't_held': 1.0, 't_passed': 1.0, 't_suspect': 2.0, 'm_test_round': 2,
        'm_motors_moved': 1, 'm_disobeyed': 2, 'm_awaiting': 1}, None, {
        **AT_REST, 'm_tested': 0, 't_held': 0.0, 't_passed': 0.0, 't_suspect': 0.0,
        'm_test_round': 0, 'm_motors_moved': 0, 'm_disobeyed': 0, 'm_awaiting': 0,
        'm_test_time': 0.1})


@pytest.mark.parametrize(('given', 'needed', 'effort'), [
    (-1.0, True, 0.1), (-1.0, False, 0.0), (0.0, True, 0.0), (0.2, True, 0.2), (0.2, False, 0.2)])
def test_effort_by_default(given, needed, effort):
    assert motor_test.effort_in_force(given, needed) == effort
    assert motor_test.TESTED_RATE == 500.0


@pytest.mark.parametrize(('passed', 'joint', 'next_joint'), [
    ([0.0, 0.0], 0, 0), ([1.0, 0.0], 0, 1), ([1.0, 1.0], 0, 2), ([0.0, 1.0], 1, 2),
    ([1.0, 0.0], 2, 2)])
def test_rest_before_the_next_joint(passed, joint, next_joint):
    played(lambda c: motor_test.rest(c.controller, c.vectors, joint),
           {**BEFORE, 't_passed': passed}, None,
           {**AT_REST, 'm_test_time': 0.0, 'm_tested': next_joint})


@pytest.mark.parametrize(('given', 'distance'), [
    ({'v_q': 0.51}, 2.0), ({'v_q': 0.49}, -2.0), ({'v_q': 0.51, 'v_speed_limit': 1.0}, 2.5),
    ({'v_q': 3.0}, 500.0), ({'v_q': -3.0}, -700.0), ({'v_q': 3.01}, 0.0), ({'v_q': -3.01}, 0.0)])
def test_displacement(given, distance):
    """In steps of 5 mrad, or of the velocity limit in 4 ms."""
    played(lambda c: motor_test.moved_distance(c.joints, c.vectors, 0),
           {'t_test_pose': 0.5, **given}, distance, {})


@pytest.mark.parametrize(('given', 'delay', 'growth'), [
    ({}, 0.004, 0.04), ({'s_loop_delay': 0.025}, 0.025, 0.05), ({'s_period': 0.03}, 0.03, 0.06),
    ({'p_late': [0.0, 0.03]}, 0.03, 0.06), ({'p_late': [0.03, 0.0]}, 0.03, 0.06)])
def test_time_constant_of_an_effort(given, delay, growth):
    played(lambda c: (motor_test.longest_delay(c.settings, c.vectors),
                      motor_test.growth_time(c.settings, c.vectors)), given, (delay, growth), {})


WINDOW = {'m_window_time': 0.15, 'v_q': [0.5, -0.5], 't_test_pose': [0.5, -0.5]}


@pytest.mark.parametrize(('given', 'rests', 'left'), [
    ({}, True, 0.0), ({'m_window_time': 0.149}, False, 0.149),
    ({'t_test_pose': [0.4984, -0.5016]}, True, 0.0), ({'t_test_pose': [0.4983, -0.5]}, False, 0.0),
    ({'t_test_pose': [0.5, -0.5017]}, False, 0.0), ({'t_test_pose': [0.5, -0.4983]}, False, 0.0),
    ({'v_q': [0.33 * 0.005, 0.0], 't_test_pose': 0.0}, False, 0.0)])
def test_window_of_rest(given, rests, left):
    given = {**WINDOW, **given}
    played(lambda c: motor_test.at_rest(c), given, rests, {
        'm_window_time': left, 't_test_pose': given['t_test_pose'] if left else given['v_q']})


# Joint 1 accelerates with the opposite of what its motor should do, at a tenth of its limit
REVERSED = {'o_external_impulse': [-1.0, 0.0], 'o_sent_impulse': [1.0, 0.0], 'v_qd': [-0.2, 0.0]}
SWAPPED = {'o_external_impulse': [-1.0, 1.0], 'o_sent_impulse': [1.0, 0.0], 'v_qd': [0.0, 0.2]}
RUBBING = {**SWAPPED, 'o_external_impulse': [-0.6, 1.0]}
SLOW = {'m_phase': guard.RISING, 'p_interval': 0.003}


@pytest.mark.parametrize(('given', 'least', 'fault', 'other'), [
    (REVERSED, 0.0, (WRONG_DIRECTION, 0), 0), (SWAPPED, 0.0, (OTHER_JOINT_MOVES, 0), 1),
    (REVERSED, 0.15, (ARM_MOVES, 1), -1), ({}, 0.0, (ARM_MOVES, 1), -1),
    # Unknown friction on joint 1 takes up 12 % of the squares, 20 %: the arm rises, in slow loops
    (RUBBING | SLOW, 0.0, (OTHER_JOINT_MOVES, 0), 1),
    (RUBBING | SLOW | {'o_external_impulse': [-0.5, 1.0]}, 0.0, (ARM_MOVES, 1), -1),
    (RUBBING | SLOW | {'p_interval': 0.0029}, 0.0, (ARM_MOVES, 1), -1),
    (RUBBING | SLOW | {'m_phase': guard.FAULT}, 0.0, (ARM_MOVES, 1), -1),
    (RUBBING | SLOW | {'m_phase': guard.FAULT, 'm_reason': OTHER_JOINT_MOVES}, 0.0,
     (OTHER_JOINT_MOVES, 0), 1)])
def test_pattern_of_a_motor_fault(given, least, fault, other):
    played(lambda c: motor_test.by_pattern(c, least, 1), given, fault, {'m_other_joint': other})


# Joint 1 is tested with 1 N·m for 40 ms, by which it may have moved by 12.8 mrad at most
TESTED = {'m_test_effort': 1.0, 't_mobility': 4.0, 'm_tested': 0, 'm_test_side': 1,
          'v_q': [0.006, 0.0], 'm_other_joint': 7}
PASSED = {'t_passed': [1.0, 0.0], 'm_tested': 1, 'm_motors_moved': 1, 'm_other_joint': 0,
          'm_test_effort': 0.0, 'm_test_time': 0.0, 't_test_pose': [0.006, 0.0]}
FAILED = {'t_passed': 0.0, 'm_tested': 1, 'm_motors_moved': 1, 'm_test_effort': 0.0}
SECOND, LAST = {'m_test_round': 1}, {'m_test_round': 2}
BACKWARD = {'v_q': [-0.006, 0.0]}
RESTS = {**TESTED, 'm_test_effort': 0.0, 'm_test_time': 0.1}
GOES_ON = {'m_tested': 0, 'm_test_effort': 1.0, 'm_motors_moved': 0, 'm_other_joint': 7}
OTHER = {'v_q': [0.005, 0.006]}         # which has more energy, unless the encoder is coarse
ENDS = {**TESTED, 'm_tested': 1, 'v_q': [0.0, 0.006]}
STANDS = {**ENDS, **LAST, 'v_q': 0.0, 'm_test_time': 0.2}


@pytest.mark.parametrize(('given', 'fault', 'expected'), [
    (TESTED, NONE, PASSED), ({**TESTED, **BACKWARD}, NONE, FAILED | {'t_suspect': [-1.0, 0.0]}),
    ({**TESTED, **BACKWARD, 'm_test_effort': -1.0}, NONE, {'t_passed': [1.0, 0.0]}),
    ({**TESTED, 'm_test_effort': 0.6}, NONE, {'t_passed': [1.0, 0.0]}),
    ({**TESTED, 't_test_pose': 0.5, 'v_q': [0.506, 0.5]}, NONE, {'t_passed': [1.0, 0.0]}),
    ({**TESTED, 't_test_pose': 0.5, 'v_q': [0.494, 0.5]}, NONE, FAILED),
    ({**TESTED, 'v_q': [0.005, 0.0]}, NONE, GOES_ON),
    # Nobody listens
    ({**TESTED, 'i_listeners': 0}, NONE, {'m_tested': 0, 'm_test_effort': 0.0, 't_passed': 0.0,
                                          't_test_pose': [0.006, 0.0], 'm_other_joint': 7}),
    ({**TESTED, 'i_awaited': 1}, NONE, {'m_tested': 0, 'm_test_effort': 0.0, 't_passed': 0.0}),
    ({**TESTED, 'i_listeners': -1}, NONE, PASSED),
    # Further than the effort can have moved it, now or with the largest effort for some time
    ({**TESTED, 'v_q': [0.0127, 0.0]}, NONE, PASSED | {'t_test_pose': [0.0127, 0.0]}),
    ({**TESTED, 'v_q': [0.0129, 0.0]}, NONE, FAILED | {'m_other_joint': -1, 't_suspect': 0.0}),
    ({**TESTED, 'v_q': [0.0129, 0.0], 'j_effort_limit': 2e3}, NONE, {'m_other_joint': -1}),
    # By less than a thousandth of its effort limit, which explains nothing
    ({**TESTED, 'j_effort_limit': 1001.0}, NONE, GOES_ON),
    ({**TESTED, 'j_effort_limit': 999.0}, NONE, PASSED),
    ({**TESTED, 'v_q': [0.0, 0.006], 'j_effort_limit': [10.0, 1001.0]}, NONE, GOES_ON),
    ({**TESTED, 'v_q': [0.0, 0.006], 'j_effort_limit': [10.0, 999.0]}, NONE, FAILED),
    # Further than the effort can have moved another joint
    ({**TESTED, 'v_q': [0.0, 0.0129]}, NONE, GOES_ON),
    ({**TESTED, 'v_q': [0.0129, 0.0], 'm_test_time': 0.001}, NONE, {'t_passed': [1.0, 0.0]}),
    ({**TESTED, 'v_q': [0.0129, 0.0], 'm_test_effort': 1.01}, NONE, {'t_passed': [1.0, 0.0]}),
    ({**TESTED, 'v_q': [0.0129, 0.0], 't_mobility': [4.04, 1.0]}, NONE, {'t_passed': [1.0, 0.0]}),
    ({**TESTED, 'v_q': [0.0129, 0.0], **LAST}, (ARM_MOVES, 0), {'m_other_joint': -1}),
    # The joint with the greatest energy moves by the effort
    ({**TESTED, **OTHER}, NONE, FAILED | {'m_other_joint': 1, 't_suspect': [2.0, 0.0]}),
    ({**TESTED, 'v_q': [0.005, -0.006]}, NONE, FAILED | {'t_suspect': [-2.0, 0.0]}),
    # Twice, in the direction of both efforts, or against both
    ({**TESTED, **OTHER, **SECOND, 't_suspect': 2.0}, (OTHER_JOINT_MOVES, 0),
     {'m_other_joint': 1}),
    ({**TESTED, **OTHER, **LAST, 't_suspect': 2.0}, (OTHER_JOINT_MOVES, 0), {}),
    ({**TESTED, **OTHER, **SECOND, 't_suspect': -2.0}, NONE, {'t_suspect': [2.0, -2.0]}),
    ({**TESTED, **OTHER, **SECOND, 't_suspect': 1.0}, NONE, {}),
    ({**TESTED, **OTHER, **SECOND}, NONE, {}), ({**TESTED, **OTHER, **LAST}, (ARM_MOVES, 0), {}),
    ({**TESTED, **OTHER, **LAST, 't_suspect': -2.0}, (ARM_MOVES, 0), {}),
    ({**TESTED, **BACKWARD, **SECOND, 't_suspect': -1.0}, (WRONG_DIRECTION, 0),
     {'m_other_joint': 0, 't_passed': 0.0}),
    ({**TESTED, **SECOND, 't_suspect': 1.0}, NONE, {'t_passed': [1.0, 0.0]}),
    ({**TESTED, **OTHER, 'f_encoder_step': 0.002}, NONE, PASSED | {'t_test_pose': [0.005, 0.006]}),
    ({**TESTED, **OTHER, 'f_encoder_step': [0.0, 0.002]}, NONE, {'m_other_joint': 1}),
    ({**TESTED, 'v_q': [0.005, 0.0075], 'f_encoder_step': 0.002}, NONE, {'m_other_joint': 1}),
    ({**TESTED, 'v_q': [0.006, 0.007], 'f_encoder_step': 0.002}, NONE, {'m_other_joint': 1}),
    ({**TESTED, **OTHER, 't_mobility': [4.0, 6.0]}, NONE, {'m_other_joint': 0}),
    ({**TESTED, 'v_q': [0.006, 0.006], 't_mobility': 4.0}, NONE, {'m_other_joint': 0}),
    # Others drift up to a third of the distance
    ({**TESTED, 'v_q': [0.006, 0.0016], 't_mobility': [100.0, 1.0]}, NONE, {'m_other_joint': 0}),
    ({**TESTED, 'v_q': [0.006, 0.0017], 't_mobility': [100.0, 1.0]}, NONE, {'m_other_joint': 1}),
    ({**TESTED, 'v_q': [0.006, -0.0017], 't_mobility': [100.0, 1.0]}, NONE, {'m_other_joint': 1}),
    ({**TESTED, 'v_q': [0.001, 0.006], **LAST, 't_suspect': 2.0}, (OTHER_JOINT_MOVES, 0),
     {'m_other_joint': 1}),
    ({**TESTED, 'v_q': [-0.0004, 0.006], 't_mobility': [0.16, 400.0], **LAST, 't_suspect': -1.0},
     (WRONG_DIRECTION, 0), {'m_other_joint': 0}),
    # Nothing has moved so far with the largest effort
    ({**TESTED, 'v_q': 0.0, 'm_test_time': 0.19}, NONE, GOES_ON),
    ({**TESTED, 'v_q': 0.0, 'm_test_time': 0.2}, NONE, {'m_tested': 1, 'm_motors_moved': 0,
                                                        'm_test_effort': 0.0}),
    # While the arm comes to rest
    (RESTS, NONE, {'m_tested': 0, 'm_motors_moved': 0, 'm_other_joint': 7}),
    ({**RESTS, 'm_test_time': 2.0}, NONE, {}),
    ({**RESTS, 'm_test_time': 2.01}, (ARM_MOVES, 0), {}),
    ({**RESTS, 'm_test_time': 2.01, 'v_q': [0.001, 0.002]}, (ARM_MOVES, 1), {}),
    ({**RESTS, 'm_test_time': 2.01, 'v_q': 0.0}, (ARM_MOVES, -1), {}),
    ({**RESTS, 'm_test_time': 2.01, **REVERSED}, (WRONG_DIRECTION, 0), {}),
    ({**RESTS, 'v_q': [0.0, 0.11], 'm_test_time': 0.29}, NONE, {}),
    ({**RESTS, 'v_q': [0.0, 0.11], 'm_test_time': 0.3}, (ARM_MOVES, 1), {}),
    ({**RESTS, 'v_q': [0.0, -0.11], 'm_test_time': 0.3}, (ARM_MOVES, 1), {}),
    ({**RESTS, 'v_q': [0.11, 0.12], 'm_test_time': 0.3}, (ARM_MOVES, 1), {}),
    ({**RESTS, 'v_q': [0.12, 0.12], 'm_test_time': 0.3}, (ARM_MOVES, 0), {}),
    ({**RESTS, 'v_q': [0.0, 0.1], 'm_test_time': 0.3}, NONE, {}),
    ({**TESTED, 'v_q': [0.0, 0.11]}, (ARM_MOVES, 1), {}),
    ({**TESTED, 'v_q': [0.0, 0.11], 'm_test_time': 0.1, **REVERSED}, (WRONG_DIRECTION, 0), {}),
    # The pattern of a motor fault in three samples, and faster than friction
    ({**TESTED, 'm_disobeyed': 3}, (ARM_MOVES, 0), {}),
    ({**TESTED, 'm_disobeyed': 2}, NONE, PASSED),
    # The last effort may act late
    ({**RESTS, 'm_disobeyed': 3, 'm_test_time': 0.04}, NONE, {'m_disobeyed': 0}),
    ({**RESTS, 'm_disobeyed': 3, 'm_test_time': 0.041}, (ARM_MOVES, 0), {'m_disobeyed': 3}),
    ({**TESTED, 'm_disobeyed': 3, 'm_test_time': 0.04}, (ARM_MOVES, 0), {'m_disobeyed': 3}),
    ({**TESTED, 'm_disobeyed': 3, **REVERSED}, (ARM_MOVES, 0), {}),
    ({**TESTED, 'm_disobeyed': 3, **REVERSED, 'v_qd': [-0.31, 0.0]}, (WRONG_DIRECTION, 0), {}),
    # The next round, and the end of the last one
    (ENDS, NONE, {'t_passed': [0.0, 1.0], 'm_tested': 0, 'm_test_round': 1}),
    ({**ENDS, 'm_test_round': 1, 't_passed': [1.0, 0.0]}, NONE, {'m_tested': 2,
                                                                 'm_test_round': 2}),
    ({**ENDS, **LAST}, (JOINT_BLOCKED, 0), {}),
    ({**ENDS, **LAST, 't_passed': [1.0, 0.0]}, NONE, {'m_tested': 2, 'm_test_round': 3}),
    (STANDS, (JOINT_BLOCKED, -1), {}), ({**STANDS, 'm_motors_moved': 1}, (JOINT_BLOCKED, 0), {}),
    ({**STANDS, 't_passed': [1.0, 0.0], 'm_motors_moved': 1}, (JOINT_BLOCKED, 1), {})])
def test_what_an_effort_shows(given, fault, expected):
    played(lambda c: motor_test.find_fault(c, 0), given, fault, expected)


FRICTION = np.zeros((13, 2))
FRICTION[2], FRICTION[5], FRICTION[9], FRICTION[12] = 0.25, [0.5, 0.125], 0.5, 0.0625


def add_efforts(c):
    """Return whether the test is over, and both efforts."""
    tau = np.array([2.0, 3.0])
    return motor_test.add_efforts(c, FRICTION * (c.controller.test_effort != 0.0), DT, tau), *tau


HOLDS = {'m_test_time': 0.12, 'm_window_time': 0.0, 'o_external': [-1.0, 5.0],
         't_held': [0.5, 0.0], 's_motor_test_effort': 0.1, 't_test_pose': 0.25}


@pytest.mark.parametrize(('external', 'held'), [
    (0.5, 0.0), (-0.5, 0.0), (1.25, -0.6875), (-1.25, 0.6875), (9.0, -1.5)])
def test_more_than_the_known_friction_is_compensated(external, held):
    """Of the second joint: 0.25 + 0.0625 N·m, and half of gravity."""
    left = np.exp(-0.3)
    played(lambda c: motor_test.add_efforts(c, FRICTION, DT, np.zeros(2)), {
        **HOLDS, 'o_external': [0.0, external], 'v_gravity': [0.0, -0.5], 't_held': 0.25}, False,
        {'t_held': [left * 0.25, left * 0.25 + (1.0 - left) * held]})


SHARE = 1.0 - exp(-0.3)     # of the compensation in a step, at 30 /s
NOW = {**HOLDS, 'm_test_time': 0.25, 'm_window_time': 0.15, 'v_q': 0.25, 'o_external': 0.0,
       't_held': 0.0, 'j_position_upper': 5.0}      # in the middle is 1 rad
GROWS = {**HOLDS, 'm_test_effort': 0.5, 'm_test_side': 1, 'm_test_time': 0.125, 't_held': 0.0,
         'v_gravity': [-2.0, 4.0]}
MOST = 1.0 + 0.5 + 0.5 * 2.0 + 0.0625
LEFT = 1.0 - exp(-0.01 / 0.12)


@pytest.mark.parametrize(('given', 'result', 'expected'), [
    # After the last joint, too, the arm rests first
    ({**NOW, 'm_tested': 2}, (True, 2.0, 3.0), {'m_awaiting': 0}),
    ({**NOW, 'm_tested': 2, 'm_test_time': 0.25 - DT}, (False, 2.0, 3.0), {}),
    ({**HOLDS, 'i_awaited': 1}, (False, 2.5 + 0.5 * SHARE, 3.0 - 1.5 * SHARE), {'m_awaiting': 1}),
    # The external effort is compensated, within 1.5 N·m
    (HOLDS, (False, 2.5 + 0.5 * SHARE, 3.0 - 1.5 * SHARE), {
        'm_test_time': 0.13, 'm_window_time': 0.01, 'm_test_effort': 0.0, 't_test_pose': 0.25}),
    ({**HOLDS, 'o_external': [-5.0, 1.0], 't_held': 0.0},
     (False, 2.0 + 1.5 * SHARE, 3.0 - SHARE), {}),
    ({**HOLDS, 'm_test_time': 0.09}, (False, 2.5, 3.0), {}),
    ({**HOLDS, 'm_test_time': 0.1 - DT}, (False, 2.5, 3.0), {}),
    ({**HOLDS, 'm_test_time': 0.1}, (False, 2.5 + 0.5 * SHARE, 3.0 - 1.5 * SHARE), {}),
    ({**HOLDS, 's_loop_delay': 0.02}, (False, 3.0 - 0.5 * exp(-0.15), 1.5 + 1.5 * exp(-0.15)), {}),
    ({**HOLDS, 'm_window_time': 0.19}, (False, 3.0 - 0.5 * exp(-0.1), 1.5 + 1.5 * exp(-0.1)), {}),
    # After a window of rest an effort begins, away from the nearer limit
    (NOW, (False, 2.001, 3.0), {'m_test_effort': 1e-3, 'm_test_side': 1, 'm_test_time': 0.0,
                                'm_window_time': 0.0}),
    ({**NOW, 'v_q': 1.0, 't_test_pose': 1.0}, (False, 1.999, 3.0), {
        'm_test_effort': -1e-3, 'm_test_side': -1}),
    ({**NOW, 'v_q': 0.999, 't_test_pose': 0.999}, (False, 2.001, 3.0), {}),
    ({**NOW, 'v_q': 1.25, 't_test_pose': 1.25}, (False, 1.999, 3.0), {}),
    ({**NOW, 'v_q': 1.25, 't_test_pose': 1.25, 'm_test_round': 1}, (False, 2.001, 3.0), {}),
    ({**NOW, 'm_test_round': 1}, (False, 1.999, 3.0), {'m_test_side': -1}),
    ({**NOW, 'm_test_round': 2}, (False, 2.001, 3.0), {}),
    ({**NOW, 'm_tested': 1, 'v_q': [0.25, 1.25], 't_test_pose': [0.25, 1.25]},
     (False, 2.0, 2.999), {'m_test_effort': -1e-3}),
    ({**NOW, 'm_test_time': 0.25 - DT}, (False, 2.0, 3.0), {'m_test_effort': 0.0,
                                                            'm_window_time': 0.16}),
    ({**NOW, 'm_window_time': 0.13}, (False, 2.0, 3.0), {'m_test_effort': 0.0}),
    ({**NOW, 't_test_pose': 0.2}, (False, 2.0, 3.0), {'m_test_effort': 0.0, 'm_window_time': 0.0,
                                                      't_test_pose': 0.25}),
    # It grows up to a tenth of the limit beyond friction, and is kept there for some time
    (GROWS, (False, 2.0 + 0.5 * exp(0.25), 3.0), {
        'm_test_effort': 0.5 * exp(0.25), 'm_test_time': 0.125, 'm_window_time': 0.0,
        't_test_pose': 0.25 - LEFT * 0.25}),
    ({**GROWS, 't_held': [0.25, 0.5]}, (False, 2.25 + 0.5 * exp(0.25), 3.5), {
        't_held': [0.25, 0.5]}),
    ({**GROWS, 'm_test_side': -1, 'm_test_effort': -0.5}, (False, 2.0 - 0.5 * exp(0.25), 3.0), {}),
    ({**GROWS, 'm_test_effort': 2.5}, (False, 2.0 + MOST, 3.0), {'m_test_time': 0.135}),
    ({**GROWS, 'm_test_side': -1, 'm_test_effort': -2.5}, (False, 2.0 - MOST, 3.0), {
        'm_test_time': 0.135}),
    ({**GROWS, 'm_tested': 1, 'm_test_effort': 4.0}, (False, 2.0, 3.0 + 1.0 + 0.25 + 2.0 + 0.0625),
     {})])
def test_efforts_of_the_test(given, result, expected):
    played(add_efforts, given, result, expected)


@pytest.mark.parametrize(('effort', 'mobility'), [(0.0, [9.0, 9.0]), (1e-3, [2.0, 4.0])])
def test_mobility_of_the_joints(monkeypatch, effort, mobility):
    def solve(robot, work, x):
        x[:] = [[2.0, -1.0], [-1.0, 4.0]] @ x

    monkeypatch.setattr(motor_test, 'solve', solve)
    played(lambda c: motor_test.note_mobility(c, None), {
        'm_test_effort': effort, 't_mobility': 9.0, 'l_response': 5.0}, None,
        {'t_mobility': mobility})
