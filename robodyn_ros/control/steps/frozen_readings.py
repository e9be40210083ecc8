# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Frozen readings: a driver repeats its last reading although the arm moves.

Such samples have new time stamps, the same positions bit for bit, and mostly zero velocity. Each
of them is plausible, but an arm has inertia. While the position of a joint does not change, its
velocity is therefore predicted by dead reckoning: it begins with the last one that position and
velocity both showed, is changed by the efforts, and approaches the velocity of the samples only as
fast as a disturbance could brake the joint.

- While other joints report motion, the disturbance may be a contact: it brakes with the greatest
  acceleration that :mod:`.acceleration_limits` permits, and efforts accelerate nothing.
- If no position changes, the arm is either at rest or not measured at all. The disturbance is then
  friction, see :func:`breakaway_effort`. Efforts beyond it accelerate the arm, once no position
  has changed for LATE_RENEWALS usual intervals, except in RISING and FAULT, where brakes may hold
  it.

The predicted displacement in excess of the reported velocity, over about CONSISTENCY_TIME, is a
contradiction above CONTRADICTION_SHARE of ``consistency_tolerance`` and CONTRADICTION_STEPS of the
encoder. A driver may publish each reading several times: displacements count from LATE_RENEWALS
times the usual interval between changes, and MIN_FROZEN_TIME at the earliest.

A robot that stops by itself, in a protective stop for instance, stands still although it is
driven, but its readings are true: it slowed down before, against its efforts, where frozen
readings break off. Its brakes are assumed to hold until an effort beyond ``arming_effort`` should
have moved it.
"""

from __future__ import annotations

from math import exp, inf, isinf
from typing import NamedTuple, TYPE_CHECKING

from numpy import ndarray, record

from .acceleration_limits import ACCELERATION_SHARE, effective_delay, limit_rates, VELOCITY_SHARE
from . import guard

if TYPE_CHECKING:
    from .cycle_data import Cycle, Vectors

CONSISTENCY_TIME = 0.2      # s
# Consistency tolerances: 0.4 mrad by default, the motion of an arm at 0.2 rad/s in two samples at
# 1 kHz
CONTRADICTION_SHARE = 0.02
CONTRADICTION_STEPS = 3.0    # encoder steps: one for each of two readings, and one of reserve
# Greatest encoder step [rad | m], assumed before the first change of position: 12 bit a turn
MAX_ENCODER_STEP = 2e-3
# Encoders with finer steps [rad | m] show the elastic motion of a joint that sticks, so that
# efforts beyond its known friction and UNKNOWN_STICTION [effort limits] move it visibly. Before
# its first change of position an encoder counts as fine: the arm may be light, and not measured
FINE_ENCODER_STEP, UNKNOWN_STICTION = 1e-4, 0.01
# Longest interval between readings that are published several times [s]; the usual interval grows
# at once, and falls with the weight RENEWAL_WEIGHT; changes are late after LATE_RENEWALS of it
MAX_RENEWAL_TIME, RENEWAL_WEIGHT, LATE_RENEWALS = 0.02, 0.1, 1.5
MIN_FROZEN_TIME = 0.003    # s in which a driver may have no new reading, now and then
# Largest last speed of a joint that slowed down, relative to its loss of speed within
# motion_checks.DIRECTION_TIME: an even stop within two samples loses half of it in the last.
# A loss of MIN_LOST_SPEED [velocity limits] is far above noise
LAST_SPEED_SHARE, MIN_LOST_SPEED = 0.5, 0.005
# s after which a joint that slowed down against its effort rests by friction, not by brakes: it
# must not hide readings that freeze later
MAX_BRAKED_TIME = 2.0 * CONSISTENCY_TIME
CHANGED = -1.0              # `v.unchanged` of a position that has changed in this cycle


class Memory(NamedTuple):
    """Changes of the positions, and the motion since the last one, (nv,) each."""

    unchanged: ndarray      # time since the position last changed, see frozen_readings.py
    renewal: ndarray        # usual interval between two changes
    encoder_step: ndarray   # smallest change of position so far
    coasting_qd: ndarray    # velocity predicted since the position last changed
    hidden_motion: ndarray  # displacement by it that the reported velocity does not explain
    disturbance_before: ndarray     # disturbance when the position last changed; infinite: slowed


def begin(v: Vectors, i: int) -> None:
    """Begin with the first sample of joint i, or the first one after a jump of time."""
    own = v.frozen_readings
    own.unchanged[i], own.encoder_step[i], own.renewal[i] = CHANGED, inf, MAX_RENEWAL_TIME
    own.coasting_qd[i] = own.disturbance_before[i] = 0.0


def forget(v: Vectors) -> None:
    """Begin with an arm that is not driven: it may have brakes."""
    own = v.frozen_readings
    for i in range(v.q.shape[0]):
        own.coasting_qd[i] = own.hidden_motion[i] = own.disturbance_before[i] = 0.0


def note_sample(v: Vectors, q: float, qd: float, elapsed: float, i: int) -> None:
    """
    Note whether the position of joint i has changed since its previous sample.

    :param q, qd: position and velocity of the newest sample; the position of the previous one is
        ``v.plausibility.position[i]``.
    :param elapsed: since the previous sample [s].
    """
    own = v.frozen_readings
    step, interval = q - v.plausibility.position[i], max(own.unchanged[i], 0.0) + elapsed
    if step == 0.0 or interval == 0.0:
        own.unchanged[i] = interval
        return
    own.unchanged[i], own.encoder_step[i] = CHANGED, min(own.encoder_step[i], abs(step))
    side, mean, interval = step / abs(step), abs(step) / interval, min(interval, MAX_RENEWAL_TIME)
    reported = side * v.qd[i]               # may be zero one sample before the position stops
    if side * qd > reported:                # False for NaN
        reported = side * qd
    own.coasting_qd[i] = side * min(mean, max(0.0, reported))
    lost = -side * v.motion_checks.gained[i]
    if lost > MIN_LOST_SPEED * v.speed_limit[i] and (
            side * v.motion_checks.predicted_gain[i] > 0.0
            and side * own.coasting_qd[i] < LAST_SPEED_SHARE * lost):
        own.disturbance_before[i] = -side * inf             # it slowed down against its efforts
    else:
        own.disturbance_before[i] = v.limits.disturbance[i]  # before this sample: it may be false
    own.renewal[i] = max(interval, own.renewal[i] + RENEWAL_WEIGHT * (interval - own.renewal[i]))


def frozen_joint(c: Cycle, friction: ndarray, dt: float) -> tuple[int, int]:
    """
    Advance the prediction; return a joint that must have moved although its position did not.

    :param friction: (13, nv), as :func:`.friction.friction` takes it.
    :param dt: since the last cycle [s].
    :returns: the reason, STATE_INCONSISTENT, or ROBOT_STOPPED of a true state, and the joint;
        NO_REASON and -1 for none.
    """
    joints, s, m, v, M = c.joints, c.settings, c.controller, c.vectors, c.workspace.M
    own = c.vectors.frozen_readings
    reason, found, alike, share = guard.NO_REASON, -1, True, UNKNOWN_STICTION
    braked, kept, latest, renewal = False, exp(-dt / CONSISTENCY_TIME), inf, inf
    for i in range(v.q.shape[0]):
        alike &= own.unchanged[i] > 0.0
        latest, renewal = min(latest, own.unchanged[i]), min(renewal, own.renewal[i])
        braked |= brakes_hold(v, i)
        if FINE_ENCODER_STEP <= own.encoder_step[i] < inf:
            share = s.arming_effort
    # A driver that publishes each reading several times shows no change either, though joints move
    yields = (alike and latest > LATE_RENEWALS * renewal
              and (m.phase == guard.RUNNING or m.phase == guard.STOPPING)
              and overcomes_friction(joints, friction, M, v, s.arming_effort if braked else share))
    for i in range(v.q.shape[0]):
        driven = yields and (brakes_hold(v, i) or not braked)
        if alike:
            braking = breakaway_effort(joints[i], friction, s.arming_effort if driven and braked
                                       else share, i) / M[i, i]
        else:
            rate, _ = limit_rates(s, effective_delay(s, v, i))
            braking = ACCELERATION_SHARE * rate * VELOCITY_SHARE * v.speed_limit[i]
        if own.unchanged[i] == CHANGED:
            own.unchanged[i] = own.hidden_motion[i] = 0.0
        coasting = own.coasting_qd[i] + (net_acceleration(v, i) * dt if driven else 0.0)
        side = 1.0 if coasting > 0.0 else -1.0
        reported = min(max(0.0, side * v.qd[i]), side * coasting)
        coasting = max(reported, side * coasting - braking * dt)
        own.coasting_qd[i] = side * coasting
        own.hidden_motion[i] *= kept
        if own.unchanged[i] > max(MIN_FROZEN_TIME, LATE_RENEWALS * own.renewal[i]):
            own.hidden_motion[i] += side * (coasting - reported) * dt
            resolution = CONTRADICTION_STEPS * min(own.encoder_step[i], MAX_ENCODER_STEP)
            if abs(own.hidden_motion[i]) > (
                    CONTRADICTION_SHARE * joints[i].consistency_tolerance + resolution):
                if not brakes_hold(v, i):
                    v.plausibility.contradiction[i] = inf       # the joint is not at rest
                    reason, found = guard.STATE_INCONSISTENT, i
                elif reason == guard.NO_REASON:
                    reason, found = guard.ROBOT_STOPPED, i
    if reason == guard.ROBOT_STOPPED:       # at rest, whatever efforts follow
        for i in range(v.q.shape[0]):
            own.coasting_qd[i] = own.hidden_motion[i] = 0.0
    return reason, found


def brakes_hold(v: Vectors, i: int) -> bool:
    """Return whether joint i has just slowed down against its effort, which drives it on."""
    own = v.frozen_readings
    return bool(own.disturbance_before[i] * v.published[i] == -inf
                and own.unchanged[i] < MAX_BRAKED_TIME)


def overcomes_friction(joints: ndarray, friction: ndarray, M: ndarray, v: Vectors,
                       share: float) -> bool:
    """Return whether an effort exceeds disturbance and friction of its joint."""
    for i in range(v.q.shape[0]):
        effort, left = v.published[i], M[i, i] * net_acceleration(v, i)
        if effort * left > 0.0 and min(abs(effort), abs(left)) > breakaway_effort(
                joints[i], friction, share, i):
            return True
    return False


def net_acceleration(v: Vectors, i: int) -> float:
    """
    Return the acceleration of joint i that the efforts and the disturbance cause [rad/s² | m/s²].

    The disturbance is that of the time when the position last changed: unknown friction or a hand
    may still balance the same effort. Brakes balance none.
    """
    before = v.frozen_readings.disturbance_before[i]
    return v.acceleration[i] + (0.0 if isinf(before) else before)


def breakaway_effort(j: record, friction: ndarray, share: float, i: int) -> float:
    """
    Return the effort below which joint i may stick [N·m | N].

    :param share: unknown friction [effort limits], in addition to the greater static friction of
        the model.
    """
    return share * j.effort_limit + max(friction[2, i], friction[5, i])
