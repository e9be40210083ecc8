# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Guard: admitted efforts, and those published in a fault."""

from control.disturbed import OF_JOINTS
from control.rig import POSE, Rig, risen, Told, TWO_LINK
import numpy as np
import pytest
from robodyn_ros import Phase
from robodyn_ros.control.settings.settings import Settings
from robodyn_ros.control.steps import guard
from robodyn_ros.control.steps.acceleration_limits import RETURN_VELOCITY_SHARE


def at(**values):
    """Return what spoils a rig: joints and values of its arm."""
    def spoil(rig):
        for name, (joint, value) in values.items():
            getattr(rig, name)[joint] = value
    return spoil


@pytest.mark.parametrize(('settings', 'spoil', 'code', 'words'), [
    ({}, None, 'NO_STATE', '(joint1)'), ({}, at(qd=(1, 0.2)), 'ARM_MOVES', '(joint2)'),
    ({}, at(q=(0, 4.0)), 'POSITION_OUTSIDE',
     '(joint1): -3.1416 to 3.1416 rad, and position_margin 0.1885; raise it is at 4'),
    ({'position_margin': [0.0]}, at(q=(0, 3.15)), 'POSITION_OUTSIDE', '(joint1)'),
    ({'position_margin': [0.0]}, at(q=(0, -3.15)), 'POSITION_OUTSIDE', '(joint1)'),
    ({}, at(tau=(0, -20.0)), 'EFFORT_MISMATCH', '(joint1): -20 16.79 sign URDF, reversed?'),
    ({}, at(tau=(0, 60.0)), 'EFFORT_MISMATCH', '(joint1): 60 is measured, 16.79 expected'),
    ({'effort_limit': [1.0]}, at(tau=(slice(2), np.nan)), 'GRAVITY_ABOVE_LIMIT', '(joint1)'),
    ({}, at(q=(slice(2), 0.0), tau=(slice(2), np.nan)), 'ZERO_STATE', 'exactly zero'),
    ({'accept_zero_state': True}, at(q=(slice(2), 0.0), tau=(slice(2), np.nan)), '', ''),
    ({}, at(q=(slice(2), 0.0)), '', '')])
def test_refusals_to_arm(settings, spoil, code, words):
    """An arm that moves, is outside, not that of the URDF, or of which nothing is known."""
    rig = Rig(TWO_LINK, POSE, **settings)
    if spoil:
        spoil(rig)
    rig.controller.arm()
    rig.run(0.1, sense=spoil is not None)
    assert (not rig.published) == (rig.phase == 'INACTIVE') == bool(code)
    joint = rig.controller.memory['arming_refusal_joint'][0]
    assert joint == (int(words[6]) - 1 if words.startswith('(joint') else -1)
    if code:
        assert guard.CODES[rig.controller.memory['arming_refusal'][0]] == code
        assert all(word in rig.controller.arming_refusal for word in words.split())


@pytest.mark.parametrize('mode, side, outside', [
    ('joint_impedance', -1.0, 1e-9), ('joint_impedance', 1.0, 0.05),
    *((mode, -1.0, 0.15) for mode in OF_JOINTS)])
def test_an_arm_outside_a_limit_returns_slowly(mode, side, outside):
    """It has sunk onto its stop, or is there by rounding: armed, then back within the limits."""
    limit = side * TWO_LINK.position_upper[0]       # gravity pulls outward at the upper one
    rig = risen(q=[limit + side * outside, 0.5], mode=mode)
    fastest = 0.0
    for _ in range(1500):
        rig.tick()
        fastest = max(fastest, abs(rig.qd[0]))
    assert rig.phase == 'RUNNING', rig.controller.reason
    assert side * (rig.q[0] - limit) < 1e-3
    assert side * (rig.q[0] - limit) > -0.1 or mode == 'gravity_compensation'   # it floats on
    assert fastest < 1.2 * RETURN_VELOCITY_SHARE * TWO_LINK.velocity_limit[0]


def two_publishers(rig):
    rig.state['other'][1] = rig.time


def observed(name, value):
    """Return what makes the loop observe this."""
    return lambda rig: rig.controller.cycle_input.__setitem__(name, value)


def test_requests_and_ramps_of_an_arm_that_is_driven():
    # It does not wait for the next fault.
    rig = risen(fault_hold_time=0.0, fault_ramp_time=0.01)
    rig.controller.arm()
    rig.run(0.02)
    assert rig.phase == 'RUNNING' and not rig.controller.arming
    rig.run(0.1, sense=False)
    rig.run(0.1)
    assert rig.phase == 'FAULT'
    rig = risen(fault_hold_time=0.01, fault_ramp_time=0.2)
    rig.controller.cycle_input['stop_reason'] = guard.EMERGENCY_STOP
    rig.run(0.05)
    shares = []
    for k in range(100):
        rig.controller.cycle_input['listeners'] = int(k % 20 < 10)
        shares.append(rig.tick()[0] / rig.controller.inputs.vectors.gravity[0])
    assert np.diff(shares) == pytest.approx(np.full(99, -1e-3 / 0.2), abs=2e-3)


def jumps(rig):
    rig.state['position'] += 1.0


def is_fast(rig):
    rig.substeps, rig.q, rig.qd = 0, rig.q + 0.01, np.full(2, 10.0)
    rig.sense()


def is_stale(rig):
    rig.state['received'] = rig.time - 1.1 * rig.controller.settings.state_timeout


@pytest.mark.parametrize(('spoil', 'ends'), [
    (is_stale, True), (two_publishers, True), (jumps, True), (is_fast, True),
    (observed('clock_stopped', 0.051), True), (observed('stalled', 0.051), True),
    (observed('command_publishers', 2), False), (observed('missed', 102), False)])
def test_a_second_fault_while_stopping_after_the_first(spoil, ends):
    """It ends the stop if braking itself is in danger; the first reason stays."""
    rig = risen(rest_velocity=0.0, stop_timeout=0.05)
    rig.controller.cycle_input['stop_reason'] = guard.EMERGENCY_STOP
    rig.run(0.01)
    rig.controller.stop()
    rig.run(0.01)
    assert rig.phase == 'STOPPING'
    for _ in range(4):
        rig.sense()
        spoil(rig)
        rig.controller.advance(rig.time)
        rig.time += rig.period
    assert rig.phase == ('FAULT' if ends else 'STOPPING')
    rig.run(0.05)
    assert rig.phase == ('FAULT' if ends else 'INACTIVE')       # stop_timeout has passed
    assert rig.controller.reason_code == 'EMERGENCY_STOP'
    assert rig.controller.memory['faults'][0] == (2 if ends else 1)


@pytest.mark.parametrize('where', ['INACTIVE', 'stale', 'limp'])
def test_a_stop_without_efforts_to_go_on_with_is_dropped(where):
    """An arm whose efforts have ended, or do not depend on its state, is not driven again."""
    rig = Rig(TWO_LINK, POSE, fault_hold_time=0.05, fault_ramp_time=0.05)
    if where != 'INACTIVE':
        rig.rise()
        rig.controller.cycle_input['stop_reason'] = guard.EMERGENCY_STOP
        rig.run(0.2 if where == 'limp' else 0.001)
        rig.run(0.06 if where == 'stale' else 0.0, sense=False)
    rig.controller.stop()
    rig.run(0.01)
    assert rig.phase == ('INACTIVE' if where == 'INACTIVE' else 'FAULT')


def test_drives_that_are_well_again_end_no_other_stop():
    rig = risen()
    rig.controller.cycle_input['stop_reason'] = guard.EMERGENCY_STOP
    for words in ('joint1: hot', ''):
        rig.controller.report_drives(words)
        assert rig.controller.cycle_input['stop_reason'][0] == guard.EMERGENCY_STOP
        rig.tick()
    rig.controller.arm()
    rig.run(0.2)
    assert rig.phase == 'FAULT' and rig.controller.reason_code == 'EMERGENCY_STOP'


def test_estimated_velocities_and_states_of_the_future():
    rig = Told(TWO_LINK, POSE, missing_velocity='estimate')
    rig.lie = lambda q, qd: (q, [0.0, np.nan] * qd)
    rig.controller.arm()
    rig.run(0.04)
    assert rig.phase == 'RUNNING'
    # After time has jumped back.
    rig = risen()
    rig.time = 0.0
    rig.run(0.045, sense=False)
    assert rig.phase == 'RUNNING'
    rig.run(0.01, sense=False)
    assert rig.controller.reason_code == 'STALE_STATE'


@pytest.mark.parametrize('rests', [True, False])
def test_fault_that_loses_its_state(rests):
    """At rest its efforts go on for what is left of their time; in motion they end at once."""
    rig = risen(rest_velocity=0.02 if rests else 0.0, fault_hold_time=0.1, fault_ramp_time=0.1)
    rig.controller.cycle_input['stop_reason'] = guard.EMERGENCY_STOP
    rig.run(0.05)
    efforts = [t for t in rig.run(0.3, sense=False) if t is not None]
    left = 0.2 - 0.05 if rests else rig.controller.settings.state_timeout
    assert len(efforts) == pytest.approx(left / rig.period, abs=2)
    assert efforts[-1].tolist() == [0.0, 0.0]


def test_a_fault_that_is_held_and_loses_its_state_ends():
    """However long it was held: an arm at rest has its bounded time of gravity, then a ramp."""
    rig = risen(fault_action='hold', fault_hold_time=0.2, fault_ramp_time=0.1)
    rig.controller.cycle_input['stop_reason'] = guard.EMERGENCY_STOP
    rig.run(1.0)
    held, after = rig.dynamics.gravity(rig.q), rig.run(0.5, sense=False)
    assert all(t == pytest.approx(held, abs=0.1) for t in after[:240])
    assert after[-1] is None and not rig.published[-1].any()


@pytest.mark.parametrize('change', ['longer hold', 'hold', 'time jumps back'])
def test_limp_stays_limp(change):
    """Efforts that are over come back by arming alone, whatever is set and whatever time it is."""
    rig = risen(mode='computed_torque', fault_hold_time=0.05, fault_ramp_time=0.05)
    rig.controller.records.law.gains[0, 0] = np.nan
    rig.run(0.3)
    assert all(t is None for t in rig.run(0.1)) and rig.phase == 'FAULT'
    if change == 'longer hold':
        rig.controller.use(Settings(fault_hold_time=60.0))
    elif change == 'hold':
        rig.controller.use(Settings(fault_action='hold'))
    else:
        rig.time = 0.0
    assert all(t is None for t in rig.run(0.1)) and rig.phase == 'FAULT'


def test_arms_from_the_last_message():
    """Without measured efforts the arm rises from what it was told last, not from zero."""
    rig = risen(stop_with='gravity')
    rig.controller.stop()
    rig.run(0.01)
    last, count = rig.published[-1], len(rig.published)
    rig.controller.begin()
    rig.controller.arm()
    for _ in range(50):
        rig.sense()
        rig.state['effort'] = np.nan
        rig.tick(sense=False)
    assert rig.published[count] == pytest.approx(last, abs=1e-9)


def test_begin_forgets_and_phases_have_names():
    # A fault, a wish to arm, a trajectory: nothing of it is there after begin.
    rig = risen()
    rig.run(0.2, sense=False)
    rig.controller.arm()
    rig.controller.begin()
    assert rig.phase == 'INACTIVE' and rig.controller.reason == 'none'
    assert not rig.controller.arming and not rig.controller.driving
    assert rig.run(0.1) == [None] * 100
    rig = Rig(TWO_LINK, POSE)
    assert rig.controller.phase is Phase.INACTIVE
    rig.controller.arm()
    rig.run(0.5)
    assert rig.controller.phase is Phase.RUNNING and rig.controller.phase == guard.RUNNING
    # In compiled code, recordings and topics they are plain integers
    assert [*map(type, (guard.INACTIVE, guard.FAULT))] == [int, int]
    assert guard.PHASES == tuple(phase.name for phase in Phase)
