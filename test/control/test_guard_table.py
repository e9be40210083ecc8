# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Each condition of the guard, on both sides of its bounds, without a cycle around it."""

from math import inf, nan

from control.one_cycle import played
import pytest
from robodyn_ros.control.laws import registry
from robodyn_ros.control.steps import guard
from robodyn_ros.control.steps.guard import FAULT, INACTIVE, RISING, RUNNING, STOPPING
from robodyn_ros.control.steps.velocity_estimator import VELOCITY_OR_FAULT

NONE = (guard.NO_REASON, -1)
NOW = 10.0      # s
DRIVES = {'m_phase': RUNNING, 'v_qd': [0.25, 0.5], 'v_published': [4.0, -5.0]}
STALE = {**DRIVES, 'v_qd': 0.0, 'v_published': 0.0}
OFF = [guard.WRONG_DIRECTION, guard.OTHER_JOINT_MOVES]


@pytest.mark.parametrize(('reason', 'given', 'expected'), [
    # The efforts go on; those of joint 1, which it drives, fade for 40 ms and the delay
    (guard.COLLISION, DRIVES, {
        'm_phase': FAULT, 'm_reason': guard.COLLISION, 'm_joint': 1, 'm_since': NOW,
        'm_following': 0, 'm_faults': 1, 'm_fading_end': NOW + 0.044, 'm_without_state': 0,
        'm_fault_speed': 0.25, 'm_disobeyed': 0, 'v_tau_residual': [4.0, -5.0]}),
    (guard.COLLISION, {**DRIVES, 'm_following': 1, 'm_disobeyed': 3, 'm_faults': 4}, {
        'm_following': 0, 'm_disobeyed': 0, 'm_faults': 5}),
    (guard.COLLISION, {**DRIVES, 'm_phase': RISING, 'm_disobeyed': 3}, {'m_disobeyed': 3}),
    (guard.COLLISION, {**DRIVES, 'm_reason': guard.PUSHED, 'm_joint': 0}, {
        'm_reason': guard.PUSHED, 'm_joint': 0, 'm_faults': 1}),
    (guard.COLLISION, {**DRIVES, 'v_published': [1.0, 3.0]}, {'m_fading_end': NOW + 0.034}),
    (guard.COLLISION, {**DRIVES, 'v_published': [3.0, 1.0]}, {'m_fading_end': NOW + 0.034}),
    (guard.COLLISION, {**DRIVES, 'v_published': [20.0, 0.0]}, {'m_fading_end': NOW + 0.104}),
    (guard.COLLISION, {**DRIVES, 'v_published': [0.0, -9.0]}, {'m_fading_end': NOW}),
    (guard.COLLISION, {**DRIVES, 'v_published': [20.0, 0.0], 's_fault_hold_time': 0.1},
     {'m_fading_end': NOW + 0.05}),
    (guard.COLLISION, {**DRIVES, 'v_qd': 0.0}, {'m_fading_end': NOW, 'm_fault_speed': 0.0}),
    *((reason, DRIVES, {'m_fading_end': NOW, 'm_without_state': 0}) for reason in OFF),
    # Without a state: at rest the last pose is held, in motion nothing is
    *((reason, STALE, {'m_without_state': 1, 'm_since': NOW}) for reason in (
        guard.STALE_STATE, guard.TWO_STATE_PUBLISHERS, guard.STATE_INCONSISTENT)),
    *((reason, DRIVES, {'m_without_state': 1, 'm_since': -inf}) for reason in (
        guard.STALE_STATE, guard.TWO_STATE_PUBLISHERS, guard.STATE_INCONSISTENT)),
    (guard.CLOCK_STOPPED, STALE, {'m_without_state': 1, 'm_since': -inf})])
def test_a_fault_that_is_latched(reason, given, expected):
    played(lambda c: guard.fault(c, reason, 1, NOW), given, None, expected)


@pytest.mark.parametrize(('given', 'rests'), [
    ({}, True), ({'v_qd': [0.0199, -0.0199]}, True), ({'v_qd': [0.0, 0.02]}, False),
    ({'v_qd': [0.0, -0.02]}, False), ({'v_qd': [nan, 0.0]}, False),
    ({'v_speed_limit': 0.125, 'v_qd': 0.0124}, True),
    ({'v_speed_limit': 0.125, 'v_qd': 0.0125}, False),
    ({'v_qd': 0.049, 'n_variance': 1e-4}, True), ({'v_qd': -0.051, 'n_variance': 1e-4}, False),
    ({'v_qd': 0.049, 'n_variance': 1e-4, 'n_slow_velocity': [0.0, -0.02]}, False),
    ({'v_qd': 0.169, 'n_variance': 1.0}, True), ({'v_qd': 0.171, 'n_variance': 1.0}, False),
    ({'p_contradiction': 1.0}, True), ({'p_contradiction': [0.0, 1.01]}, False)])
def test_rest_of_the_arm(given, rests):
    played(lambda c: guard.at_rest(c.vectors, 0.02), given, rests, {})


@pytest.mark.parametrize(('received', 'other', 'fault'), [
    ([9.5, 9.75], nan, NONE), ([9.75, 9.25], nan, (guard.STALE_STATE, 1)),
    ([nan, 10.0], nan, (guard.NO_STATE, 0)), (10.0, [nan, 9.5], (guard.TWO_STATE_PUBLISHERS, 1)),
    (10.0, [9.25, 10.0], (guard.TWO_STATE_PUBLISHERS, 1)), (10.0, 9.25, NONE),
    (nan, 10.0, (guard.TWO_STATE_PUBLISHERS, 0))])
def test_joint_states_that_must_not_be_used(received, other, fault):
    """Those of 0.5 s ago are young enough here."""
    played(lambda c: guard.state_fault(c.state, NOW, 0.5),
           {'x_received': received, 'x_other': other}, fault, {})


@pytest.mark.parametrize(('given', 'elapsed', 'stalled'), [
    ({'i_stalled': 0.05}, 0.0, False), ({'i_stalled': 0.051}, 0.0, True), ({}, 0.05, False),
    ({}, 0.051, True), ({'i_simulated_time': 1}, 9.0, False),
    ({'i_simulated_time': 1, 'i_stalled': 0.051}, 0.06, True),
    ({'i_simulated_time': 1, 'i_stalled': 0.06}, 0.05, False), ({'i_stalled': 0.06}, 0.01, True)])
def test_stalls_of_the_loop(given, elapsed, stalled):
    played(lambda c: guard.loop_stalled(c.cycle_input, c.settings, elapsed), given, stalled, {})


@pytest.mark.parametrize(('action', 'publishing'), [
    (guard.STALL_SILENCE, 0), (guard.STALL_ZERO, 1)])
def test_efforts_of_a_fault_after_a_stall(action, publishing):
    played(lambda c: guard.end_fault_efforts(c.controller, c.settings),
           {'s_stall_action': action, 'm_since': NOW}, None,
           {'m_since': -inf, 'm_publishing': publishing})


@pytest.mark.parametrize(('given', 'unmeasured', 'fault'), [
    ({}, -1, NONE), ({'s_missing_velocity': VELOCITY_OR_FAULT}, -1, NONE),
    ({'s_missing_velocity': VELOCITY_OR_FAULT}, 0, (guard.NO_VELOCITY, 0)),
    ({'s_missing_velocity': VELOCITY_OR_FAULT}, 1, (guard.NO_VELOCITY, 1)),
    ({'s_missing_velocity': VELOCITY_OR_FAULT + 1}, 1, NONE),
    ({'m_missed': 100.0, 's_missed_limit': 100}, -1, NONE),
    ({'m_missed': 100.5, 's_missed_limit': 100}, -1, (guard.PERIODS_MISSED, -1)),
    ({'i_clock_stopped': 0.05}, -1, NONE),
    ({'i_clock_stopped': 0.051}, -1, (guard.CLOCK_STOPPED, -1)),
    ({'i_stop_reason': guard.HEARTBEAT_LOST}, -1, (guard.HEARTBEAT_LOST, -1)),
    ({'i_command_publishers': 1}, -1, NONE),
    ({'i_command_publishers': 2}, -1, (guard.OTHER_COMMANDS, -1)),
    ({'m_saturation_time': 2.0, 's_saturation_timeout': 2.0}, -1, NONE),
    ({'m_saturation_time': 2.1, 's_saturation_timeout': 2.0, 'm_saturated_joint': 1}, -1,
     (guard.EFFORT_LIMITED, 1))])
def test_faults_of_an_arm_that_is_driven(given, unmeasured, fault):
    played(lambda c: guard.running_fault(c, unmeasured), given, fault, {})


def test_faults_that_end_a_stop():
    """Of all reasons, those that make braking itself dangerous."""
    ends = {'NO_STATE', 'STALE_STATE', 'TWO_STATE_PUBLISHERS', 'STATE_INCONSISTENT',
            'VELOCITY_ABOVE_LIMIT', 'CLOCK_STOPPED', 'LOOP_STALLED', 'EFFORT_NOT_FINITE'}
    for reason, name in enumerate(guard.CODES):
        assert guard.stopping_fault(reason, 1) == ((reason, 1) if name in ends else NONE), name


@pytest.mark.parametrize(('before', 'missed', 'after'), [
    (0.0, 0, 0.0), (5.0, 0, 4.9), (5.0, 3, 7.9), (0.05, 0, 0.0)])
def test_missed_periods_are_counted_and_forgiven(before, missed, after):
    played(lambda c: guard.count_missed(c.controller, missed), {'m_missed': before}, None,
           {'m_missed': after})


MAY = {'s_arming_velocity': 0.05, 'v_q': 0.5, 'v_gravity': 2.0}


@pytest.mark.parametrize(('given', 'unmeasured', 'refusal'), [
    ({}, -1, NONE), ({'i_stop_reason': guard.EMERGENCY_STOP}, -1, (guard.EMERGENCY_STOP, -1)),
    ({'i_listeners': 0}, -1, (guard.NOBODY_LISTENS, -1)), ({'i_listeners': -1}, -1, NONE),
    ({'i_command_publishers': 1}, -1, NONE),
    ({'i_command_publishers': 2}, -1, (guard.OTHER_COMMANDS, -1)),
    ({'m_gravity_by_robot': 1}, -1, (guard.GRAVITY_CONTRADICTED, -1)),
    ({'s_robot_compensates_gravity': 1}, -1, (guard.GRAVITY_CONTRADICTED, -1)),
    ({'m_gravity_by_robot': 1, 's_robot_compensates_gravity': 1}, -1, NONE),
    ({'s_missing_velocity': VELOCITY_OR_FAULT}, 0, (guard.NO_VELOCITY, 0)),
    ({'s_missing_velocity': VELOCITY_OR_FAULT}, -1, NONE),
    ({'s_missing_velocity': VELOCITY_OR_FAULT + 1}, 1, NONE),
    ({'v_q': 0.0}, -1, (guard.ZERO_STATE, -1)), ({'v_q': 0.0, 's_accept_zero_state': 1}, -1, NONE),
    ({'v_q': [0.0, 1e-9]}, -1, NONE), ({'v_q': 0.0, 'v_qd': [1e-9, 0.0]}, -1, NONE),
    ({'v_q': 0.0, 'v_qd': [0.0, -1e-9]}, -1, NONE), ({'v_q': [0.0, -1e-9]}, -1, NONE),
    ({'v_q': 0.0, 'v_measured': [nan, 2.0]}, -1, NONE),
    ({'v_qd': [0.05, -0.05]}, -1, NONE), ({'v_qd': [0.0, -0.051]}, -1, (guard.ARM_MOVES, 1)),
    ({'v_qd': [nan, 0.0]}, -1, (guard.ARM_MOVES, 0)),
    ({'v_q': [3.125, -3.125]}, -1, NONE), ({'v_q': [0.5, 3.126]}, -1, (guard.POSITION_OUTSIDE, 1)),
    ({'v_q': [-3.126, 0.5]}, -1, (guard.POSITION_OUTSIDE, 0)),
    ({'v_q': [nan, 0.5]}, -1, (guard.POSITION_OUTSIDE, 0)),
    ({'j_position_margin': inf, 'v_q': [3.0, -3.0]}, -1, NONE),
    ({'j_position_margin': inf, 'v_q': [3.0, -3.01]}, -1, (guard.POSITION_OUTSIDE, 1)),
    ({'j_position_margin': inf, 'v_q': [3.01, 3.0]}, -1, (guard.POSITION_OUTSIDE, 0)),
    ({'v_gravity': [10.0, -10.0]}, -1, NONE),
    ({'v_gravity': [1.0, -10.1]}, -1, (guard.GRAVITY_ABOVE_LIMIT, 1)),
    ({'v_gravity': [nan, 0.0]}, -1, (guard.GRAVITY_ABOVE_LIMIT, 0)),
    ({'v_measured': [3.0, 1.0]}, -1, NONE),
    ({'v_measured': [2.0, 3.01]}, -1, (guard.EFFORT_MISMATCH, 1)),
    ({'v_measured': [0.99, nan]}, -1, (guard.EFFORT_MISMATCH, 0))])
def test_refusals_to_arm(given, unmeasured, refusal):
    played(lambda c: guard.arming_refusal(c, unmeasured), {**MAY, **given}, refusal, {})


HELD = {'m_phase': FAULT, 'm_arming': 1}


@pytest.mark.parametrize(('request_', 'given', 'expected'), [
    (guard.NO_REQUEST, {'m_arming': 1}, {'m_arming': 1, 'm_request': 0}),
    *((guard.ARM, {'m_phase': phase, 'm_good_samples': 5, 'm_arming_refusal': 9}, {
        'm_arming': 1, 'm_good_samples': 0, 'm_arming_refusal': guard.NO_STATE,
        'm_arming_refusal_joint': -1}) for phase in (INACTIVE, FAULT)),
    *((guard.ARM, {'m_phase': phase, 'm_good_samples': 5}, {'m_arming': 0, 'm_good_samples': 5})
      for phase in (RISING, RUNNING, STOPPING)),
    (guard.DISARM, {'m_arming': 1}, {'m_arming': 0, 'm_phase': INACTIVE}),
    (guard.DISARM, {'m_arming': 1, 'm_phase': RUNNING}, {'m_arming': 0, 'm_phase': RUNNING}),
    *((guard.STOP, {'m_phase': phase, 'm_arming': 1}, {
        'm_arming': 0, 'm_phase': STOPPING, 'm_since': NOW}) for phase in (RISING, RUNNING)),
    *((guard.STOP, {'m_phase': phase, 'm_arming': 1}, {
        'm_arming': 0, 'm_phase': phase, 'm_since': 0.0}) for phase in (INACTIVE, STOPPING)),
    (guard.STOP, HELD, {'m_phase': STOPPING, 'm_arming': 0, 'm_since': NOW}),
    *((guard.STOP, {**HELD, **given}, {'m_phase': FAULT, 'm_arming': 0}) for given in (
        {'m_without_state': 1}, {'m_publishing': 0}, *({'m_reason': reason} for reason in OFF)))])
def test_requests(request_, given, expected):
    played(lambda c: guard.take_request(c.cycle_input, c.controller, NOW),
           {**given, 'i_request': request_}, None,
           {'i_request': guard.NO_REQUEST, 'm_request': request_, **expected})


GOOD = {'s_arming_samples': 3, 'm_good_samples': 2, 'm_arming': 1, 'm_publishing': 0,
        'm_reason': 5, 'm_joint': 1, 'm_without_state': 1, 'm_following': 1, 'm_missed': 3.0,
        'm_saturation_time': 1.0, 'm_coupled': 1, 'v_measured': [3.0, -4.0],
        'v_tau_gravity': [2.0, -1.0]}
ARMED = {'m_phase': RISING, 'm_since': NOW, 'm_arming': 0, 'm_reason': 0, 'm_joint': -1,
         'm_without_state': 0, 'm_following': 0, 'm_missed': 0.0, 'm_saturation_time': 0.0,
         'm_coupled': 0, 'm_good_samples': 3, 'm_spring': 0.0, 'm_arming_refusal_joint': -1}
FROM_LAST = {'v_tau_rising': [7.0, 8.0], 'v_published': [5.0, 9.0], 'v_tau_residual': [5.0, 9.0]}


@pytest.mark.parametrize(('refusal', 'fresh', 'given', 'expected'), [
    (NONE, 1, {}, {**ARMED, 'v_tau_rising': [3.0, -4.0], 'v_published': [1.0, -3.0],
                   'v_tau_residual': [1.0, -3.0]}),
    ((guard.ARM_MOVES, 1), 1, {}, {'m_good_samples': 0, 'm_phase': INACTIVE, 'm_arming': 1,
                                   'm_arming_refusal': guard.ARM_MOVES,
                                   'm_arming_refusal_joint': 1}),
    (NONE, 0, {}, {'m_good_samples': 2, 'm_phase': INACTIVE, 'm_arming': 1, 'm_coupled': 1}),
    (NONE, 1, {'m_good_samples': 1}, {'m_good_samples': 2, 'm_phase': INACTIVE}),
    *((NONE, 1, given, {**ARMED, **FROM_LAST}) for given in (
        {'v_measured': nan}, {'m_gravity_by_robot': 1}, {'m_publishing': 1},
        {'m_publishing': 1, 'i_spring': 1})),
    (NONE, 1, {'v_measured': [12.0, -13.0]}, {'v_tau_rising': [10.0, -10.0]}),
    # Drives that hold the arm by themselves, and begin now
    (NONE, 1, {'i_spring': 1}, {**ARMED, 'm_spring': 1.0, 'v_tau_rising': 0.0,
                                'v_published': [-2.0, 1.0]})])
def test_samples_that_are_good_for_arming(refusal, fresh, given, expected):
    """The efforts begin with those measured, or with the last message."""
    played(lambda c: guard.arm(c, *refusal, fresh, NOW, [7.0, 8.0]), {**GOOD, **given}, None,
           expected)


def test_the_law_to_which_the_cycle_falls_back():
    assert registry.MODES[guard.GRAVITY_COMPENSATION] == 'gravity_compensation'
