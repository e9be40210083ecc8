# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of arming and stopping, of who compensates gravity, and of the topic of commands."""

from faults.arm import Arm, MOST, running
from faults.played_arm import PERIOD, RAMP, TELEPORTED, ZERO
from faults.rows import row
import numpy as np
import pytest
from robodyn_ros.control.cycle import cycle
from robodyn_ros.control.steps import gravity_check, guard, lowering, phase_efforts

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
        self.effort = self.last + self.gravity
        super().send(*seconds, **fields)

    @property
    def last(self) -> np.ndarray:
        """The newest command (2,)."""
        return self.loop.published[-1] if self.loop.published else np.zeros(2)

    def arms_in_vain(self) -> None:
        """Arm, until a fault."""
        self.controller.arm()
        for _ in range(MOST):
            self.goes_on()
            if self.phase == 'FAULT':
                break
        self.goes_on(100)


@row('measured efforts contradict who compensates gravity', 'GRAVITY_CONTRADICTED',
     where=gravity_check.gravity_contradicted, find='_ < CONTRADICTING_SAMPLES', instead='True')
def test_measured_efforts_contradict_who_compensates_gravity():
    """The robot adds gravity, which is g(q) twice; once that shows, nothing is commanded."""
    arm = SelfHolding()
    arm.arms_in_vain()
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
    arm.activate()
    assert arm.tick() == near(arm.gravity)

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
