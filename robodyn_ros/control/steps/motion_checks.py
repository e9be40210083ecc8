# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Motion faults: the arm does not move as its efforts and its reference require.

Each check compares quantities that the cycle has computed anyway: reference, efforts, and the
accelerations that the model predicts for them. ``dt`` is the
duration of the cycle [s].
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp
from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from numpy import ndarray, record

from .guard import (
    beyond_limits, EFFORT_OSCILLATES, FOLLOWING_ERROR, JOINT_BLOCKED, MAX_REST_VELOCITY, NO_REASON,
    POSITION_OUTSIDE, POWER_ABOVE_LIMIT, WRONG_DIRECTION)
from .limits import EFFORT_ROUNDING, OSCILLATION_SWING
from ..declare import by_joint_type, JOINT_RECORD, number, numbers, PerJoint, SETTINGS_RECORD
from ..inputs.pose_tracking import Points

if TYPE_CHECKING:
    from .cycle_data import Cycle, Vectors

BLOCKED_TIME = 0.5          # s
POWER_TIME = 0.003          # s above the limit
DIRECTION_TIME = 0.1        # s, time constant of the sums of changes of velocity
RECENT_TIME = 0.005         # s, of the sum of the latest ones
MIN_WRONG_EFFORT = 0.25    # effort limits, besides gravity
MIN_WRONG_CHANGE = 0.2    # velocity limits, of a joint against its predicted change
MIN_RECENT_CHANGE = 0.005    # velocity limits within RECENT_TIME, far above noise
EXACT_FOLLOWING_ERROR = 0.5, 0.1     # rad, m, of laws that follow exactly, unless it is set
MAX_SWINGS = 4.0    # reversals in a row, less those forgiven
FORGIVEN_SWING_RATE = 10.0    # 1/s


@dataclass(frozen=True)
class Parameters:
    """Motions that are faults."""

    following_error: PerJoint = numbers(
        'rad or m', 0.0, 1e3, 'Distance from the trajectory that is a fault; 0: unlimited. Empty: '
        '0.5 rad or 0.1 m in computed_torque, else unlimited.', record=JOINT_RECORD,
        unlimited=True, after='consistency_tolerance', implied=lambda model, settings: (
            by_joint_type(*EXACT_FOLLOWING_ERROR)(model, settings)
            if settings.law_in_force.exact else np.zeros(1)))
    blocked_effort: float = number(
        0.3, '', 0.0, 1.0, 'Share of the effort limit that may act for 0.5 s without motion. 0: '
        'unlimited.', record=SETTINGS_RECORD, unlimited=True)
    power_limit: float = number(
        0.0, 'W', 0.0, 1e6, 'Maximum mechanical power of all joints together; 0: unlimited.',
        record=SETTINGS_RECORD, unlimited=True)


class Memory(NamedTuple):
    """Sums and counts of the motion checks, (nv,) each."""

    gained: ndarray         # leaky sum of changes of velocity: measured, and as the model predicts
    predicted_gain: ndarray
    recent_gain: ndarray    # of the measured ones, sum of the latest, see motion_checks.py
    blocked: ndarray        # time for which the joint was driven without moving
    limited: ndarray        # direction in which the law was last limited, 1 or -1
    turned: ndarray         # effort of the law when that direction changed
    swings: ndarray         # changes of that direction, less those long ago

#: Fields of the controller state.
STATE = [
    ('power_time', float),          # s above the power limit
]


def motion_fault(c: Cycle, now: float, dt: float, tau: ndarray) -> tuple[int, int]:
    """
    Return (reason, joint) of a motion fault of a RUNNING arm, NO_REASON for none.

    :param now: time of the clock of the reference [s].
    """
    joints, s, m, v, points = c.joints, c.settings, c.controller, c.vectors, c.points
    power = 0.0
    for i in range(v.q.shape[0]):
        j = joints[i]
        power += (tau[i] + v.gravity[i] - v.tau_gravity[i]) * v.qd[i]
        if beyond_limits(j, v.q[i]):
            return POSITION_OUTSIDE, i
        if under_way(points, m, now) and abs(v.target[i] - v.q[i]) > j.following_error:
            return FOLLOWING_ERROR, i
        if blocked(j, s, v, dt, i):
            return JOINT_BLOCKED, i
        if wrong_direction(j, m, v, i):
            return WRONG_DIRECTION, i
        if v.motion_checks.swings[i] > MAX_SWINGS:
            return EFFORT_OSCILLATES, i
    m.power_time = m.power_time + dt if power > s.power_limit else 0.0
    if m.power_time > POWER_TIME:
        return POWER_ABOVE_LIMIT, -1
    return NO_REASON, -1


def begin(m: record, v: Vectors) -> None:
    """Reset all motion checks, as the arm begins to run."""
    own = v.motion_checks
    m.power_time = 0.0
    for i in range(v.q.shape[0]):
        own.blocked[i] = own.swings[i] = own.limited[i] = 0.0
    forget_changes(v)


def forget_changes(v: Vectors) -> None:
    """Reset the sums of changes of velocity of all joints."""
    own = v.motion_checks
    for i in range(v.q.shape[0]):
        own.gained[i] = own.predicted_gain[i] = own.recent_gain[i] = 0.0


def under_way(points: Points, m: record, now: float) -> bool:
    """Return whether a trajectory is followed that has not ended."""
    last = points.times.shape[0] - 1
    return m.following == 1 and now < points.header[0].start + points.times[last]


def blocked(j: record, s: record, v: Vectors, dt: float, i: int) -> bool:
    """
    Return whether joint i has been driven for BLOCKED_TIME without moving.

    It is driven by a published effort of more than ``blocked_effort`` effort limits in addition to
    gravity: a law whose outward effort the joint limits remove does not drive the joint.
    """
    own = v.motion_checks
    driven = abs(v.published[i]) > s.blocked_effort * j.effort_limit
    slow = min(s.rest_velocity, MAX_REST_VELOCITY * v.speed_limit[i])
    own.blocked[i] = own.blocked[i] + dt if driven and abs(v.qd[i]) < slow else 0.0
    return own.blocked[i] > BLOCKED_TIME


def wrong_direction(j: record, m: record, v: Vectors, i: int) -> bool:
    """
    Return whether joint i has recently accelerated against its effort and the prediction.

    Both the measured and the predicted change of velocity within about DIRECTION_TIME exceed
    MIN_WRONG_CHANGE velocity limits, in opposite directions, and the effort has the direction of
    the prediction. A joint that moves along its effort is slowed down by friction. Where a hand
    guides the arm, the joint has gone on so within RECENT_TIME, by MIN_RECENT_CHANGE velocity
    limits: one that the hand has pushed, and that its effort is slowing down, has no wrong sign.
    """
    own = v.motion_checks
    least, along = MIN_WRONG_CHANGE * v.speed_limit[i], MAX_REST_VELOCITY * v.speed_limit[i]
    return (abs(own.gained[i]) > least and abs(own.predicted_gain[i]) > least
            and own.gained[i] * own.predicted_gain[i] < 0.0
            and not v.qd[i] * own.predicted_gain[i] > along * abs(own.predicted_gain[i])
            and abs(v.tau_residual[i]) > MIN_WRONG_EFFORT * j.effort_limit
            and v.tau_residual[i] * own.predicted_gain[i] > 0.0
            and (m.guided == 0 or own.recent_gain[i] * own.predicted_gain[i] < 0.0
                 and abs(own.recent_gain[i]) > MIN_RECENT_CHANGE * v.speed_limit[i]))


def update(joints: ndarray, v: Vectors, dt: float) -> None:
    """
    Update the sums of changes of velocity and the count of effort reversals of each joint.

    An effort reverses where the law is limited in one direction and then in the other, with more
    than SWING effort limits between: an unstable loop does so at any frequency. A joint that is
    braked at its limits makes no sums, because an external force may well be stronger.
    """
    own = v.motion_checks
    kept, kept_recently = exp(-dt / DIRECTION_TIME), exp(-dt / RECENT_TIME)
    for i in range(v.q.shape[0]):
        own.gained[i] *= kept
        own.recent_gain[i] *= kept_recently
        own.predicted_gain[i] = (kept * own.predicted_gain[i]
                                 + (v.acceleration[i] - v.limits.explained[i]) * dt)
        if abs(v.limits.push[i]) > EFFORT_ROUNDING * joints[i].effort_limit:
            own.gained[i] = own.predicted_gain[i] = own.recent_gain[i] = 0.0
        own.swings[i] = max(0.0, own.swings[i] - FORGIVEN_SWING_RATE * dt)
        given, limit = v.tau_gravity[i] + v.tau_residual[i], joints[i].effort_limit
        cut = v.requested[i] - given
        if abs(cut) <= EFFORT_ROUNDING * limit:
            continue
        side = 1.0 if cut > 0.0 else -1.0
        if side != own.limited[i]:
            if own.limited[i] != 0.0 and abs(given - own.turned[i]) > OSCILLATION_SWING * limit:
                own.swings[i] += 1.0
            own.limited[i], own.turned[i] = side, given
