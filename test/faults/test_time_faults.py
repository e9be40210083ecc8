# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of the cycle: its numbers, its periods, its time."""

from itertools import count

from faults.arm import FIXED_RATE, PERIOD, running, TELEPORTED, ZERO
from faults.rows import row
import numpy as np
import pytest
from robodyn_ros.control.cycle import cycle
from robodyn_ros.control.steps import guard
from robodyn_ros.realtime import loop, timing_rules

near = pytest.approx
TOO_FAR = 1e306                         # rad: a number, but the law's answer to it is none
RATE = np.array([800.0, 300.0])         # N·m/s, of two_link: ten times its effort limits


@row('computed effort not finite', 'EFFORT_NOT_FINITE', where=cycle.cycle,
     find='limits.clamp(_joints, _tau) and _', instead='limits.clamp(_joints, _tau) or True')
def test_effort_not_finite():
    """It is never published: gravity for a bounded time, a ramp to zero, nothing; latched."""
    arm = running(mode='computed_torque', position_margin=[0.0], **TELEPORTED)
    for mode in ('joint_impedance', 'computed_torque'):     # an infinite one, and none at all
        assert arm.set(mode=mode) == ''
        assert arm.tick() == near(arm.gravity)
        g, here = arm.gravity, arm.position.copy()
        arm.position[0] = TOO_FAR
        effort = arm.tick(position=list(arm.position))
        assert effort == near(arm.gravity)                  # of the angle that it stands for
        arm.position = here
        arm.goes_limp(arm.tick, g, first=1)
        arm.faulted('EFFORT_NOT_FINITE')
        arm.resumes()


@row('time stands still, jumps, dt ≤ 0', where=cycle.advance_time, find='abs(_ - _) > _',
     instead='False')
def test_time_that_jumps():
    """No step of the efforts; what was followed is over, and the present pose is held."""
    arm = running(mode='computed_torque')
    for jump in (-95.0, 1000.0):
        arm.follow(arm.position + [1.0, -1.0], 0.3)
        before = arm.ticks(80)[-1]
        assert abs(before - arm.gravity).min() > 5.0        # the arm does not follow
        assert arm.tick(0.0) == near(before, abs=1e-12)     # no time, no step

        after = arm.tick(jump)
        assert (abs(after - before) <= 2.0 * PERIOD * RATE + 1e-9).all()
        efforts = np.array([after, *arm.ticks(100)])
        assert (abs(np.diff(efforts, axis=0)) <= PERIOD * RATE + 1e-9).all()
        assert efforts[-1] == near(arm.gravity)
    assert arm.phase == 'RUNNING'


@row('a state of another time', 'TWO_STATE_PUBLISHERS', where=loop.decode_waiting,
     find='timing_rules.newest(_) == _ or _', instead='True')
@pytest.mark.parametrize('stamp', [17.0, 1e9, 0.0])
def test_state_of_another_time(stamp):
    """That of a second publisher is not the time of the cycle, whatever its stamp: no jump."""
    arm = running()
    arm.send(0.0, stamp=stamp, source=count(1))
    assert arm.controller.memory['time'][0] == near(arm.time)
    arm.faulted('TWO_STATE_PUBLISHERS')


def test_states_without_stamps():
    """Their time is that of the clock."""
    arm = running()
    for _ in range(20):
        arm.pass_time()
        assert arm.tick(0.0, stamp=0.0) == near(arm.gravity)
        assert arm.controller.memory['time'][0] == arm.time


def test_time_that_stands_still_on_the_grid():
    """At a fixed rate a paused simulation holds the output, however long, and then goes on."""
    arm = running(**FIXED_RATE | {'acceleration_kp': [100.0], 'acceleration_kd': [20.0]},
                  mode='computed_torque', state_timeout=0.5, **TELEPORTED)
    assert arm.cycles(20) == near(np.tile(arm.gravity, (20, 1)))
    arm.position -= 0.3
    arm.pass_time(1e-9)             # two samples of the same time are one
    for _ in range(3):
        arm.send(0.0)
        arm.cycles(5)
    held = arm.gravity
    for elapsed in (0.0, 0.005, 0.005):         # step by step toward what pulls the arm back
        arm.pass_time(elapsed)
        held += elapsed * RATE
        assert arm.cycles(40) == near(np.tile(held, (40, 1)))   # no state for 0.2 s of wall time
    arm.send(-95.0)                             # a reset of the simulation
    assert arm.cycles(20) == near(np.tile(held, (20, 1)))
    for _ in range(10):
        arm.send(0.004)
        arm.cycles(5)
    assert arm.cycles(1)[-1] == near(arm.gravity)         # the present pose
    arm.pass_time(0.6)
    arm.cycles(1)
    arm.faulted('STALE_STATE')


TRIGGERS = pytest.mark.parametrize('trigger', [{}, FIXED_RATE], ids=['state', 'timer'])


@row('the wall clock is set', 'STATE_LATE', where=timing_rules.correct_stamps,
     find='_.clock_step += _', instead='pass')
@pytest.mark.parametrize('step', [-3600.0, 3600.0, -0.05])
@pytest.mark.parametrize('before', [0, 3], ids=['at once', 'after states on the way'])
def test_wall_clock_that_is_set(step, before):
    """Stamps that step with it are not late; latency after it is found as without it."""
    arm = running(**FIXED_RATE, late_limit=0.02)
    arm.loop.loop_state[0].on_ros_time, ahead = 0, 1e6

    def answered(count, late=0.0):
        for _ in range(count):
            arm.send(0.005, stamp=arm.time + 0.005 + ahead - late)
            assert arm.cycles(1)[-1] == near(arm.gravity)
    answered(20)
    arm.loop.day += int(1e9 * step)
    answered(before)
    ahead += step
    answered(100)
    with pytest.raises(AssertionError):
        answered(100, late=0.1)
    arm.faulted('STATE_LATE')


@pytest.mark.parametrize('clock, code', [('of the controller', ''),
                                         ('of the publisher', 'STATE_LATE')])
def test_wall_clock_of_one_host_is_set(clock, code):
    """It says nothing of the stamps of another host, whose step may be latency."""
    arm = running(**FIXED_RATE, late_limit=0.02)
    arm.loop.loop_state[0].on_ros_time, behind = 0, 0.0
    for k in range(100):
        if k == 50 and code:
            behind = 3600.0
        elif k == 50:
            arm.loop.day -= 3600 * 10**9
        arm.send(0.005, stamp=arm.time + 1e6 - behind)
        arm.cycles(1)
    assert arm.controller.reason_code == (code or 'NO_REASON')


@row('missed periods', 'PERIODS_MISSED', where=guard.running_fault, find='_.missed > _',
     instead='False')
def test_missed_periods():
    """They are counted and never made up for; too many at a time are a fault, latched."""
    arm = running(**{**FIXED_RATE, 'rate': 100.0}, state_timeout=1.0, missed_limit=25,
                  fault_hold_time=0.2, fault_ramp_time=0.2)
    arm.loop.steady += 500_000_000      # 50 periods
    shares = []
    for _ in range(100):
        arm.send(0.01)
        shares.append(arm.cycles(1)[0] / arm.gravity)
        if not shares[-1].any():
            break
    arm.faulted('PERIODS_MISSED')
    assert 39 <= len(shares) <= 42 and arm.loop.tally.missed == 49
    shares = np.array(shares)
    assert shares[:, 0] == near(shares[:, 1]) and shares[0] == near(1.0)
    assert (np.diff(shares, axis=0) < 1e-9).all()
    arm.nothing()
    arm.activate()


def stalls(arm):
    """Let the loop of an arm stand still for longer than the timeout; return what it publishes."""
    before = len(arm.commands)
    arm.loop.steady += 1_200_000_000
    arm.time += 1.2
    arm.goes_on(300)
    arm.faulted('LOOP_STALLED')
    return arm.commands[before:].tolist()


@row('control loop stands still', 'LOOP_STALLED', where=guard.loop_stalled, find='return _ > _',
     instead='return False')
@TRIGGERS
def test_loop_stands_still(trigger):
    """Nothing is published after it; states that waited move nothing, until a reset."""
    arm = running(**trigger)
    arm.loop.play(100)                  # a paused simulation is none
    arm.goes_on()
    arm.loop.steady += 1_200_000_000    # one that waits for the loop neither
    arm.goes_on()
    assert arm.phase == 'RUNNING'
    assert stalls(arm) == []
    before = len(arm.commands)
    arm.activate()
    assert len(arm.commands) > before and arm.commands[-1] == near(arm.gravity)


@row('control loop stands still', 'LOOP_STALLED', where=timing_rules.stall,
     find='return max(_, _)', instead='return 0.0')
@TRIGGERS
def test_zero_after_a_stall_by_choice(trigger):
    """For a drive that keeps its last command for ever: one zero."""
    arm = running(**trigger, stall_action='zero')
    assert stalls(arm) == [ZERO]


@row('clock of the simulation stops, states go on', 'CLOCK_STOPPED', where=guard.running_fault,
     find='_.clock_stopped > _', instead='False')
@TRIGGERS
def test_clock_stops_while_states_go_on(trigger):
    """Zero at once, for fault efforts would need time; the same state again is a pause."""
    arm = running(**trigger)

    def paused(count):
        for _ in range(count):
            arm.send(0.0)
            if trigger:
                arm.cycles(1)
            arm.position += arm.velocity
    paused(200)
    assert arm.commands[-1] == near(arm.gravity) and arm.phase == 'RUNNING'
    before = len(arm.commands)
    arm.velocity[:] = 1e-4
    paused(200)
    arm.faulted('CLOCK_STOPPED')
    efforts = arm.commands[before:]
    assert (efforts[:-1] > 1.0).all() and efforts[-1].tolist() == ZERO
    arm.velocity[:] = 0.0
    arm.activate()
