# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A wrong choice of who compensates gravity is found by the measured efforts."""

from collections import deque
from types import SimpleNamespace

from control.rig import follow, integrate, POSE, Rig, risen, TWO_LINK
import numpy as np
import pytest
from robodyn_ros.control.laws.registry import FOLLOWING, MODES
from robodyn_ros.control.steps import gravity_check
from robodyn_ros.control.steps.cycle_data import CONTROLLER_STATE, JOINT, Vectors

SOFT = {'stiffness': [100.0, 25.0], 'damping': [20.0, 5.0], 'acceleration_kp': [25.0],
        'acceleration_kd': [10.0]}      # stable with efforts 5 ms late
CODE = 'GRAVITY_CONTRADICTED'


class Drives(Rig):
    """
    Drives that add g(q) themselves, or not; until the first command brakes hold the arm.

    :param by_robot: whether they do; ``delay``: ticks until a command acts.
    :param feels: share of gravity that the measured efforts carry.
    :param choice: robot_compensates_gravity.
    """

    def __init__(self, model, by_robot, choice, *, delay=0, feels=1.0, noise=0.0, **settings):
        super().__init__(model, POSE, robot_compensates_gravity=choice,
                         loop_delay=max(0.002, 1e-3 * delay), **SOFT, **settings)
        self.by_robot, self.feels, self.noise = by_robot, feels, noise
        self.acting = None
        self.commands = deque(delay * [None])
        self.random = np.random.default_rng(1)

    def sense(self):
        g = self.dynamics.gravity(self.q)
        free = self.acting is None              # of commands: brakes, or the drives, hold it
        felt = (g if free else self.acting + self.by_robot * g) - (1.0 - self.feels) * g
        self.tau = felt + self.noise * self.random.standard_normal(2)
        super().sense()

    def tick(self):
        self.sense()
        published = self.controller.step(self.time)
        self.commands.append(self.controller.tau.copy() if published else None)
        if (acts := self.commands.popleft()) is not None:
            self.acting = acts
            self.published.append(acts)
        if self.acting is not None:
            integrate(self, self.acting + self.by_robot * self.dynamics.gravity(self.q))
        self.time += self.period


@pytest.mark.slow
@pytest.mark.parametrize('mode, by_robot, delay', [
    (mode, bool(k % 2), 5 * (k // 2 % 2)) for k, mode in enumerate(MODES)])
def test_a_right_choice_is_never_contradicted(by_robot, mode, delay):
    """At rest, in fast motion, with noise and efforts that come late."""
    rig = Drives(TWO_LINK, by_robot, by_robot, delay=delay, noise=0.05, mode=mode)
    rig.rise()
    if mode in FOLLOWING:
        follow(rig, POSE + [0.3, -0.3], 0.5)
    rig.run(0.7)
    assert rig.phase == 'RUNNING', rig.controller.reason
    assert rig.controller.memory['senses_gravity'][0] == 1


@pytest.mark.parametrize(('fault_action', 'delay'), [('ramp', 0), ('hold', 5)])
@pytest.mark.parametrize('by_robot', [False, True])
def test_a_wrong_choice_neither_throws_the_arm_nor_lets_it_fall(by_robot, fault_action, delay):
    """The fault latches within milliseconds, and its efforts are those of the other choice."""
    rig = Drives(TWO_LINK, by_robot, not by_robot, delay=delay, fault_action=fault_action)
    rig.controller.arm()
    while not rig.published:
        rig.run(0.001)
    rig.run(0.005 + 0.001 * delay)
    assert rig.phase == 'FAULT' and rig.controller.reason_code == CODE
    rig.run(0.4)
    assert abs(rig.q - POSE).max() < 0.01 + 0.003 * delay and abs(rig.qd).max() < 0.01
    g = rig.dynamics.gravity(rig.q)
    assert rig.published[-1] == pytest.approx(np.zeros(2) if by_robot else g, abs=0.05)

    rig.controller.arm()
    rig.run(0.1)
    assert rig.controller.arming_refusal == ('the measured efforts contradict '
                                             'robot_compensates_gravity')
    rig.controller.disarm()
    rig.controller.stop()
    rig.run(0.5)
    assert rig.phase == 'INACTIVE' and list(rig.published[-1]) == [0.0, 0.0]


@pytest.mark.parametrize('by_robot', [False, True])
def test_joints_without_measured_efforts_are_left_out(by_robot):
    """A wrong choice shows in the others, a right one is not contradicted."""
    for choice in by_robot, not by_robot:
        rig = Drives(TWO_LINK, by_robot, choice)
        sense = rig.sense

        def partly(rig=rig, sense=sense):
            sense()
            rig.state['effort'][1] = np.nan

        rig.sense = partly
        rig.controller.arm()
        rig.run(0.1)
        assert rig.controller.reason_code == ('NO_REASON' if choice == by_robot else CODE)


class Guided(Drives):
    """A hand moves the arm, as soon as it has risen, to where gravity is a quarter of before."""

    def sense(self):
        begin, end, duration = np.array([1.1, 0.0]), np.array([1.46, 0.0]), 0.6
        share = min(max(0.0, self.time - 0.1) / duration, 1.0)
        self.q = begin + share * share * (3.0 - 2.0 * share) * (end - begin)
        self.qd = 6.0 * share * (1.0 - share) * (end - begin) / duration
        super().sense()


@pytest.mark.parametrize('by_robot', [False, True])
def test_what_tells_nothing_of_a_choice(by_robot):
    rig = Guided(TWO_LINK, by_robot, by_robot)
    rig.controller.arm()
    rig.run(1.0)
    assert rig.controller.memory['senses_gravity'][0] == 1
    assert rig.phase == 'RUNNING', rig.controller.reason
    # Currents, or efforts without gravity, as UR robots give them.
    rig = Drives(TWO_LINK, by_robot, by_robot, feels=0.0, arming_effort=10.0)
    rig.rise()
    rig.run(1.5)
    assert rig.phase == 'RUNNING' and rig.controller.memory['senses_gravity'][0] == 0


class Misled(Drives):
    """Sensors that tell 0, or twice gravity, while the arm rises: as with the other choice."""

    lasting, since = 0.0035, np.inf

    def sense(self):
        super().sense()
        if self.acting is not None:
            self.since = min(self.since, self.time)
        if 0.0 <= self.time - self.since < self.lasting:
            self.state['effort'] = (1 - self.by_robot) * 2.0 * self.dynamics.gravity(self.q)


@pytest.mark.parametrize(('fault_action', 'lasting'), [('ramp', 5.0), ('hold', 0.0035)])
@pytest.mark.parametrize('by_robot', [False, True])
def test_false_efforts_neither_throw_the_arm_nor_let_it_fall(by_robot, fault_action, lasting):
    """The fault latches; the arm then moves as if the first choice were right, which it gets."""
    rig = Misled(TWO_LINK, by_robot, by_robot, fault_action=fault_action)
    rig.lasting = lasting
    rig.controller.arm()
    rig.run(0.4)
    assert rig.phase == 'FAULT' and rig.controller.reason_code == CODE
    assert rig.controller.memory['gravity_by_robot'][0] == by_robot
    assert abs(rig.q - POSE).max() < 0.05 and abs(rig.qd).max() < 0.02
    g = rig.dynamics.gravity(rig.q)
    assert rig.published[-1] == pytest.approx(np.zeros(2) if by_robot else g, abs=0.5)


class Braked(Rig):
    """An arm that its brakes hold all the time, with torque sensors behind them."""

    velocity = 0.0

    def sense(self):
        self.tau = self.dynamics.gravity(self.q)
        super().sense()
        self.state['velocity'] = self.velocity

    def tick(self, **how):
        published = super().tick(**how)
        self.q, self.qd = POSE.copy(), np.zeros(2)
        return published


@pytest.mark.parametrize('cycles', [1, 17, 41, 60])
def test_arming_while_efforts_of_a_fault_are_in_force_tells_nothing(cycles):
    """A ramp is g(q) less what it has lost; sensors that do not follow it are no other choice."""
    rig = risen(Braked, robot_compensates_gravity=False, fault_hold_time=0.0, fault_ramp_time=0.05)
    rig.velocity = np.nan
    rig.run(0.004)
    assert rig.phase == 'FAULT' and rig.controller.reason_code == 'NO_VELOCITY'
    rig.velocity = 0.0
    rig.run(1e-3 * cycles)
    rig.rise()
    assert rig.phase == 'RUNNING'


class Held(Rig):
    """An arm that somebody holds; its drives keep the last effort while nobody listens."""

    random = np.random.default_rng(0)

    def tick(self, **how):
        before = self.tau
        published = super().tick(**how)
        if self.controller.cycle_input['listeners'] == 0:
            self.tau = before
        self.q, self.qd = POSE + 1e-6 * self.random.standard_normal(2), np.zeros(2)
        return published


def test_commands_that_nobody_hears_contradict_nothing():
    """They fall to gravity at once, and the measured efforts exceed them by just that."""
    rig = risen(Held, robot_compensates_gravity=False, mode='joint_impedance', **SOFT)
    sag = rig.dynamics.gravity(POSE) / SOFT['stiffness']
    follow(rig, POSE + sag, 0.3)
    rig.run(0.4)
    for listeners in 0, 1:
        rig.controller.cycle_input['listeners'] = listeners
        rig.run(0.03)
    assert rig.phase == 'RUNNING', rig.controller.reason
    assert rig.controller.memory['senses_gravity'][0] == 1


@pytest.mark.parametrize('duration, found', [(0.3, True), (0.02, False)])
def test_late_efforts_of_commands_that_fall_quickly_contradict_nothing(duration, found):
    """Measured 10 ms late, they exceed the commands by gravity; those that fall slowly do not."""
    joints = np.zeros(1, JOINT).view(np.recarray)
    joints.effort_limit = 80.0
    memory = np.zeros(1, CONTROLLER_STATE).view(np.recarray)
    memory.senses_gravity, memory.armed = 1, 0.5
    v = Vectors.zeros(1)
    v.gravity_check.tau_offset[:], v.gravity_check.tau_mean[:], v.gravity[:] = 15.0, 28.0, 15.0
    c = SimpleNamespace(joints=joints, controller=memory[0], vectors=v,
                        cycle_input=SimpleNamespace(listeners=1))
    commands = np.interp(1e-3 * np.arange(300), [0.0, duration], [28.0, 13.0])
    excess = 0.0 if duration < 0.1 else 15.0            # of a robot that adds gravity itself
    contradicted = False
    for k in range(10, 300):
        v.measured[:] = commands[k - 10] + excess
        contradicted |= gravity_check.gravity_contradicted(c, 1, 1.0, commands[k:k + 1])
    assert contradicted == found and memory.gravity_by_robot[0] == found
