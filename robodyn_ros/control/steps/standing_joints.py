# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Joints whose reading stands still although they may move: frozen, noisy, or slowed down smoothly.

The momentum that the model cannot explain (:mod:`.momentum_observer`), summed over about
HIDDEN_TIME, tells a joint that moves from one that is held. If joint i has the velocity w while
its reading rests, and all else is as the readings say, the sum of joint j is

    R_j = -M_ji w

If something holds joint i, only R_i differs from zero. With w = -R_i / M_ii, the sums of the other
joints decide, as far as they exceed what is usual for them: STATE_INCONSISTENT, or no fault.

Where they do not decide, the joint might have the velocity ``hidden``: w when its reading came to
rest, at most the greatest velocity reported of late, and what efforts beyond the declared friction
would add. Above MAX_HIDDEN velocity limits no such effort drives it on while other joints move; an
arm at rest may press against something. A joint that unknown friction holds would never break
loose, though: an effort that is larger than any before by KICK_GROWTH acts for KICK_TIME, up to
BLOCKED_HIDDEN.
"""

from __future__ import annotations

from math import exp, inf
from typing import NamedTuple, TYPE_CHECKING

from numpy import ndarray

from . import guard

if TYPE_CHECKING:
    from .cycle_data import Cycle, Vectors

# s: of the sums, of the slow external efforts that they leave out, and of what is usual
HIDDEN_TIME, BASELINE_TIME, USUAL_TIME = 0.2, 0.5, 1.0
# Usual sums before a joint has moved, of an effort [effort limits] within HIDDEN_TIME; and at
# least [N·m·s | N·s per effort limit]
UNKNOWN_EFFORT, RESOLUTION = 0.002, 1e-5
DECISIVE_SAMPLES = 10       # in a row
# The sums of other joints, in units of what is usual: least difference of the squares that the two
# hypotheses leave unexplained, and share of them that the motion of joint i may leave unexplained;
# less for a reading that is only slow, at most this share of w: a contact may look like it
EVIDENCE, MISSED_SHARE, SLOW_MISSED_SHARE, SLOW_SHARE = 25.0, 0.1, 0.02, 0.2
# A reading stands that stays for so long [s] within a range [rad | m], or so many encoder steps
STANDING_TIME, STANDING_RANGE, STANDING_STEPS = 0.003, 1e-4, 1.5
# Velocity limits: hidden velocities; and reported one of a joint that moves, or that may have
# been stopped by friction
LEAST_HIDDEN, MAX_HIDDEN, BLOCKED_HIDDEN, SLOW = 0.1, 0.3, 0.9, 0.05
KICK_TIME, KICK_GROWTH = 0.004, 1.25
BARRED_TIME = 0.15          # s in which efforts were clipped, of a joint that came to rest fast


class Memory(NamedTuple):
    """Sums and standing readings of the joints, (nv,) each."""

    unexplained: ndarray    # leaky sum of unexplained impulses [N·m·s | N·s]
    baseline: ndarray       # slow part of the external effort, and a slower one [N·m | N]
    balance: ndarray
    usual: ndarray          # usual magnitude of the sum [N·m·s | N·s]
    evidence: ndarray       # that the joint moves, see EVIDENCE
    moves: ndarray          # samples in a row that say so; negative: that it is held
    recent: ndarray         # greatest velocity of late [rad/s | m/s]
    anchor: ndarray         # position at which the reading stands, and time for which it has
    stood: ndarray
    held: ndarray           # external effort before [N·m | N]
    stuck: ndarray          # 1: friction may hold the joint
    hidden: ndarray         # velocity that it may have [rad/s | m/s]
    tried: ndarray          # largest effort that has not moved it, beyond friction [N·m | N]
    kick: ndarray           # time left of a larger one [s]
    barred: ndarray         # time for which efforts were clipped [s]


def begin(joints: ndarray, v: Vectors) -> None:
    """Begin without sums, while efforts are not known."""
    own = v.standing_joints
    for i in range(v.q.shape[0]):
        own.unexplained[i] = own.baseline[i] = own.balance[i] = own.evidence[i] = 0.0
        own.moves[i] = own.recent[i] = own.stood[i] = own.hidden[i] = 0.0
        own.usual[i] = UNKNOWN_EFFORT * joints[i].effort_limit * HIDDEN_TIME


def add_impulse(v: Vectors, i: int, unknown: float, dt: float, kept: float, share: float) -> None:
    """
    Add an unexplained impulse of joint i since the last sample.

    :param unknown: the impulse [N·m·s | N·s].
    :param dt: since the last sample [s]; ``kept`` and ``share``: result of :func:`decay` for it.
    """
    own = v.standing_joints
    own.baseline[i] += share * (unknown / dt - own.baseline[i])
    own.balance[i] += share * (own.baseline[i] - own.balance[i])
    own.unexplained[i] = kept * (own.unexplained[i] + unknown - own.baseline[i] * dt)


def decay(dt: float) -> tuple[float, float]:
    """Return what a time [s] leaves of the sums, and the weight of new efforts in their mean."""
    return exp(-dt / HIDDEN_TIME), 1.0 - exp(-dt / BASELINE_TIME)


def standing_fault(c: Cycle, friction: ndarray, fresh: int, dt: float) -> tuple[int, int]:
    """
    Advance the velocities that the joints of a RUNNING arm may have; return a fault.

    :param friction: (13, nv), as :func:`.friction.friction` takes it.
    :returns: (reason, joint): STATE_INCONSISTENT, JOINT_BLOCKED, or NO_REASON and -1.
    """
    joints, s, m, v, M = c.joints, c.settings, c.controller, c.vectors, c.workspace.M
    own, reason, found = c.vectors.standing_joints, guard.NO_REASON, -1
    kept, _ = decay(dt)
    for i in range(v.q.shape[0]):
        checked = m.phase == guard.RUNNING and joints[i].consistency_tolerance < inf
        advance(v, M, friction, dt, kept, checked, i)
        if fresh == 1:
            weigh(joints, v, M, i)
        if not checked or reason == guard.STATE_INCONSISTENT:
            continue
        if own.moves[i] >= DECISIVE_SAMPLES:
            reason, found = guard.STATE_INCONSISTENT, i
        elif reason != guard.NO_REASON or not barred(v, i):
            continue
        elif own.stuck[i] == 0.0 and own.barred[i] > BARRED_TIME:
            reason = guard.STATE_INCONSISTENT if own.evidence[i] > 0.0 else guard.JOINT_BLOCKED
            found = i
        elif (abs(own.hidden[i]) > BLOCKED_HIDDEN * v.speed_limit[i]
              and own.tried[i] > s.arming_effort * joints[i].effort_limit):
            reason, found = guard.JOINT_BLOCKED, i
    if fresh == 1:
        share = 1.0 - exp(-s.period / USUAL_TIME)
        for i in range(v.q.shape[0]):
            sum_ = abs(own.unexplained[i])
            if abs(v.qd[i]) > SLOW * v.speed_limit[i] or sum_ > own.usual[i]:
                own.usual[i] += share * (sum_ - own.usual[i])
    if reason == guard.STATE_INCONSISTENT:
        v.plausibility.contradiction[found] = inf       # the joint is not at rest
    return reason, found


def advance(v: Vectors, M: ndarray, friction: ndarray, dt: float, kept: float, checked: bool,
            i: int) -> None:
    """
    Advance the velocity that joint i may have while its reading stands.

    :param kept: result of :func:`decay` for ``dt``.
    :param checked: whether the law drives the joint, and its ``consistency_tolerance`` is finite.
    """
    own, step = v.standing_joints, v.frozen_readings.encoder_step[i]
    reach = STANDING_RANGE if step == inf else max(STANDING_RANGE, STANDING_STEPS * step)
    own.recent[i] *= kept
    if abs(v.qd[i]) > abs(own.recent[i]):
        own.recent[i] = v.qd[i]
    slow = abs(own.recent[i]) < SLOW * v.speed_limit[i]
    if not checked or not abs(v.q[i] - own.anchor[i]) <= reach:
        own.anchor[i], own.stood[i] = v.q[i], 0.0
        own.held[i] = v.momentum_observer.external[i] if slow else own.balance[i]
    else:
        own.stood[i] += dt
    if own.stood[i] < STANDING_TIME:
        side = 1.0 if own.recent[i] > 0.0 else -1.0
        own.hidden[i] = side * min(max(0.0, -side * own.unexplained[i] / M[i, i]),
                                   abs(own.recent[i]))
        own.stuck[i] = 1.0 if slow else 0.0
        own.tried[i] = own.kick[i] = own.barred[i] = 0.0
        return
    most, effort = static_friction(friction, i), v.published[i] + own.held[i]
    own.hidden[i] += dt * (effort - min(max(effort, -most), most)) / M[i, i]


def static_friction(friction: ndarray, i: int) -> float:
    """Return the greater static friction of the model of joint i [N·m | N]."""
    return max(friction[2, i], friction[5, i])


def weigh(joints: ndarray, v: Vectors, M: ndarray, i: int) -> None:
    """Count the samples that say that joint i moves, or is held."""
    own = v.standing_joints
    w, stands = -own.unexplained[i] / M[i, i], own.stood[i] >= STANDING_TIME
    if (not stands and abs(v.qd[i]) > SLOW_SHARE * abs(w)
            or min(abs(w), abs(own.hidden[i])) < LEAST_HIDDEN * v.speed_limit[i]):
        own.moves[i] = own.evidence[i] = 0.0
        return
    seen, missed = 0.0, 0.0
    for j in range(v.q.shape[0]):
        if j != i:
            usual = own.usual[j] + RESOLUTION * joints[j].effort_limit
            seen += (own.unexplained[j] / usual)**2
            missed += ((own.unexplained[j] + M[j, i] * w) / usual)**2
    own.evidence[i] = seen - missed
    if others_move(v, i) and own.evidence[i] > EVIDENCE and (
            missed < (MISSED_SHARE if stands else SLOW_MISSED_SHARE) * seen):
        own.moves[i] = max(own.moves[i], 0.0) + 1.0
    elif own.evidence[i] < -EVIDENCE:
        own.moves[i] = min(own.moves[i], 0.0) - 1.0
    else:
        own.moves[i] = 0.0


def barred(v: Vectors, i: int) -> bool:
    """Return whether no effort beyond friction may drive joint i on."""
    own = v.standing_joints
    return bool(own.moves[i] > -DECISIVE_SAMPLES and own.stood[i] >= STANDING_TIME
                and abs(own.hidden[i]) > MAX_HIDDEN * v.speed_limit[i] and others_move(v, i))


def others_move(v: Vectors, i: int) -> bool:
    """Return whether readings of other joints move: else the arm may press, or have stopped."""
    for j in range(v.q.shape[0]):
        if j != i and v.standing_joints.stood[j] < STANDING_TIME:
            return True
    return False


def clip(c: Cycle, friction: ndarray, dt: float, tau: ndarray) -> None:
    """
    Clip efforts that drive on a joint that may be moving, to gravity and its declared friction.

    :param friction: (13, nv), as :func:`.friction.friction` takes it.
    """
    v = c.vectors
    own = v.standing_joints
    for i in range(tau.shape[0]):
        side = 1.0 if own.hidden[i] > 0.0 else -1.0
        most = max(0.0, static_friction(friction, i) - side * own.held[i])
        excess = side * (tau[i] - v.tau_gravity[i]) - most
        if excess <= 0.0:
            continue
        own.kick[i] -= dt
        if (own.kick[i] <= 0.0 and excess > KICK_GROWTH * own.tried[i]
                and abs(own.hidden[i]) < BLOCKED_HIDDEN * v.speed_limit[i]):
            own.kick[i] = KICK_TIME
        if not barred(v, i) or own.kick[i] > 0.0:
            own.tried[i] = max(own.tried[i], excess)
        else:
            tau[i] -= side * excess
            own.barred[i] += dt
