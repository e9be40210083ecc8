# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Points of the grid are exact, late ones are counted and never replayed."""

from pathlib import Path
import signal
import threading
from time import monotonic_ns

import pytest
from robodyn_ros.errors import ArgumentError
from robodyn_ros.realtime.periodic_timer import Grid, sharpen_timers

HOUR = 3_600_000_000_000        # ns; so long that no machine is too slow for these tests


def test_points_are_exact_multiples_of_the_period():
    grid = Grid(100_003)
    start, points = grid.deadline, 0
    for _ in range(300):
        points += 1 + grid.wait()
        assert grid.deadline == start + points * 100_003
        assert monotonic_ns() >= grid.deadline      # it did sleep until there


@pytest.mark.parametrize('late, missed', [(0.5, 0), (1.5, 1), (10.5, 10)])
def test_a_late_loop_counts_what_it_missed_once(late, missed):
    grid = Grid(HOUR)
    start = monotonic_ns() - HOUR - int(late * HOUR)
    grid.start(start)
    # The point one period after the start went by `late` periods ago.
    assert grid.advance() == missed + 1
    assert grid.deadline == start + (missed + 2) * HOUR
    assert 0 < grid.deadline - monotonic_ns() <= HOUR
    assert grid.advance() == 0
    assert grid.deadline == start + (missed + 3) * HOUR


def test_a_loop_in_time_misses_nothing():
    grid = Grid(HOUR)
    start = grid.deadline
    assert [grid.advance() for _ in range(3)] == [0, 0, 0]
    assert grid.deadline == start + 3 * HOUR


def test_a_signal_does_not_shorten_the_sleep():
    grid, beats = Grid(50_000_000), []
    before = signal.signal(signal.SIGALRM, lambda *_: beats.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    try:
        for _ in range(3):
            grid.wait()
            assert monotonic_ns() >= grid.deadline
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert beats


def test_a_point_that_the_kernel_cannot_wait_for_is_an_error():
    grid = Grid(HOUR)
    grid.start(2**63 * 10**9)
    with pytest.raises(OSError, match='Invalid argument'):
        grid.wait()


@pytest.mark.alone
def test_other_threads_run_while_one_sleeps():
    grid = Grid(HOUR)
    grid.start(monotonic_ns() - HOUR + 200_000_000)     # the next point is a fifth of a second off
    point, counted = grid.deadline + HOUR, []
    sleeper = threading.Thread(target=grid.wait)
    sleeper.start()
    while sleeper.is_alive() and monotonic_ns() < point:
        counted.append(1)
    sleeper.join()
    assert len(counted) > 10        # with the GIL held during the sleep it would be 0 or 1


def test_timers_are_sharpened_for_the_calling_thread_alone():
    slack = []

    def read():
        tid = threading.get_native_id()
        return int(Path(f'/proc/{tid}/timerslack_ns').read_text())

    def sharpen():
        slack.append(read())
        assert sharpen_timers()
        slack.append(read())

    mine = read()
    thread = threading.Thread(target=sharpen)
    thread.start()
    thread.join()
    assert slack == [mine, 1]
    assert read() == mine


@pytest.mark.parametrize('period', [0, -1])
def test_a_period_is_positive(period):
    with pytest.raises(ArgumentError, match='period'):
        Grid(period)


def test_the_final_spin_ends_at_the_point_and_not_before():
    grid = Grid(2_000_000, 1_900_000)
    for _ in range(20):
        grid.wait()
        assert monotonic_ns() >= grid.deadline


@pytest.mark.parametrize('spin', [-1, 1000, 2000])
def test_the_final_spin_is_a_part_of_the_period(spin):
    with pytest.raises(ArgumentError, match='final spin'):
        Grid(1000, spin)
