# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Counters of a loop, and its timing rules."""

from math import isnan, nan

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
from robodyn_ros.realtime import timing_rules
from robodyn_ros.realtime.loop_counters import Tally
from robodyn_ros.wire.decode_status import ACCEPTED, MALFORMED, REASONS


class Publisher:
    """Counts what it publishes, of some joints."""

    def __init__(self, numbers, joints, number=0):
        self.numbers, self.joints, self.number = numbers, joints, number

    def publish(self, lost, counter):
        self.number += 1 + lost
        self.numbers[self.joints] = self.number
        counter.sample(ACCEPTED)


def test_gaps_in_the_numbers_are_lost_samples():
    numbers = np.full(3, nan)
    counter, publisher = Tally(numbers), Publisher(numbers, [0, 1, 2], 1000)
    for lost in (5, 0, 0, 1, 0, 7):         # what came before the first one was not for us
        publisher.publish(lost, counter)
    assert counter.lost == 8


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 3)), max_size=30))
def test_publishers_of_different_joints_count_apart(published):
    numbers = np.full(3, nan)
    counter = Tally(numbers)
    arms = Publisher(numbers, [0, 1], 50), Publisher(numbers, [2], 9000)
    for arm in arms:
        arm.publish(0, counter)
    for which, lost in published:
        arms[which].publish(lost, counter)
    assert counter.lost == sum(lost for _, lost in published)


def test_a_publisher_that_begins_anew_has_lost_nothing():
    numbers = np.full(2, nan)
    counter = Tally(numbers)
    Publisher(numbers, [0, 1], 500).publish(0, counter)
    again = Publisher(numbers, [0, 1])
    again.publish(0, counter)
    again.publish(2, counter)
    assert counter.lost == 2


def test_without_numbers_nothing_is_claimed():
    numbers = np.full(2, nan)
    counter = Tally(numbers)
    for _ in range(3):
        counter.sample(ACCEPTED)
    assert counter.lost == 0


def test_samples_are_counted_by_the_answer():
    tally = Tally(np.full(1, nan))
    for code in (ACCEPTED, MALFORMED, ACCEPTED):
        tally.sample(code)
    tally.late(0)
    tally.late(3)
    assert tally.accepted == 2 and tally.refused == {REASONS[MALFORMED]: 1}
    assert (tally.missed, tally.overruns) == (3, 1)
    tally.clear()
    assert tally.accepted == tally.missed == tally.overruns == 0 and not tally.refused


@given(st.integers(0, 10**15), st.integers(1, 10**10), st.integers(0, 10**15))
def test_the_next_point_is_the_first_that_is_not_over(deadline, period, later):
    now = deadline + later
    point, missed = timing_rules.next_point(deadline, period, now)
    assert (point - deadline) % period == 0 and point == deadline + (missed + 1) * period
    assert point >= now and (missed == 0 or point - period < now)


def test_time_that_stands_still_or_runs_a_little_late_is_not_silence():
    assert timing_rules.goes_on(2.0, 1.0, 1.5, 0.1)
    assert not timing_rules.goes_on(2.0, 2.0, 1.5, 0.1)            # paused
    assert not timing_rules.goes_on(1.45, 1.0, 1.5, 0.1)           # a clock behind the states
    assert timing_rules.goes_on(0.1, 1.0, 1.5, 0.1)                # begun anew
    assert not timing_rules.goes_on(nan, nan, nan, 0.1)


def test_the_oldest_state_counts_and_one_that_is_missing_more():
    assert timing_rules.oldest(np.array([3.0, 1.0, 2.0])) == 1.0
    assert isnan(timing_rules.oldest(np.array([3.0, nan, 2.0])))


def test_the_longest_stall_counts():
    assert timing_rules.stall(0.0, 2_000_000, 1_000_000) == 0.0                # in time
    assert timing_rules.stall(0.5, 10**9, 10**9 + 3 * 10**8) == 0.5
    assert timing_rules.stall(0.5, 10**9, 175 * 10**7) == 0.75


def test_what_was_computed_before_a_stall_is_not_sent_unless_nothing_follows():
    assert timing_rules.outdated(True, 0, 10**8 + 1, 0.1)
    assert not timing_rules.outdated(True, 0, 10**8, 0.1)
    assert not timing_rules.outdated(False, 0, 10**10, 0.1)


def test_silence_is_noticed_before_the_states_are_stale():
    assert timing_rules.silence(True, False, 0.001, 0.1) == 0.001
    assert timing_rules.silence(True, True, 0.001, 0.1) == 0.001
    assert timing_rules.silence(False, False, 0.001, 0.1) == 0.05
    assert timing_rules.silence(False, True, 0.001, 0.1) == 0.1


def test_an_arm_that_moves_while_time_stands_still():
    pose, seen, answer = np.zeros(2), np.full(2, nan), (0, 0.0)
    for now, step, stands, seconds in (
            (1, 0.0, True, 0.0), (2, 0.1, True, 1.0), (3, 0.0, True, 1.0), (4, 0.0, True, 1.0),
            (5, 0.1, True, 4.0), (6, 0.1, False, 0.0), (7, 0.0, True, 0.0), (8, 0.1, True, 0.0),
            (10, -0.1, True, 2.0)):
        pose[1] += step
        answer = timing_rules.moving(pose, seen, stands, *answer, now * 10**9)
        assert answer[1] == seconds and (seen == pose).all()
