# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Figures of a loop against NumPy over the same samples, and what is said of them."""

from math import inf, nan

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest
from robodyn_ros.errors import ArgumentError
from robodyn_ros.realtime.statistics import (
    ERROR,
    no_cycles,
    OK,
    quality,
    rate,
    spread,
    Timing,
    WARN,
    worst,
)

LIMITS = {'rate_warn': 0.05, 'rate_error': 0.1, 'execution_warn': 1e-3, 'execution_error': 2e-3,
          'jitter_warn': 1e-4, 'jitter_error': 2e-4}


def cycles(periods, cycle=1e-4):
    """Cycles that follow each other like this [s]."""
    out = no_cycles(len(periods) + 1)
    out['woke'] = np.cumsum([100.0, *periods])
    out['cycle'] = cycle
    return out


@given(st.integers(1, 8), st.lists(st.tuples(*5 * (st.floats(-1e9, 1e9),)), max_size=30),
       st.integers(1, 10))
def test_the_latest_cycles_are_kept_and_no_others(size, added, most):
    timing = Timing(size)
    for seen, cycle in enumerate(added, 1):
        timing.add(*cycle)
        latest = added[max(0, seen - size):seen]
        assert len(timing) == len(latest)
        assert timing.newest().tolist() == latest
        assert timing.newest(most).tolist() == latest[-most:]
    timing.clear()
    assert len(timing) == len(timing.newest()) == 0


def test_a_ring_has_room():
    with pytest.raises(ArgumentError, match='ring of 0 cycles'):
        Timing(0)


def test_a_copy_is_handed_out():
    timing = Timing(2)
    timing.add(1.0, 2.0, 3.0, 4.0, 5.0)
    before = timing.newest()
    timing.add(5.0, 6.0, 7.0, 8.0, 9.0)
    timing.add(9.0, 10.0, 11.0, 12.0, 13.0)
    assert before.tolist() == [(1.0, 2.0, 3.0, 4.0, 5.0)]


def test_figures_leave_out_what_is_not_known():
    x = np.arange(1001.0)
    found = spread(np.concatenate([[nan, inf], x]))
    assert found == pytest.approx((500.0, x.std(), 500.0, 990.0, 999.0, 1000.0))
    assert np.isnan(spread(np.array([nan]))).all()


def test_the_rate_and_its_deviation():
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


def test_a_cycle_that_fills_its_period_is_too_long_whatever_the_limit():
    assert worst(quality(cycles([1e-3] * 50, 6e-4), 1000.0, **LIMITS))[0] == WARN
    assert worst(quality(cycles([1e-3] * 50, 1.1e-3), 1000.0, **LIMITS))[0] == ERROR
    assert worst(quality(cycles([1e-3] * 50, 4e-4), 1000.0, **LIMITS))[0] == OK


def test_without_a_nominal_rate_none_is_wrong():
    assert worst(quality(cycles([0.3, 0.001] * 9), inf, **LIMITS)) == (OK, '')


def test_all_of_the_worst_level_are_named():
    level, said = worst(quality(cycles([1 / 80] * 50, 3e-3), 100.0, **LIMITS))
    assert level == ERROR and said.count(';') == 1
    assert 'rate error' in said and 'execution time' in said


def test_no_cycles_are_no_trouble():
    assert worst(quality(no_cycles(0), 1000.0, **LIMITS)) == (OK, '')
