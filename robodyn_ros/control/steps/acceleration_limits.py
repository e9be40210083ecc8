# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Accelerations with which a joint keeps its velocity and position limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numpy import record

if TYPE_CHECKING:
    from .cycle_data import Vectors


# Fraction of the velocity limit above which joints are braked; the rest is a reserve for late
# efforts of other joints.
VELOCITY_SHARE = 0.97
# Greatest acceleration, as a fraction of that which takes a joint from rest to VELOCITY_SHARE of
# its velocity limit within 1 / `limit_rate`. Without this bound, joints with nearly parallel axes,
# whose efforts cancel each other, would accelerate so fast that braking one of them leaves the
# others unbalanced. It bounds the sum of efforts and disturbance, because efforts that hold an
# unknown load accelerate nothing.
ACCELERATION_SHARE = 0.7
# Fraction of the velocity limit with which a joint outside its position limits may return.
RETURN_VELOCITY_SHARE = 0.1
# Weight of the disturbance estimate; above 1, because a growing disturbance is larger when the
# efforts act.
DISTURBANCE_WEIGHT = 1.5
# `limit_rate` is at most this share of the inverse delay, `approach_rate` at most this share of
# `limit_rate`. Above, a correction would overshoot before its effect is seen.
DELAY_SHARE, APPROACH_SHARE = 0.8, 0.2


def effective_delay(s: record, v: Vectors, i: int) -> float:
    """Return the delay of joint i [s]: ``loop_delay``, or that of its states, if it is longer."""
    samples = v.plausibility
    return max(s.loop_delay, samples.late[i] + max(0.0, samples.interval[i] - s.period))


def limit_rates(s: record, delay: float) -> tuple[float, float]:
    """Return ``limit_rate`` and ``approach_rate`` [1/s] for an effective delay [s]."""
    rate = min(s.limit_rate, DELAY_SHARE / max(delay, s.period))
    return rate, min(s.approach_rate, APPROACH_SHARE * rate)


def acceleration_bounds(j: record, rate: float, approach_rate: float, speed_limit: float,
                        q: float, qd: float) -> tuple[float, float]:
    """
    Return the least and the greatest acceleration of a joint that keep it inside its limits.

    They are ``rate`` (v - q̇), where v = min(VELOCITY_SHARE q̇_max, ``approach_rate`` (q_max - q))
    is the greatest permitted velocity, and correspondingly for the least. Far from the limits they
    allow any reasonable motion; they damp a joint that is too fast, and act as a spring-damper
    near a position limit. A joint outside its position limits returns with at most
    RETURN_VELOCITY_SHARE q̇_max.

    :param j: record ``JOINT``.
    :param rate, approach_rate: [1/s], see :func:`limit_rates`.
    :param speed_limit: q̇_max [rad/s | m/s].
    :param q, qd: predicted position [rad | m] and velocity [rad/s | m/s].
    """
    most = VELOCITY_SHARE * speed_limit
    slow = RETURN_VELOCITY_SHARE * speed_limit
    upper = max(-slow, min(most, approach_rate * (j.position_upper - q)))
    lower = min(slow, max(-most, approach_rate * (j.position_lower - q)))
    if q > j.position_upper:
        lower = -slow
    elif q < j.position_lower:
        upper = slow
    return rate * (lower - qd), rate * (upper - qd)


def permitted_acceleration(j: record, s: record, v: Vectors, i: int) -> tuple[float, float]:
    """
    Return the least and the greatest acceleration that the model may predict for joint i.

    They are those of :func:`acceleration_bounds`, less DISTURBANCE_WEIGHT times a disturbance that
    drives the joint outward. Within them, the sum of acceleration and disturbance is bounded by
    ACCELERATION_SHARE. What friction explains of the disturbance is neither: it is added.

    :param j: record ``JOINT`` of joint i.
    """
    rate, approach_rate = limit_rates(s, effective_delay(s, v, i))
    least, most = acceleration_bounds(j, rate, approach_rate, v.speed_limit[i],
                                      v.limits.predicted_q[i], v.limits.predicted_qd[i])
    prevented = v.limits.explained[i]
    disturbance = v.limits.disturbance[i] + prevented
    outward = DISTURBANCE_WEIGHT * disturbance
    least, most = min(most, least - min(outward, 0.0)), max(least, most - max(outward, 0.0))
    far = ACCELERATION_SHARE * rate * VELOCITY_SHARE * v.speed_limit[i]
    return (prevented + max(least, min(-far - disturbance, most)),
            prevented + min(most, max(far - disturbance, least)))
