# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Test of the motors while the arm is RISING, before a control law drives it.

Once g(q) is reached, the joints are tested one after another. The arm is held with damped gravity
compensation, to which an effort on the tested joint is added that grows exponentially until a
joint has moved by MOVED_DISTANCE, or until ``motor_test_effort`` and the known static friction are
exceeded. A motion that grows with the time constant T has the velocity MOVED_DISTANCE / T at this
distance, whatever the inertia: a heavy joint needs more effort, a light one does not get faster.

An effort on joint j alone, the inertia M of the others being free to move, gives the displacement
Δq_j an energy in proportion to

    e_j = Δq_j² / (M⁻¹)_jj

which is greater than that of any other joint. The motor of the tested joint i is reversed if e_i
is the greatest and Δq_i opposes the effort, and swapped with that of joint k if e_k is. Motions
that are too large for the effort, or come with less than CLEAR_EFFORT, do not count: steps of the
efforts and errors of g(q) cause them. Displacements are forgotten within DISPLACEMENT_TIMES
growth times. A joint that has not passed is tested twice more, each time in the other direction:
it may rest on something. A motor is at fault when the same joint has followed, or opposed, two
opposite efforts in a row; a load that sinks does not.

Before each effort, and before the law, the arm comes to rest, and the estimated external effort,
as of an unknown payload, is compensated where it exceeds the known friction, within
MAX_HOLDING_EFFORT. In each phase, the pattern of a motor fault (:mod:`.motor_faults`) is a fault
at once. While the drives do not take the efforts, because another controller holds the arm, the
test waits.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import copysign, exp, inf
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np
from numpy import ndarray, record

from .acceleration_limits import effective_delay
from .guard import ARM_MOVES, JOINT_BLOCKED, NO_REASON, OTHER_JOINT_MOVES, WRONG_DIRECTION
from .motor_faults import driven_joint, MIN_DRIVEN_VELOCITY, motor_fault
from ..declare import number, SETTINGS_RECORD
from ...dynamics.entry_points import solve
from ...dynamics.model_data import ModelData

if TYPE_CHECKING:
    from .cycle_data import Cycle, Vectors

# Effort of the test where it is needed [effort limits]: below this rate [Hz], or for a driver
DEFAULT_EFFORT, TESTED_RATE = 0.1, 500.0
MOVED_DISTANCE, MOVED_TIME = 0.005, 0.004    # rad | m; at most the velocity limit times this [s]
MOVED_STEPS = 13.0    # of the encoder: at least, where the velocity limit is low
# Shares of this distance: below it, a joint has not moved; above it, the arm moves by itself
DRIFT_DISTANCE, RUNAWAY_DISTANCE = 0.33, 20.0
PLAUSIBLE_DISTANCE = 2.0    # of that by which an effort moves a joint without friction
# Factor of the energy of the tested joint, below so many steps of its encoder
TESTED_JOINT_WEIGHT, COARSE_ENCODER_STEPS = 2.0, 3.0
START_EFFORT = 1e-4    # effort limits
# Effort limits of a joint, below which an effort does not explain its motion: steps of the efforts
# and errors of g(q) may move it as far
CLEAR_EFFORT = 1e-3
GROWTH_TIME, GROWTH_DELAYS = 0.04, 2.0      # s of its growth; at least so many effective delays
DISPLACEMENT_TIMES = 3.0    # growth times within which a displacement has to arise
FULL_EFFORT_TIME = 0.2    # s with the largest effort
LAST_ROUND = 2
# s before an effort: for the estimate to settle, of a window of rest, and in all
SETTLING_TIME, REST_WINDOW, MAX_REST_TIME = 0.1, 0.15, 2.0
FALL_TIME = 0.3             # s of a rest in which a load may fall until it is compensated
MAX_HOLDING_EFFORT = 0.15    # effort limits, of the compensated external effort
# 1/s of the compensation: at most, a share of 1/delay, and of 1/time of a window
HOLDING_BANDWIDTH, HOLDING_DELAY_SHARE, WINDOW_SHARE = 30.0, 0.3, 2.0
# Of the friction parameters
STATIC_ROW, BACKWARD_STATIC_ROW, LOAD_ROW, COUPLED_ROW = 2, 5, 9, 12


@dataclass(frozen=True)
class Parameters:
    """Effort of the test."""

    motor_test_effort: float = number(
        -1.0, '', -1.0, 0.5, 'Largest effort of the motor test, as a share of the effort limit; '
        '0: no test. Negative (when configured): 0.1 below 500 Hz, or with a driver that does not '
        'state that its motors obey; else 0.', record=SETTINGS_RECORD, after='arming_effort')


class Memory(NamedTuple):
    """Test of the motors, (nv,) each."""

    held: ndarray           # effort that compensates the external one in the test of the motors
    passed: ndarray         # 1: the motor has passed this test
    suspect: ndarray        # 1 + joint that moved instead, negative: against the effort; 0: none
    test_pose: ndarray      # position before the effort on a joint, which follows slowly
    mobility: ndarray       # diagonal of the inverse mass matrix

#: Fields of the controller state.
STATE = [
    ('tested', np.int64),           # joint whose motor is tested, see motor_test.py
    ('test_round', np.int64),
    ('test_side', np.int64),
    ('test_effort', float),         # N·m | N on this joint; 0: the arm comes to rest before
    ('test_time', float),           # s of the rest, or with the largest effort
    ('window_time', float),         # s of the window of the rest
    ('motors_moved', np.int64),     # 1: some joint has moved in the test
    ('other_joint', np.int64),      # that moves by the effort of the joint of the fault
    ('awaiting', np.int64),         # 1: g(q) is reached, and the test waits for the drives
]


def effort_in_force(given: float, needed: bool) -> float:
    """Return ``motor_test_effort``, or what a negative one stands for [effort limits]."""
    if given >= 0.0:
        return given
    return DEFAULT_EFFORT if needed else 0.0


def begin(m: record, v: Vectors) -> None:
    """Begin with the first joint, as the arm begins to rise."""
    own = v.motor_test
    m.test_round = m.motors_moved = m.disobeyed = m.awaiting = 0
    for i in range(v.q.shape[0]):
        own.held[i] = own.passed[i] = own.suspect[i] = 0.0
    rest(m, v, 0)
    m.test_time = SETTLING_TIME


def rest(m: record, v: Vectors, i: int) -> None:
    """Let the arm come to rest before joint i, or the next one that has not passed, is tested."""
    m.tested, m.test_effort, m.test_time, m.window_time = next_joint(v, i), 0.0, 0.0, 0.0
    note_pose(v)


def next_joint(v: Vectors, i: int) -> int:
    """Return the first joint from i on that has not passed, nv if there is none."""
    while i < v.q.shape[0] and v.motor_test.passed[i] == 1.0:
        i += 1
    return i


def note_pose(v: Vectors) -> None:
    """Measure displacements from the present pose."""
    for i in range(v.q.shape[0]):
        v.motor_test.test_pose[i] = v.q[i]


def moved_distance(joints: ndarray, v: Vectors, i: int) -> float:
    """Return the displacement of joint i [MOVED_DISTANCE], 0 outside of its position limits."""
    if not joints[i].position_lower <= v.q[i] <= joints[i].position_upper:
        return 0.0          # it is brought back inside, see limits.py
    step = v.frozen_readings.encoder_step[i]
    unit = min(MOVED_DISTANCE, max(MOVED_TIME * v.speed_limit[i],
                                   MOVED_STEPS * step if step < inf else 0.0))
    return (v.q[i] - v.motor_test.test_pose[i]) / unit


def find_fault(c: Cycle, fresh: int) -> tuple[int, int]:
    """Return (reason, joint) of a motor fault; go on to the next joint after an effort."""
    joints, s, m, v = c.joints, c.settings, c.controller, c.vectors
    own = c.vectors.motor_test
    n, i = v.q.shape[0], m.tested
    if c.cycle_input.listeners == 0 or c.cycle_input.awaited == 1:  # no motor moves the arm
        rest(m, v, i)
        return NO_REASON, -1
    farthest, moving, moved, greatest, strongest = 0.0, -1, 0.0, 0.0, -1
    effort = abs(m.test_effort)
    reach = PLAUSIBLE_DISTANCE * effort * (growth_time(s, v) + m.test_time)**2
    for j in range(n):
        distance, change = abs(moved_distance(joints, v, j)), abs(v.q[j] - own.test_pose[j])
        if distance > farthest:
            farthest, moving = distance, j
        possible = change < reach * own.mobility[j]
        caused = possible and effort > CLEAR_EFFORT * joints[j].effort_limit
        if caused or j == i and not possible:
            moved = max(moved, distance)
        if caused and (j == i or distance > DRIFT_DISTANCE):
            favored = j == i and change < COARSE_ENCODER_STEPS * v.frozen_readings.encoder_step[j]
            energy = (TESTED_JOINT_WEIGHT if favored else 1.0) * change**2 / own.mobility[j]
            if energy > greatest:
                strongest, greatest = j, energy
    resting = m.test_effort == 0.0
    if motor_fault(c, fresh):
        if not resting or m.test_time > growth_time(s, v):
            return by_pattern(c, MIN_DRIVEN_VELOCITY, moving)
        m.disobeyed = 0         # the effort before this rest may act late
    if (farthest > RUNAWAY_DISTANCE and not (resting and m.test_time < FALL_TIME)
            or resting and m.test_time > MAX_REST_TIME):
        return by_pattern(c, 0.0, moving)
    if resting:
        return NO_REASON, -1
    if moved > 1.0:
        m.motors_moved, m.other_joint = 1, strongest
        along = m.test_effort * (v.q[strongest] - own.test_pose[strongest])
        suspect = copysign(strongest + 1.0, along)
        if suspect == i + 1.0:
            own.passed[i] = 1.0
        elif strongest >= 0 and suspect == own.suspect[i]:
            return (WRONG_DIRECTION if strongest == i else OTHER_JOINT_MOVES), i
        elif m.test_round == LAST_ROUND:
            return ARM_MOVES, i
        own.suspect[i] = suspect
    elif m.test_time < FULL_EFFORT_TIME:
        return NO_REASON, -1
    rest(m, v, i + 1)
    if m.tested == n:
        first = next_joint(v, 0)
        if first < n and m.test_round == LAST_ROUND:
            return JOINT_BLOCKED, (first if m.motors_moved == 1 else -1)
        m.tested = first
        m.test_round += 1
    return NO_REASON, -1


def at_rest(c: Cycle) -> bool:
    """Return whether a window ends in which no joint has moved."""
    joints, m, v = c.joints, c.controller, c.vectors
    if m.window_time < REST_WINDOW:
        return False
    rests = True
    for j in range(v.q.shape[0]):
        rests &= abs(moved_distance(joints, v, j)) < DRIFT_DISTANCE
    m.window_time = 0.0
    note_pose(v)
    return rests


def by_pattern(c: Cycle, least: float, joint: int) -> tuple[int, int]:
    """
    Return (reason, joint) of the pattern of a motor fault, ARM_MOVES where there is none.

    :param least: speed of the joint that the motor drives [velocity limits].
    :param joint: that of ARM_MOVES.
    """
    m = c.controller
    m.other_joint, sender = driven_joint(c, least)
    if sender < 0:
        return ARM_MOVES, joint
    return (WRONG_DIRECTION if sender == m.other_joint else OTHER_JOINT_MOVES), sender


def growth_time(s: record, v: Vectors) -> float:
    """Return the time constant of the effort on a joint [s]."""
    return max(GROWTH_TIME, GROWTH_DELAYS * longest_delay(s, v))


def longest_delay(s: record, v: Vectors) -> float:
    """Return the longest effective delay of a joint [s], at least a period."""
    delay = s.period
    for i in range(v.q.shape[0]):
        delay = max(delay, effective_delay(s, v, i))
    return delay


def add_efforts(c: Cycle, friction: ndarray, dt: float, tau: ndarray) -> bool:
    """
    Add the efforts of the test to those of the rise; return whether all joints have passed.

    :param friction: (13, nv), see :mod:`robodyn_ros.dynamics.friction`.
    """
    joints, s, m, v = c.joints, c.settings, c.controller, c.vectors
    own = c.vectors.motor_test
    n, i = v.q.shape[0], m.tested
    m.awaiting = c.cycle_input.awaited
    if m.test_effort == 0.0:
        m.test_time += dt
        m.window_time += dt
        rested: Any = m.test_time
        rate = min(HOLDING_BANDWIDTH, HOLDING_DELAY_SHARE / longest_delay(s, v),
                   WINDOW_SHARE / max(m.window_time, s.period))
        share = 1.0 - exp(-dt * rate) if rested > SETTLING_TIME else 0.0
        for j in range(n):
            bound = MAX_HOLDING_EFFORT * joints[j].effort_limit
            external = v.momentum_observer.external[j]
            balance = min(bound, max(0.0, abs(external) - known_friction(friction, v, j)))
            own.held[j] -= share * (copysign(balance, external) + own.held[j])
        if rested > SETTLING_TIME + REST_WINDOW and at_rest(c):
            if i == n:
                return True
            m.test_time = 0.0
            inward = v.q[i] < 0.5 * (joints[i].position_lower + joints[i].position_upper)
            m.test_side = 1 if inward == (m.test_round != 1) else -1
            m.test_effort = m.test_side * START_EFFORT * joints[i].effort_limit
    else:
        most: Any = (s.motor_test_effort * joints[i].effort_limit
                     + known_friction(friction, v, i))
        effort: Any = m.test_side * m.test_effort * exp(dt / growth_time(s, v))
        m.test_effort = m.test_side * min(effort, most)
        if effort > most:
            m.test_time += dt
    left = (0.0 if m.test_effort == 0.0
            else 1.0 - exp(-dt / (DISPLACEMENT_TIMES * growth_time(s, v))))
    for j in range(n):
        own.test_pose[j] += left * (v.q[j] - own.test_pose[j])
        tau[j] += own.held[j]
    if i < n:
        tau[i] += m.test_effort
    return False


def known_friction(friction: ndarray, v: Vectors, i: int) -> float:
    """Return the static friction of joint i in the model [N·m | N]."""
    static: Any = (max(friction[STATIC_ROW, i], friction[BACKWARD_STATIC_ROW, i])
                   + friction[LOAD_ROW, i] * abs(v.gravity[i]) + friction[COUPLED_ROW, i])
    return static


def note_mobility(c: Cycle, robot: ModelData) -> None:
    """Write the diagonal of M⁻¹ to ``mobility``; the workspace has the factors of M."""
    m, v, work = c.controller, c.vectors, c.workspace
    if m.test_effort == 0.0:
        return
    for i in range(v.q.shape[0]):
        for k in range(v.q.shape[0]):
            v.limits.response[k] = 1.0 if k == i else 0.0
        solve(robot, work, v.limits.response)
        v.motor_test.mobility[i] = v.limits.response[i]
