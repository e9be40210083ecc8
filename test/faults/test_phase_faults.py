# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of arming and stopping, of who compensates gravity, and of the topic of commands."""

from faults.arm import Arm, MOST, running
from faults.played_arm import PERIOD, RAMP, TELEPORTED, ZERO
from faults.rows import row
import numpy as np
import pytest
from robodyn_ros.control.cycle import cycle
from robodyn_ros.control.steps import gravity_check, guard, phase_efforts

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


def test_an_arm_that_moves_is_not_armed_again():
    """Whoever moves it: refused until it rests."""
    arm = running(**TELEPORTED)
    arm.tick(velocity=[])
    arm.until()
    arm.refuses('the arm is moving', velocity=MOVING)
    arm.activate()


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


def test_stops_at_rest_with_gravity_by_choice():
    """A slow arm ends the stopping phase; g(q) may be left to a plant that keeps it."""
    arm = running(stop_with='gravity', **TELEPORTED)
    arm.velocity = MOVING
    arm.controller.stop()
    assert arm.ticks(50) == near(damped(arm, 50))
    assert arm.tick(velocity=[0.015, -0.015]) == near(arm.gravity)
    arm.nothing()


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


def test_stops_in_a_fault():
    """The damped gravity of the fault becomes that of the stopping phase: zero in the end."""
    arm = running(fault_hold_time=60.0, **STOPPING)
    arm.tick(velocity=[])
    arm.faulted('NO_VELOCITY')
    arm.velocity = MOVING
    braked = arm.ticks(30)[-1]
    assert braked == near(damped(arm, 30)[-1])
    arm.controller.stop()
    efforts = arm.until()
    assert efforts[:-1] == near(np.tile(braked, (len(efforts) - 1, 1)))
    arm.nothing()


def test_stale_while_stopping():
    """A stopping phase does not go on blindly: zero at once."""
    arm = running()
    arm.velocity[:] = 0.1, -0.1
    arm.controller.stop()
    still = arm.gravity + arm.damping
    assert arm.ticks(10)[5:] == near(np.tile(still, (5, 1)))
    assert arm.silence(0.0495) == near(still)
    assert arm.silence().tolist() == ZERO
    assert arm.controller.reason_code == 'STALE_STATE'
    arm.nothing()


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


class Misled(SelfHolding):
    """One that moves by what it is told, and whose driver sends no efforts once it is driven."""

    def send(self, seconds=PERIOD, **fields):
        """Send the state of now."""
        if self.last.any():
            self.velocity = self.velocity + seconds * self.dynamics.forward_dynamics(
                self.position, self.velocity, self.last + self.gravity)
            self.position = self.position + seconds * self.velocity
        told = {'effort': ZERO} if self.loop.published else {}
        super().send(seconds, **told, **fields)


def test_false_efforts_that_the_motion_of_the_arm_refutes():
    """The robot does add gravity, as set: it is not thrown, and the fault says what is false."""
    arm = Misled(robot_compensates_gravity=True)
    begin = arm.position
    arm.arms_in_vain()
    arm.faulted('GRAVITY_CONTRADICTED')
    assert arm.counted('gravity_by_robot') == 1         # the node then says: false efforts
    assert abs(arm.position - begin).max() < 0.1


@row('nobody listens on commands', 'NOBODY_LISTENS', where=cycle.cycle,
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


def test_another_publisher_of_commands():
    """Damped gravity, then the ramp, as after any fault: the other's commands are not fought."""
    arm = running()
    arm.controller.cycle_input['command_publishers'] = 2
    arm.goes_limp(arm.tick, arm.gravity)
    arm.faulted('OTHER_COMMANDS')
    arm.refuses('another publisher sends commands')
