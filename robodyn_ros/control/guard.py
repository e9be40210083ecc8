# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
The guard: may the arm be driven, with how much effort, and what happens when it may not.

    INACTIVE ──arm──► RISING ──► RUNNING ──stop──► STOPPING ──► INACTIVE
                         └────────── any fault ───────┴──► FAULT (latched) ──arm──► RISING

Arming is asked for, never automatic: while it is, the guard counts fresh samples that give no
cause for objection and lets the arm rise after enough of them. A fault is left by arming alone.
Everything here is plain arithmetic on the records of :mod:`.records`; time comes in as a number.
"""

from math import inf, isfinite, isnan

from .records import ARM, DISARM, NO_REQUEST, STOP

PHASES = ('INACTIVE', 'RISING', 'RUNNING', 'STOPPING', 'FAULT')
INACTIVE, RISING, RUNNING, STOPPING, FAULT = range(len(PHASES))

REASONS = (
    'none',
    'state is stale',
    'computed effort is not finite',
    'no state yet',
    'the arm moves',
    'position is outside its limits',
    'gravity torque is above the effort limit',
    'measured effort disagrees with the gravity torque',
)
(NO_REASON, STALE_STATE, EFFORT_NOT_FINITE, NO_STATE, ARM_MOVES, POSITION_OUTSIDE,
 GRAVITY_ABOVE_LIMIT, EFFORT_MISMATCH) = range(len(REASONS))


def enter(m, phase, now):
    """Change the phase and note when."""
    m.phase, m.since = phase, now


def fault(m, v, s, reason, joint, now):
    """Latch a fault; the first reason stays. Without fresh state, only an arm at rest is held."""
    m.reason, m.joint, m.following = reason, joint, 0
    m.blind = 1 if reason == STALE_STATE else 0
    enter(m, FAULT, now)
    if m.blind == 1 and not at_rest(v, s.rest_velocity):
        m.since = -inf


def at_rest(v, threshold):
    """Whether every joint was slower than the threshold in the last valid state."""
    for i in range(v.q.shape[0]):
        if not abs(v.qd[i]) < threshold:
            return False
    return True


def stale_joint(state, now, timeout):
    """First joint whose state is older than the timeout or never came, or -1."""
    for i in range(state.shape[0]):
        if not now - state[i].received <= timeout:      # NaN (never came) is stale as well
            return i
    return -1


def objection(joints, s, v):
    """Why the arm must not be armed now, and the joint concerned: (reason, joint)."""
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


def take_request(requests, m, now):
    """Act on what was asked since the last cycle; what makes no sense in this phase is dropped."""
    request = requests[0]
    if request == NO_REQUEST:
        return
    if request == ARM and (m.phase == INACTIVE or m.phase == FAULT):
        m.arming, m.good_samples, m.objection, m.objection_joint = 1, 0, NO_STATE, -1
    elif request == DISARM:
        m.arming = 0
    elif request == STOP:
        m.arming = 0
        if (m.phase == RISING or m.phase == RUNNING
                or (m.phase == FAULT and m.blind == 0 and m.publishing == 1)):
            enter(m, STOPPING, now)
    requests[0] = NO_REQUEST            # last: who asked sees it done or still to be done


def arm(joints, s, v, m, stale, fresh, now, tau):
    """
    Count good samples while arming is asked for; enough of them, and the arm rises.

    It rises from the measured efforts, or from ``tau`` (nv,), the last message, where there are
    none.
    """
    if stale >= 0:
        m.objection, m.objection_joint, m.good_samples = NO_STATE, stale, 0
        return
    if not fresh:
        return
    m.objection, m.objection_joint = objection(joints, s, v)
    m.good_samples = m.good_samples + 1 if m.objection == NO_REASON else 0
    if m.good_samples >= s.arming_samples:
        for i in range(v.q.shape[0]):
            v.rise[i] = tau[i] if isnan(v.measured[i]) else v.measured[i]
            v.extra[i] = v.rise[i] - v.gravity[i]
        m.arming, m.reason, m.joint, m.blind, m.following = 0, NO_REASON, -1, 0, 0
        enter(m, RISING, now)


def rising(joints, v, dt, tau):
    """Gravity from the last known effort to g(q) at the effort rate, damped; True when there."""
    done = True
    for i in range(v.q.shape[0]):
        j = joints[i]
        step, gap = j.effort_rate * dt, v.gravity[i] - v.rise[i]
        if abs(gap) > step:
            done = False
            gap = step if gap > 0.0 else -step
        v.rise[i] += gap
        tau[i] = v.rise[i] - j.safe_damping * v.qd[i]
    return done


def damped_gravity(joints, v, tau):
    """τ = g(q) - D q̇: what holds an arm that must come to rest."""
    for i in range(v.q.shape[0]):
        tau[i] = v.gravity[i] - joints[i].safe_damping * v.qd[i]


def fault_efforts(joints, s, v, m, stale, now, tau):
    """
    Efforts of a latched fault; False once they are over, with zeros as the last message.

    Damped gravity for a bounded time, then a ramp to zero. Without fresh state the pose is the
    last valid one: gravity alone, and only if the arm was at rest then. An arm that has gone limp
    never gets its efforts back without arming, whatever becomes of the settings or the time.
    """
    if m.publishing == 0:
        m.since = -inf
    elif stale >= 0 and m.blind == 0:
        m.blind = 1
        if s.fault_keeps_holding == 1:
            m.since = now
        if not at_rest(v, s.rest_velocity):
            m.since = -inf
    if m.publishing == 1 and m.blind == 0 and s.fault_keeps_holding == 1:
        damped_gravity(joints, v, tau)
        return True
    late = now - m.since - s.fault_hold_time
    keep = 1.0 if late <= 0.0 else max(0.0, 1.0 - late / s.fault_ramp_time)
    damped_gravity(joints, v, tau)
    for i in range(tau.shape[0]):
        effort = v.gravity[i] if m.blind == 1 else tau[i]
        tau[i] = keep * effort if keep > 0.0 else 0.0
    return keep > 0.0


def limit(joints, v, m, dt, tau):
    """
    Keep gravity, limit the rest: its rate of change first, then the sum to the effort limit.

    Joint by joint: cutting one saturated wrist must not soften or undamp the other joints.
    """
    saturated, rate_limited = 0, 0
    for i in range(tau.shape[0]):
        j, g = joints[i], v.gravity[i]
        step, extra = j.effort_rate * dt, tau[i] - v.gravity[i]
        if abs(extra - v.extra[i]) > step:
            extra = v.extra[i] + (step if extra > v.extra[i] else -step)
            rate_limited = 1
        if abs(g + extra) > j.effort_limit:
            extra = (j.effort_limit if g + extra > 0.0 else -j.effort_limit) - g
            saturated = 1
        tau[i] = g + extra
    m.saturated += saturated
    m.rate_limited += rate_limited


def clamp(joints, tau):
    """Cut efforts to their limits, whatever they are made of; False where one is not finite."""
    finite = True
    for i in range(tau.shape[0]):
        if not isfinite(tau[i]):
            finite = False
        elif abs(tau[i]) > joints[i].effort_limit:
            tau[i] = joints[i].effort_limit if tau[i] > 0.0 else -joints[i].effort_limit
    return finite
