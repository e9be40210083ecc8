# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of arming and stopping, of who compensates gravity, of commands and payloads."""

from faults.arm import Arm, PERIOD, RAMP, running, TELEPORTED, ZERO
from faults.rows import row
import numpy as np
import pytest
from robodyn_ros import Dynamics
from robodyn_ros.control.controller.settings_in_force import SettingsInForce
from robodyn_ros.control.cycle import cycle
from robodyn_ros.control.steps import (
    gravity_check, guard, lowering, payload_transition, phase_efforts)
from robodyn_ros.model.robot import with_payload

near = pytest.approx
STEP = np.array([0.8, 0.3])         # N·m a period: the effort rate, ten times two_link's limits
MOVING = np.array([0.5, -0.4])      # rad/s
STOPPING = {'stop_timeout': 0.0195, **TELEPORTED}       # s, 20 ticks; it stays where it is


def damped(arm: Arm, count: int) -> np.ndarray:
    """Gravity (count, 2) [N·m] and, at the effort rate, the damping of the arm's velocity."""
    most = np.outer(np.arange(1, count + 1), STEP)
    return arm.gravity + np.clip(arm.damping, -most, most)


@row('all states are exactly zero', 'ZERO_STATE', where=guard.arming_refusal,
     find='zero_state(_)', instead='False')
def test_all_states_are_exactly_zero():
    """As of a driver that has not read its encoders; the arm may be declared to be there."""
    arm = Arm()
    zero = {'position': ZERO, 'velocity': ZERO, 'effort': []}
    arm.refuses('set accept_zero_state or publish its efforts', **zero)
    assert not len(arm.commands)
    assert arm.set(accept_zero_state=True) == ''
    arm.activate(**zero)


@row('deactivate, SIGINT, SIGTERM', where=phase_efforts.damped_gravity, find='_gravity - _ * _',
     instead='_gravity')
def test_deactivate():
    """Damped gravity while the arm moves, for a bounded time; then zero; then nothing."""
    arm = running(**STOPPING)
    arm.velocity = MOVING
    assert arm.tick() == near(arm.gravity)
    arm.controller.stop()
    efforts = arm.until()
    arm.nothing()
    assert efforts[:-1] == near(damped(arm, 20)) and len(efforts) == 21


def test_stops_while_it_rises():
    """An arm that has not got all its gravity yet, and is at rest: zero at once."""
    arm = Arm(effort_rate_limit=[10.0], arming_effort=10.0)
    arm.effort = np.zeros(2)
    arm.controller.arm()
    while arm.phase != 'RISING':
        arm.goes_on()
    arm.ticks(10)
    arm.controller.stop()
    assert arm.tick().tolist() == ZERO
    rise = arm.commands[:-1]
    assert (np.diff(rise, axis=0) > 0.0).any() and (abs(np.diff(rise, axis=0)) < 0.021).all()
    assert (rise[-1] < 0.9 * arm.gravity).any()
    arm.nothing()


@row('an arm without brakes is stopped', where=lowering.lowers, find='_ == 1 and _',
     instead='False')
def test_an_arm_without_brakes_is_stopped():
    """Its gravity is withdrawn slowly, while it is slow; efforts end once it lies."""
    arm = running(lower_to_rest=True, **TELEPORTED)
    arm.controller.stop()
    shares = 1.0 - PERIOD / lowering.LOWERING_TIME * np.arange(1, 1001)
    assert arm.ticks(1000) == near(np.outer(shares, arm.gravity))
    arm.velocity = np.array([2.0 * lowering.LOWERING_VELOCITY, 0.0])    # too fast
    arm.controller.stop()               # shortens nothing
    left, memory = 0.5, arm.controller.memory
    caught = [(tau - arm.damping) / arm.gravity for tau in arm.ticks(200)]
    assert caught[50:] == near(np.ones((150, 2)))               # once the damping has come
    rate = lowering.CATCHING_RATE / lowering.LOWERING_TIME
    assert memory['support'][0] == near(left + 200 * PERIOD * rate)
    arm.velocity = np.zeros(2)
    arm.until()
    lying = 0
    while arm.phase == 'STOPPING':      # it might still get up
        lying += arm.tick().tolist() == ZERO
    # As long as gravity were the limits withdrawn, then the damping, and then nothing was left
    assert lying * PERIOD == near(lowering.LOWERING_TIME + 2.0 * lowering.LYING_TIME,
                                  abs=3.0 * PERIOD)
    arm.nothing()


def test_a_fault_of_an_arm_without_brakes():
    """It is lowered in place of the ramp; no support without a valid state."""
    arm = running(lower_to_rest=True, fault_hold_time=0.02, **TELEPORTED)
    arm.controller.cycle_input['stop_reason'] = guard.EMERGENCY_STOP
    efforts = arm.ticks(1000)
    assert efforts[:20] == near(np.tile(arm.gravity, (20, 1)))
    assert efforts[-1] == near(0.51 * arm.gravity, rel=0.01)
    arm.velocity = MOVING
    arm.tick()
    assert arm.silence(0.051).tolist() == ZERO      # no state any more, in motion


@row('robot that compensates gravity itself', where=cycle.compute_dynamics,
     find='0.0 if _ == 1 else _gravity', instead='_gravity')
def test_robot_that_compensates_gravity_itself():
    """What is published is without g(q), always: no fault, no rising, no end ever brings -g(q)."""
    arm = running(mode='joint_impedance', robot_compensates_gravity=True, arming_effort=10.0,
                  **TELEPORTED)
    assert arm.ticks(5) == near(np.zeros((5, 2)), abs=1e-12)
    arm.position = arm.position - [0.01, 0.0]
    assert arm.ticks(20)[-1] == near([4.0, 0.0], abs=1e-9)
    assert arm.commands[0].tolist() == ZERO and abs(arm.commands).max() == near(4.0)

    arm.tick(velocity=[])
    arm.faulted('NO_VELOCITY')
    arm.velocity = MOVING
    drag, efforts = 10.0 * arm.dynamics.mass_matrix(arm.position) @ MOVING, arm.until()
    assert (abs(efforts) < np.maximum(abs(drag), [4.0, 0.0]) + 1e-9).all()
    assert efforts[19:] == near(-RAMP[:, None] * drag, abs=1e-9)
    arm.nothing()
    arm.faulted('NO_VELOCITY')

    arm.velocity, arm.effort = np.zeros(2), np.zeros(2)     # its sensors do not feel its gravity
    begin = len(arm.commands)
    arm.activate()
    arm.controller.stop()
    arm.until()
    assert abs(arm.commands[begin:]).max() < 1e-12


class SelfHolding(Arm):
    """An arm that adds g(q) to what it is told, and measures the sum."""

    def send(self, *seconds, **fields):
        """Send the state of now."""
        self.effort = self.gravity + (self.loop.published or [np.zeros(2)])[-1]
        super().send(*seconds, **fields)


@row('measured efforts contradict who compensates gravity', 'GRAVITY_CONTRADICTED',
     where=gravity_check.gravity_contradicted, find='_ < CONTRADICTING_SAMPLES', instead='True')
def test_measured_efforts_contradict_who_compensates_gravity():
    """The robot adds gravity, which is g(q) twice; once that shows, nothing is commanded."""
    arm = SelfHolding()
    arm.controller.arm()
    arm.goes_on(500)
    arm.faulted('GRAVITY_CONTRADICTED')
    efforts = arm.commands
    thrown = efforts.any(1).sum()
    assert efforts[:thrown] == near(np.tile(arm.gravity, (thrown, 1)))
    assert not efforts[thrown:].any()
    assert thrown < 200
    arm.refuses('contradict robot_compensates_gravity')


@row('no subscriber of the commands', 'NOBODY_LISTENS', where=cycle.cycle,
     find='_.listeners == 0', instead='False')
def test_nobody_listens_on_commands():
    """No arming; while RUNNING nothing adds up that a new listener would get."""
    arm = Arm(mode='joint_impedance', saturation_timeout=3600.0, **TELEPORTED)
    arm.loop.listeners = 0
    arm.refuses('no subscriber to the commands')
    arm.loop.listeners = 1
    arm.forget()
    arm.resumes()

    arm.loop.listeners = 0
    arm.position = arm.position + 0.1       # 40 N·m away from the reference before
    arm.velocity = MOVING
    arm.ticks(200)
    arm.loop.listeners = 1
    extra = arm.ticks(200) - arm.gravity
    assert extra[-1] == near([-20.0, 4.0])                  # D q̇ of the spring-damper, no more
    assert (abs(np.diff(extra, axis=0)) < STEP + 1e-9).all()
    arm.velocity = np.zeros(2)
    assert arm.ticks(40)[-1] == near(arm.gravity)
    assert arm.phase == 'RUNNING'


COM, INERTIA = [0.02, 0.0, 0.03], [0.001, 0.0, 0.0, 0.002, 0.0, 0.002]


def payload(mass=1.0, com=COM, frame='tool0', inertia=INERTIA):
    return {'payload_frame': frame, 'payload_mass': mass, 'payload_com': com,
            'payload_inertia': inertia}


def loaded(arm, mass=1.0):
    """Return the dynamics of the arm with a payload."""
    return Dynamics(with_payload(arm.model, 'tool0', mass, COM, np.diag([0.001, 0.002, 0.002])))


@row('payload change', where=payload_transition.changes_payload,
     find='1.0 if _ <= _ else _ / _', instead='1.0')
def test_payload_change():
    """Efforts go linearly from one to the other, and the motion goes on."""
    arm = running(mode='joint_impedance', payload_transition=0.1,
                  consistency_tolerance=[0.0], following_error=[0.0])
    empty = arm.gravity
    full = arm.effort = loaded(arm).gravity(arm.position)
    arm.ticks(3)
    assert arm.set(**payload()) == ''
    share = np.arange(1, 101)[:, None] / 100
    assert arm.ticks(100) == near(empty + share * (full - empty), abs=1e-9)
    assert arm.tick() == near(full)

    # In motion, which goes on: each step is that of the motion and a hundredth of the change
    arm.follow((0.35, 0.45))
    before = arm.ticks(300)
    assert arm.set(**payload(0.9)) == ''
    efforts = np.array([before[-1], *arm.ticks(300)])
    most = abs(np.diff(before, axis=0)).max(0) + 0.02 * abs(full - empty)
    assert (abs(np.diff(efforts, axis=0)) < 1.5 * most).all()
    assert abs(efforts[-1] - loaded(arm, 0.9).gravity(arm.position)).max() > 1.0


@row('payload change without a transition', where=payload_transition.changes_payload,
     find='shift_efforts(_, _, -1.0)', instead='shift_efforts(m, v, 0.0)')
def test_payload_change_without_a_transition():
    """Efforts change at the rate limit, not at once, and there and back."""
    step = np.array([0.2, 0.1])
    arm = running(payload_transition=0.0, effort_rate_limit=(1000.0 * step).tolist())
    before = arm.gravity
    for mass in (1.0, 0.0):
        goal = arm.effort = loaded(arm, mass).gravity(arm.position) if mass else arm.gravity
        arm.ticks(3)
        assert arm.set(**payload(mass)) == ''
        steps = np.outer(np.arange(1, 81), step)
        assert arm.ticks(80) == near(before + np.clip(goal - before, -steps, steps), abs=1e-9)
        before = goal


@row('payload during a fault', where=payload_transition.changes_payload,
     find='driven == IN_FAULT', instead='False')
def test_payload_during_a_fault():
    """On its way it stands still, a new one is refused, and the fault ends as ever."""
    arm = running(payload_transition=0.2, fault_action='hold')
    empty = arm.gravity
    full = arm.effort = loaded(arm).gravity(arm.position)
    arm.ticks(3)
    assert arm.set(**payload()) == ''
    half = arm.ticks(100)[-1]
    assert half == near(0.5 * (empty + full))
    arm.tick(velocity=[])
    arm.faulted('NO_VELOCITY')
    held = arm.ticks(20)
    assert held == near(np.tile(held[0], (20, 1)))
    assert held[0] == near(empty + 0.505 * (full - empty))
    assert 'gravity torque of joint1' in arm.set(**payload(0.5))
    assert arm.ticks(5) == near(np.tile(held[0], (5, 1)))


@row('payload or friction changed against the measurement', where=SettingsInForce.prepare,
     find='check_gravity(_, _, _, _)', instead='None')
def test_payload_changed_against_the_measurement():
    """Refused with the reason, and nothing moves; what the sensors feel is taken, at its rate."""
    arm = running(payload_transition=0.0)
    g = arm.gravity
    heavy = {'payload_frame': 'tool0', 'payload_mass': 3.0}
    for mass in (3.0, 20.0):
        said = arm.set(**{**heavy, 'payload_mass': mass})
        assert 'the gravity torque of joint1 would be' in said and 'are measured' in said
        assert arm.ticks(5) == near(np.tile(g, (5, 1)))
    said = arm.set(friction_offset=[10.0], friction_compensation=[0.5])
    assert 'friction_offset of joint1 is 10' in said
    felt = Dynamics(with_payload(arm.model, 'tool0', 3.0, np.zeros(3))).gravity(arm.position)
    arm.effort = felt
    assert arm.tick() == near(g)
    assert arm.set(**heavy) == ''
    efforts = np.array([g, *arm.ticks(80)])
    assert efforts[-1] == near(felt) and (felt - g > 5.0).all()
    assert (np.diff(efforts, axis=0) <= np.array([0.8, 0.3]) + 1e-9).all()
    assert 'joint1 would be' in arm.set(payload_mass=0.0)
