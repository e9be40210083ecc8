# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Efforts of an arm that rises, stops, or has a fault, without a cycle around them."""

from math import inf, nan

from control.one_cycle import played
import numpy as np
import pytest
from robodyn_ros.control.steps import guard, phase_efforts
from robodyn_ros.control.steps.guard import FAULT_HOLD, FAULT_RAMP

NOW, DT = 10.0, 0.125       # s


def efforts(function, *arguments):
    """Return a function of a cycle: what the step returns, and both efforts."""
    def play(c):
        tau = np.array([9.0, 9.0])
        return function(c, *arguments, tau), *tau
    return play


@pytest.mark.parametrize(('given', 'result', 'expected'), [
    # 10 N·m a step of 0.1 s, less damping 10 /s
    ({'v_tau_gravity': [8.0, -3.0]}, (True, 8.0, -3.0), {'v_tau_rising': [8.0, -3.0]}),
    ({'v_tau_gravity': [8.0, -3.0], 'v_momentum': [0.5, 0.25]}, (True, 3.0, -5.5), {}),
    ({'v_tau_gravity': [10.0, -10.0]}, (True, 10.0, -10.0), {}),
    ({'v_tau_gravity': [10.5, 1.0]}, (False, 10.0, 1.0), {'v_tau_rising': [10.0, 1.0]}),
    ({'v_tau_gravity': [1.0, -20.0], 'v_tau_rising': [0.0, -2.0]}, (False, 1.0, -12.0), {}),
    ({'v_tau_gravity': [8.0, -3.0], 'v_tau_rising': [7.0, -1.0]}, (True, 8.0, -3.0), {}),
    ({'v_tau_gravity': [8.0, -3.0], 'v_tau_rising': [7.5, -2.5], 'j_effort_rate_limit': 1.0},
     (False, 7.6, -2.6), {}),
    # While the spring of the drives fades, the rest of g(q)
    ({'v_tau_gravity': [8.0, -4.0], 'm_spring': 0.75}, (False, 2.0, -1.0), {'m_spring': 0.65}),
    ({'v_tau_gravity': [80.0, -4.0], 'm_spring': 0.75}, (False, 10.0, -1.0), {'m_spring': 0.75}),
    ({'v_tau_gravity': [8.0, -4.0], 'm_spring': 0.05}, (False, 7.6, -3.8), {'m_spring': 0.0})])
def test_rise(given, result, expected):
    played(efforts(phase_efforts.rising_efforts, 0.1), given, result, expected)


# Three quarters of a second after the fault, which is half of the ramp; 10 /s damp
HALF = {'m_since': 9.25, 'v_tau_gravity': [2.0, -4.0], 'v_momentum': [0.1, 0.2],
        'v_tau_residual': 1.0, 'v_published': [4.0, -2.0], 'm_phase': guard.FAULT,
        'm_reason': guard.PUSHED, 'v_qd': [0.01, 0.0]}
HALF_RAMPED = {'v_tau_residual': [0.0, 2.0], 'v_published': [2.0, 0.0], 'm_since': 9.25}
FULL = {**HALF, 'm_since': 9.75}
KEPT = {'v_tau_residual': 1.0, 'v_published': [4.0, -2.0], 'm_since': 9.75, 'm_without_state': 0}
ENDED = (False, 0.0, 0.0)
FAST = {'v_qd': [2.5, 0.0], 'm_fault_speed': 1.0}     # 1.25 of the limit
COLLIDED = {**FULL, 'm_reason': guard.COLLISION}


@pytest.mark.parametrize(('given', 'trusted', 'result', 'expected'), [
    (HALF, True, (True, 0.5, -3.0), HALF_RAMPED),
    (FULL, True, (True, 1.0, -6.0), KEPT),
    ({**HALF, 'm_since': 9.0}, True, ENDED, {'v_tau_residual': 1.0, 'v_published': [4.0, -2.0]}),
    ({**HALF, 'm_publishing': 0}, True, ENDED, {'m_since': -inf}),
    ({**HALF, 'm_publishing': 0}, False, ENDED, {'m_since': -inf, 'm_without_state': 0}),
    # The state is lost: the last pose at rest, nothing in motion
    (HALF, False, (True, 1.0, -2.0), {'m_without_state': 1, 'm_since': 9.25}),
    ({**HALF, 'v_qd': [0.0, 0.5]}, False, ENDED, {'m_without_state': 1, 'm_since': -inf}),
    ({**HALF, 's_fault_action': FAULT_HOLD}, False, (True, 2.0, -4.0),
     {'m_without_state': 1, 'm_since': NOW}),
    ({**HALF, 'm_without_state': 1}, False, (True, 1.0, -2.0), {'m_since': 9.25}),
    ({**HALF, 'm_without_state': 1, 'v_qd': [0.0, 0.5]}, False, (True, 1.0, -2.0), {}),
    ({**HALF, 'm_without_state': 1, 's_fault_action': FAULT_HOLD}, True, (True, 1.0, -2.0), {}),
    # Held
    ({**HALF, 's_fault_action': FAULT_HOLD}, True, (True, 1.0, -6.0), {'m_since': NOW}),
    ({**HALF, 'm_reason': guard.PARTNER_LOST}, True, (True, 1.0, -6.0), {'m_since': NOW}),
    ({**HALF, 's_fault_action': FAULT_HOLD, 'm_publishing': 0}, True, ENDED, {'m_since': -inf}),
    # The fastest speed is noted while efforts of the law fade
    ({**FULL, 'm_fading_end': 10.1, 'v_qd': [0.0, -0.5]}, True, (True, 1.0, -6.0),
     {'m_fault_speed': 0.25}),
    ({**FULL, 'm_fading_end': 10.1, 'v_qd': [0.0, 3.0]}, True, (True, 1.0, -6.0),
     {'m_fault_speed': 1.4, 'm_without_state': 0}),
    ({**FULL, 'm_fading_end': 10.1, 'v_qd': [0.0, 8.0], 'm_fault_speed': 1.4}, True, ENDED, {}),
    ({**FULL, 'm_fading_end': 10.0, 'v_qd': [0.0, 0.5]}, True, (True, 1.0, -6.0),
     {'m_fault_speed': 0.0}),
    ({**FULL, 'm_fading_end': 10.1, 'v_qd': [0.0, 0.5], 'm_without_state': 1}, True,
     (True, 2.0, -4.0), {'m_fault_speed': 0.0}),
    # An arm that becomes faster by them, while they do not ramp down
    ({**FULL, **FAST}, True, ENDED, {'m_without_state': 1, 'm_since': -inf}),
    ({**HALF, **FAST}, True, (True, 0.5, -3.0), {'m_without_state': 0}),
    ({**FULL, **FAST, 'm_without_state': 1}, True, (True, 2.0, -4.0), {'m_since': 9.75}),
    # Motors that drive it, once efforts of the law have faded
    ({**FULL, 'm_disobeyed': 3}, True, ENDED, {'m_without_state': 1, 'm_since': -inf}),
    ({**FULL, 'm_disobeyed': 2}, True, (True, 1.0, -6.0), {}),
    ({**FULL, 'm_disobeyed': 3, 'm_fading_end': NOW}, True, ENDED, {}),
    ({**FULL, 'm_disobeyed': 3, 'm_fading_end': 10.1}, True, (True, 1.0, -6.0), {}),
    ({**FULL, 'm_disobeyed': 3, 'm_without_state': 1}, True, (True, 2.0, -4.0), {}),
    *(({**FULL, 'm_disobeyed': 3, 'm_fading_end': 10.1, 'm_reason': reason}, True, ENDED, {})
      for reason in (guard.COLLISION, guard.VELOCITY_ABOVE_LIMIT)),
    # A light wrist recoils: gravity alone, for 50 ms
    ({**COLLIDED, **FAST}, True, (True, 2.0, -4.0), {
        'm_unbraked': DT, 'm_fault_speed': 1.25, 'm_without_state': 0}),
    (COLLIDED, True, (True, 1.0, -6.0), {'m_unbraked': 0.0}),
    ({**COLLIDED, 'm_unbraked': 0.03}, True, (True, 2.0, -4.0), {'m_unbraked': 0.155}),
    ({**COLLIDED, **FAST, 'm_unbraked': 0.05}, True, ENDED, {'m_unbraked': 0.05}),
    ({**COLLIDED, **FAST, 'm_without_state': 1}, True, (True, 2.0, -4.0), {'m_unbraked': 0.0}),
    # An arm without brakes is lowered from the end of the hold time on, in place of the ramp
    ({**HALF, 's_lower_to_rest': 1, 'm_support': 0.75, 'v_qd': 0.35}, True, (True, 0.5, -5.0),
     {'m_descent': DT, 'm_since': 9.25, 'v_tau_residual': 1.0}),
    ({**FULL, 's_lower_to_rest': 1, 'm_support': 0.75}, True, (True, 1.0, -6.0),
     {'m_descent': 0.0}),
    ({**HALF, 'm_since': 9.5, 's_lower_to_rest': 1, 'm_support': 0.75, 'v_qd': 0.35}, True,
     (True, 0.5, -5.0), {'m_descent': DT}),
    ({**HALF, 's_lower_to_rest': 1, 'm_gravity_by_robot': 1}, True, (True, 0.5, -3.0), {}),
    ({**HALF, 's_lower_to_rest': 1, 'm_without_state': 1}, True, (True, 1.0, -2.0), {}),
    ({**HALF, 's_lower_to_rest': 1, 'm_publishing': 0}, True, ENDED, {'m_descent': 0.0}),
    ({**HALF, 's_lower_to_rest': 1, 'm_support': -1.0, 'm_lying': 2.0, 'v_momentum': 0.0}, True,
     ENDED, {'m_since': -inf}),
    ({**HALF, 's_lower_to_rest': 1, 'm_support': -1.0, 'm_lying': 0.5, 'v_qd': 0.0}, True,
     (True, -0.5, -1.0), {'m_lying': 0.5 + DT})])
def test_efforts_of_a_fault(given, trusted, result, expected):
    played(efforts(phase_efforts.fault_efforts, trusted, 0, NOW, DT), given, result, expected)


@pytest.mark.parametrize(('given', 'faster'), [
    ({'v_qd': [2.30, 0.0]}, False), ({'v_qd': [0.0, -2.31]}, True), ({'v_qd': [2.31, 0.0]}, True),
    ({'v_qd': [2.75, 0.0], 'm_fault_speed': 1.25}, False),
    ({'v_qd': [2.76, 0.0], 'm_fault_speed': 1.25}, True),
    *((given, fault) for joint, fault in ((0, True), (1, False)) for given in (
        {'v_qd': [1.01, 0.0], 'm_reason': guard.WRONG_DIRECTION, 'm_joint': joint,
         'm_other_joint': 1},
        {'v_qd': [1.01, 0.0], 'm_reason': guard.OTHER_JOINT_MOVES, 'm_other_joint': joint,
         'm_joint': 1})),
    ({'v_qd': [1.01, 0.0], 'm_reason': guard.COLLISION, 'm_joint': 0}, False),
    ({'v_qd': [1.00, 0.0], 'm_reason': guard.WRONG_DIRECTION}, False),
    ({'v_qd': [1.50, 0.0], 'm_reason': guard.WRONG_DIRECTION, 'm_fault_speed': 0.5}, False),
    ({'v_qd': [1.51, 0.0], 'm_reason': guard.WRONG_DIRECTION, 'm_fault_speed': 0.5}, True),
    ({'v_qd': nan}, False)])
def test_efforts_that_make_the_arm_faster(given, faster):
    played(lambda c: phase_efforts.accelerates_arm(c.vectors, c.controller), given, faster, {})


@pytest.mark.parametrize(('reason', 'unbraked', 'recoils'), [
    (guard.COLLISION, 0.0, False), (guard.COLLISION, 0.01, True), (guard.COLLISION, 1e-9, True),
    (guard.COLLISION, 0.05, False), (guard.COLLISION, 0.0499, True), (guard.PUSHED, 0.01, False)])
def test_efforts_of_an_arm_that_recoils(reason, unbraked, recoils):
    played(lambda c: phase_efforts.recoiling(c.controller),
           {'m_reason': reason, 'm_unbraked': unbraked}, recoils, {})


@pytest.mark.parametrize(('given', 'left'), [
    ({}, 0.25), ({'s_fault_action': FAULT_RAMP, 'm_reason': guard.PUSHED}, 0.25),
    ({'s_fault_action': FAULT_HOLD}, 1.0), ({'m_reason': guard.PARTNER_LOST}, 1.0),
    ({'s_lower_to_rest': 1}, 1.0), ({'s_lower_to_rest': 1, 'm_support': -0.75}, 0.25),
    ({'s_lower_to_rest': 1, 'm_gravity_by_robot': 1}, 0.25),
    ({'m_since': 9.75}, 1.0), ({'m_since': 9.25}, 0.5), ({'m_since': 8.0}, 0.0),
    ({'m_since': -inf}, 0.0)])
def test_share_that_is_left_of_the_efforts(given, left):
    """0.875 s after the fault, which are three quarters of the ramp."""
    played(lambda c: phase_efforts.remaining_share(c.settings, c.controller, NOW),
           {'m_since': 9.125, **given}, left, {})
