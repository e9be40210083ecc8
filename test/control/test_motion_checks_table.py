# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Each condition of the motion checks, on both sides of its bounds, without a cycle around it."""

from math import exp, inf, nan
from types import SimpleNamespace

from control.one_cycle import played
import numpy as np
import pytest
from robodyn_ros.control.steps import guard, motion_checks
from robodyn_ros.control.steps.guard import FOLLOWING_ERROR, JOINT_BLOCKED, WRONG_DIRECTION

NONE = (guard.NO_REASON, -1)
NOW, DT = 10.0, 0.001       # s
FOLLOWS = {'j_following_error': 0.5, 'm_following': 1, 'v_target': [0.0, 0.51]}
PUSHED = {'v_qd': 0.01, 'k_blocked': [0.0, 0.5]}       # almost at rest, for long
# The prediction of joint 1 and its effort, and what the joint does
AGAINST = {'k_gained': [-0.41, 0.0], 'k_predicted_gain': [0.41, 0.0],
           'v_tau_residual': [2.51, 0.0]}
GUIDED = {**AGAINST, 'm_guided': 1}
POWERFUL = {'s_power_limit': 5.0, 'v_qd': [0.5, 1.0], 'm_power_time': 0.0025}


def points(start, *times):
    """Return a trajectory that ends at the last of the times, after its start [s]."""
    return SimpleNamespace(times=np.array(times), header=[SimpleNamespace(start=start)])


def motion_fault(c):
    c.points = points(9.0, 0.0, 0.5, 1.5)
    return motion_checks.motion_fault(c, NOW, DT, np.array([4.0, 3.0]))


@pytest.mark.parametrize(('given', 'fault', 'expected'), [
    ({}, NONE, {'m_power_time': 0.0}),
    ({'v_q': [3.125, -3.125]}, NONE, {}), ({'v_q': [0.0, 3.126]}, (guard.POSITION_OUTSIDE, 1), {}),
    (FOLLOWS, (FOLLOWING_ERROR, 1), {}), ({**FOLLOWS, 'v_target': [0.5, -0.5]}, NONE, {}),
    ({**FOLLOWS, 'v_target': [0.5, 0.25], 'v_q': [0.5, -0.26]}, (FOLLOWING_ERROR, 1), {}),
    ({**FOLLOWS, 'm_following': 0}, NONE, {}), ({**FOLLOWS, 'm_following': 2}, NONE, {}),
    # Efforts beyond 3 N·m in addition to gravity, and no motion for 0.5 s
    ({**PUSHED, 'v_published': [0.0, -3.01]}, (JOINT_BLOCKED, 1), {'k_blocked': [0.0, 0.501]}),
    ({**PUSHED, 'v_published': 3.0}, NONE, {'k_blocked': 0.0}),
    ({**PUSHED, 'v_published': 3.01, 'v_qd': 0.02}, NONE, {'k_blocked': 0.0}),
    ({**PUSHED, 'v_published': 3.01, 'v_qd': -0.02}, NONE, {'k_blocked': 0.0}),
    ({**PUSHED, 'v_published': 3.01, 'v_qd': [-0.019, 0.021]}, NONE, {'k_blocked': [0.001, 0.0]}),
    ({**PUSHED, 'v_published': 3.01, 'v_speed_limit': 0.05}, NONE, {'k_blocked': 0.0}),
    ({**PUSHED, 'v_published': 3.01, 'v_speed_limit': 0.15, 'k_blocked': 0.25}, NONE,
     {'k_blocked': 0.251}),
    ({**PUSHED, 'v_published': 3.01, 'k_blocked': 0.499}, NONE, {'k_blocked': 0.5}),
    (AGAINST, (WRONG_DIRECTION, 0), {}),
    ({'k_swings': [0.0, 4.0]}, NONE, {}),
    ({'k_swings': [0.0, 4.1]}, (guard.EFFORT_OSCILLATES, 1), {}),
    # 4 N·m at 0.5 rad/s and 3 N·m at 1 rad/s are 5 W, for 3 ms at most
    (POWERFUL, NONE, {'m_power_time': 0.0}),
    ({**POWERFUL, 'v_gravity': [0.0, 0.5]}, (guard.POWER_ABOVE_LIMIT, -1), {
        'm_power_time': 0.0035}),
    ({**POWERFUL, 'v_gravity': 0.5, 'v_tau_gravity': 0.5}, NONE, {'m_power_time': 0.0}),
    ({**POWERFUL, 'v_qd': [0.5, 1.1], 'm_power_time': 0.0015}, NONE, {'m_power_time': 0.0025}),
    ({**POWERFUL, 'v_qd': [0.5, 1.1], 'm_power_time': 0.002}, NONE, {'m_power_time': 0.003})])
def test_motions_that_are_faults(given, fault, expected):
    played(motion_fault, given, fault, expected)


def test_checks_of_an_arm_that_begins_to_run():
    # All that it keeps: `turned` is of no effect while `limited` is 0
    names = ('m_power_time', *(f'k_{name}' for name in motion_checks.Memory._fields
                               if name != 'turned'))
    played(lambda c: motion_checks.begin(c.controller, c.vectors), dict.fromkeys(names, 7.0), None,
           dict.fromkeys(names, 0.0))


@pytest.mark.parametrize(('start', 'times', 'now', 'follows'), [
    (9.0, (0.0, 0.5, 1.5), 10.499, True), (9.0, (0.0, 0.5, 1.5), 10.5, False),
    (9.0, (0.0, 0.5, 1.5), 9.25, True), (9.0, (1.0, 0.5), 9.6, False)])
def test_trajectory_that_has_not_ended(start, times, now, follows):
    played(lambda c: motion_checks.under_way(points(start, *times), c.controller, now),
           {'m_following': 1}, follows, {})


@pytest.mark.parametrize(('given', 'wrong'), [
    *(({name: [sign * value for value in pair] for name, pair in AGAINST.items()}, True)
      for sign in (1.0, -1.0)),
    ({**AGAINST, 'v_speed_limit': 1.0, 'k_predicted_gain': [0.21, 0.0]}, True),
    ({**AGAINST, 'k_gained': [-0.4, 0.0]}, False), ({**AGAINST, 'k_gained': [0.41, 0.0]}, False),
    ({**AGAINST, 'k_predicted_gain': [0.4, 0.0]}, False),
    ({**AGAINST, 'v_tau_residual': [2.5, 0.0]}, False),
    ({**AGAINST, 'v_tau_residual': [-2.51, 0.0]}, False),
    ({**AGAINST, 'v_speed_limit': 2.1}, False),
    # Friction slows down a joint that moves along its effort
    ({**AGAINST, 'v_qd': [0.21, 0.0]}, False), ({**AGAINST, 'v_qd': [0.2, 0.0]}, True),
    ({**AGAINST, 'v_qd': [-0.21, 0.0]}, True),
    ({**AGAINST, 'v_qd': [0.11, 0.0], 'v_speed_limit': 1.0}, False),
    # A hand may have pushed it: it goes on at present
    (GUIDED, False), ({**GUIDED, 'k_recent_gain': [-0.011, 0.0]}, True),
    ({**GUIDED, 'k_recent_gain': [-0.01, 0.0]}, False),
    ({**GUIDED, 'k_recent_gain': [0.011, 0.0]}, False),
    ({**AGAINST, 'm_guided': 0, 'k_recent_gain': [0.011, 0.0]}, True)])
def test_joints_that_accelerate_against_their_effort(given, wrong):
    played(lambda c: motion_checks.wrong_direction(c.joints[0], c.controller, c.vectors, 0),
           given, wrong, {})


SUMS = {'k_gained': [1.0, 2.0], 'k_predicted_gain': [1.0, 2.0], 'k_recent_gain': [1.0, 2.0],
        'v_acceleration': [50.0, -50.0]}
LIMITED = {'k_limited': [1.0, 0.0], 'k_turned': [2.0, 0.0], 'k_swings': [1.0, 0.0]}


@pytest.mark.parametrize(('given', 'expected'), [
    # After 5 ms, of time constants of 0.1 s and 5 ms
    (SUMS, {'k_gained': [exp(-0.05), 2.0 * exp(-0.05)],
            'k_recent_gain': [exp(-1.0), 2.0 * exp(-1.0)],
            'k_predicted_gain': [exp(-0.05) + 0.25, 2.0 * exp(-0.05) - 0.25]}),
    # Friction prevents some of it
    ({**SUMS, 'l_explained': [40.0, -60.0]}, {
        'k_predicted_gain': [exp(-0.05) + 0.05, 2.0 * exp(-0.05) + 0.05]}),
    *(({**SUMS, 'v_acceleration': 0.0, 'l_push': [0.0, push]}, {
        'k_gained': [exp(-0.05), 0.0], 'k_predicted_gain': [exp(-0.05), 0.0],
        'k_recent_gain': [exp(-1.0), 0.0]}) for push in (1.1e-8, -1.1e-8)),
    ({**SUMS, 'l_push': 1e-8}, {'k_gained': [exp(-0.05), 2.0 * exp(-0.05)]}),
    # Ten reversals a second are forgiven, of an effort that is cut to -1 N·m
    (LIMITED, {'k_swings': [0.95, 0.0], 'k_limited': [1.0, 0.0]}),
    ({'k_swings': [0.04, 0.0]}, {'k_swings': 0.0}),
    ({**LIMITED, 'v_tau_gravity': 2.0, 'v_tau_residual': -3.0, 'v_requested': -1.5}, {
        'k_swings': [1.95, 0.0], 'k_limited': -1.0, 'k_turned': -1.0}),
    ({**LIMITED, 'v_tau_gravity': 2.0, 'v_tau_residual': -3.0, 'v_requested': -0.5}, {
        'k_swings': [0.95, 0.0], 'k_limited': 1.0, 'k_turned': [2.0, -1.0]}),
    ({**LIMITED, 'k_limited': [-1.0, 0.0], 'v_tau_gravity': 2.0, 'v_tau_residual': 1.0,
      'v_requested': 3.5}, {'k_swings': [1.95, 0.0], 'k_limited': 1.0, 'k_turned': 3.0}),
    # Swings of 0.5 N·m and less are none, and what is rounded is not cut
    ({**LIMITED, 'k_limited': -1.0, 'k_turned': [2.5, 2.49], 'v_tau_residual': 3.0,
      'v_requested': 4.0}, {'k_swings': [0.95, 1.0], 'k_turned': 3.0}),
    ({**LIMITED, 'k_limited': -1.0, 'v_requested': [1e-8, -1e-8]}, {
        'k_swings': [0.95, 0.0], 'k_limited': -1.0}),
    ({**LIMITED, 'k_limited': -1.0, 'v_requested': [1.1e-8, -1.1e-8]}, {
        'k_swings': [1.95, 0.0], 'k_limited': [1.0, -1.0]})])
def test_sums_of_the_checks(given, expected):
    played(lambda c: motion_checks.update(c.joints, c.vectors, 0.005), given, None, expected)


def test_no_number_is_no_fault_of_the_motion():
    """Efforts and velocities that are none are found elsewhere, and must not hide the others."""
    played(motion_fault, {'v_qd': [nan, 0.0], 'k_swings': [0.0, inf]},
           (guard.EFFORT_OSCILLATES, 1), {})
