# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Guard: admitted efforts, and those published in a fault."""

from control.closed_loop import Rig
from control.disturbed import OF_JOINTS
from control.risen import POSE, risen, TWO_LINK
import numpy as np
import pytest
from robodyn_ros import Phase
from robodyn_ros.control.settings.settings import Settings
from robodyn_ros.control.steps import guard
from robodyn_ros.control.steps.acceleration_limits import RETURN_VELOCITY_SHARE


def test_nothing_without_state():
    """Armed or not, an arm of which nothing is known gets nothing."""
    rig = Rig(TWO_LINK, POSE)
    rig.controller.arm()
    assert rig.run(0.5, sense=False) == [None] * 500
    assert rig.controller.arming_refusal == 'no joint state yet (joint1)'


@pytest.mark.parametrize(('spoil', 'refusal'), [
    (lambda rig: rig.qd.__setitem__(1, 0.2), 'the arm is moving (joint2)'),
    (lambda rig: rig.q.__setitem__(0, 4.0),
     'position is outside its limits (joint1): -3.1416 to 3.1416 rad, and position_margin '
     '0.1885; move the joint inside by hand, or raise position_margin; it is at 4'),
    (lambda rig: rig.tau.__setitem__(0, -20.0),
     'measured effort disagrees with the gravity torque (joint1): -20 is measured, 16.79 N·m or N '
     'is expected; is the sign of its effort, or of its axis in the URDF, reversed?'),
    (lambda rig: rig.tau.__setitem__(0, 60.0),
     'measured effort disagrees with the gravity torque (joint1): 60 is measured, 16.79 N·m or N '
     'is expected'),
])
def test_refusals_to_arm(spoil, refusal):
    """An arm that moves, is outside, or is not the one of the URDF does not rise."""
    rig = Rig(TWO_LINK, POSE)
    spoil(rig)
    rig.controller.arm()
    assert rig.run(0.1) == [None] * 100
    assert rig.controller.arming_refusal == refusal


@pytest.mark.parametrize('side', [1.0, -1.0])
def test_an_arm_outside_its_limits_without_a_margin_is_not_armed(side):
    """Without a margin no position is a fault, but arming still needs one within the limits."""
    rig = Rig(TWO_LINK, [side * (TWO_LINK.position_upper[0] + 0.01), 0.5], position_margin=[0.0])
    rig.controller.arm()
    rig.run(0.05)
    refusal = guard.CODES[rig.controller.memory['arming_refusal'][0]]
    assert rig.phase == 'INACTIVE' and refusal == 'POSITION_OUTSIDE'


@pytest.mark.parametrize('mode', OF_JOINTS)
@pytest.mark.parametrize('side, outside', [(-1.0, 1e-9), (1.0, 0.05), (-1.0, 0.15)])
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


def test_a_state_that_is_exactly_zero():
    """Of a driver that has not read its encoders; not with efforts, nor where it is accepted."""
    for accepted, effort, refused in ((False, np.nan, True), (True, np.nan, False),
                                      (False, None, False)):
        rig = Rig(TWO_LINK, [0.0, 0.0], accept_zero_state=accepted)
        if effort is not None:
            rig.tau[:] = effort
        rig.controller.arm()
        rig.run(0.1)
        assert (rig.phase == 'INACTIVE') == refused
        assert not refused or rig.controller.arming_refusal.startswith(
            'all positions and velocities are exactly zero, and no effort is measured: has')


def silent_velocity(rig):
    rig.state['velocity'][1] = np.nan


def two_publishers(rig):
    rig.state['other'][1] = rig.time


def observed(name, value):
    """Return what makes the loop observe this."""
    return lambda rig: rig.controller.cycle_input.__setitem__(name, value)


@pytest.mark.parametrize(('code', 'spoil', 'driven', 'armed'), [
    ('NO_VELOCITY', silent_velocity, True, True),
    ('TWO_STATE_PUBLISHERS', two_publishers, True, True),
    ('OTHER_COMMANDS', observed('command_publishers', 2), True, True),
    ('EMERGENCY_STOP', observed('stop_reason', guard.EMERGENCY_STOP), True, True),
    ('NOBODY_LISTENS', observed('listeners', 0), False, True),
    ('PERIODS_MISSED', observed('missed', 102), True, False),
    ('CLOCK_STOPPED', observed('clock_stopped', 0.051), True, False),
    ('LOOP_STALLED', observed('stalled', 0.051), True, False)])
def test_conditions_of_an_arm_that_is_driven(code, spoil, driven, armed):
    """Each is a fault in the cycle that sees it, a reason not to arm while it lasts, or both."""
    rig = Rig(TWO_LINK, POSE)
    rig.sense()
    spoil(rig)
    rig.controller.arm()
    for _ in range(rig.controller.settings.arming_samples + 5):
        rig.sense()
        spoil(rig)
        rig.tick(sense=False)
    refusal = guard.CODES[rig.controller.memory['arming_refusal'][0]]
    assert (rig.phase == 'INACTIVE') == (refusal == code) == armed

    rig = risen()
    rig.sense()
    spoil(rig)
    rig.controller.advance(rig.time)        # periods are missed by the loop, which counts them
    assert (rig.phase == 'FAULT') == (rig.controller.reason_code == code) == driven


@pytest.mark.parametrize(('action', 'last'), [('silence', []), ('zero', [[0.0, 0.0]])])
def test_nothing_but_a_zero_follows_a_stall(action, last):
    """Brakes that a command timeout has engaged meanwhile stay closed."""
    rig = risen(stall_action=action)
    count, stalled = len(rig.published), rig.controller.cycle_input
    stalled['stalled'] = 0.051
    rig.tick()
    stalled['stalled'] = 0.0
    rig.run(0.1)
    assert rig.controller.reason_code == 'LOOP_STALLED'
    assert [tau.tolist() for tau in rig.published[count:]] == last


def test_an_effort_that_is_limited_for_too_long():
    """With the joint named."""
    rig = risen(mode='joint_impedance', saturation_timeout=0.05)
    rig.controller._v.target[1] -= 2.0
    rig.run(0.05)
    assert rig.controller.reason == 'effort saturated for too long (joint2)'


def test_a_request_to_arm_an_arm_that_is_driven_is_dropped():
    """It does not wait for the next fault."""
    rig = risen(fault_hold_time=0.0, fault_ramp_time=0.01)
    rig.controller.arm()
    rig.run(0.02)
    assert rig.phase == 'RUNNING' and not rig.controller.arming
    rig.run(0.1, sense=False)
    rig.run(0.1)
    assert rig.phase == 'FAULT'


def test_too_weak_for_gravity():
    """An arm that cannot hold itself is not lifted."""
    rig = Rig(TWO_LINK, POSE, effort_limit=[1.0])
    rig.tau[:] = np.nan
    rig.controller.arm()
    assert rig.run(0.1) == [None] * 100
    assert rig.controller.arming_refusal == 'gravity torque is above the effort limit (joint1)'


def test_stale_at_rest():
    """Stale at rest: gravity of the last pose for a bounded time, a ramp to zero, then nothing."""
    rig = risen(state_timeout=0.05, fault_hold_time=0.2, fault_ramp_time=0.1)
    held = rig.dynamics.gravity(POSE)
    before = rig.run(0.049, sense=False)
    assert rig.phase == 'RUNNING' and all(t == pytest.approx(held) for t in before)
    rig.run(0.002, sense=False)
    assert rig.phase == 'FAULT' and rig.controller.reason == 'state is stale (joint1)'
    after = rig.run(0.5, sense=False)
    assert all(t == pytest.approx(held) for t in after[:190])
    efforts = [t for t in after if t is not None]
    assert (np.diff(np.abs(efforts), axis=0) <= 1e-12).all()
    assert efforts[-1].tolist() == [0.0, 0.0] and after[-1] is None
    assert len(efforts) == pytest.approx(300, abs=5)


def test_stale_in_motion():
    """Stale in motion: zero at once, and it stays zero when the state comes back."""
    rig = risen()
    rig.qd[:] = 0.5, 0.0
    rig.run(0.02)
    efforts = [t for t in rig.run(0.2, sense=False) if t is not None]
    assert rig.phase == 'FAULT'
    assert efforts[-1].tolist() == [0.0, 0.0] and abs(efforts[-2]).max() > 1.0
    assert rig.run(0.1) == [None] * 100 and rig.phase == 'FAULT'


def test_one_silent_joint_is_enough():
    """Each joint must be fresh, wherever its state comes from."""
    rig = risen()
    last = rig.time
    for _ in range(70):
        rig.sense()
        rig.state['received'][1] = last
        rig.tick(sense=False)
    assert rig.phase == 'FAULT' and rig.controller.reason == 'state is stale (joint2)'


def test_effort_not_finite():
    """An effort that is not a number is never published: the arm is held by damped gravity."""
    rig = risen(mode='computed_torque')
    rig.controller._records.law.gains[0, 0] = np.nan
    rig.qd[:] = 0.1, 0.1
    rig.tick()
    assert rig.phase == 'FAULT' and rig.controller.reason == 'computed effort is not finite'
    rig.run(0.3)
    assert np.isfinite(rig.published).all()
    assert abs(rig.qd).max() < 0.05
    assert rig.published[-1] == pytest.approx(rig.dynamics.gravity(rig.q), abs=1.0)


def test_infinite_effort():
    """One that the rate limit would make finite is none either."""
    rig = risen(mode='joint_impedance')
    rig.controller._records.law.gains[0, 0] = np.inf
    rig.controller._v.target[0] += 1e-3
    rig.tick()
    assert rig.phase == 'FAULT' and rig.controller.reason == 'computed effort is not finite'
    assert rig.published[-1] == pytest.approx(rig.dynamics.gravity(POSE), abs=0.01)


def test_fault_is_latched_until_armed():
    """Fresh state does not clear a fault; arming does, when nothing stands against it."""
    rig = risen(fault_hold_time=0.05, fault_ramp_time=0.05)
    rig.run(0.3, sense=False)
    assert rig.run(0.2) == [None] * 200 and rig.phase == 'FAULT'
    rig.qd[:] = 0.0
    rig.braked, rig.tau = True, rig.dynamics.gravity(rig.q)
    rig.controller.arm()
    rig.run(0.2, sense=False)
    assert rig.phase == 'FAULT'
    rig.run(0.2)
    assert rig.phase == 'RUNNING' and rig.controller.reason == 'none'


def test_ramp_is_not_slowed_by_the_effort_rate():
    """However slow other efforts may change: it is down in its time, and its end is no step."""
    rig = risen(fault_hold_time=0.05, fault_ramp_time=0.1, effort_rate_limit=[1.0])
    ramp = np.array([t for t in rig.run(0.3, sense=False) if t is not None])[-100:]
    assert ramp == pytest.approx(np.outer(np.linspace(0.99, 0.0, 100), rig.dynamics.gravity(POSE)),
                                 abs=0.2)


def test_a_ramp_goes_on_when_the_listener_leaves_and_comes_back():
    rig = risen(fault_hold_time=0.01, fault_ramp_time=0.2)
    rig.controller.cycle_input['stop_reason'] = guard.EMERGENCY_STOP
    rig.run(0.05)
    shares = []
    for k in range(100):
        rig.controller.cycle_input['listeners'] = int(k % 20 < 10)
        shares.append(rig.tick()[0] / rig.controller.inputs.vectors.gravity[0])
    assert np.diff(shares) == pytest.approx(np.full(99, -1e-3 / 0.2), abs=2e-3)


def test_fault_that_holds_by_choice():
    """With fault_action hold the arm is kept while the state is fresh, and stops on asking."""
    rig = risen(mode='computed_torque', fault_action='hold')
    rig.controller._records.law.gains[0, 0] = np.nan
    rig.run(3.0)
    assert rig.phase == 'FAULT' and abs(rig.q - POSE).max() < 0.01
    rig.controller.stop()
    rig.run(0.1)
    assert rig.phase == 'INACTIVE' and rig.published[-1].tolist() == [0.0, 0.0]


def test_stale_while_stopping():
    """A stopping phase that loses its state does not go on blindly."""
    rig = risen(rest_velocity=0.0)
    rig.controller.stop()
    rig.run(0.1, sense=False)
    assert rig.phase == 'FAULT' and rig.published[-1].tolist() == [0.0, 0.0]


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


def test_an_arm_without_measured_velocities_is_armed_where_they_are_estimated():
    rig = Rig(TWO_LINK, POSE, missing_velocity='estimate')
    rig.controller.arm()
    for _ in range(40):
        rig.sense()
        silent_velocity(rig)
        rig.tick(sense=False)
    assert rig.phase == 'RUNNING'


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


@pytest.mark.parametrize('change', ['longer hold', 'hold', 'time jumps back'])
def test_limp_stays_limp(change):
    """Efforts that are over come back by arming alone, whatever is set and whatever time it is."""
    rig = risen(mode='computed_torque', fault_hold_time=0.05, fault_ramp_time=0.05)
    rig.controller._records.law.gains[0, 0] = np.nan
    rig.run(0.3)
    assert all(t is None for t in rig.run(0.1)) and rig.phase == 'FAULT'
    if change == 'longer hold':
        rig.controller.use(Settings(fault_hold_time=60.0))
    elif change == 'hold':
        rig.controller.use(Settings(fault_action='hold'))
    else:
        rig.time = 0.0
    assert all(t is None for t in rig.run(0.1)) and rig.phase == 'FAULT'


def test_fault_that_holds_and_loses_its_state():
    """However long it was held, an arm at rest gets its bounded time of gravity, then a ramp."""
    rig = risen(mode='computed_torque', fault_action='hold', fault_hold_time=0.2,
                fault_ramp_time=0.1)
    rig.controller._records.law.gains[0, 0] = np.nan
    rig.run(2.0)
    held = rig.dynamics.gravity(rig.q)
    after = rig.run(0.5, sense=False)
    assert all(t == pytest.approx(held, abs=0.1) for t in after[:240])
    assert after[-1] is None and rig.published[-1].tolist() == [0.0, 0.0]


def test_stale_after_time_jumped_back():
    """A state that seems to come from the future does not stay fresh for ever."""
    rig = risen()
    rig.run(1.0)
    rig.time = 0.0
    rig.run(0.045, sense=False)
    assert rig.phase == 'RUNNING'
    rig.run(0.01, sense=False)
    assert rig.phase == 'FAULT' and rig.controller.reason == 'state is stale (joint1)'


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


def test_begin_forgets():
    """A fault, a wish to arm, a trajectory: nothing of it is there after begin."""
    rig = risen()
    rig.run(0.2, sense=False)
    rig.controller.arm()
    rig.controller.begin()
    assert rig.phase == 'INACTIVE' and rig.controller.reason == 'none'
    assert not rig.controller.arming and not rig.controller.driving
    assert rig.run(0.1) == [None] * 100


def test_phases_are_numbers_with_names():
    rig = Rig(TWO_LINK, POSE)
    assert rig.controller.phase is Phase.INACTIVE
    rig.controller.arm()
    rig.run(0.5)
    assert rig.controller.phase is Phase.RUNNING and rig.controller.phase == guard.RUNNING
    # In compiled code, recordings and topics they are plain integers
    assert [*map(type, (guard.INACTIVE, guard.FAULT))] == [int, int]
    assert guard.PHASES == tuple(phase.name for phase in Phase)
