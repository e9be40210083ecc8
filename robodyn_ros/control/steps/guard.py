# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Guard of the controller: state machine, fault conditions and arming checks.

    INACTIVE ──arm──► RISING ──► RUNNING ──stop──► STOPPING ──► INACTIVE
                         └────────── any fault ───────┴──► FAULT (latched) ──arm──► RISING

INACTIVE publishes nothing. RISING ramps to gravity compensation, RUNNING applies the control law,
STOPPING damps the motion until the arm is at rest, and FAULT applies the efforts of
:mod:`.phase_efforts` for a bounded time. A fault is latched: only a new arming request leaves it,
and no request is ever made automatically.

Arming succeeds after ``arming_samples`` consecutive fresh samples for which
:func:`arming_refusal` finds nothing. While the arm is driven, three functions are evaluated in
each cycle, the first of which applies to FAULT as well: :func:`state_fault` (no usable joint
state), :func:`running_fault` (conditions of the loop and of the settings) and
:func:`.motion_checks.motion_fault`. The joint limits are enforced by :mod:`.limits`.

All functions are plain arithmetic on the records of :mod:`.cycle_data`: ``c`` is the
:class:`~.cycle_data.Cycle`, of which ``s``, ``m`` and ``v`` are the settings, the controller state
and the vectors; ``now`` is the time of the cycle [s] on the clock of the states.
Conditions are returned as (reason code, joint index), with joint -1 where no joint is concerned.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from math import inf, isinf, isnan
from typing import TYPE_CHECKING

import numpy as np
from numpy import ndarray, record

from .velocity_estimator import slower, VELOCITY_OR_FAULT
from ..declare import (
    choice, flag, JOINT_RECORD as JOINT, number, numbers, PerJoint, SETTINGS_RECORD as SETTINGS)

if TYPE_CHECKING:
    from .cycle_data import Cycle, Vectors


class Phase(IntEnum):
    """Phase of a controller; recordings and topics carry its number."""

    INACTIVE = 0    #: Nothing is published.
    RISING = 1      #: The efforts ramp to gravity compensation.
    RUNNING = 2     #: The control law applies.
    STOPPING = 3    #: The motion is damped until the arm is at rest.
    FAULT = 4       #: A fault is latched.


PHASES = tuple(Phase.__members__)
# Plain integers, for compiled code
INACTIVE, RISING, RUNNING, STOPPING, FAULT = map(int, Phase)

# Reason codes of faults and of refusals to arm, with the sentences that explain them.
REASONS = {
    'NO_REASON': 'none',
    'NO_STATE': 'no joint state yet',
    'STALE_STATE': 'state is stale',
    'TWO_STATE_PUBLISHERS': 'two publishers send joint states',
    'NO_VELOCITY': 'joint states carry no credible velocity',
    'EFFORT_NOT_FINITE': 'computed effort is not finite',
    'EFFORT_LIMITED': 'effort saturated for too long',
    'PERIODS_MISSED': 'too many missed periods',
    'NOBODY_LISTENS': 'no subscriber to the commands',
    'ARM_MOVES': 'the arm is moving',
    'POSITION_OUTSIDE': 'position is outside its limits',
    'GRAVITY_ABOVE_LIMIT': 'gravity torque is above the effort limit',
    'EFFORT_MISMATCH': 'measured effort disagrees with the gravity torque',
    'STATE_INCONSISTENT': 'positions and velocities of the state contradict each other',
    'STATE_LATE': 'joint states arrive later or less often than loop_delay allows',
    'VELOCITY_ABOVE_LIMIT': 'velocity is above its limit',
    'LOOP_STALLED': 'control loop stalled',
    'CLOCK_STOPPED': 'the simulation clock is stopped while the arm moves',
    'OTHER_COMMANDS': 'another publisher sends commands',
    'FOLLOWING_ERROR': 'the arm does not follow its reference',
    'JOINT_BLOCKED': 'the joint is driven but does not move',
    'WRONG_DIRECTION': 'the joint accelerates against its effort',
    'EFFORT_OSCILLATES': 'the effort oscillates at its limits',
    'POWER_ABOVE_LIMIT': 'mechanical power is above its limit',
    'EMERGENCY_STOP': 'emergency stop',
    'HEARTBEAT_LOST': 'the heartbeat is missing',
    'GRAVITY_CONTRADICTED': 'the measured efforts contradict robot_compensates_gravity',
    'COLLISION': 'external effort exceeds the collision threshold',
    'PUSHED': 'sustained external effort exceeds the push threshold',
    'TOOL_OUTSIDE': 'the tool is at the boundary of its workspace',
    'TOOL_SPEED': 'the tool is at its speed limit',
    'CONTACT_SPEED': 'the arm is at the speed limit of contact_region',
    'PARTNER_LOST': 'the partner is silent, or has left the coupling',
    'SELF_COLLISION': 'two links of the arm are at their minimum distance',
    'ZERO_STATE': 'all positions and velocities are exactly zero, and no effort is measured',
    'OTHER_JOINT_MOVES': 'the effort of one joint moves another joint',
    'ROBOT_STOPPED': 'the robot has stopped by itself: see its own safety controller',
    'DRIVE_FAULT': 'a drive reports a fault',
}
CODES = tuple(REASONS)
(NO_REASON, NO_STATE, STALE_STATE, TWO_STATE_PUBLISHERS, NO_VELOCITY, EFFORT_NOT_FINITE,
 EFFORT_LIMITED, PERIODS_MISSED, NOBODY_LISTENS, ARM_MOVES, POSITION_OUTSIDE,
 GRAVITY_ABOVE_LIMIT, EFFORT_MISMATCH, STATE_INCONSISTENT, STATE_LATE, VELOCITY_ABOVE_LIMIT,
 LOOP_STALLED, CLOCK_STOPPED, OTHER_COMMANDS, FOLLOWING_ERROR, JOINT_BLOCKED, WRONG_DIRECTION,
 EFFORT_OSCILLATES, POWER_ABOVE_LIMIT, EMERGENCY_STOP, HEARTBEAT_LOST,
 GRAVITY_CONTRADICTED, COLLISION, PUSHED, TOOL_OUTSIDE, TOOL_SPEED, CONTACT_SPEED,
 PARTNER_LOST, SELF_COLLISION, ZERO_STATE, OTHER_JOINT_MOVES, ROBOT_STOPPED,
 DRIVE_FAULT) = range(len(CODES))

# Requests to the state machine; the cycle takes one and writes NO_REQUEST back.
NO_REQUEST, ARM, DISARM, STOP = range(4)
#: Number of the law to which the cycle falls back.
GRAVITY_COMPENSATION = 0

#: Efforts of the last message after stopping, of a latched fault, and after a stall of the loop,
#: in the order of their numbers.
STOP_WITH = ('zero', 'gravity')
STOP_WITH_ZERO, STOP_WITH_GRAVITY = range(len(STOP_WITH))
FAULT_ACTION = ('ramp', 'hold')
FAULT_RAMP, FAULT_HOLD = range(len(FAULT_ACTION))
STALL_ACTION = ('silence', 'zero')
STALL_SILENCE, STALL_ZERO = range(len(STALL_ACTION))

# A joint is at rest only below this fraction of its velocity limit, whatever `rest_velocity` is
MAX_REST_VELOCITY = 0.1
# After a fault, efforts of the law that still drive the arm are given this time [s] to fade, at
# most, before an arm that becomes faster is blamed on the fault efforts: from the effort limit at
# the default `effort_rate_limit`; and at most this share of `fault_hold_time`. Speeds above this
# multiple of the velocity limit are not due to such efforts.
FADING_TIME, FADING_SHARE, FADING_SPEED = 0.1, 0.5, 1.4
# Missed periods that are forgiven each cycle: a lasting 10 % is tolerated, a burst adds up
FORGIVEN_PERIODS = 0.1


@dataclass(frozen=True)
class Parameters:
    """Conditions under which the arm is driven, and the reactions if they fail."""

    state_timeout: float = number(
        0.05, 's', 0.001, 1.0, 'Age at which joint states are stale, a fault.', record=SETTINGS)
    velocity_scale: float = number(
        1.0, '', 0.01, 1.0, 'Share of the velocity limits that arm and trajectories may use.')
    position_margin: PerJoint = numbers(
        'rad or m', 0.0, 1e3, 'Distance beyond the position limits that is a fault. Empty: 3 % of '
        'the range; 0: unlimited.', record=JOINT, unlimited=True,
        implied=lambda model, settings: 0.03 * (model.position_upper - model.position_lower))
    missed_limit: int = number(
        100, '', 1, 1000000, 'Largest number of periods missed at once, or in total beyond one in '
        'ten.', record=SETTINGS)
    saturation_timeout: float = number(
        2.0, 's', 0.01, 3600.0, 'Time at the effort or effort rate limit that is a fault.',
        record=SETTINGS)
    arming_samples: int = number(
        20, '', 1, 10000, 'Consecutive good samples required for arming.', record=SETTINGS)
    arming_velocity: float = number(
        0.05, 'rad/s or m/s', 0.0, 10.0, 'Maximum joint velocity for arming.',
        record=SETTINGS)
    arming_effort: float = number(
        0.1, '', 0.0, 10.0, 'Largest difference of measured efforts and g(q) for arming, as a '
        'share of the effort limit.', record=SETTINGS)
    accept_zero_state: bool = flag(
        'Permit arming at exactly zero positions and velocities without measured efforts.',
        record=SETTINGS)
    damping_rate: float = number(
        10.0, '1/s', 0.0, 100.0, 'Damping λ in λ M(q) q̇ outside RUNNING.', record=SETTINGS)
    rest_velocity: float = number(
        0.02, 'rad/s or m/s', 0.0, 1.0, 'Velocity below which a joint is at rest.',
        record=SETTINGS)
    stop_timeout: float = number(
        2.0, 's', 0.0, 30.0, 'Maximum duration of the stopping phase.', record=SETTINGS)
    stop_with: str = choice(
        STOP_WITH, 'Last message: zero effort, or g(q) for a drive that keeps its last command.',
        record=SETTINGS)
    fault_action: str = choice(
        FAULT_ACTION, 'Damped gravity compensation after a fault: ramp it to zero, or hold it.',
        record=SETTINGS)
    stall_action: str = choice(
        STALL_ACTION, 'After a stall of the loop: silence, or a zero for drives that keep their '
        'last command.', record=SETTINGS)
    fault_hold_time: float = number(
        0.5, 's', 0.0, 60.0, 'Duration of damped gravity compensation after a fault.',
        record=SETTINGS)
    fault_ramp_time: float = number(
        0.5, 's', 0.01, 60.0, 'Duration of the ramp to zero afterwards.', record=SETTINGS)


#: Fields of the controller state.
STATE = [
    ('phase', np.int64),
    ('reason', np.int64),
    ('joint', np.int64),
    ('faults', np.int64),           # latched so far
    ('request', np.int64),          # as the last cycle took it
    ('since', float),               # s, when the phase began
    ('time', float),                # s, of the last cycle
    ('newest', float),              # s, receipt of the newest state seen
    ('arming', np.int64),
    ('good_samples', np.int64),
    ('arming_refusal', np.int64),
    ('arming_refusal_joint', np.int64),
    ('without_state', np.int64),    # 1: the fault began, or goes on, without a valid state
    ('publishing', np.int64),       # 1: the last cycle had an effort to publish
    ('missed', float),              # periods, less those forgiven
    ('fault_speed', float),         # velocity limits, fastest joint until fading_end
    ('fading_end', float),          # s, until when efforts of the law act after the fault
    ('cycles', np.int64),
]


def enter(m: record, phase: int, now: float) -> None:
    """Change to a phase at time ``now`` [s]."""
    m.phase, m.since = phase, now


def fault(c: Cycle, reason: int, joint: int, now: float) -> None:
    """
    Latch a fault and decide which fault efforts apply.

    The first reason is kept when a second fault interrupts the stop of the first one. The efforts
    continue from those published, after the limits. Without a valid state (stale, from two
    publishers, or inconsistent) the efforts are those of the last valid pose, and only if the arm
    was at rest there; otherwise they are zero at once. They are also zero at once after
    CLOCK_STOPPED, because a ramp needs time that passes.
    """
    joints, s, m, v = c.joints, c.settings, c.controller, c.vectors
    m.following = 0
    if m.reason == NO_REASON:
        m.reason, m.joint = reason, joint
    m.faults += 1
    fading = 0.0
    for i in range(v.q.shape[0]):
        v.tau_residual[i] = v.published[i]
        if v.published[i] * v.qd[i] > 0.0:      # the law drives the joint
            fading = max(fading, abs(v.published[i]) / joints[i].effort_rate_limit)
    m.fading_end = now
    if fading > 0.0 and reason != WRONG_DIRECTION and reason != OTHER_JOINT_MOVES:
        m.fading_end += min(min(fading, FADING_TIME) + s.loop_delay,
                            FADING_SHARE * s.fault_hold_time)
    m.without_state = 1 if (reason == STALE_STATE or reason == TWO_STATE_PUBLISHERS
                            or reason == STATE_INCONSISTENT) else 0
    m.fault_speed = 0.0
    if m.phase != RISING:               # where motors are tested
        m.disobeyed = 0
    note_fault_speed(m, v)
    enter(m, FAULT, now)
    if reason == CLOCK_STOPPED:
        m.without_state, m.since = 1, -inf
    if m.without_state == 1 and not at_rest(v, s.rest_velocity):
        m.since = -inf


def note_fault_speed(m: record, v: Vectors) -> None:
    """Raise ``m.fault_speed`` to the speed of the fastest joint [velocity limits]."""
    for i in range(v.q.shape[0]):
        m.fault_speed = max(m.fault_speed, abs(v.qd[i]) / v.speed_limit[i])


def at_rest(v: Vectors, threshold: float) -> bool:
    """
    Return whether every joint is at rest, and its position does not contradict its velocity.

    :param threshold: velocity [rad/s | m/s]; at most MAX_REST_VELOCITY velocity limits.
    """
    for i in range(v.q.shape[0]):
        slow = min(threshold, MAX_REST_VELOCITY * v.speed_limit[i])
        if not (slower(v, i, slow) and v.plausibility.contradiction[i] <= 1.0):
            return False
    return True


def state_fault(state: ndarray, now: float, timeout: float) -> tuple[int, int]:
    """
    Return why the joint states must not be used: NO_STATE, STALE_STATE, TWO_STATE_PUBLISHERS.

    :param timeout: age above which a state is stale [s].
    """
    for i in range(state.shape[0]):
        if now - state[i].other <= timeout:             # even if the times of one are wrong
            return TWO_STATE_PUBLISHERS, i
        if not now - state[i].received <= timeout:      # NaN: never came
            return NO_STATE if isnan(state[i].received) else STALE_STATE, i
    return NO_REASON, -1


def loop_stalled(cycle_input: record, s: record, elapsed: float) -> bool:
    """
    Return whether the control loop stalled for longer than ``state_timeout`` before this cycle.

    The loop reports its stalls in ``cycle_input.stalled``. On the steady clock the time since the
    last cycle counts as well. Simulated time may stop and jump without any stall, and a simulator
    in lockstep waits for a loop that stalls.

    :param elapsed: time since the last cycle [s], 0 if no state came in it either.
    """
    gap = cycle_input.stalled
    gap = min(gap, elapsed) if cycle_input.simulated_time == 1 else max(gap, elapsed)
    return gap > s.state_timeout


def end_fault_efforts(m: record, s: record) -> None:
    """
    End the efforts of a latched fault at once, after a stall.

    A drive with a command timeout has engaged its brakes by then, and a command might release
    them: with ``stall_action`` *silence* publishing stops, with *zero* a single zero follows, for
    drives that keep the last effort.
    """
    m.since = -inf
    if s.stall_action == STALL_SILENCE:
        m.publishing = 0


def running_fault(c: Cycle, unmeasured: int) -> tuple[int, int]:
    """Return a fault of an arm driven with a valid state, except those of its motion."""
    cycle_input, s, m = c.cycle_input, c.settings, c.controller
    if unmeasured >= 0 and s.missing_velocity == VELOCITY_OR_FAULT:
        return NO_VELOCITY, unmeasured
    if m.missed > s.missed_limit:
        return PERIODS_MISSED, -1
    if cycle_input.clock_stopped > s.state_timeout:
        return CLOCK_STOPPED, -1
    if cycle_input.stop_reason != NO_REASON:
        return cycle_input.stop_reason, -1
    if cycle_input.command_publishers > 1:
        return OTHER_COMMANDS, -1
    if m.saturation_time > s.saturation_timeout:
        return EFFORT_LIMITED, m.saturated_joint
    return NO_REASON, -1


def stopping_fault(reason: int, joint: int) -> tuple[int, int]:
    """
    Return the fault of an arm that is stopped out of FAULT, NO_REASON where stopping may go on.

    Such an arm is braked although something is wrong already. Only reasons that make braking
    itself dangerous end it: an invalid state, excessive velocity, or a loop without time.
    """
    if (reason == NO_STATE or reason == STALE_STATE or reason == TWO_STATE_PUBLISHERS
            or reason == STATE_INCONSISTENT or reason == VELOCITY_ABOVE_LIMIT
            or reason == CLOCK_STOPPED or reason == LOOP_STALLED or reason == EFFORT_NOT_FINITE):
        return reason, joint
    return NO_REASON, -1


def count_missed(m: record, missed: int) -> None:
    """Add the periods missed before this cycle to a sum; subtract FORGIVEN_PERIODS from it."""
    m.missed = max(0.0, m.missed + missed - FORGIVEN_PERIODS)


def arming_refusal(c: Cycle, unmeasured: int) -> tuple[int, int]:
    """
    Return why the arm must not be armed in its present state, NO_REASON where it may.

    Every joint must be slower than ``arming_velocity``, inside its position limits or no further
    outside than is no fault afterwards, and able to carry g(q); a measured effort must agree with
    g(q) within ``arming_effort`` effort limits.
    """
    cycle_input, joints, s, m, v = c.cycle_input, c.joints, c.settings, c.controller, c.vectors
    if cycle_input.stop_reason != NO_REASON:
        return cycle_input.stop_reason, -1
    if cycle_input.listeners == 0:
        return NOBODY_LISTENS, -1
    if cycle_input.command_publishers > 1:
        return OTHER_COMMANDS, -1
    if m.gravity_by_robot != s.robot_compensates_gravity:
        return GRAVITY_CONTRADICTED, -1
    if unmeasured >= 0 and s.missing_velocity == VELOCITY_OR_FAULT:
        return NO_VELOCITY, unmeasured
    if s.accept_zero_state == 0 and zero_state(v):
        return ZERO_STATE, -1
    for i in range(v.q.shape[0]):
        j = joints[i]
        if not (abs(v.qd[i]) <= s.arming_velocity or slower(v, i, s.arming_velocity)):
            return ARM_MOVES, i
        if beyond_limits(j, v.q[i]) or (isinf(j.position_margin) and not (
                j.position_lower <= v.q[i] <= j.position_upper)):
            return POSITION_OUTSIDE, i
        if not abs(v.gravity[i]) <= j.effort_limit:
            return GRAVITY_ABOVE_LIMIT, i
        if (not isnan(v.measured[i])
                and not abs(v.measured[i] - v.gravity[i]) <= s.arming_effort * j.effort_limit):
            return EFFORT_MISMATCH, i
    return NO_REASON, -1


def beyond_limits(j: record, q: float) -> bool:
    """Return whether a position is outside its limits by more than ``position_margin``."""
    return not (j.position_lower - j.position_margin <= q
                <= j.position_upper + j.position_margin)


def zero_state(v: Vectors) -> bool:
    """
    Return whether all positions and velocities are exactly zero and no effort is measured.

    Drivers publish this before they have read their encoders. A simulated arm at zero measures
    efforts, which :func:`arming_refusal` compares with g(q).
    """
    for i in range(v.q.shape[0]):
        if v.q[i] != 0.0 or v.qd[i] != 0.0 or not isnan(v.measured[i]):
            return False
    return True


def take_request(cycle_input: record, m: record, now: float) -> None:
    """
    Take the request made since the last cycle; one that does not apply to the phase is dropped.

    A stop also ends a FAULT whose efforts are still applied with a valid state, except
    WRONG_DIRECTION and OTHER_JOINT_MOVES, where no effort can be trusted to brake.
    """
    m.request = request = cycle_input.request
    if request == NO_REQUEST:
        return
    if request == ARM and (m.phase == INACTIVE or m.phase == FAULT):
        m.arming, m.good_samples = 1, 0
        m.arming_refusal, m.arming_refusal_joint = NO_STATE, -1
    elif request == DISARM:
        m.arming = 0
    elif request == STOP:
        m.arming = 0
        if (m.phase == RISING or m.phase == RUNNING
                or (m.phase == FAULT and m.without_state == 0 and m.publishing == 1
                    and m.reason != WRONG_DIRECTION and m.reason != OTHER_JOINT_MOVES)):
            enter(m, STOPPING, now)
    cycle_input.request = NO_REQUEST    # last, so that its writer sees it waiting or done


def arm(c: Cycle, reason: int, joint: int, fresh: int, now: float, tau: ndarray) -> None:
    """
    Count good samples while arming is requested, and enter RISING after enough of them.

    The efforts rise from the measured ones. They rise from the last message instead where no
    efforts are measured, where the robot adds its own gravity compensation, and where the last
    message is still in force; and from zero where drives that are switched on now hold the arm in
    a spring of their own.

    :param reason, joint: result of :func:`arming_refusal`.
    :param tau: (nv,) efforts of the last message [N·m | N].
    """
    joints, s, m, v = c.joints, c.settings, c.controller, c.vectors
    m.arming_refusal, m.arming_refusal_joint = reason, joint
    if reason != NO_REASON:
        m.good_samples = 0
        return
    m.good_samples += fresh
    if m.good_samples < s.arming_samples:
        return
    m.spring = 1.0 if c.cycle_input.spring == 1 and m.publishing == 0 else 0.0
    for i in range(v.q.shape[0]):
        limit, begin = joints[i].effort_limit, v.measured[i]
        if isnan(begin) or m.gravity_by_robot == 1 or m.publishing == 1 or m.spring == 1.0:
            begin = 0.0 if m.spring == 1.0 else tau[i]
        v.tau_rising[i] = min(max(begin, -limit), limit)
        v.tau_residual[i] = v.published[i] = v.tau_rising[i] - v.tau_gravity[i]
    m.arming, m.reason, m.joint, m.without_state, m.following = 0, NO_REASON, -1, 0, 0
    m.missed = m.saturation_time = 0.0
    m.coupled = 0
    enter(m, RISING, now)
