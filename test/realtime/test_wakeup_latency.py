# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Measured wake-up latencies and the conclusions from them; no value is expected."""

import sys
import threading

import numpy as np
import pytest
from robodyn_ros.realtime import system_checks
from robodyn_ros.realtime.rate_recommendation import CANDIDATE_RATES, judge
from robodyn_ros.realtime.scheduling import Scheduling
from robodyn_ros.realtime.wakeup_latency import Case, measure


@pytest.mark.parametrize('native', [False, True])
@pytest.mark.parametrize('busy', [False, True])
@pytest.mark.parametrize('spin', [0.0, 1e-3])
def test_no_wake_up_comes_before_its_point(native, busy, spin):
    before, threads = sys.getswitchinterval(), threading.active_count()
    found = measure(Case(200.0, native, busy, spin=spin), 0.1)
    assert 1 <= len(found.late) <= 20
    assert (found.late >= 0.0).all()
    assert sys.getswitchinterval() == pytest.approx(before, abs=1e-9)
    assert threading.active_count() == threads


def test_the_switch_interval_is_that_from_before():
    before = sys.getswitchinterval()
    try:
        for microseconds in (100, 101, 5000):       # the first is none that floats can hold
            sys.setswitchinterval(microseconds * 1e-6 + 1e-7)
            measure(Case(200.0, native=False, busy=True), 0.02)
            assert sys.getswitchinterval() == pytest.approx(microseconds * 1e-6, abs=1e-9)
    finally:
        sys.setswitchinterval(before + 1e-7)


@pytest.mark.parametrize('native', [False, True])
def test_points_that_are_missed_count_as_points(native):
    """At a rate no machine has, the loop still ends after so many points."""
    found = measure(Case(1e9, native), 1e-4)        # 100,000 points of 1 ns
    assert 1 <= len(found.late) < 100_000


def test_the_thread_runs_as_wanted():
    cpu = min(system_checks.os.sched_getaffinity(0))
    assert str(measure(Case(200.0, scheduling=Scheduling(cpus=(cpu,))), 0.02).outcome) == (
        f'no real-time priority, CPU {cpu}')


def test_the_rate_leaves_three_quarters_of_the_period():
    late = np.full(10_000, 20e-6)
    assert judge([late], 4000.0)[:2] == (4000, pytest.approx(20e-6))
    assert judge([late], 4000.0).margin == pytest.approx(230e-6)
    assert judge([late], 1000.0).rate == 1000                   # no faster than it was measured
    late[:20] = 240e-6                                          # two in a thousand
    assert judge([late], 4000.0).rate == 1000
    late[:20] = 260e-6
    assert judge([late], 4000.0).rate == 500


def test_a_rare_wake_up_costs_periods_and_no_rate():
    late = np.full(10_000, 20e-6)
    late[7] = 3.5e-3
    found = judge([np.full(10_000, 1e-6), late], 4000.0)
    assert found.rate == 4000 and found.worst == 3.5e-3 and found.lost == 14


def test_a_machine_may_be_unfit_for_any_rate():
    found = judge([np.full(100, 1.0 / CANDIDATE_RATES[0])], 4000.0)
    assert found.rate == 0 and found.margin == 0.0


def test_every_fact_has_a_value_and_every_blemish_a_remedy():
    facts = system_checks.facts()
    assert len({fact.name for fact in facts}) == len(facts)
    for fact in facts:
        assert fact.value and (fact.advice or fact.grade == system_checks.FINE)
        assert '\n' not in fact.value + fact.advice
