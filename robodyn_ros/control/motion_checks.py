# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Faults that show in the motion: the arm does not do what its efforts and its reference ask for.

Each compares what the cycle knows already: reference, efforts, and accelerations that the model
predicts for them.
"""

from math import exp

from .guard import (
    EFFORT_OSCILLATES,
    FOLLOWING_ERROR,
    JOINT_BLOCKED,
    NO_REASON,
    POSITION_OUTSIDE,
    POWER_ABOVE_LIMIT,
    REST,
    WRONG_DIRECTION,
)

BLOCKED_TIME = 0.5          # s
POWER_TIME = 0.003          # s above the limit
DIRECTION_TIME = 0.1        # s, memory of the changes of velocity
WRONG_EFFORT = 0.25         # effort limits, besides gravity
WRONG_CHANGE = 0.2          # velocity limits that a joint gains against its predicted change
ROUNDING = 1e-9             # effort limits
SWING = 0.05                # effort limits between two turns of an oscillating effort
MOST_SWINGS = 4.0           # in a row; SWINGS_FORGIVEN of them are forgiven each second
SWINGS_FORGIVEN = 10.0      # 1/s


def check(joints, s, m, v, points, now, dt, tau):
    """
    Return (reason, joint) of what is wrong with the motion of a RUNNING arm.

    :param tau: (nv,) the efforts published last [N·m | N].
    """
    power = 0.0
    for i in range(v.q.shape[0]):
        j = joints[i]
        power += (tau[i] + v.gravity[i] - v.supply[i]) * v.qd[i]
        if outside(j, v.q[i]):
            return POSITION_OUTSIDE, i
        if under_way(points, m, now) and abs(v.target[i] - v.q[i]) > j.following_error:
            return FOLLOWING_ERROR, i
        if blocked(j, s, v, dt, i):
            return JOINT_BLOCKED, i
        if wrong_direction(j, v, i):
            return WRONG_DIRECTION, i
        if v.swings[i] > MOST_SWINGS:
            return EFFORT_OSCILLATES, i
    m.power_time = m.power_time + dt if power > s.power_limit else 0.0
    if m.power_time > POWER_TIME:
        return POWER_ABOVE_LIMIT, -1
    return NO_REASON, -1


def begin(m, v):
    """Know of no motion yet."""
    m.power_time = 0.0
    for i in range(v.q.shape[0]):
        v.blocked[i] = v.gained[i] = v.predicted_gain[i] = v.swings[i] = v.limited[i] = 0.0


def outside(j, q):
    """Whether a position is outside its limits by more than the margin."""
    return q > j.position_upper + j.position_margin or q < j.position_lower - j.position_margin


def under_way(points, m, now):
    """Whether a trajectory is being followed, and has not ended."""
    last = points.times.shape[0] - 1
    return m.following == 1 and now < points.header[0].start + points.times[last]


def blocked(j, s, v, dt, i):
    """Whether a joint has been driven for BLOCKED_TIME, and not moved."""
    driven = abs(v.extra[i]) > s.blocked_effort * j.effort_limit
    slow = min(s.rest_velocity, REST * v.speed_limit[i])
    v.blocked[i] = v.blocked[i] + dt if driven and abs(v.qd[i]) < slow else 0.0
    return v.blocked[i] > BLOCKED_TIME


def wrong_direction(j, v, i):
    """Whether a joint has lately gained speed opposite to its effort and to the prediction."""
    least = WRONG_CHANGE * v.speed_limit[i]
    return (abs(v.gained[i]) > least and abs(v.predicted_gain[i]) > least
            and v.gained[i] * v.predicted_gain[i] < 0.0
            and abs(v.extra[i]) > WRONG_EFFORT * j.effort_limit
            and v.extra[i] * v.predicted_gain[i] > 0.0)


def note(joints, v, dt):
    """
    Take down what the limits made of the efforts that the law requested, and what they will do.

    An effort swings where the law is limited in one direction and then in the other, with SWING
    of the effort limit between: what an unstable loop does at any frequency.
    """
    kept = exp(-dt / DIRECTION_TIME)
    for i in range(v.q.shape[0]):
        v.gained[i] *= kept
        v.predicted_gain[i] = kept * v.predicted_gain[i] + v.acceleration[i] * dt
        if v.push[i] != 0.0:            # braked at its limits: a hand may well be stronger
            v.gained[i] = v.predicted_gain[i] = 0.0
        v.swings[i] = max(0.0, v.swings[i] - SWINGS_FORGIVEN * dt)
        given, limit = v.supply[i] + v.extra[i], joints[i].effort_limit
        cut = v.requested[i] - given
        if abs(cut) <= ROUNDING * limit:
            continue
        side = 1.0 if cut > 0.0 else -1.0
        if side != v.limited[i]:
            if v.limited[i] != 0.0 and abs(given - v.turned[i]) > SWING * limit:
                v.swings[i] += 1.0
            v.limited[i], v.turned[i] = side, given
