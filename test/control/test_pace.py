# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A loop of the user's own: slower than its gains were judged for, or streaming references."""

from control.closed_loop import Rig
from control.risen import risen, TWO_LINK
import numpy as np
import pytest
from robodyn_ros.control.controller.pace import Pace
from robodyn_ros.control.references.trajectory import Waypoints

TIMEOUT = 0.05


class Slow(Rig):
    period, substeps = 0.01, 40


def missed(intervals, period=1e-3):
    pace, now, found = Pace(), 5.0, []
    for interval in (0.0, *intervals):
        now += interval
        found.append(pace.missed(now, period, TIMEOUT))
    return found, pace


def test_gains_for_another_rate_are_a_fault_that_names_both(caplog):
    rig = Slow(TWO_LINK, [0.3, 0.5], mode='computed_torque')
    rig.controller.arm()
    steps = 0
    while rig.phase != 'FAULT' and steps < 60:
        rig.tick()
        steps += 1
    assert rig.controller.reason_code == 'PERIODS_MISSED'
    assert 'every 10 ms' in rig.controller.reason and 'rate to 100' in rig.controller.reason
    assert [r.message for r in caplog.records if 'every 10 ms' in r.message] == [
        rig.controller._pace.sentence(1e-3)]


@pytest.mark.parametrize(('kind', 'rate'), [(Rig, 1000.0), (Slow, 100.0)])
def test_a_loop_that_keeps_its_rate_runs(kind, rate):
    rig = kind(TWO_LINK, [0.3, 0.5], mode='gravity_compensation', rate=rate, stiffness=(),
               damping=(), acceleration_kp=(), acceleration_kd=())
    rig.controller.arm()
    rig.run(1.0)
    assert rig.phase == 'RUNNING', rig.controller.reason
    assert rig.controller.memory['missed'][0] == 0.0


def test_a_slow_loop_in_a_row_of_stalls_is_told_its_rate():
    rig = Slow(TWO_LINK, [0.3, 0.5], state_timeout=0.005)
    rig.controller.arm()
    rig.run(0.5)
    assert rig.controller.reason_code == 'LOOP_STALLED'
    assert 'every 10 ms' in rig.controller.reason


def test_what_is_left_over_of_periods_is_kept():
    assert sum(missed([1e-3] * 20_000)[0]) == 0
    assert sum(missed([1.25e-3] * 400)[0]) == pytest.approx(100, abs=1)
    assert sum(missed([0.01] * 10)[0]) == 90
    assert sum(missed([0.4e-3, 1.6e-3] * 500)[0]) < 0.7 * 500    # jitter is not made up for
    assert sum(missed([0.5e-3] * 1000)[0]) == 0


def test_time_that_jumps_or_stands_still_is_no_slow_loop():
    found, pace = missed([1e-3, 0.0, -3.0, 1e-3, 20.0, 1e-3])
    assert sum(found) == 0 and pace.interval == pytest.approx(1e-3)
    assert pace.sentence(1e-3) == ''
    assert sum(missed([2 * TIMEOUT])[0]) == 0                    # a stall has its own verdict


def stream(ahead):
    """Return the fault, if any, of a stream of trajectories of two waypoints at 50 Hz."""
    rig = risen(mode='computed_torque', acceleration_limit=[])
    for k in range(1000):
        if k % 20 == 0:
            times = ahead * np.array([1.0, 2.0])
            t = 1e-3 * k + times
            q = np.array([0.3 + 0.4 * np.sin(1.5 * t), 0.5 + 0.3 * np.sin(2.0 * t)]).T
            rig.controller.follow(Waypoints(TWO_LINK.joint_names, times, q), rig.time + rig.period)
        rig.tick()
        if rig.phase == 'FAULT':
            return rig.controller.reason
    return ''


def test_a_stream_of_trajectories_has_to_look_ahead():
    assert 'every trajectory ends at rest' in stream(0.02)
    assert stream(0.5) == ''
