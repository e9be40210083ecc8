# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
The guard: may the arm be driven, and what happens when it may not.

    INACTIVE ──arm──► RISING ──► RUNNING ──stop──► STOPPING ──► INACTIVE
                         └────────── any fault ───────┴──► FAULT (latched) ──arm──► RISING

Arming is asked for, never automatic: while it is, the guard counts fresh samples that give no
cause for objection and lets the arm rise after enough of them. A fault is left by arming alone.
How much of an effort the arm is given is decided in :mod:`.limits`. Everything here is plain
arithmetic on the records of :mod:`.dtypes`; time comes in as a number.
"""

from math import inf, isfinite, isnan

from .dtypes import ARM, DISARM, NO_REQUEST, STOP, VELOCITY_OR_FAULT

PHASES = ('INACTIVE', 'RISING', 'RUNNING', 'STOPPING', 'FAULT')
INACTIVE, RISING, RUNNING, STOPPING, FAULT = range(len(PHASES))

# Reason codes of faults, and of objections to arming, with the sentences that go with them.
REASONS = {
    'NO_REASON': 'none',
    'NO_STATE': 'no state yet',
    'STALE_STATE': 'state is stale',
    'TWO_STATE_PUBLISHERS': 'two publishers send the state',
    'NO_VELOCITY': 'the state carries no credible velocity',
    'EFFORT_NOT_FINITE': 'computed effort is not finite',
    'EFFORT_LIMITED': 'the effort has been cut to its limits for too long',
    'PERIODS_MISSED': 'too many periods are missed',
    'NOBODY_LISTENS': 'nobody listens to the commands',
    'ARM_MOVES': 'the arm moves',
    'POSITION_OUTSIDE': 'position is outside its limits',
    'GRAVITY_ABOVE_LIMIT': 'gravity torque is above the effort limit',
    'EFFORT_MISMATCH': 'measured effort disagrees with the gravity torque',
    'STATE_INCONSISTENT': 'positions and velocities of the state contradict each other',
    'STATE_LATE': 'states come later or less often than loop_delay allows',
    'VELOCITY_ABOVE_LIMIT': 'velocity is above its limit',
    'LOOP_STALLED': 'the control loop stood still',
    'CLOCK_STOPPED': 'the simulation clock stands still while the arm moves',
    'OTHER_COMMANDS': 'another publisher sends commands',
    'FOLLOWING_ERROR': 'the arm does not follow its reference',
    'JOINT_BLOCKED': 'the joint is driven and does not move',
    'WRONG_DIRECTION': 'the joint accelerates against its effort',
    'EFFORT_OSCILLATES': 'the effort oscillates at its limits',
    'POWER_ABOVE_LIMIT': 'mechanical power is above its limit',
    'EMERGENCY_STOP': 'emergency stop',
    'HEARTBEAT_LOST': 'the heartbeat is missing',
    'GRAVITY_CONTRADICTED': 'the measured efforts contradict robot_compensates_gravity',
}
CODES = tuple(REASONS)
(NO_REASON, NO_STATE, STALE_STATE, TWO_STATE_PUBLISHERS, NO_VELOCITY, EFFORT_NOT_FINITE,
 EFFORT_LIMITED, PERIODS_MISSED, NOBODY_LISTENS, ARM_MOVES, POSITION_OUTSIDE,
 GRAVITY_ABOVE_LIMIT, EFFORT_MISMATCH, STATE_INCONSISTENT, STATE_LATE, VELOCITY_ABOVE_LIMIT,
 LOOP_STALLED, CLOCK_STOPPED, OTHER_COMMANDS, FOLLOWING_ERROR, JOINT_BLOCKED, WRONG_DIRECTION,
 EFFORT_OSCILLATES, POWER_ABOVE_LIMIT, EMERGENCY_STOP, HEARTBEAT_LOST,
 GRAVITY_CONTRADICTED) = range(len(CODES))

# Velocity limits, and growth since the fault: efforts of a fault that make an arm faster than this
# do not slow it. Where a joint was seen to move against its effort, less speed is enough.
RUNAWAY, RUNAWAY_GROWTH = 1.15, 1.1
WRONG_RUNAWAY, WRONG_GROWTH = 0.5, 1.5
REST = 0.1          # velocity limits: faster is no rest, however slow the joint
FORGIVEN = 0.1      # periods that each cycle in time makes up for: more than 10 % missed add up


def enter(m, phase, now):
    """Change the phase and note when."""
    m.phase, m.since = phase, now


def fault(m, v, s, reason, joint, now):
    """
    Latch a fault; the first reason stays.

    Without a state to trust only an arm at rest is held.
    """
    m.following = 0
    if m.reason == NO_REASON:           # else of a fault that came while another was stopped
        m.reason, m.joint = reason, joint
    m.faults += 1
    for i in range(v.q.shape[0]):
        if not isfinite(v.extra[i]):    # what follows begins with what the arm was given last
            v.extra[i] = v.published[i]
    m.blind = 1 if (reason == STALE_STATE or reason == TWO_STATE_PUBLISHERS
                    or reason == STATE_INCONSISTENT) else 0
    m.fault_speed = 0.0
    for i in range(v.q.shape[0]):
        m.fault_speed = max(m.fault_speed, abs(v.qd[i]) / v.speed_limit[i])
    enter(m, FAULT, now)
    if reason == CLOCK_STOPPED:         # no fault efforts, which would need time that passes
        m.blind, m.since = 1, -inf
    if m.blind == 1 and not at_rest(v, s.rest_velocity):
        m.since = -inf


def at_rest(v, threshold):
    """Whether every joint was slower than the threshold, and its position does not contradict."""
    for i in range(v.q.shape[0]):
        slow = min(threshold, REST * v.speed_limit[i])
        if not (abs(v.qd[i]) < slow and v.contradiction[i] <= 1.0):
            return False
    return True


def distrust(state, now, timeout):
    """Why the state must not be used, and the joint concerned: (reason, joint)."""
    for i in range(state.shape[0]):
        if not now - state[i].received <= timeout:      # NaN: never came
            return NO_STATE if isnan(state[i].received) else STALE_STATE, i
        if now - state[i].other <= timeout:
            return TWO_STATE_PUBLISHERS, i
    return NO_REASON, -1


def stalled(outside, s, elapsed):
    """
    Whether the loop stood still for longer than a state may be old.

    In a simulation, whose time stops and jumps, the loop itself says for how long; otherwise the
    time ``elapsed`` [s] since the last cycle says so too, unless no state came in it either.
    """
    gap = outside.stalled
    if outside.simulated_time == 0:
        gap = max(gap, elapsed)
    return gap > s.state_timeout


def fall_silent(m, s):
    """
    End the efforts of a latched fault at once: a drive with a timeout has long engaged its brakes.

    A zero might release them again; it is sent only where ``stall_action`` says so, for drives
    that keep the last effort for ever.
    """
    m.since = -inf
    if s.zero_after_stall == 0:
        m.publishing = 0


def cause(outside, s, m, unmeasured):
    """What ends a motion although the state is sound: (reason, joint)."""
    if unmeasured >= 0 and s.missing_velocity == VELOCITY_OR_FAULT:
        return NO_VELOCITY, unmeasured
    if m.missed > s.missed_limit:
        return PERIODS_MISSED, -1
    if outside.clock_stopped > s.state_timeout:
        return CLOCK_STOPPED, -1
    if outside.stop_reason != NO_REASON:
        return outside.stop_reason, -1
    if outside.command_publishers > 1:
        return OTHER_COMMANDS, -1
    if m.strain > s.strain_limit:
        return EFFORT_LIMITED, m.strained
    return NO_REASON, -1


def cause_in_stop(reason, joint):
    """Keep what ends the stop of an arm that was in FAULT: only what makes stopping dangerous."""
    if (reason == NO_STATE or reason == STALE_STATE or reason == TWO_STATE_PUBLISHERS
            or reason == STATE_INCONSISTENT or reason == VELOCITY_ABOVE_LIMIT
            or reason == CLOCK_STOPPED or reason == LOOP_STALLED or reason == EFFORT_NOT_FINITE):
        return reason, joint
    return NO_REASON, -1


def count_missed(m, missed):
    """Add the periods missed before this cycle; a steady few are forgiven, a burst is not."""
    m.missed = max(0.0, m.missed + missed - FORGIVEN)


def objection(outside, joints, s, m, v, unmeasured):
    """Why the arm must not be armed now, and the joint concerned: (reason, joint)."""
    if outside.stop_reason != NO_REASON:
        return outside.stop_reason, -1
    if outside.listeners == 0:
        return NOBODY_LISTENS, -1
    if outside.command_publishers > 1:
        return OTHER_COMMANDS, -1
    if m.gravity_by_robot != s.robot_compensates_gravity:
        return GRAVITY_CONTRADICTED, -1
    if unmeasured >= 0 and s.missing_velocity == VELOCITY_OR_FAULT:
        return NO_VELOCITY, unmeasured
    for i in range(v.q.shape[0]):
        j = joints[i]
        if not abs(v.qd[i]) <= s.arming_velocity:
            return ARM_MOVES, i
        if not j.position_lower <= v.q[i] <= j.position_upper:
            return POSITION_OUTSIDE, i
        if not abs(v.gravity[i]) <= j.effort_limit:
            return GRAVITY_ABOVE_LIMIT, i
        if (not isnan(v.measured[i])
                and not abs(v.measured[i] - v.gravity[i]) <= s.arming_effort * j.effort_limit):
            return EFFORT_MISMATCH, i
    return NO_REASON, -1


def take_request(outside, m, now):
    """Act on what was asked since the last cycle; what makes no sense in this phase is dropped."""
    m.request = request = outside.request
    if request == NO_REQUEST:
        return
    if request == ARM and (m.phase == INACTIVE or m.phase == FAULT):
        m.arming, m.good_samples, m.objection, m.objection_joint = 1, 0, NO_STATE, -1
    elif request == DISARM:
        m.arming = 0
    elif request == STOP:
        m.arming = 0
        if (m.phase == RISING or m.phase == RUNNING
                or (m.phase == FAULT and m.blind == 0 and m.publishing == 1
                    and m.reason != WRONG_DIRECTION)):      # which no effort can stop
            enter(m, STOPPING, now)
    outside.request = NO_REQUEST        # last: who asked sees it done or still to be done


def arm(joints, m, s, v, reason, joint, fresh, now, tau):
    """
    Count good samples while arming is asked for; enough of them, and the arm rises.

    It rises from the measured efforts, or from ``tau`` (nv,), the last message, where there are
    none, the robot adds its own, or the message is still in force.
    """
    m.objection, m.objection_joint = reason, joint
    if reason != NO_REASON:
        m.good_samples = 0
        return
    m.good_samples += fresh
    if m.good_samples < s.arming_samples:
        return
    for i in range(v.q.shape[0]):
        limit, begin = joints[i].effort_limit, v.measured[i]
        if isnan(begin) or m.gravity_by_robot == 1 or m.publishing == 1:
            begin = tau[i]
        v.rise[i] = min(max(begin, -limit), limit)
        v.extra[i] = v.published[i] = v.rise[i] - v.supply[i]
    m.arming, m.reason, m.joint, m.blind, m.following = 0, NO_REASON, -1, 0, 0
    m.missed = m.strain = 0.0
    enter(m, RISING, now)


def rising(joints, s, v, dt, tau):
    """Gravity from the last known effort to g(q) at the effort rate, damped; True when there."""
    done = True
    for i in range(v.q.shape[0]):
        step, gap = joints[i].effort_rate * dt, v.supply[i] - v.rise[i]
        if abs(gap) > step:
            done = False
            gap = step if gap > 0.0 else -step
        v.rise[i] += gap
        tau[i] = v.rise[i] - s.damping_rate * v.momentum[i]
    return done


def damped_gravity(s, v, tau):
    """
    τ = g(q) - λ M(q) q̇: what holds an arm that must come to rest.

    Every motion dies away at the rate λ, whichever joints take part in it; with a number a joint
    instead of M(q), those that move little mass would shake, or the others go on.
    """
    for i in range(v.q.shape[0]):
        tau[i] = v.supply[i] - s.damping_rate * v.momentum[i]


def fault_efforts(s, v, m, trusted, now, dt, tau):
    """
    Efforts of a latched fault; False once they are over, with zeros as the last message.

    Damped gravity for a bounded time, then a ramp to zero. Without a state to trust the pose is
    the last valid one: gravity alone, and only if the arm was at rest then. An arm that has gone
    limp never gets its efforts back without arming, whatever becomes of the settings or the time.
    """
    if m.publishing == 0:
        m.since = -inf
    elif not trusted and m.blind == 0:
        m.blind = 1
        if s.fault_keeps_holding == 1:
            m.since = now
        if not at_rest(v, s.rest_velocity):
            m.since = -inf
    if m.blind == 0 and held(s, m, now) == 1.0 and grows_worse(v, m):
        m.blind, m.since = 1, -inf
    damped_gravity(s, v, tau)
    if m.publishing == 1 and m.blind == 0 and s.fault_keeps_holding == 1:
        m.since = now                   # from where a ramp begins, should it be asked for
        return True
    keep, kept = ramp(s, now - m.since), ramp(s, now - dt - m.since)
    for i in range(tau.shape[0]):
        effort = v.supply[i] if m.blind == 1 else tau[i]
        tau[i] = keep * effort if keep > 0.0 else 0.0
        if 0.0 < keep < kept:           # the ramp itself is not slowed by the effort rate
            v.extra[i] = keep / kept * (v.supply[i] + v.extra[i]) - v.supply[i]
            v.published[i] = keep / kept * (v.supply[i] + v.published[i]) - v.supply[i]
    return keep > 0.0


def grows_worse(v, m):
    """
    Whether the efforts of a fault make the arm faster: they act as no model says.

    While they ramp down, gravity may do so.
    """
    for i in range(v.q.shape[0]):
        speed = abs(v.qd[i]) / v.speed_limit[i]
        if speed > RUNAWAY and speed > RUNAWAY_GROWTH * m.fault_speed:
            return True
        if (m.reason == WRONG_DIRECTION and speed > WRONG_RUNAWAY
                and speed > WRONG_GROWTH * m.fault_speed):
            return True
    return False


def held(s, m, now):
    """Share of the efforts of a latched fault that is left, while the state is fresh."""
    return 1.0 if s.fault_keeps_holding == 1 else ramp(s, now - m.since)


def ramp(s, since):
    """Share of the efforts that is left so long after a fault [s]."""
    return min(1.0, max(0.0, 1.0 - (since - s.fault_hold_time) / s.fault_ramp_time))
