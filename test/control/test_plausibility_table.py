# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Each condition of plausible samples, on both sides of its bounds, without a cycle around it."""

from math import exp, inf, nan, pi

from control.one_cycle import played
import pytest
from robodyn_ros.control.steps import guard, plausibility
from robodyn_ros.control.steps.guard import NO_REASON, STATE_INCONSISTENT, VELOCITY_ABOVE_LIMIT
from robodyn_ros.control.steps.plausibility import Decay, DRIVEN, IN_FAULT, NOT_DRIVEN

STEP = 1.0 / 128.0      # s between two samples
DECAY = Decay(STEP, 0.75, 0.25, 0.5)        # of sums, lateness, interval
NONE = (NO_REASON, -1)

# A sample of joint 1 that has not moved; tolerance 1/32 rad, velocity limit 2 rad/s
SAMPLE = {'j_consistency_tolerance': 1.0 / 32.0, 'x_received': 10.0, 'p_accepted': 10.0 - STEP,
          'x_stamp': nan, 'p_stamp': 8.0}
FAST = {**SAMPLE, 'p_velocity': [2.5, 0.0]}
# Further than 5/512 rad
MOVES_SO = {**FAST, 'p_position': [6.0 / 512.0, 0.0], 'p_rejected': [2.0, 7.0]}
USED = {'p_rejected': [0.0, 7.0], 'p_accepted': [10.0, 10.0 - STEP], 'm_implausible': 0}


def rejected(count):
    return {'p_rejected': [count, 7.0], 'p_accepted': 10.0 - STEP, 'm_implausible': 1}


@pytest.mark.parametrize(('given', 'driving', 'found', 'expected'), [
    ({}, DRIVEN, NO_REASON, USED),
    # At 2 velocity limits, and one tolerance more
    ({'p_position': 1.0 / 16.0}, DRIVEN, STATE_INCONSISTENT, USED),
    ({'p_position': 1.001 / 16.0}, DRIVEN, NO_REASON, rejected(1.0)),
    ({'p_position': -1.001 / 16.0}, IN_FAULT, NO_REASON, rejected(1.0)),
    ({'p_position': 3.0, 'v_q': 3.0 - 1.0 / 16.0}, DRIVEN, STATE_INCONSISTENT, USED),
    ({'p_position': 1.001 / 16.0}, NOT_DRIVEN, STATE_INCONSISTENT, USED),
    ({'p_position': 1.0, 'p_rejected': [1.0, 7.0]}, DRIVEN, NO_REASON, rejected(2.0)),
    ({'p_position': 1.0, 'p_rejected': [2.0, 7.0]}, DRIVEN, STATE_INCONSISTENT, rejected(3.0)),
    ({'p_position': 1.0, 'p_accepted': 9.97}, DRIVEN, STATE_INCONSISTENT, {
        'p_rejected': [1.0, 7.0]}),
    ({'p_position': 1.0, 'x_received': 0.02, 'p_accepted': 0.0}, DRIVEN, NO_REASON, {
        'p_rejected': [1.0, 7.0]}),
    # The time of the last sample is no later than that of this one
    ({'p_accepted': 10.5, 'p_position': 1.001 / 32.0}, DRIVEN, NO_REASON, {
        'p_accepted': [10.0, 10.5], 'p_rejected': [1.0, 7.0]}),
    # Too fast, and whether the position shows it
    ({'p_velocity': [2.2, 0.0]}, DRIVEN, NO_REASON, USED),
    ({'p_velocity': [2.21, 0.0]}, DRIVEN, NO_REASON, rejected(1.0)),
    ({'p_velocity': [-2.21, 0.0]}, DRIVEN, NO_REASON, rejected(1.0)),
    ({'p_velocity': [2.21, 0.0]}, IN_FAULT, NO_REASON, USED),
    (MOVES_SO, DRIVEN, VELOCITY_ABOVE_LIMIT, {**USED, 'm_implausible': 1}),
    ({**MOVES_SO, 'p_position': [-6.0 / 512.0, 0.0]}, DRIVEN, STATE_INCONSISTENT, rejected(3.0)),
    ({**MOVES_SO, 'p_position': [-6.0 / 512.0, 0.0], 'p_velocity': [-2.5, 0.0]}, DRIVEN,
     VELOCITY_ABOVE_LIMIT, USED | {'m_implausible': 1}),
    ({**MOVES_SO, 'p_position': [5.0 / 512.0, 0.0]}, DRIVEN, STATE_INCONSISTENT, rejected(3.0)),
    ({**MOVES_SO, 'p_position': [1.0, 0.0]}, DRIVEN, STATE_INCONSISTENT, rejected(3.0)),
    # No measurement
    ({'p_velocity': [nan, 0.0], 'p_drift': [1.0, 1.0]}, DRIVEN, NO_REASON, {
        **USED, 'p_drift': [0.0, 1.0]}),
    ({'p_velocity': [20.0, 0.0], 'p_drift': [1.0, 1.0]}, IN_FAULT, STATE_INCONSISTENT, USED),
    ({'p_velocity': [20.1, 0.0], 'p_drift': [1.0, 1.0]}, DRIVEN, NO_REASON, USED),
    ({'p_velocity': [-20.1, 0.0], 'p_drift': [1.0, 1.0]}, DRIVEN, NO_REASON, USED),
    # The sums decay with the time since the sample in use
    ({'p_drift': [0.02, 0.0]}, DRIVEN, NO_REASON, {'p_drift': [0.015, 0.0]}),
    ({'p_drift': [0.02, 0.0], 'p_accepted': 9.875}, DRIVEN, NO_REASON, {
        'p_drift': [0.02 * exp(-0.125 / 0.2), 0.0]}),
    ({'x_stamp': 9.0}, DRIVEN, NO_REASON, {'p_stamp': [9.0, 8.0]}),
    ({'x_stamp': 9.0, 'p_position': 1.0}, DRIVEN, NO_REASON, {'p_stamp': 8.0})])
def test_a_sample(given, driving, found, expected):
    played(lambda c: plausibility.check_sample(c, 0, DECAY, driving),
           {**SAMPLE, 'p_rejected': [0.0, 7.0], **given}, found, expected)


# Joint 1 has moved by 1/16 rad, at 1 to 2 rad/s, in 1/32 s of receipt and 1/64 s of stamps
MOVED = {'j_consistency_tolerance': 1.0 / 32.0, 'v_q': [1.0, 0.0], 'v_qd': [1.0, 0.0],
         'p_position': [1.0625, 0.0], 'p_velocity': [2.0, 0.0], 'x_stamp': 8.015625,
         'p_stamp': 8.0, 'p_drift': [1.0 / 64.0, 0.0], 'p_stamped_drift': [-1.0 / 64.0, 0.0]}


@pytest.mark.parametrize(('given', 'measured', 'fits', 'expected'), [
    (MOVED, True, True, {'p_drift': [3.0 / 128.0, 0.0], 'p_stamped_drift': [1.0 / 32.0, 0.0],
                         'p_contradiction': [0.75, 0.0]}),
    (MOVED, False, True, {'p_drift': 0.0, 'p_stamped_drift': 0.0, 'p_contradiction': 0.0}),
    ({**MOVED, 'p_drift': [-5.0 / 64.0, 0.0]}, True, True, {
        'p_drift': [-3.0 / 128.0, 0.0], 'p_contradiction': [0.75, 0.0]}),
    # The smaller one of both is in question
    ({**MOVED, 'p_drift': [0.5, 0.0]}, True, True, {'p_drift': [3.0 / 32.0, 0.0],
                                                    'p_contradiction': [1.0, 0.0]}),
    ({**MOVED, 'p_drift': [0.5, 0.0], 'x_stamp': 8.015}, True, False, {}),
    ({**MOVED, 'p_drift': [-0.5, 0.0], 'x_stamp': 8.015}, True, False, {
        'p_drift': [-3.0 / 32.0, 0.0]}),
    ({**MOVED, 'p_stamped_drift': [0.5, 0.0]}, True, True, {
        'p_stamped_drift': [3.0 / 32.0, 0.0], 'p_contradiction': [0.75, 0.0]}),
    ({**MOVED, 'p_stamped_drift': [-0.5, 0.0]}, True, True, {
        'p_stamped_drift': [-3.0 / 32.0, 0.0], 'p_contradiction': [0.75, 0.0]}),
    # Without time stamps, or with those that do not advance, by receipt alone
    *(({**MOVED, 'x_stamp': stamp}, True, True, {'p_stamped_drift': [1.0 / 128.0, 0.0]})
      for stamp in (nan, 8.0, 7.5, inf))])
def test_positions_and_velocities_that_contradict_each_other(given, measured, fits, expected):
    played(lambda c: plausibility.consistent(c, 0, 1.0 / 32.0, 0.5, measured), given, fits,
           expected)


@pytest.mark.parametrize(('periodic', 'q', 'before', 'unwrapped'), [
    (0, 6.5, 0.0, 6.5), (1, 6.5, 0.0, 6.5 - 2.0 * pi), (1, pi, 0.0, pi), (1, -pi, 0.0, -pi),
    (1, 3.2, 0.0, 3.2 - 2.0 * pi), (1, -3.2, 0.0, 2.0 * pi - 3.2), (1, 0.5, 12.0, 0.5 + 4.0 * pi),
    (1, 6.5, -1.0, 6.5 - 2.0 * pi), (1, 3.0, -1.0, 3.0 - 2.0 * pi)])
def test_turns_of_continuous_joints(periodic, q, before, unwrapped):
    played(lambda c: plausibility.unwrap(c.joints[0], q, before), {'j_periodic': periodic},
           unwrapped, {})


@pytest.mark.parametrize(('elapsed', 'decay'), [
    (STEP, DECAY), (-1.0, Decay(0.0, 1.0, 1.0, 1.0)),
    (0.1, Decay(0.1, exp(-0.5), exp(-0.1 / 0.03), exp(-0.5)))])
def test_decay_of_the_filters(elapsed, decay):
    played(lambda c: plausibility.decay_after(c.settings, elapsed, DECAY), {}, decay, {})


# Receipt 2 s after the stamp, as ever; samples are as often as before
PUNCTUAL = {'s_late_limit': 1.0 / 16.0, 'x_received': 10.0, 'x_stamp': 8.0, 'p_offset': 2.0,
            'p_last_offset': 2.0, 'p_interval': STEP}
DRIFT = 2e-4 * STEP                                 # of the clocks
MOST = 0.6 * (1.0 / 16.0 - 0.5 * STEP)              # by which one sample is late


def first(name, value, usual=PUNCTUAL):
    """Return a value of joint 1, with that of joint 2 as it was."""
    return {name: [value, usual.get(name, 0.0)]}


@pytest.mark.parametrize(('given', 'driving', 'expected'), [
    ({}, DRIVEN, {'p_offset': 2.0, 'p_last_offset': 2.0, 'p_late': 0.0, 'p_set_back': 0.0,
                  'p_interval': STEP}),
    ({'p_offset': nan, 'p_last_offset': nan}, DRIVEN, {'p_offset': [2.0, nan], 'p_late': 0.0,
                                                       'p_last_offset': [2.0, nan]}),
    *(({'x_stamp': stamp, 'p_late': 0.5}, DRIVEN, {
        'p_late': [0.0, 0.5], 'p_offset': 2.0, 'p_last_offset': 2.0}) for stamp in (
        nan, -inf, inf)),
    ({'x_stamp': 8.0 - 1.0 / 32.0}, DRIVEN, {
        **first('p_offset', 2.0 + DRIFT), **first('p_last_offset', 2.0 + 1.0 / 32.0),
        **first('p_late', 0.75 * (1.0 / 32.0 - DRIFT)), 'p_set_back': 0.0}),
    ({'x_stamp': 7.99}, DRIVEN, first('p_offset', 2.0 + DRIFT)),
    ({'x_stamp': 8.0 - DRIFT}, DRIVEN, {**first('p_offset', 2.0 + DRIFT), 'p_late': 0.0}),
    # Less late than ever: one stamp may be wrong, two are not
    ({'x_stamp': 8.05}, DRIVEN, {'p_offset': 2.0, 'p_late': 0.0, **first('p_last_offset', 1.95)}),
    ({'x_stamp': 8.05, 'p_last_offset': 1.97}, DRIVEN, first('p_offset', 1.97)),
    ({'x_stamp': 8.05, 'p_last_offset': 1.94}, DRIVEN, first('p_offset', 1.95)),
    # Bounds of one sample, and of its share in the mean
    ({'x_stamp': 7.0}, DRIVEN, {**first('p_late', MOST), **first('p_set_back', 1.0)}),
    ({'x_stamp': 7.0, 'p_late': 0.1}, DRIVEN, first('p_late', 0.11875, {'p_late': 0.1})),
    ({'x_stamp': 7.0, 'p_interval': 0.5}, DRIVEN, {'p_late': 0.0}),
    ({'p_late': 0.0625}, DRIVEN, first('p_late', 0.015625, {'p_late': 0.0625})),
    ({'p_late': 0.0625, 'p_interval': 0.5}, DRIVEN, {
        **first('p_late', 0.015625, {'p_late': 0.0625}),
        **first('p_interval', 0.25 + 0.5 * STEP, {'p_interval': 0.5})}),
    # The clock of the stamps is set back: by more than the time and the limit, beyond the limit
    ({'x_stamp': 8.0 - STEP - 0.0625}, DRIVEN, {'p_set_back': 0.0}),
    ({'x_stamp': 8.0 - STEP - 0.0626}, DRIVEN, first('p_set_back', 1.0)),
    ({'p_last_offset': 1.0, 'p_offset': 1.9375}, DRIVEN, {'p_set_back': 0.0}),
    ({'p_last_offset': 1.0, 'p_offset': 1.93}, DRIVEN, first('p_set_back', 1.0)),
    ({'x_stamp': 7.0, 'p_set_back': 1.0}, DRIVEN, {'p_set_back': 1.0}),
    ({'x_stamp': 7.0, 'p_set_back': -1.0}, DRIVEN, first('p_set_back', 0.0, {'p_set_back': -1.0})),
    # Forward
    ({'p_last_offset': 2.0625}, DRIVEN, {'p_set_back': 0.0}),
    ({'p_last_offset': 2.07}, DRIVEN, first('p_set_back', -1.0)),
    ({'p_last_offset': 2.07, 'p_set_back': -1.0}, DRIVEN, {'p_set_back': -1.0}),
    ({'p_last_offset': 2.07, 'p_set_back': 1.0}, DRIVEN, first(
        'p_set_back', 0.0, {'p_set_back': 1.0})),
    ({'p_set_back': -1.0}, DRIVEN, {**first('p_set_back', 0.0, {'p_set_back': -1.0}),
                                    'p_offset': 2.0}),
    # Learned again, unless the arm is driven
    *(({'x_stamp': 7.0, 'p_last_offset': 3.0, 'p_set_back': 1.0}, driving, {
        **first('p_offset', 3.0), **first('p_set_back', 0.0, {'p_set_back': 1.0}), 'p_late': 0.0})
      for driving in (NOT_DRIVEN, IN_FAULT)),
    ({'x_stamp': 7.0, 'p_last_offset': 3.0, 'p_set_back': 1.0}, DRIVEN, {
        **first('p_offset', 2.0 + DRIFT), 'p_set_back': 1.0, **first('p_late', MOST)}),
    ({'x_stamp': 8.0 - 1.0 / 32.0, 'p_last_offset': 2.0 + 1.0 / 32.0}, NOT_DRIVEN, first(
        'p_offset', 2.0 + DRIFT))])
def test_lateness_of_the_stamps(given, driving, expected):
    played(lambda c: plausibility.update_lateness(c, 0, DECAY, driving), {**PUNCTUAL, **given},
           None, expected)


def test_an_interval_counts_up_to_six_times_the_limit():
    played(lambda c: plausibility.update_lateness(c, 0, Decay(1.0, 0.0, 0.0, 0.5), DRIVEN),
           PUNCTUAL, None, first('p_interval', STEP + 0.5 * (0.375 - STEP)))


# New samples of both joints
NEW = {**SAMPLE, 's_late_limit': 0.5 * STEP, 'm_observing': 1, 'p_judged': 10.0 - STEP,
       'p_interval': STEP, 'x_position': [0.001, -0.001], 'x_velocity': [0.0, 0.0]}
LATE = {'x_stamp': [7.996, 8.0], 'p_stamp': 8.0 - STEP, 'p_offset': 2.0, 'p_last_offset': 2.004,
        'p_late': [0.004, 0.0], 's_late_limit': 0.006}
AWAY = {'p_rejected': 2.0, 'x_position': 1.0}       # a third jump
BEGUN = {'p_judged': 10.0, 'p_accepted': 10.0, 'p_position': [0.25, -0.5], 'p_velocity': 0.75,
         'p_stamp': 8.0, 'p_offset': nan, 'p_last_offset': nan,
         **dict.fromkeys(('p_set_back', 'p_drift', 'p_stamped_drift', 'p_contradiction',
                          'p_rejected', 'p_late', 'p_interval'), 0.0)}


@pytest.mark.parametrize(('given', 'driving', 'fault', 'expected'), [
    ({}, DRIVEN, NONE, {'p_judged': 10.0, 'p_position': [0.001, -0.001], 'p_velocity': 0.0,
                        'p_accepted': 10.0, 'p_rejected': 0.0, 'f_unchanged': -1.0}),
    ({'x_velocity': [0.01, 0.02]}, DRIVEN, NONE, {'p_velocity': [0.01, 0.02]}),
    # A sample that is none
    ({'p_judged': [10.0, 9.5]}, DRIVEN, (guard.STATE_LATE, 1), {'p_position': [0.0, -0.001]}),
    # In a fault, once the state was invalid
    ({'m_without_state': 1, 'm_joint': 1}, IN_FAULT, (STATE_INCONSISTENT, 1), {
        'p_rejected': 1.0, 'p_judged': 10.0 - STEP}),
    ({'m_without_state': 1}, DRIVEN, NONE, {'p_judged': 10.0}),
    ({'m_without_state': 0}, IN_FAULT, NONE, {'p_judged': 10.0}),
    # The first sample, or the first one after a jump of time
    ({**dict.fromkeys(BEGUN, 5.0), 'm_observing': 0, 'x_stamp': 8.0, 'x_velocity': 0.75,
      'x_position': [0.25, -0.5]}, DRIVEN, NONE, BEGUN),
    # Continuous joints
    ({'j_periodic': 1, 'x_position': 2.0 * pi, 'p_accepted': 9.875}, DRIVEN, NONE, {
        'p_position': 0.0}),
    # Late or rare
    ({'s_late_limit': 0.499 * STEP}, DRIVEN, (guard.STATE_LATE, 0), {}),
    ({'s_late_limit': 0.499 * STEP, 'p_interval': [0.0, STEP]}, NOT_DRIVEN,
     (guard.STATE_LATE, 1), {}),
    ({'p_judged': 9.0, 'p_interval': 0.0}, NOT_DRIVEN, (guard.STATE_LATE, 0), {
        'p_interval': 3.0 * STEP * (1.0 - exp(-5.0))}),
    (LATE, DRIVEN, (guard.STATE_LATE, 0), {'p_rejected': 0.0}),
    # A contradiction comes first, and is no sample where the arm is driven
    ({**LATE, 'x_position': [0.001, 1.0], 'p_rejected': 2.0}, DRIVEN, (STATE_INCONSISTENT, 1), {
        'p_rejected': [0.0, 3.0]}),
    (AWAY, DRIVEN, (STATE_INCONSISTENT, 0), {'p_rejected': 3.0}),
    ({**AWAY, 'x_position': [1.0, 0.0]}, DRIVEN, (STATE_INCONSISTENT, 0), {
        'p_rejected': [3.0, 0.0]}),
    ({'x_position': [0.05, 0.0]}, DRIVEN, (STATE_INCONSISTENT, 0), {'p_rejected': [1.0, 0.0]}),
    ({'x_position': [0.05, 0.0]}, IN_FAULT, (STATE_INCONSISTENT, 0), {'p_rejected': [1.0, 0.0]}),
    ({'x_position': [0.05, 0.0]}, NOT_DRIVEN, (STATE_INCONSISTENT, 0), {'p_rejected': 0.0}),
    # One that is too fast is named although it is rare, too
    ({'x_position': [0.012, 0.0], 'x_velocity': [2.5, 0.0], 'p_rejected': [2.0, 0.0],
      's_late_limit': 0.001, 'p_interval': [STEP, 0.0]}, DRIVEN, (VELOCITY_ABOVE_LIMIT, 0), {})])
def test_samples_of_all_joints(given, driving, fault, expected):
    played(lambda c: plausibility.check_samples(c, driving), {**NEW, **given}, fault, expected)
