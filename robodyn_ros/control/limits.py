# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
The limits: how much of the effort that the law asks for the arm is given.

Gravity is kept and the rest is cut, joint by joint: one saturated wrist must not soften or undamp
the other joints.
"""

from math import exp, isfinite

# Of the velocity limit, where cutting begins: late efforts of other joints take some room beyond.
SHARE = 0.97
# Of the velocity limit, at most, outside the position limits: back in, but slowly.
RETURN_VELOCITY = 0.1
SWEEPS = 8
EXCESSIVE = 5.0     # effort limits; stiff laws that catch up with a fast reference ask for 4
SLOWING_TIME = 0.2  # s, time constant with which velocity limits fall
# Times `effort_rate_limit`: how fast efforts may change to keep a joint inside its limits. The law
# alone keeps to the limit itself. In test/control/test_limits.py joints come to 1.28 times their
# velocity limit with 2, to 1.08 with 3, to 1.04 with 4 and to 1.00 with 5.
BRAKING_RATE = 5.0
# How fast the estimate of the disturbance follows [1/s], and how much of it counts: more than all,
# for what grows is more by the time at which the efforts act.
OBSERVER_RATE, CAUTION = 100.0, 1.5
MOST_OF_A_SAMPLE = 0.3      # share in the estimate that one sample has in a slow loop
# `limit_rate` is at most this share of one over the delay, `approach_rate` at most this share of
# `limit_rate`. With more, what corrects an error overshoots before it is seen to act.
DELAY_SHARE, APPROACH_SHARE = 0.8, 0.2
NEGLIGIBLE = 1e-6   # rad/s² | m/s²


def limit(joints, v, m, dt, tau):
    """
    Limit the rate of change of what comes on top of gravity, then the whole to its limit.

    ``m.strain`` counts the time in which something is cut [s], and faster where the effort is cut
    by more than EXCESSIVE effort limits: an unstable law asks for ever more.
    """
    saturated, rate_limited, excess = -1, -1, 0.0
    for i in range(tau.shape[0]):
        j, g = joints[i], v.gravity[i]
        step, extra = j.effort_rate * dt, tau[i] - v.supply[i]
        if abs(extra - v.extra[i]) > step:
            extra = v.extra[i] + (step if extra > v.extra[i] else -step)
            rate_limited = i
        if abs(g + extra) > j.effort_limit:
            extra = (j.effort_limit if g + extra > 0.0 else -j.effort_limit) - g
            saturated = i
        excess = max(excess, abs(tau[i] - v.supply[i] - extra) / j.effort_limit)
        tau[i] = v.supply[i] + extra
    m.saturated += saturated >= 0
    m.rate_limited += rate_limited >= 0
    if saturated >= 0 or rate_limited >= 0:
        m.strain += dt * max(1.0, (excess / EXCESSIVE)**2)
        m.strained = max(saturated, rate_limited)
    else:
        m.strain = max(0.0, m.strain - dt)


def predict(s, joints, m, v):
    """
    Predict where the joints are when the efforts of now act, and how far the model is wrong.

    Efforts act :func:`effective_delay` after the state they were computed from. What those under
    way will change of the velocity is kept as a first-order lag of that time, with no queue: a
    Smith predictor (Åström, Wittenmark, Computer-Controlled Systems (1997), section 8.4). What
    else changes from sample to sample is a disturbance, an acceleration [rad/s² | m/s²]: a
    payload that nobody told of, friction, a hand. It is low-pass filtered as the residual of De
    Luca and Mattone (ICRA 2003), and no larger than what :func:`room` deals with.
    """
    for i in range(v.q.shape[0]):
        delay = effective_delay(s, v, i)
        elapsed = v.accepted[i] - v.sample_time[i]
        known = 0.0 <= elapsed <= s.state_timeout and isfinite(v.pending_qd[i])
        if m.publishing == 0 or not known:          # begins anew
            v.pending_qd[i] = v.disturbance[i] = 0.0
        elif elapsed > 0.0:
            acted = v.pending_qd[i]
            if delay > 0.0:
                acted *= 1.0 - exp(-elapsed / delay)
            v.pending_qd[i] -= acted
            most = s.limit_rate * joints[i].velocity_limit
            unexplained = (v.qd[i] - v.sample_qd[i] - acted) / elapsed
            unexplained = min(max(unexplained, -most), most)        # one false sample is little
            share = min(MOST_OF_A_SAMPLE, 1.0 - exp(-OBSERVER_RATE * elapsed))
            v.disturbance[i] += share * (unexplained - v.disturbance[i])
        v.sample_time[i], v.sample_qd[i] = v.accepted[i], v.qd[i]
        v.predicted_qd[i] = v.qd[i] + v.pending_qd[i] + delay * v.disturbance[i]
        v.predicted_q[i] = v.q[i] + 0.5 * delay * (v.qd[i] + v.predicted_qd[i])


def effective_delay(s, v, i):
    """Return ``loop_delay``, or how late and rare states of a joint are, if that is more [s]."""
    return max(s.loop_delay, v.late[i] + max(0.0, v.interval[i] - s.period))


def keep_inside(forward_dynamics, solve, robot, work, joints, s, v, m, dt, tau, share):
    """
    Cut what would carry a joint over its velocity limit, or over its position limit.

    A joint may accelerate as :func:`room` says. Where the model says that the efforts bring more,
    the joint's own is changed by as much as it takes, then, if its limit leaves too little, those
    of the joints that drag it along are lowered toward gravity. All joints move each other, so
    this goes round: projected Gauss-Seidel on the accelerations, as physics engines do it for
    contacts (Featherstone 2008, section 11.7). Only this ``share`` of what it comes to is done,
    within BRAKING_RATE.
    """
    n, touched = tau.shape[0], 0
    for i in range(n):
        v.push[i] = 0.0
        v.wanted[i] = tau[i] + v.gravity[i] - v.supply[i]
    forward_dynamics(robot, v.predicted_q, v.predicted_qd, v.wanted, work, v.acceleration)
    for _ in range(SWEEPS):
        for i in range(n):
            rate, approach_rate = rates(s, effective_delay(s, v, i))
            least, most = room(joints[i], rate, approach_rate, v.speed_limit[i], v.predicted_q[i],
                               v.predicted_qd[i])
            outward = CAUTION * v.disturbance[i]
            least, most = (min(most, least - min(outward, 0.0)),
                           max(least, most - max(outward, 0.0)))
            if least <= v.acceleration[i] <= most and v.push[i] == 0.0:
                continue
            touched = 1
            for k in range(n):
                v.response[k] = 0.0
            v.response[i] = 1.0
            solve(robot, work, v.response)          # column i of the inverse of M(q)

            limit, free = joints[i].effort_limit, v.acceleration[i] - v.response[i] * v.push[i]
            push = (min(max(free, least), most) - free) / v.response[i]
            push = min(max(push, -limit - v.wanted[i]), limit - v.wanted[i])
            for k in range(n):
                v.acceleration[k] += v.response[k] * (push - v.push[i])
            v.push[i] = push

            excess = v.acceleration[i] - min(max(v.acceleration[i], least), most)
            if abs(excess) > NEGLIGIBLE:
                lower_others(solve, robot, work, v, i, excess)
    m.kept_inside += touched
    cut = 0
    for i in range(n):
        step, law = BRAKING_RATE * joints[i].effort_rate * dt, tau[i] - v.supply[i]
        kept = v.wanted[i] + v.push[i] - v.gravity[i]
        extra = law + share * (kept - law)
        extra = min(max(extra, v.published[i] - step), v.published[i] + step)
        tau[i] = v.supply[i] + extra
        v.cut[i] = extra - kept
        cut |= v.cut[i] != 0.0
    if cut:
        solve(robot, work, v.cut)
    for i in range(n):
        v.pending_qd[i] += dt * (v.acceleration[i] + v.cut[i])


def slow_down(joints, v, dt):
    """Let the velocity limits in force follow those that were set: a faster arm takes its time."""
    for i in range(v.q.shape[0]):
        v.speed_limit[i] = max(joints[i].velocity_limit,
                               v.speed_limit[i] * exp(-dt / SLOWING_TIME))


def rates(s, delay):
    """Return ``limit_rate`` and ``approach_rate`` [1/s] for an effective delay [s]."""
    rate = min(s.limit_rate, DELAY_SHARE / max(delay, s.period))
    return rate, min(s.approach_rate, APPROACH_SHARE * rate)


def room(j, rate, approach_rate, speed_limit, q, qd):
    """
    Accelerations that keep a joint inside: (least, most), ``rate`` times what is left to v.

    v = min(0.97 q̇_max, ``approach_rate`` (q_max - q)) is the greatest velocity: far from limits
    there is room for any sensible acceleration, a joint that is too fast is damped, and the
    position limit is a spring-damper toward the inside that begins before it. From outside a joint
    comes back no faster than RETURN_VELOCITY q̇_max, whoever drives it.
    """
    most = SHARE * speed_limit
    slow = RETURN_VELOCITY * speed_limit
    upper = max(-slow, min(most, approach_rate * (j.position_upper - q)))
    lower = min(slow, max(-most, approach_rate * (j.position_lower - q)))
    if q > j.position_upper:
        lower = -slow
    elif q < j.position_lower:
        upper = slow
    return rate * (lower - qd), rate * (upper - qd)


def lower_others(solve, robot, work, v, i, excess):
    """Lower what joints bring to the excess acceleration of joint i, toward gravity, in shares."""
    total = 0.0
    for k in range(v.q.shape[0]):
        extra = v.wanted[k] - v.gravity[k]
        brought = v.response[k] * extra
        v.cut[k] = 0.0
        if k != i and brought * excess > 0.0:
            total += brought
            v.cut[k] = extra
    if total == 0.0:
        return
    share = min(1.0, excess / total)
    for k in range(v.q.shape[0]):
        v.cut[k] *= share
        v.wanted[k] -= v.cut[k]
    solve(robot, work, v.cut)
    for k in range(v.q.shape[0]):
        v.acceleration[k] -= v.cut[k]


def finite(tau):
    """Whether every effort is a finite number."""
    for i in range(tau.shape[0]):
        if not isfinite(tau[i]):
            return False
    return True


def clamp(joints, tau):
    """Cut efforts to their limits, whatever they are made of; False where one is not finite."""
    for i in range(tau.shape[0]):
        if isfinite(tau[i]) and abs(tau[i]) > joints[i].effort_limit:
            tau[i] = joints[i].effort_limit if tau[i] > 0.0 else -joints[i].effort_limit
    return finite(tau)
