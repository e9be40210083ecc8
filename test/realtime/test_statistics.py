# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Figures, counters, timing rules and recordings of a loop."""

from dataclasses import asdict
import json
from math import inf, isnan, nan
import pickle

from hypothesis import given, strategies as st
import numpy as np
import pytest
from robodyn_ros.errors import ArgumentError
from robodyn_ros.realtime import timing_rules
from robodyn_ros.realtime.statistics import (
    ERROR, FORMAT, load, no_cycles, OK, quality, rate, save, spread, Tally, TIMING, TimingAbout,
    WARN, worst)
from robodyn_ros.wire.decoders import ACCEPTED, MALFORMED, REASONS

LIMITS = {'rate_warn': 0.05, 'rate_error': 0.1, 'execution_warn': 1e-3, 'execution_error': 2e-3,
          'jitter_warn': 1e-4, 'jitter_error': 2e-4}


def cycles(periods, cycle=1e-4):
    """Cycles that follow each other like this [s]."""
    out = no_cycles(len(periods) + 1)
    out['woke'] = np.cumsum([100.0, *periods])
    out['cycle'] = cycle
    return out


def add(tally, cycle):
    """Add a cycle as the loop does."""
    tally.ring[tally.cycle_count[0] % len(tally.ring)] = cycle
    tally.cycle_count[0] += 1


def count(tally, code):
    """Count a sample as the loop does."""
    timing_rules.count_sample(tally.counts.view(np.recarray)[0], code, tally.numbers, tally.seen)


@given(st.integers(1, 8), st.lists(st.tuples(*5 * (st.floats(-1e9, 1e9),)), max_size=30),
       st.integers(1, 10))
def test_the_latest_cycles_are_kept_and_no_others(size, added, most):
    tally = Tally(np.zeros(1), size)
    for seen, cycle in enumerate(added, 1):
        add(tally, cycle)
        latest = added[max(0, seen - size):seen]
        assert tally.newest().tolist() == latest
        assert tally.newest(most).tolist() == latest[-most:]
    tally.clear()
    assert len(tally.newest()) == 0


def test_a_ring_hands_out_copies():
    tally = Tally(np.zeros(1), 2)
    add(tally, (1.0, 2.0, 3.0, 4.0, 5.0))
    before = tally.newest()
    add(tally, (5.0, 6.0, 7.0, 8.0, 9.0))
    add(tally, (9.0, 10.0, 11.0, 12.0, 13.0))
    assert before.tolist() == [(1.0, 2.0, 3.0, 4.0, 5.0)]


def test_figures_are_of_what_is_known():
    x = np.arange(1001.0)
    found = spread(np.concatenate([[nan, inf], x]))
    assert found == pytest.approx((500.0, x.std(), 500.0, 990.0, 999.0, 1000.0))
    assert np.isnan(spread(np.array([nan]))).all()
    assert rate(cycles([0.01] * 9)) == pytest.approx((100.0, 0.0), abs=1e-6)
    # Periods of 9 and 11 ms: 1 ms around 10 ms is a tenth of 100 Hz
    assert rate(cycles([0.009, 0.011] * 50)) == pytest.approx((100.0, 10.0))
    assert np.isnan(rate(no_cycles(1))).all()


@pytest.mark.parametrize(('shown', 'level', 'said'), [
    (cycles([0.01] * 50), OK, ''),
    (cycles([1 / 96] * 50), OK, ''),
    (cycles([1 / 94] * 50), WARN, 'rate error 6 Hz, more than 5'),
    (cycles([1 / 111] * 50), ERROR, 'rate error 11 Hz, more than 10'),
    (cycles([0.0093, 0.0107] * 50), WARN, 'rate deviation 7 Hz, more than 5'),
    (cycles([0.0085, 0.0115] * 50), ERROR, 'rate deviation 15 Hz, more than 10'),
    (cycles([0.01] * 50, 1.5e-3), WARN, 'execution time 1500 us, more than 1000'),
    (cycles([0.01] * 50, 3e-3), ERROR, 'execution time 3000 us, more than 2000'),
    (cycles([0.01] * 4, [1e-4, 4e-4, 1e-4, 4e-4, 1e-4]), WARN,
     'execution time deviation 147 us, more than 100'),
    (cycles([0.01] * 4, [1e-4, 7e-4, 1e-4, 7e-4, 1e-4]), ERROR,
     'execution time deviation 294 us, more than 200'),
])
def test_at_100_hz_the_limits_are_those_of_ros2_control(shown, level, said):
    assert worst(quality(shown, 100.0, **LIMITS)) == (level, said)


def test_levels_of_timing():
    assert worst(quality(cycles([1e-3] * 50, 6e-4), 1000.0, **LIMITS))[0] == WARN
    assert worst(quality(cycles([1e-3] * 50, 1.1e-3), 1000.0, **LIMITS))[0] == ERROR
    assert worst(quality(cycles([1e-3] * 50, 4e-4), 1000.0, **LIMITS))[0] == OK
    assert worst(quality(cycles([0.3, 0.001] * 9), inf, **LIMITS)) == (OK, '')
    level, said = worst(quality(cycles([1 / 80] * 50, 3e-3), 100.0, **LIMITS))
    assert level == ERROR and said.count(';') == 1
    assert 'rate error' in said and 'execution time' in said
    assert worst(quality(no_cycles(0), 1000.0, **LIMITS)) == (OK, '')


class Publisher:
    """Counts what it publishes, of some joints."""

    def __init__(self, numbers, joints, number=0):
        self.numbers, self.joints, self.number = numbers, joints, number

    def publish(self, lost, counter):
        self.number += 1 + lost
        self.numbers[self.joints] = self.number
        count(counter, ACCEPTED)


def test_gaps_in_the_numbers_are_lost_samples():
    numbers = np.full(3, nan)
    counter, publisher = Tally(numbers), Publisher(numbers, [0, 1, 2], 1000)
    for lost in (5, 0, 0, 1, 0, 7):         # what came before the first one was not for us
        publisher.publish(lost, counter)
    assert counter.lost == 8
    numbers = np.full(2, nan)
    counter = Tally(numbers)
    Publisher(numbers, [0, 1], 500).publish(0, counter)
    again = Publisher(numbers, [0, 1])
    again.publish(0, counter)
    again.publish(2, counter)
    assert counter.lost == 2
    numbers = np.full(2, nan)
    counter = Tally(numbers)
    for _ in range(3):
        count(counter, ACCEPTED)
    assert counter.lost == 0


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


def test_samples_are_counted_by_the_answer():
    tally = Tally(np.full(1, nan))
    for code in (ACCEPTED, MALFORMED, ACCEPTED):
        count(tally, code)
    for missed in (0, 3):
        timing_rules.count_missed(tally.counts.view(np.recarray)[0], missed)
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


def test_rules_of_time():
    assert timing_rules.goes_on(2.0, 1.0, 1.5, 0.1)
    assert not timing_rules.goes_on(2.0, 2.0, 1.5, 0.1)            # paused
    assert not timing_rules.goes_on(1.45, 1.0, 1.5, 0.1)           # a clock behind the states
    assert timing_rules.goes_on(0.1, 1.0, 1.5, 0.1)                # begun anew
    assert not timing_rules.goes_on(nan, nan, nan, 0.1)
    assert timing_rules.oldest(np.array([3.0, 1.0, 2.0])) == 1.0
    assert isnan(timing_rules.oldest(np.array([3.0, nan, 2.0])))
    assert timing_rules.stall(0.0, 2_000_000, 1_000_000) == 0.0                # in time
    assert timing_rules.stall(0.5, 10**9, 10**9 + 3 * 10**8) == 0.5
    assert timing_rules.stall(0.5, 10**9, 175 * 10**7) == 0.75
    assert timing_rules.outdated(True, 0, 10**8 + 1, 0.1)
    assert not timing_rules.outdated(True, 0, 10**8, 0.1)
    assert not timing_rules.outdated(False, 0, 10**10, 0.1)
    assert timing_rules.silence(True, False, 0.001, 0.1) == 0.001
    assert timing_rules.silence(True, True, 0.001, 0.1) == 0.001
    assert timing_rules.silence(False, False, 0.001, 0.1) == 0.05
    assert timing_rules.silence(False, True, 0.001, 0.1) == 0.1
    pose, seen, answer = np.zeros(2), np.full(2, nan), (0, 0.0)
    for now, step, stands, seconds in (
            (1, 0.0, True, 0.0), (2, 0.1, True, 1.0), (3, 0.0, True, 1.0), (4, 0.0, True, 1.0),
            (5, 0.1, True, 4.0), (6, 0.1, False, 0.0), (7, 0.0, True, 0.0), (8, 0.1, True, 0.0),
            (10, -0.1, True, 2.0)):
        pose[1] += step
        answer = timing_rules.moving(pose, seen, stands, *answer, now * 10**9)
        assert answer[1] == seconds and (seen == pose).all()


ABOUT = TimingAbout(1000.0, 'timer', 'python', 'SCHED_FIFO 80', 12345, 2, 7, 1)


def some(n):
    cycles = no_cycles(n)
    for name in TIMING.names:
        cycles[name] = np.random.default_rng(3).random(n)
    cycles['wake_up'][1] = np.nan
    return cycles


def test_what_is_written_is_read(tmp_path):
    path = tmp_path / 'timing'           # the name is taken as it is, whatever its ending
    cycles = some(5)
    save(path, cycles, ABOUT)
    save(path, cycles, ABOUT)
    found = load(path)
    assert found.about == ABOUT
    for name in TIMING.names:
        np.testing.assert_array_equal(found.cycles[name], cycles[name])
    assert [p.name for p in tmp_path.iterdir()] == ['timing']


def test_what_is_no_file_of_a_loop(tmp_path):
    with pytest.raises(OSError):
        save(tmp_path / 'missing' / 'timing.npz', some(3), ABOUT)
    for how, make in BROKEN.items():
        make(path := tmp_path / f'{how}.npz')
        with pytest.raises(ArgumentError, match='cannot be read') as refused:
            load(path)
        assert str(path) in str(refused.value)


def write(path, **changed):
    columns = {name: some(3)[name] for name in TIMING.names}
    np.savez(path, **{'format': FORMAT, 'about': json.dumps(asdict(ABOUT)), **columns, **changed})


def array(path):
    with path.open('wb') as out:
        np.save(out, np.zeros(3))


def cut(path):
    write(path)
    path.write_bytes(path.read_bytes()[:200])


BROKEN = {
    'missing': lambda path: None,
    'text': lambda path: path.write_text('no recording'),
    'empty': lambda path: path.write_bytes(b''),
    'array': array,
    'cut': cut,
    'pickle': lambda path: path.write_bytes(pickle.dumps({'woke': 1})),
    'objects': lambda path: write(path, woke=np.array([{}, {}, {}], object)),
    'format': lambda path: write(path, format='another'),
    'lengths': lambda path: write(path, age=np.zeros(4)),
    'shape': lambda path: write(path, **{name: np.zeros((2, 2)) for name in TIMING.names}),
    'about': lambda path: write(path, about='{"rate": 1}'),
    'folder': lambda path: path.mkdir()}
