# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Limits of efforts and joints, on both sides of their bounds, without a cycle around them."""

from math import exp, inf, nan
from types import SimpleNamespace

from control.one_cycle import played
import numpy as np
import pytest
from robodyn_ros.control.steps import limits

# M⁻¹ of an arm in which an effort on one joint accelerates the other one half as much, backward
INVERSE = np.array([[1.0, -0.5], [-0.5, 1.0]])
# Rows as in dynamics/friction.py, without friction of motors that turn with two joints
FRICTION = np.zeros((13, 2))
FRICTION[7] = 0.1
FRICTIONLESS = SimpleNamespace(friction=FRICTION)
RUBBING = SimpleNamespace(friction=FRICTION.copy())
RUBBING.friction[:10, 0] = 1.0, 0.5, 0.75, 0.5, 0.25, 1.0, 0.1, 0.1, 0.0, 0.125
DT = 0.01           # s: 1 N·m at the effort rate limit, 5 N·m for the joint limits


@pytest.fixture(autouse=True)
def simple_dynamics(monkeypatch):
    """Let the dynamics of any pose be those of INVERSE, without gravity."""
    def solve(robot, work, x):
        x[:] = INVERSE @ x

    def forward_dynamics(robot, q, qd, tau, work, out):
        out[:] = INVERSE @ tau

    monkeypatch.setattr(limits, 'solve', solve)
    monkeypatch.setattr(limits, 'forward_dynamics', forward_dynamics)


def changed(function, tau):
    """Return a function of a cycle: what the step returns, and both efforts afterwards."""
    def play(c):
        efforts = np.array(tau)
        return function(c, efforts), *efforts
    return play


CUT = {'m_saturation_time': 1.0, 'm_saturated': 3, 'm_rate_limited': 4, 'm_saturated_joint': 1}
NOT_COUNTED = {'m_saturation_time': 0.99, 'm_saturated': 3, 'm_rate_limited': 4,
               'm_saturated_joint': 1}
HELD = {'v_tau_residual': 9.5}      # almost all of the effort
LASTS = {'k_limited': [1.0, -1.0]}


@pytest.mark.parametrize(('tau', 'given', 'after', 'expected'), [
    ([0.5, -0.5], {}, [0.5, -0.5], NOT_COUNTED), ([1.0, -1.0], {}, [1.0, -1.0], NOT_COUNTED),
    ([0.5, 0.0], {'m_saturation_time': 0.005}, [0.5, 0.0], {'m_saturation_time': 0.0}),
    # By 1 N·m a step; counted where it has gone on in one direction, by more than 0.5 N·m
    ([1.5, -0.5], {}, [1.0, -0.5], {**NOT_COUNTED, 'm_rate_limited': 5}),
    ([0.5, -1.5], {}, [0.5, -1.0], {**NOT_COUNTED, 'm_rate_limited': 5}),
    ([1.5, 0.0], LASTS, [1.0, 0.0], {'m_saturation_time': 1.01, 'm_saturated_joint': 0}),
    ([1.5, 1.5], LASTS, [1.0, 1.0], {'m_saturation_time': 1.01, 'm_saturated_joint': 0}),
    ([1.5, 0.0], {'j_effort_rate_limit': 50.0}, [0.5, 0.0], {}),
    ([0.5, -1.5], LASTS, [0.5, -1.0], {'m_saturation_time': 1.01, 'm_saturated_joint': 1,
                                       'm_rate_limited': 5, 'm_saturated': 3}),
    ([-1.5, 1.5], LASTS, [-1.0, 1.0], {**NOT_COUNTED, 'm_rate_limited': 5}),
    ([1.5, 0.0], {**LASTS, 'k_turned': [0.5, 0.0]}, [1.0, 0.0], NOT_COUNTED | {
        'm_rate_limited': 5}),
    ([1.5, 0.0], {**LASTS, 'k_turned': [0.49, 0.0]}, [1.0, 0.0], {'m_saturation_time': 1.01}),
    ([0.0, -1.5], {**LASTS, 'k_turned': [0.0, -0.5]}, [0.0, -1.0], {'m_saturation_time': 0.99}),
    ([0.0, -1.5], {**LASTS, 'k_turned': [0.0, -0.49]}, [0.0, -1.0], {'m_saturation_time': 1.01}),
    ([5.5, 2.0], {**LASTS, 'v_tau_gravity': [2.0, 2.0], 'v_tau_residual': [2.0, 0.0],
                  'k_turned': [4.49, 0.0]}, [5.0, 2.0], {'m_saturation_time': 1.01}),
    ([5.5, 2.0], {**LASTS, 'v_tau_gravity': [2.0, 2.0], 'v_tau_residual': [2.0, 0.0],
                  'k_turned': [4.5, 0.0]}, [5.0, 2.0], {'m_saturation_time': 0.99}),
    # To 10 N·m with g(q), whether the robot adds it or not
    ([10.5, 9.5], HELD, [10.0, 9.5], {'m_saturation_time': 1.01, 'm_saturated_joint': 0,
                                      'm_saturated': 4, 'm_rate_limited': 4}),
    ([9.5, 10.5], HELD, [9.5, 10.0], {'m_saturated_joint': 1, 'm_saturated': 4}),
    ([-9.5, -10.5], {'v_tau_residual': -9.5}, [-9.5, -10.0], {'m_saturated_joint': 1}),
    ([0.75, -0.75], {'j_effort_limit': 0.5}, [0.5, -0.5], {}),
    ([10.0, -10.0], {'v_tau_residual': [9.5, -9.5]}, [10.0, -10.0], NOT_COUNTED),
    ([9.5, 0.0], {'v_tau_residual': [9.5, 0.0], 'v_gravity': [1.0, 0.0]}, [9.0, 0.0], {
        'm_saturated': 4}),
    ([10.5, 0.0], {'v_tau_residual': [9.0, 0.0], 'v_gravity': [1.0, 0.0],
                   'v_tau_gravity': [1.0, 0.0]}, [10.0, 0.0], {'m_saturated': 4}),
    ([-0.5, 0.0], {'v_gravity': [-9.6, 0.0]}, [-0.4, 0.0], {'m_saturated': 4}),
    ([0.5, 0.0], {'v_gravity': [9.6, 0.0]}, [0.4, 0.0], {'m_saturated': 4}),
    # Much beyond the limits, it counts with the square of the excess in 5 effort limits
    ([50.0, 0.0], {'v_tau_residual': [0.0, 0.0]}, [1.0, 0.0], {'m_saturation_time': 0.99}),
    ([51.0, 0.0], {}, [1.0, 0.0], {'m_saturation_time': 0.99, 'm_saturated_joint': 1}),
    ([51.1, 0.0], {}, [1.0, 0.0], {'m_saturation_time': 1.0 + 0.01 * 1.002**2,
                                   'm_saturated_joint': 0}),
    ([0.0, -101.0], {}, [0.0, -1.0], {'m_saturation_time': 1.04, 'm_saturated_joint': 1}),
    ([103.0, 0.0], {'v_tau_gravity': [2.0, 0.0]}, [3.0, 0.0], {'m_saturation_time': 1.04}),
    ([110.0, 0.0], {'v_tau_residual': [9.5, 0.0]}, [10.0, 0.0], {'m_saturation_time': 1.04}),
    # Joint 2 is limited in its rate, joint 1 saturated
    ([10.5, 51.5], {'v_tau_residual': [9.5, 0.0]}, [10.0, 1.0], {'m_saturated_joint': 1}),
    ([10.5, 2.0], {'v_tau_residual': [9.5, 0.0], **LASTS, 'k_limited': [0.0, 1.0]}, [10.0, 1.0],
     {'m_saturated_joint': 1})])
def test_effort_and_its_rate(tau, given, after, expected):
    played(changed(lambda c, tau: limits.limit_efforts(c, DT, tau), tau), {**CUT, **given},
           (nan, *after), expected)


@pytest.mark.parametrize(('tau', 'steps'), [
    ([0.0, 0.0], False), ([2.0, -2.0], False), ([2.1, 0.0], True), ([0.0, -2.1], True)])
def test_request_that_new_gains_change(tau, steps):
    played(lambda c: limits.steps(c.joints, c.vectors, np.array(tau) + 1.0), {'v_requested': 1.0},
           steps, {})


STATE = {'v_q': [1.0, -1.0], 'v_qd': [0.5, -0.25], 'p_accepted': 10.0, 'l_sample_time': 9.996,
         'l_sample_qd': [0.5, -0.25], 'l_pending_qd': [0.25, -0.125], 'l_disturbance': [3.0, 1.0],
         'l_push': [1.0, 2.0]}
LEFT, ACTED = exp(-1.0), 1.0 - exp(-1.0)       # after 4 ms, the delay
SHARE = 0.3                                     # of 1 - exp(-0.4)
FORGOTTEN = {'l_pending_qd': 0.0, 'l_disturbance': 0.0, 'l_push': 0.0, 'l_sample_time': 10.0,
             'l_sample_qd': [0.5, -0.25], 'l_predicted_qd': [0.5, -0.25], 'l_explained': 0.0,
             'l_predicted_q': [1.002, -1.001]}


def predicted(pending, disturbance, delay=0.004):
    """Return what is predicted of STATE [rad, rad/s]."""
    qd = np.array([0.5, -0.25]) + np.array(pending) + delay * np.array(disturbance)
    return {'l_pending_qd': pending, 'l_disturbance': disturbance, 'l_predicted_qd': qd,
            'l_predicted_q': [1.0, -1.0] + 0.5 * delay * (np.array([0.5, -0.25]) + qd),
            'l_sample_time': 10.0, 'l_sample_qd': [0.5, -0.25]}


@pytest.mark.parametrize(('given', 'expected'), [
    # What has acted without effect is a disturbance
    ({}, {**predicted([0.25 * LEFT, -0.125 * LEFT], [
        3.0 + SHARE * (-0.25 * ACTED / 0.004 - 3.0), 1.0 + SHARE * (0.125 * ACTED / 0.004 - 1.0)]),
        'l_push': [1.0, 2.0]}),
    ({'l_sample_time': 9.999}, predicted([0.25 * exp(-0.25), -0.125 * exp(-0.25)], [
        3.0 + (1.0 - exp(-0.1)) * (max(-160.0, -0.25 * (1.0 - exp(-0.25)) / 0.001) - 3.0),
        1.0 + (1.0 - exp(-0.1)) * (0.125 * (1.0 - exp(-0.25)) / 0.001 - 1.0)])),
    ({'l_pending_qd': 0.0, 'l_sample_qd': [0.4, -0.25]}, {'l_disturbance': [
        3.0 + SHARE * (25.0 - 3.0), 1.0 - SHARE]}),
    # At most the limit rate times the velocity limit
    ({'l_pending_qd': 0.0, 'l_sample_qd': [-0.5, 0.75]}, {'l_disturbance': [
        3.0 + SHARE * (160.0 - 3.0), 1.0 + SHARE * (-160.0 - 1.0)]}),
    # And what friction prevented
    ({'l_pending_qd': 0.0, 'l_sample_qd': [-0.5, 0.75], 'l_explained': [20.0, -30.0]}, {
        'l_disturbance': [3.0 + SHARE * (180.0 - 3.0), 1.0 + SHARE * (-190.0 - 1.0)]}),
    # Different joints have different samples, and late ones a longer delay
    ({'l_sample_time': [9.996, 9.992], 'l_sample_qd': [0.5, -0.25]}, {
        'l_pending_qd': [0.25 * LEFT, -0.125 * exp(-2.0)]}),
    ({'p_late': [0.0, 0.008]}, {'l_pending_qd': [0.25 * LEFT, -0.125 * exp(-0.5)]}),
    ({'s_loop_delay': 0.0, 'p_interval': 1e-3}, predicted([0.0, 0.0], [
        3.0 + SHARE * (-0.25 / 0.004 - 3.0), 1.0 + SHARE * (0.125 / 0.004 - 1.0)], 0.0)),
    # No new sample
    ({'l_sample_time': 10.0}, {**predicted([0.25, -0.125], [3.0, 1.0]), 'l_push': [1.0, 2.0]}),
    # Begun anew
    ({'m_publishing': 0, 'l_explained': nan}, FORGOTTEN), ({'l_sample_time': 9.9}, FORGOTTEN),
    ({'l_sample_time': 10.01}, FORGOTTEN), ({'l_pending_qd': nan}, FORGOTTEN),
    ({'l_sample_time': 9.75, 's_state_timeout': 0.25}, {'l_push': [1.0, 2.0]})])
def test_prediction_of_the_state(given, expected):
    played(lambda c: limits.predict_state(c), {**STATE, **given}, None, expected)


@pytest.mark.parametrize(('push', 'given', 'feasible'), [
    (1.0, {}, 1.0), (-1.0, {}, -1.0),
    # 5 N·m from the effort published, 7 N·m, with a law of 4 N·m beyond gravity
    (20.0, {'v_published': [7.0, 0.0], 'v_tau_law': [6.0, 0.0], 'v_gravity': [2.0, 0.0],
            'j_effort_limit': 90.0}, 8.0),
    (-20.0, {'v_published': [7.0, 0.0], 'v_tau_law': [6.0, 0.0], 'v_gravity': [2.0, 0.0],
             'j_effort_limit': 90.0}, -2.0),
    # 10 N·m in all
    (20.0, {'v_published': [9.0, 0.0], 'v_tau_law': [6.0, 0.0]}, 4.0),
    (-20.0, {'v_published': [-9.0, 0.0], 'v_tau_law': [-6.0, 0.0]}, -4.0)])
def test_correction_that_is_feasible(push, given, feasible):
    played(lambda c: limits.feasible_push(c.joints[0], c.vectors, 0, DT, push), given, feasible,
           {})


FREE = {'v_published': [4.0, 0.0], 'v_tau_law': [4.0, 0.0], 'v_acceleration': [4.0, -2.0]}


@pytest.mark.parametrize(('given', 'least', 'most', 'expected'), [
    (FREE, -9.0, 9.0, {'l_push': 0.0, 'v_acceleration': [4.0, -2.0]}),
    (FREE, -9.0, 1.0, {'l_push': [-3.0, 0.0], 'v_acceleration': [1.0, -0.5]}),
    (FREE, 6.0, 9.0, {'l_push': [2.0, 0.0], 'v_acceleration': [6.0, -3.0]}),
    # From the present correction on, which is given up where it is not needed
    ({**FREE, 'l_push': [-1.0, 0.0], 'v_acceleration': [3.0, -1.5]}, -9.0, 9.0,
     {'l_push': 0.0, 'v_acceleration': [4.0, -2.0]}),
    # 5 N·m are feasible: the other joint gives up what accelerates this one, in proportion
    ({**FREE, 'v_published': [9.0, 0.0], 'v_tau_law': [9.0, -4.0], 'v_acceleration': [11.0, -8.5]},
     -9.0, 5.0, {'l_push': [-5.0, 0.0], 'v_tau_law': [9.0, -2.0], 'v_acceleration': [5.0, -4.0]}),
    ({**FREE, 'v_published': [9.0, 0.0], 'v_tau_law': [9.0, -4.0], 'v_acceleration': [11.0, -8.5]},
     -9.0, 0.0, {'v_tau_law': [9.0, 0.0], 'v_acceleration': [4.0, -2.0]}),
    ({**FREE, 'v_published': [9.0, 0.0], 'v_tau_law': [9.0, 4.0], 'v_acceleration': [7.0, -0.5]},
     -9.0, 0.0, {'v_tau_law': [9.0, 4.0], 'v_acceleration': [2.0, 2.0]}),
    # Rounding is no excess
    ({**FREE, 'v_published': [9.0, 0.0], 'v_tau_law': [9.0, -4.0], 'v_acceleration': [11.0, -8.5]},
     -9.0, 6.0 - 0.5e-6, {'v_tau_law': [9.0, -4.0]}),
    ({**FREE, 'v_published': [9.0, 0.0], 'v_tau_law': [9.0, -4.0], 'v_acceleration': [11.0, -8.5]},
     -9.0, 6.0 - 1.5e-6, {'v_tau_law': [9.0, -4.0 + 3e-6]})])
def test_acceleration_of_a_joint_within_its_bounds(given, least, most, expected):
    played(lambda c: limits.bound_acceleration(c, None, 0, DT, least, most), given, None, expected)


def test_acceleration_of_a_light_joint(monkeypatch):
    """A newton meter accelerates it by 4 rad/s²."""
    monkeypatch.setattr(limits, 'solve', lambda robot, work, x: x.__imul__(4.0))
    played(lambda c: limits.bound_acceleration(c, None, 0, DT, -9.0, 4.0),
           {**FREE, 'v_acceleration': [16.0, 0.0]}, None, {'l_push': [-3.0, 0.0]})


@pytest.mark.parametrize(('given', 'excess', 'expected'), [
    ({'v_tau_law': [3.0, -4.0]}, 1.0, {'v_tau_law': [3.0, -2.0], 'v_acceleration': [-1.0, 2.0]}),
    ({'v_tau_law': [3.0, 4.0]}, -0.5, {'v_tau_law': [3.0, 3.0], 'v_acceleration': [0.5, -1.0]}),
    ({'v_tau_law': [3.0, -4.0]}, 8.0, {'v_tau_law': [3.0, 0.0], 'v_acceleration': [-2.0, 4.0]}),
    ({'v_tau_law': [3.0, -4.0]}, -1.0, {'v_tau_law': [3.0, -4.0], 'v_acceleration': 0.0}),
    # What carries gravity stays
    ({'v_tau_law': [3.0, -1.0], 'v_gravity': [0.0, 3.0]}, 1.0, {'v_tau_law': [3.0, 1.0]}),
    ({'v_tau_law': [3.0, 3.0], 'v_gravity': [0.0, 3.0]}, 1.0, {'v_tau_law': 3.0})])
def test_efforts_of_other_joints_are_reduced(given, excess, expected):
    played(lambda c: limits.reduce_coupled_efforts(None, None, c.vectors, 0, excess),
           {'l_response': [1.0, -0.5], **given}, None, expected)


def test_a_joint_without_effect_on_another_keeps_its_effort(monkeypatch):
    monkeypatch.setattr(limits, 'solve', lambda robot, work, x: None)
    played(lambda c: limits.reduce_coupled_efforts(None, None, c.vectors, 0, 1.0),
           {'l_response': [1.0, 0.0, -0.5], 'v_tau_law': [3.0, 5.0, -4.0]}, None,
           {'v_tau_law': [3.0, 5.0, -2.0]}, nv=3)


CORRECTED = {'l_push': [2.0, 0.0], 'v_tau_law': [3.0, 1.0], 'l_pending_qd': [0.5, 0.0],
             'v_acceleration': [10.0, -20.0]}


@pytest.mark.parametrize(('given', 'share', 'after', 'expected'), [
    ({}, 1.0, [5.0, 1.0], {'l_pending_qd': [0.6, -0.2], 'l_cut': 0.0}),
    ({}, 0.5, [4.0, 1.0], {'l_cut': [-1.0, 0.5], 'l_pending_qd': [0.59, -0.195]}),
    ({}, 0.0, [3.0, 1.0], {'l_cut': [-2.0, 1.0]}),
    ({'l_push': -2.0}, 0.5, [2.0, 0.0], {'l_cut': 0.5}),
    # Within 5 N·m of the effort published
    ({'v_published': [-1.0, 7.0]}, 1.0, [4.0, 2.0], {}),
    ({'v_published': [9.0, -5.0]}, 1.0, [5.0, 0.0], {'l_cut': [0.5, -1.0]}),
    # In addition to gravity, which the robot may add
    ({'v_tau_gravity': [1.0, 1.0], 'v_gravity': [1.0, 1.0]}, 1.0, [5.0, 1.0], {}),
    ({'v_tau_gravity': [1.0, 1.0], 'v_gravity': [1.0, 1.0]}, 0.5, [4.0, 1.0], {}),
    ({'v_gravity': [1.0, 1.0]}, 1.0, [4.0, 0.0], {})])
def test_correction_that_is_applied(given, share, after, expected):
    played(changed(lambda c, tau: limits.apply_correction(c, None, DT, tau, share), [3.0, 1.0]),
           {**CORRECTED, **given}, (nan, *after), expected)


MOVES = {'v_published': [4.0, 0.0], 'v_tau_gravity': 0.0}


@pytest.mark.parametrize(('given', 'tau', 'after', 'expected'), [
    (MOVES, [4.0, 0.0], [4.0, 0.0], {
        'm_joint_limited': 0, 'l_push': 0.0, 'v_acceleration': [4.0, -2.0],
        'l_pending_qd': [0.04, -0.02]}),
    # A joint at 97 % of its velocity limit is not accelerated
    ({**MOVES, 'l_predicted_qd': [1.94, 0.0]}, [4.0, 0.0], [0.0, 0.0], {
        'm_joint_limited': 1, 'l_push': [-4.0, 0.0], 'v_acceleration': 0.0}),
    ({'v_published': [0.0, 4.0], 'l_predicted_qd': [0.0, 1.94]}, [0.0, 4.0], [0.0, 0.0], {
        'm_joint_limited': 1, 'l_push': [0.0, -4.0]}),
    ({'v_published': [-4.0, 0.0], 'l_predicted_qd': [-1.94, 0.0]}, [-4.0, 0.0], [0.0, 0.0], {
        'm_joint_limited': 1, 'l_push': [4.0, 0.0]}),
    # Both joints: each counts on the correction of the other, in eight sweeps
    ({'v_published': [4.0, 4.0], 'l_predicted_qd': 1.94}, [4.0, 4.0], [2.0 / 4**7, 1.0 / 4**7],
     {'v_acceleration': [1.5 / 4**7, 0.0]}),
    # Gravity stays, whether the robot adds it or not
    ({**MOVES, 'l_predicted_qd': [1.94, 0.0], 'v_gravity': [1.0, 0.0], 'v_tau_gravity': [1.0, 0.0],
      'v_published': [3.0, 0.0]}, [4.0, 0.0], [0.0, 0.0], {'v_tau_law': [4.0, 0.0]}),
    ({**MOVES, 'l_predicted_qd': [1.94, 0.0], 'v_gravity': [1.0, 0.0], 'v_published': [3.0, 0.0]},
     [3.0, 0.0], [-1.0, 0.0], {'v_tau_law': [4.0, 0.0]}),
    ({**MOVES, 'v_gravity': [1.0, 0.0]}, [3.0, 0.0], [3.0, 0.0], {'m_joint_limited': 0}),
    ({**MOVES, 'v_gravity': [1.0, 0.0], 'v_tau_gravity': [1.0, 0.0]}, [3.0, 0.0], [3.0, 0.0],
     {'m_joint_limited': 0}),
    # A correction goes on; one that is needed no more is given up; one of rounding is none
    ({'l_push': [-4.0, 0.0], 'l_predicted_qd': [1.94, 0.0]}, [4.0, 0.0], [0.0, 0.0], {
        'l_push': [-4.0, 0.0], 'v_acceleration': 0.0}),
    ({**MOVES, 'l_push': [-1.0, 0.0]}, [4.0, 0.0], [4.0, 0.0], {'l_push': 0.0,
                                                                'm_joint_limited': 0}),
    ({**MOVES, 'l_predicted_qd': [1.94, 0.0]}, [1e-8, 0.0], [0.0, 0.0], {'m_joint_limited': 0}),
    ({**MOVES, 'l_predicted_qd': [1.94, 0.0]}, [1.1e-8, 0.0], [0.0, 0.0], {'m_joint_limited': 1}),
    # The correction of the last cycle is where this one begins: within the rate
    ({'v_published': [9.0, 0.0], 'l_predicted_qd': [1.94, 0.0]}, [9.0, -4.0], [4.0, 0.0], {
        'l_push': [-5.0, 0.0], 'v_tau_law': [9.0, 0.0]})])
def test_joints_within_their_limits(given, tau, after, expected):
    played(changed(lambda c, tau: limits.enforce_joint_limits(c, FRICTIONLESS, DT, tau, 1.0), tau),
           given, (nan, *after), expected)


DRIVEN = {'v_tau_law': [5.0, 0.0], 'l_push': [-0.5, 0.0], 'v_gravity': [4.0, 0.0]}
NEAR_REST = exp(-0.04)      # of F_s - F_c at 0.02 rad/s, half of STICKING_SHARE velocity limits


@pytest.mark.parametrize(('given', 'friction'), [
    # F_v q̇ + F_c + μ |g|, forwards and backwards
    ({'v_qd': [1.0, 9.0]}, 1.5), ({'v_qd': [-1.0, 9.0]}, -0.75),
    ({'v_qd': [0.04, 9.0], **DRIVEN}, 0.04 + 0.5 + 0.25 * exp(-0.16) + 0.5),
    # At rest it is the effort besides gravity, up to F_s + μ |g|
    (DRIVEN, 0.5), ({**DRIVEN, 'v_tau_law': [9.0, 0.0]}, 1.25),
    ({'v_tau_law': [0.8, 0.0]}, 0.75), ({'v_tau_law': [-9.0, 0.0]}, -1.0),
    ({'v_tau_law': [-0.9, 0.0]}, -0.9),
    # In between, partly the one and partly the other
    ({'v_qd': [0.02, 0.0], 'v_tau_law': [-0.5, 0.0]},
     0.02 + 0.5 * (0.5 + 0.25 * NEAR_REST) - 0.25),
    ({'v_qd': [-0.02, 0.0], 'v_tau_law': [0.5, 0.0]},
     -0.01 - 0.5 * (0.25 + 0.75 * NEAR_REST) + 0.25),
    # Noise is no motion: 3 standard deviations of 0.02 rad/s
    ({'v_qd': [0.05, 0.0], 'v_tau_law': [-0.5, 0.0], 'n_variance': [4e-4, 0.0]},
     0.05 + 0.5 * (0.5 + 0.25 * exp(-0.25)) - 0.25)])
def test_friction_that_prevents_motion(given, friction):
    """A joint's prevents half as much of the other one, backward."""
    played(lambda c: limits.explain_by_friction(c, RUBBING, inf),
           {**given, 'l_disturbance': [-9.0 * friction, 9.0 * friction]}, None,
           {'l_explained': [friction, -0.5 * friction]})


@pytest.mark.parametrize(('velocity', 'disturbance', 'explained'), [
    (1.0, [-9.0, 9.0], [1.5, -0.75]), (-1.0, [9.0, -9.0], [-0.75, 0.375]),
    (1.0, [-1.0, 0.5], [1.0, -0.5]), (-1.0, [0.5, -0.25], [-0.5, 0.25]),
    (1.0, [2.0, -1.0], 0.0), (-1.0, [-2.0, 1.0], 0.0)])
def test_a_disturbance_shows_friction(velocity, disturbance, explained):
    played(lambda c: limits.explain_by_friction(c, RUBBING, inf),
           {'v_qd': [velocity, 9.0], 'l_disturbance': disturbance}, None,
           {'l_explained': explained})


RISEN = 1.0 - exp(-1.0 / 7.0)       # in 10 ms


@pytest.mark.parametrize(('before', 'velocity', 'after'), [
    (0.0, 1.0, [1.5 * RISEN, -0.75 * RISEN]), (0.0, -1.0, [-0.75 * RISEN, 0.375 * RISEN]),
    ([0.5, -0.25], 1.0, [0.5 + RISEN, -0.25 - 0.5 * RISEN]),
    # At once less
    ([2.0, -1.0], 1.0, [1.5, -0.75]), ([-2.0, 1.0], -1.0, [-0.75, 0.375]),
    ([-2.0, 1.0], 1.0, [1.5 * RISEN, -0.75 * RISEN])])
def test_friction_has_to_show_for_a_while(before, velocity, after):
    played(lambda c: limits.explain_by_friction(c, RUBBING, DT),
           {'v_qd': [velocity, 9.0], 'l_explained': before,
            'l_disturbance': [-9.0 * velocity, 9.0 * velocity]}, None, {'l_explained': after})


@pytest.mark.parametrize(('disturbance', 'after'), [
    ([-1.5, 0.75], 1.5), ([-1.0, 0.5], 1.0), ([0.0, 0.0], 0.0),
    ([-9.0, 0.75], 1.5)])       # a contact, which may end, is no friction
def test_efforts_against_friction_are_no_acceleration(disturbance, after):
    """Of 4 N·m against a friction of 1.5 N·m, at 97 % of the velocity limit."""
    played(changed(lambda c, tau: limits.enforce_joint_limits(c, RUBBING, DT, tau, 1.0),
                   [4.0, 0.0]),
           {'v_qd': [1.0, 0.0], **MOVES, 'l_predicted_qd': [1.94, 0.0],
            'l_explained': [1.5, -0.75], 'l_disturbance': disturbance}, (nan, after, 0.0), {})


@pytest.mark.parametrize(('before', 'after'), [(1.0, 2.0), (4.0, 4.0 * exp(-0.05)), (2.0, 2.0)])
def test_velocity_limits_that_are_lowered(before, after):
    played(lambda c: limits.lower_velocity_limits(c.joints, c.vectors, 0.01),
           {'v_speed_limit': before}, None, {'v_speed_limit': after})


@pytest.mark.parametrize(('tau', 'after', 'finite'), [
    ([10.0, -10.0], [10.0, -10.0], True), ([10.1, -10.1], [10.0, -10.0], True),
    ([-10.1, 10.1], [-10.0, 10.0], True), ([0.5, 10.1], [0.5, 10.0], True),
    ([nan, 11.0], [nan, 10.0], False), ([11.0, inf], [10.0, inf], False),
    ([-inf, 0.0], [-inf, 0.0], False)])
def test_efforts_that_are_clamped(tau, after, finite):
    played(changed(lambda c, tau: limits.clamp(c.joints, tau), tau), {}, (finite, *after), {})


def test_a_limit_below_one():
    """The side of the limit is that of the effort, however small both are."""
    played(changed(lambda c, tau: limits.clamp(c.joints, tau), [0.75, -0.75]),
           {'j_effort_limit': 0.5}, (True, 0.5, -0.5), {})
