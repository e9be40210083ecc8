# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Controllers in loops of users: what a display is told, the pace of the loop, many at once."""

from dataclasses import replace

from control.rig import GAINS, POSE, Rig, risen, TWO_LINK
import numpy as np
import pytest
from robodyn_ros import Controller, ControllerBatch, Dynamics, Phase, Settings, Waypoints
from robodyn_ros.control.controller import controller_batch
from robodyn_ros.control.controller.status import Pace, TelemetryReader
from robodyn_ros.control.steps import guard
from robodyn_ros.errors import ArgumentError

FRICTION = {'viscous_friction': [1.0, 0.5], 'friction_compensation': [0.5]}


def parts(cycle):
    return cycle.gravity + cycle.friction + cycle.law + cycle.limits


def test_the_parts_of_each_phase_sum_to_the_command():
    for settings in ({'effort_rate_limit': [50.0], 'acceleration_limit': [2.0]},
                     {'robot_compensates_gravity': True, 'arming_effort': 10.0}):
        rig = Rig(TWO_LINK, POSE, mode='computed_torque', **FRICTION, **settings)
        reader = TelemetryReader(rig.controller)
        rig.run(0.01)
        idle = reader.read()
        assert idle.phase == guard.INACTIVE and np.isnan(idle.commanded).all()
        assert np.isnan(idle.target).all() and reader.cycles == 10
        rig.tau = 0.9 * rig.tau         # measured while the brakes hold it: so there is a rise
        rig.controller.arm()
        seen = set()
        for _ in range(300):
            if (commanded := rig.tick()) is not None:
                cycle = reader.read()
                seen.add(cycle.phase)
                assert cycle.commanded == pytest.approx(commanded)
                assert parts(cycle) == pytest.approx(commanded)
                assert cycle.time == pytest.approx(rig.time - rig.period)
        assert guard.RUNNING in seen
        assert guard.RISING in seen or 'effort_rate_limit' not in settings


def test_reference_error_friction_and_limits_are_those_of_the_law():
    rig = Rig(TWO_LINK, POSE, mode='computed_torque', effort_limit=[40.0, 20.0], **FRICTION)
    reader = TelemetryReader(rig.controller)
    rig.rise()
    rig.q, rig.qd = rig.q + [0.02, 0.0], np.array([0.4, 0.0])
    rig.tick()
    cycle = reader.read()
    assert cycle.target == pytest.approx(POSE, abs=1e-3)
    assert cycle.position - cycle.target == pytest.approx([0.02, 0.0], abs=2e-3)
    assert cycle.velocity[0] == pytest.approx(0.4, abs=0.02) and not cycle.target_qd.any()
    assert cycle.law[0] < -5.0 and cycle.limits[0] > 0.0        # cut by the effort rate limit
    assert parts(cycle) == pytest.approx(cycle.commanded)


def test_a_floating_arm_follows_nothing_and_a_fault_is_told():
    rig = Rig(TWO_LINK, POSE, mode='gravity_compensation')
    reader = TelemetryReader(rig.controller)
    rig.rise()
    cycle = reader.read()
    assert np.isnan(cycle.target).all() and np.isnan(cycle.target_qd).all()
    assert cycle.gravity == pytest.approx(cycle.commanded, abs=0.5)
    rig.controller.cycle_input['stop_reason'] = guard.EMERGENCY_STOP
    rig.tick()
    cycle = reader.read()
    assert cycle.phase in (guard.STOPPING, guard.FAULT)
    assert parts(cycle) == pytest.approx(cycle.commanded)


TIMEOUT = 0.05


class Slow(Rig):
    period, substeps = 0.01, 40


def missed(intervals, period=1e-3):
    pace, now, found = Pace(), 5.0, []
    for interval in (0.0, *intervals):
        now += interval
        found.append(pace.missed(now, period, TIMEOUT))
    return found, pace


def test_requests_to_arm():
    once, often = Rig(TWO_LINK, [0.3, 0.5]), Rig(TWO_LINK, [0.3, 0.5])
    once.controller.arm()
    for _ in range(60):
        often.controller.arm()
        once.tick(), often.tick()
        assert often.controller.memory['good_samples'] == once.controller.memory['good_samples']
    assert often.phase == once.phase == 'RUNNING'
    rig = Rig(TWO_LINK, [0.3, 0.5])
    rig.controller.arm()
    rig.tick()
    rig.controller.disarm()
    rig.controller.arm()
    for _ in range(60):
        rig.tick()
    assert rig.phase == 'RUNNING'


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
        rig.controller.pace.sentence(1e-3)]


@pytest.mark.parametrize(('kind', 'rate'), [(Rig, 1000.0), (Slow, 100.0)])
def test_a_loop_that_keeps_its_rate_runs(kind, rate):
    rig = kind(TWO_LINK, [0.3, 0.5], mode='gravity_compensation', rate=rate, stiffness=(),
               damping=(), acceleration_kp=(), acceleration_kd=(), motor_test_effort=0.0)
    rig.controller.arm()
    rig.run(1.0)
    assert rig.phase == 'RUNNING', rig.controller.reason
    assert rig.controller.memory['missed'][0] == 0.0


def test_slow_loops_are_told_their_rate():
    rig = Slow(TWO_LINK, [0.3, 0.5], state_timeout=0.005)
    rig.controller.arm()
    rig.run(0.5)
    assert rig.controller.reason_code == 'LOOP_STALLED'
    assert 'every 10 ms' in rig.controller.reason
    batch = ControllerBatch(TWO_LINK, SETTINGS, 3, specialize=False)
    gravity = Dynamics(TWO_LINK).gravity([0.1, 0.2])
    batch.state['position'], batch.state['velocity'] = [0.1, 0.2], 0.0
    batch.state['effort'] = gravity
    batch.arm()
    for k in range(300):                # twice as slow as the gains were judged for
        batch.state['received'] = now = 2 * DT * k
        batch.step(now)
    assert {one.reason_code for one in batch} == {'PERIODS_MISSED'}
    assert 'step is called every 2 ms' in batch[2].reason


def test_periods_are_counted():
    assert sum(missed([1e-3] * 20_000)[0]) == 0
    assert sum(missed([1.25e-3] * 400)[0]) == pytest.approx(100, abs=1)
    assert sum(missed([0.01] * 10)[0]) == 90
    assert sum(missed([0.4e-3, 1.6e-3] * 500)[0]) < 0.7 * 500    # jitter is not made up for
    assert sum(missed([0.5e-3] * 1000)[0]) == 0
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


DT = 1e-3
SETTINGS = Settings(**{**GAINS, 'mode': 'computed_torque'})


@pytest.mark.parametrize('threaded', [False, True])
def test_each_does_what_it_would_do_alone(threaded, monkeypatch):
    monkeypatch.setattr(controller_batch, 'MIN_THREADED', 2 if threaded else 100)
    n, dynamics, rng = 9, Dynamics(TWO_LINK), np.random.default_rng(1)
    batch = ControllerBatch(TWO_LINK, SETTINGS, n, specialize=False)
    alone = [Controller(TWO_LINK, SETTINGS, specialize=False) for _ in range(n)]
    q, goal = rng.uniform(-0.5, 0.5, (2, n, 2))
    qd, effort = np.zeros((n, 2)), dynamics.batch.gravity(q)        # of the brakes
    batch.arm()
    for one in alone:
        one.arm()
    for k in range(400):
        now = DT * k
        if k == 200:
            assert {one.phase for one in batch} == {Phase.RUNNING}
            for one, other, end in zip(batch, alone, goal):
                path = Waypoints(TWO_LINK.joint_names, np.array([1.0]), end[None])
                one.follow(path, now)
                other.follow(path, now)
        if k == 250:
            batch[4].stop()
            alone[4].stop()
        heard = np.arange(n) != (5 if k > 300 else -1)
        batch.state['position'], batch.state['velocity'] = q, qd
        batch.state['effort'] = effort
        batch.state['received'][heard] = now
        for one, state in zip(alone, batch.state):
            one.state[:] = state
        sent = batch.step(now)
        assert sent.tolist() == [one.step(now) for one in alone]
        np.testing.assert_array_equal(batch.tau, [one.tau for one in alone])
        effort[sent] = batch.tau[sent]
        qd = np.where(sent[:, None], qd + DT * dynamics.batch.forward_dynamics(q, qd, effort), 0)
        q = q + DT * qd
    assert [one.phase for one in batch] == [one.phase for one in alone]
    assert batch[5].reason_code == 'STALE_STATE' and batch[4].phase is Phase.INACTIVE
    assert len({one.phase for one in batch}) == 3 and len(batch) == n


def test_like_and_count():
    first = Controller(TWO_LINK, SETTINGS, specialize=False)
    for model, other in ((replace(TWO_LINK), SETTINGS), (TWO_LINK, replace(SETTINGS, rate=900.0))):
        with pytest.raises(ArgumentError, match='another model or other settings'):
            Controller(model, other, specialize=False, like=first)
    for count in (2.5, '2', np.nan, 0):
        with pytest.raises(ArgumentError, match=f'count is .?{count}'):
            ControllerBatch(TWO_LINK, SETTINGS, count)


def test_controllers_that_share_code_and_checks_that_change_nothing():
    # One that is stepped at its rate, and one made like it that is stepped every third period.
    first = Controller(TWO_LINK, SETTINGS, specialize=False)
    second = Controller(TWO_LINK, SETTINGS, specialize=False, like=first)
    missed = np.zeros(2)
    for k in range(300):
        for i, one in enumerate((first, second)):
            if k % (1, 3)[i] == 0:
                one.step(DT * k)
                missed[i] += one.cycle_input['missed'][0]
    assert missed.tolist() == [0, 198]
    # What limits leave to the joints, which faults report, is that of the settings in use.
    controller = Controller(TWO_LINK, SETTINGS, specialize=False)
    before, memory = controller.scarcity, controller.memory.copy()
    weak = replace(SETTINGS, velocity_limit=[0.3], effort_limit=[18.0])
    controller.check(weak)
    assert controller.scarcity is before and (controller.memory == memory).all()
    controller.use(weak)
    assert controller.scarcity is not before
    assert not before.scarce.any() and controller.scarcity.scarce.any()
