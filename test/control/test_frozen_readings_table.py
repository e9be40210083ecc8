# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Each condition of frozen readings, on both sides of its bounds, without a cycle around it."""

from math import exp, inf, nan

from control.one_cycle import played
import numpy as np
import pytest
from robodyn_ros.control.steps import frozen_readings, guard
from robodyn_ros.control.steps.guard import ROBOT_STOPPED, STATE_INCONSISTENT

NONE = (guard.NO_REASON, -1)
CHANGED = -1.0
DT, KEPT = 0.01, exp(-0.05)         # s, and what is left of displacements after it


def of(function, friction=0.0, inertia=1.0):
    """Return a function of a cycle, whose joints have static friction [N·m] and inertia."""
    def play(c):
        parameters = np.zeros((13, 2))
        parameters[2], parameters[5] = friction, 0.5 * friction
        c.workspace.M[:] = inertia * np.eye(2)
        return function(c, parameters)
    return play


# At 1 rad, 3 ms after the last change of the position; it may move at 1 rad/s
SAMPLED = {'p_position': 1.0, 'f_unchanged': 0.003, 'f_encoder_step': inf, 'f_renewal': 0.02,
           'v_qd': [0.5, 0.0], 'l_disturbance': 7.0}
BRAKES = {**SAMPLED, 'v_qd': [0.0, 0.0], 'k_gained': -0.5, 'k_predicted_gain': 0.1}


@pytest.mark.parametrize(('given', 'q', 'qd', 'expected'), [
    ({}, 1.0, 0.25, {'f_unchanged': [0.004, 0.003], 'f_encoder_step': inf, 'f_renewal': 0.02}),
    ({'f_unchanged': CHANGED}, 1.0, 0.25, {'f_unchanged': [0.001, CHANGED]}),
    ({}, 1.004, 0.25, {
        'f_unchanged': [CHANGED, 0.003], 'f_encoder_step': [0.004, inf],
        'f_coasting_qd': [0.5, 0.0], 'f_disturbance_before': [7.0, 0.0],
        'f_renewal': [0.0184, 0.02]}),
    ({'v_qd': -0.5}, 0.996, -0.25, {'f_coasting_qd': [-0.5, 0.0], 'f_encoder_step': [0.004, inf]}),
    ({}, 1.004, 0.75, {'f_coasting_qd': [0.75, 0.0]}), ({}, 1.004, nan, {
        'f_coasting_qd': [0.5, 0.0]}),
    ({}, 1.004, 1.5, {'f_coasting_qd': [1.0, 0.0]}), ({'v_qd': -0.5}, 1.004, -0.75, {
        'f_coasting_qd': 0.0}),
    ({'v_qd': 0.5}, 0.996, 0.25, {'f_coasting_qd': 0.0}),
    ({'f_encoder_step': 0.001, 'f_renewal': 0.001}, 1.004, 0.0, {
        'f_encoder_step': 0.001, 'f_renewal': [0.004, 0.001]}),
    ({'f_unchanged': 0.099, 'f_renewal': 0.01}, 1.02, 1.5, {
        'f_coasting_qd': [0.2, 0.0], 'f_renewal': [0.02, 0.01]}),
    # It has lost speed against its effort, and little was left
    (BRAKES, 1.002, 0.249, {'f_disturbance_before': [-inf, 0.0]}),
    ({**BRAKES, 'k_gained': 0.5, 'k_predicted_gain': -0.1}, 0.999, -0.249, {
        'f_disturbance_before': [inf, 0.0]}),
    (BRAKES, 1.002, 0.25, {'f_disturbance_before': [7.0, 0.0]}),
    ({**BRAKES, 'k_gained': -0.01}, 1.001, 0.0, {'f_disturbance_before': [7.0, 0.0]}),
    ({**BRAKES, 'k_gained': -0.0101}, 1.001, 0.0, {'f_disturbance_before': [-inf, 0.0]}),
    ({**BRAKES, 'k_gained': 0.5}, 1.001, 0.0, {'f_disturbance_before': [7.0, 0.0]}),
    ({**BRAKES, 'k_predicted_gain': 0.0}, 1.001, 0.0, {'f_disturbance_before': [7.0, 0.0]}),
    ({**BRAKES, 'k_predicted_gain': -0.1}, 1.001, 0.0, {'f_disturbance_before': [7.0, 0.0]})])
def test_positions_that_change(given, q, qd, expected):
    played(lambda c: frozen_readings.note_sample(c.vectors, q, qd, 0.001, 0),
           {**SAMPLED, **given}, None, expected)


def test_two_samples_of_the_same_time():
    played(lambda c: frozen_readings.note_sample(c.vectors, 1.5, 0.0, 0.0, 0),
           {**SAMPLED, 'f_unchanged': CHANGED}, None, {
               'f_unchanged': [0.0, CHANGED], 'f_encoder_step': inf})


def test_the_first_sample_and_an_arm_that_is_not_driven():
    names = ('f_coasting_qd', 'f_hidden_motion', 'f_disturbance_before')
    played(lambda c: frozen_readings.begin(c.vectors, 0), dict.fromkeys(names, 5.0), None, {
        'f_unchanged': [CHANGED, 0.0], 'f_encoder_step': [inf, 0.0], 'f_renewal': [0.02, 0.0],
        'f_coasting_qd': [0.0, 5.0], 'f_disturbance_before': [0.0, 5.0]})
    played(lambda c: frozen_readings.forget(c.vectors), dict.fromkeys(names, 5.0), None,
           dict.fromkeys(names, 0.0))


@pytest.mark.parametrize(('before', 'published', 'unchanged', 'hold'), [
    (-inf, 2.0, 0.399, True), (inf, -2.0, 0.399, True), (inf, 2.0, 0.0, False),
    (-inf, 2.0, 0.4, False), (-9.0, 2.0, 0.0, False), (-inf, 0.0, 0.0, False)])
def test_brakes_that_hold_a_joint(before, published, unchanged, hold):
    played(lambda c: frozen_readings.brakes_hold(c.vectors, 0), {
        'f_disturbance_before': before, 'v_published': published, 'f_unchanged': unchanged},
        hold, {})


@pytest.mark.parametrize(('effort', 'acceleration', 'moves'), [
    # 1 N·m that is unknown, and 0.5 N·m of the model; an inertia of 2 kg·m²
    ([0.0, 1.6], [0.0, 0.8], True), ([-1.6, 0.0], [-0.8, 0.0], True),
    ([1.6, 0.0], [-0.8, 0.0], False), ([0.0, 1.5], [0.0, 0.8], False),
    ([1.6, 0.0], [0.75, 0.0], False), ([0.0, 0.0], [9.0, 9.0], False)])
def test_efforts_beyond_friction(effort, acceleration, moves):
    played(of(lambda c, friction: frozen_readings.overcomes_friction(
        c.joints, friction, c.workspace.M, c.vectors, 0.1), 0.5, 2.0),
        {'v_published': effort, 'v_acceleration': acceleration}, moves, {})


def test_a_little_effort_is_beyond_no_friction():
    played(of(lambda c, friction: frozen_readings.overcomes_friction(
        c.joints, friction, c.workspace.M, c.vectors, 0.0)),
        {'v_published': 0.5, 'v_acceleration': 0.5}, True, {})


@pytest.mark.parametrize('before, acceleration', [(2.0, 5.0), (inf, 3.0), (-inf, 3.0)])
def test_disturbance_that_balances_an_effort(before, acceleration):
    played(lambda c: frozen_readings.net_acceleration(c.vectors, 0),
           {'v_acceleration': 3.0, 'f_disturbance_before': before}, acceleration, {})


@pytest.mark.parametrize(('forward', 'backward', 'effort'), [(0.5, 0.25, 1.5), (0.25, 0.5, 1.5)])
def test_effort_below_which_a_joint_may_stick(forward, backward, effort):
    friction = np.zeros((13, 2))
    friction[2, 0], friction[5, 0] = forward, backward
    played(lambda c: frozen_readings.breakaway_effort(c.joints[0], friction, 0.1, 0), {}, effort,
           {})


# No position has changed for 0.1 s, with fine encoders and 0.1 N·m of friction; tolerances of
# 0.4 mrad, and 0.03 mrad for the encoder
STANDS = {'m_phase': guard.RUNNING, 'f_unchanged': 0.1, 'f_encoder_step': 1e-5,
          'f_renewal': 0.004, 'v_published': [2.0, 0.0]}
DRIVEN = {**STANDS, 'v_acceleration': [5.0, 0.0]}      # to 0.05 rad/s, less friction: 0.2 rad/s²
SLOW = {**STANDS, 'v_acceleration': [4.4, 0.0]}
COARSE = {**DRIVEN, 'f_encoder_step': [1e-5, 1e-4]}     # friction of 1.1 N·m is thinkable
# The other joint moves, and joint 1 may be braked by 108.64 rad/s²
ALONE = {**STANDS, 'v_published': 0.0, 'f_unchanged': [0.1, CHANGED], 'f_coasting_qd': [1.5, 0.5],
         'f_hidden_motion': [0.0, 0.02]}
BRAKED = 1.5 - 1.0864
# Joint 1 has slowed down against its effort: 1.1 N·m, within its brakes
HELD = {**STANDS, 'v_acceleration': 8.0, 'f_disturbance_before': [-inf, 0.0]}


def moves(*hidden):
    """Return the hidden motions of joints whose velocity is DT⁻¹ as much."""
    return {'f_hidden_motion': hidden, 'f_coasting_qd': np.array(hidden) / DT}


@pytest.mark.parametrize(('given', 'found', 'expected'), [
    (STANDS, NONE, {'f_hidden_motion': 0.0, 'f_coasting_qd': 0.0, 'p_contradiction': 0.0}),
    (DRIVEN, (STATE_INCONSISTENT, 0), {**moves(4.8e-4, 0.0), 'p_contradiction': [inf, 0.0]}),
    (SLOW, NONE, {**moves(4.2e-4, 0.0), 'p_contradiction': 0.0}),
    ({**DRIVEN, 'v_published': [-2.0, 0.0], 'v_acceleration': [-5.0, 0.0]},
     (STATE_INCONSISTENT, 0), moves(-4.8e-4, 0.0)),
    ({**DRIVEN, 'f_disturbance_before': [-0.6, 0.0]}, NONE, moves(4.2e-4, 0.0)),
    ({**SLOW, 'f_hidden_motion': [1e-5, 0.0]}, NONE, {'f_hidden_motion': [4.2e-4 + 1e-5 * KEPT,
                                                                         0.0]}),
    # Another joint's effort moves it
    ({**DRIVEN, 'v_acceleration': [5.0, 8.0]}, (STATE_INCONSISTENT, 1), moves(4.8e-4, 7.8e-4)),
    # Only an arm without brakes
    ({**DRIVEN, 'm_phase': guard.STOPPING}, (STATE_INCONSISTENT, 0), {}),
    *(({**DRIVEN, 'm_phase': phase}, NONE, moves(0.0, 0.0)) for phase in (
        guard.RISING, guard.FAULT)),
    # Coarse encoders do not show the elastic motion of a joint that sticks
    (COARSE, NONE, {'f_coasting_qd': [0.05 - 0.011, 0.0]}),
    ({**COARSE, 'v_published': [1.1, 0.0]}, NONE, {'f_coasting_qd': 0.0}),
    ({**COARSE, 'f_encoder_step': [1e-4, 1e-5], 'v_published': [1.1, 0.0]}, NONE, {
        'f_coasting_qd': 0.0}),
    ({**DRIVEN, 'f_encoder_step': [1e-5, 0.99e-4], 'v_published': [1.1, 0.0]},
     (STATE_INCONSISTENT, 0), {}),
    ({**DRIVEN, 'f_encoder_step': [1e-5, inf], 'v_published': [1.1, 0.0]},
     (STATE_INCONSISTENT, 0), {}),
    # Other joints move: efforts count no more
    (ALONE, (STATE_INCONSISTENT, 0), {
        'f_coasting_qd': [BRAKED, 0.5 - 0.5], 'f_hidden_motion': [BRAKED * DT, 0.0],
        'f_unchanged': [0.1, 0.0]}),
    ({**ALONE, **DRIVEN, 'f_unchanged': [0.1, CHANGED]}, (STATE_INCONSISTENT, 0), {
        'f_coasting_qd': [BRAKED, 0.0]}),
    ({**ALONE, 'f_unchanged': [0.1, 0.0], 'f_hidden_motion': 0.0}, (STATE_INCONSISTENT, 0), {
        'f_coasting_qd': [BRAKED, 0.0]}),
    ({**ALONE, 'p_late': 0.02}, (STATE_INCONSISTENT, 0), {
        'f_coasting_qd': [1.5 - 0.5432, 0.5 - 0.5]}),
    # What the velocity reports is not hidden
    ({**ALONE, 'v_qd': 0.3}, (STATE_INCONSISTENT, 0), {
        'f_coasting_qd': [BRAKED, 0.3], 'f_hidden_motion': [(BRAKED - 0.3) * DT, 0.0]}),
    ({**ALONE, 'v_qd': [0.5, 0.0]}, NONE, moves(0.0, 0.0) | {'f_coasting_qd': [0.5, 0.0]}),
    ({**ALONE, 'v_qd': [2.0, 0.0]}, NONE, {'f_coasting_qd': [1.5, 0.0], 'f_hidden_motion': 0.0}),
    ({**ALONE, 'v_qd': [-2.0, 0.0]}, (STATE_INCONSISTENT, 0), {'f_coasting_qd': [BRAKED, 0.0]}),
    ({**ALONE, 'v_qd': -0.3, 'f_coasting_qd': -1.5}, (STATE_INCONSISTENT, 0), {
        'f_coasting_qd': [-BRAKED, -BRAKED], 'f_hidden_motion': [(0.3 - BRAKED) * DT, 0.0]}),
    # A driver that publishes each reading several times: the other joint may move
    ({**DRIVEN, 'f_unchanged': [0.1, 0.006]}, NONE, {'f_coasting_qd': 0.0}),
    ({**DRIVEN, 'f_unchanged': [0.1, 0.0061]}, (STATE_INCONSISTENT, 0), {}),
    ({**DRIVEN, 'f_unchanged': [0.1, 0.0061], 'f_renewal': [0.02, 0.004]},
     (STATE_INCONSISTENT, 0), {}),
    # From one and a half times the usual interval on, and 3 ms
    ({**DRIVEN, 'f_unchanged': 0.006}, NONE, {'f_hidden_motion': 0.0}),
    ({**DRIVEN, 'f_unchanged': 0.0061}, (STATE_INCONSISTENT, 0), {}),
    ({**DRIVEN, 'f_unchanged': 0.003, 'f_renewal': 0.001}, NONE, {'f_hidden_motion': 0.0}),
    ({**DRIVEN, 'f_unchanged': 0.0031, 'f_renewal': 0.001}, (STATE_INCONSISTENT, 0), {}),
    ({**STANDS, 'f_unchanged': 0.003, 'f_hidden_motion': 4e-4}, NONE, {
        'f_hidden_motion': 4e-4 * KEPT}),
    # The encoder counts up to 2 mrad a step
    *(({**STANDS, 'f_encoder_step': step, 'f_hidden_motion': [motion / KEPT, 0.0]}, found, {})
      for step in (2e-3, inf) for motion, found in ((6.39e-3, NONE), *(
          (motion, (STATE_INCONSISTENT, 0)) for motion in (6.41e-3, -6.41e-3)))),
    # A robot that has stopped by itself: its brakes hold up to 1.1 N·m
    (HELD, (ROBOT_STOPPED, 0), {**moves(0.0, 0.0), 'p_contradiction': 0.0}),
    ({**HELD, 'v_acceleration': 5.0}, NONE, {'f_coasting_qd': [0.05 - 0.011, 0.0]}),
    ({**HELD, 'v_published': [1.0, 0.0]}, NONE, {'f_coasting_qd': 0.0}),
    ({**HELD, 'f_disturbance_before': [0.0, -inf], 'v_published': [0.0, 2.0]},
     (ROBOT_STOPPED, 1), {}),
    ({**HELD, 'f_disturbance_before': -inf, 'v_published': 2.0}, (ROBOT_STOPPED, 0), {}),
    ({**HELD, 'f_hidden_motion': [0.0, 0.01]}, (STATE_INCONSISTENT, 1), {
        'p_contradiction': [0.0, inf]}),
    ({**HELD, 'f_disturbance_before': [0.0, -inf], 'v_published': [0.0, 2.0],
      'f_hidden_motion': [0.01, 0.0]}, (STATE_INCONSISTENT, 0), {})])
def test_joints_that_must_have_moved(given, found, expected):
    played(of(lambda c, friction: frozen_readings.frozen_joint(c, friction, DT), 0.1), given,
           found, expected)


def test_a_heavy_joint():
    """Friction brakes an inertia of 2 kg·m² half as fast."""
    played(of(lambda c, friction: frozen_readings.frozen_joint(c, friction, DT), 0.1, 2.0), DRIVEN,
           (STATE_INCONSISTENT, 0), moves(4.9e-4, 0.0))
