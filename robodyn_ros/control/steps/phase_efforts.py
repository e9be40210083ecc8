# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Efforts of the phases without a control law: RISING, STOPPING and FAULT.

``tau`` (nv,) [N·m | N] receives the efforts.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from numpy import ndarray, record

from .collisions import react
from .guard import (
    at_rest, COLLISION, FADING_SPEED, FAULT_HOLD, note_fault_speed, OTHER_JOINT_MOVES,
    PARTNER_LOST, VELOCITY_ABOVE_LIMIT, WRONG_DIRECTION)
from .lowering import limit_share, lower, lowers
from .motor_faults import motor_fault

if TYPE_CHECKING:
    from .cycle_data import Cycle, Vectors

# Fault efforts are given up above this multiple of the velocity limit, if the arm is also faster
# than at the fault by this factor: they accelerate it instead of braking it. Lower values apply
# to the joint of WRONG_DIRECTION, which has already moved against its effort.
RUNAWAY_VELOCITY, RUNAWAY_GROWTH = 1.15, 1.1
WRONG_DIRECTION_VELOCITY, WRONG_DIRECTION_GROWTH = 0.5, 1.5
# An impact may spin a light wrist as a reversed joint would: for this time [s] after a collision,
# an arm that becomes faster gets gravity compensation only, which neither brakes nor drives,
# before its speed is checked again
RECOIL_TIME = 0.05
FADE_TIME = 1.0    # s in which g(q) takes over from a spring of the drives
#: Fields of the controller state.
STATE = [
    ('unbraked', float),            # s without braking after a collision, see phase_efforts.py
    ('spring', float),              # share that is left of the drives' own spring
]


def rising_efforts(c: Cycle, dt: float, tau: ndarray) -> bool:
    """
    Ramp the gravity term to g(q) at ``effort_rate_limit``, with damping; True once reached.

    Where drives hold the arm in a spring of their own, its share σ falls to 0 while the efforts
    are (1 - σ) g(q): the spring then carries σ g(q) with the same deflection all the time.
    """
    joints, s, m, v = c.joints, c.settings, c.controller, c.vectors
    done = True
    for i in range(v.q.shape[0]):
        step = joints[i].effort_rate_limit * dt
        gap = (1.0 - m.spring) * v.tau_gravity[i] - v.tau_rising[i]
        if abs(gap) > step:
            done = False
            gap = step if gap > 0.0 else -step
        v.tau_rising[i] += gap
        tau[i] = v.tau_rising[i] - s.damping_rate * v.momentum[i]
    if done and m.spring > 0.0:
        fade_spring(m, dt)
        return False
    return done


def fade_spring(m: record, dt: float) -> None:
    """Lower the share of the drives' own spring."""
    m.spring = max(0.0, m.spring - dt / FADE_TIME)


def damped_gravity(s: record, v: Vectors, tau: ndarray) -> None:
    """
    Write τ = g(q) - λ M(q) q̇ with λ = ``damping_rate`` [1/s], which brings the arm to rest.

    With damping proportional to M(q), every motion decays at the same rate λ, whichever joints
    take part in it. One constant a joint would be too much in poses of little inertia, where the
    joint would oscillate, or too little in others.
    """
    for i in range(v.q.shape[0]):
        tau[i] = v.tau_gravity[i] - s.damping_rate * v.momentum[i]


def fault_efforts(c: Cycle, trusted: bool, fresh: int, now: float, dt: float,
                  tau: ndarray) -> bool:
    """
    Write the efforts of a latched fault; return False once they have ended, with ``tau`` zero.

    With a valid state: damped gravity for ``fault_hold_time``, or as long as the state is valid
    with ``fault_action`` *hold*, then a linear ramp to zero in ``fault_ramp_time``. Without one:
    g(q) of the last valid pose, also ramped down, but only if the arm was at rest there. An arm
    without brakes is lowered in place of the ramp, see :mod:`.lowering`. After
    PARTNER_LOST the arm itself has no fault and is held in any case. Efforts that drive the arm
    instead of braking it end at once. Once the efforts have ended, only arming brings them back,
    whatever happens to settings or time.

    :param trusted: whether the joint states may be used in this cycle.
    """
    s, m, v = c.settings, c.controller, c.vectors
    if m.publishing == 0:
        m.since = -inf
    elif not trusted and m.without_state == 0:
        m.without_state = 1
        if held(s, m):
            m.since = now
        if not at_rest(v, s.rest_velocity):
            m.since = -inf
    if m.without_state == 0 and now < m.fading_end and m.fault_speed < FADING_SPEED:
        note_fault_speed(m, v)          # judged once efforts of the law have faded
        m.fault_speed = min(m.fault_speed, FADING_SPEED)
    unbraked = m.without_state == 0 and recoils(v, m, dt)
    if (m.without_state == 0 and not unbraked and remaining_share(s, m, now) == 1.0
            and accelerates_arm(v, m)):
        m.without_state, m.since = 1, -inf
    if (m.without_state == 0 and (motors_checked_at_once(m) or now >= m.fading_end)
            and motor_fault(c, fresh)):
        m.without_state, m.since = 1, -inf
    damped_gravity(s, v, tau)
    react(c, now, tau)
    if unbraked:
        for i in range(tau.shape[0]):
            tau[i] = v.tau_gravity[i]
    if m.publishing == 1 and m.without_state == 0 and held(s, m):
        m.since = now                   # a later change to `ramp` starts from here
        return True
    if (m.publishing == 1 and m.without_state == 0 and lowers(s, m)
            and now - m.since >= s.fault_hold_time):
        if not lower(c, dt, tau):
            return True
        m.since = -inf
    keep, kept = ramp(s, now - m.since), ramp(s, now - dt - m.since)
    for i in range(tau.shape[0]):
        effort = v.tau_gravity[i] if m.without_state == 1 else tau[i]
        tau[i] = keep * effort if keep > 0.0 else 0.0
        if 0.0 < keep < kept:           # the effort rate limit must not slow the ramp down
            v.tau_residual[i] = (keep / kept * (v.tau_gravity[i] + v.tau_residual[i])
                                 - v.tau_gravity[i])
            v.published[i] = keep / kept * (v.tau_gravity[i] + v.published[i]) - v.tau_gravity[i]
    return keep > 0.0


def accelerates_arm(v: Vectors, m: record) -> bool:
    """
    Return whether the fault efforts make the arm faster, so that they do not act as modelled.

    To be evaluated before they ramp down: from then on gravity may accelerate the arm.
    """
    for i in range(v.q.shape[0]):
        speed = abs(v.qd[i]) / v.speed_limit[i]
        if speed > RUNAWAY_VELOCITY and speed > RUNAWAY_GROWTH * m.fault_speed:
            return True
        wrong = (i == m.joint if m.reason == WRONG_DIRECTION
                 else m.reason == OTHER_JOINT_MOVES and i == m.other_joint)
        if (wrong and speed > WRONG_DIRECTION_VELOCITY
                and speed > WRONG_DIRECTION_GROWTH * m.fault_speed):
            return True
    return False


def motors_checked_at_once(m: record) -> bool:
    """Return whether motors are checked although efforts of the law have not faded yet."""
    return bool(m.reason == COLLISION or m.reason == VELOCITY_ABOVE_LIMIT)


def recoils(v: Vectors, m: record, dt: float) -> bool:
    """Return whether an arm after a collision must not be braked, RECOIL_TIME at most."""
    if m.reason != COLLISION or m.unbraked >= RECOIL_TIME:
        return False
    if m.unbraked == 0.0 and not accelerates_arm(v, m):
        return False
    m.unbraked += dt
    note_fault_speed(m, v)              # judged from here on
    return True


def recoiling(m: record) -> bool:
    """Return whether the efforts of this cycle are those of :func:`recoils`."""
    return m.reason == COLLISION and 0.0 < m.unbraked < RECOIL_TIME


def remaining_share(s: record, m: record, now: float) -> float:
    """Return the share in [0, 1] of the fault efforts that is left, with a valid state."""
    if lowers(s, m):
        return limit_share(m)
    return 1.0 if held(s, m) else ramp(s, now - m.since)


def held(s: record, m: record) -> bool:
    """Return whether efforts with a valid state do not ramp down."""
    return bool(s.fault_action == FAULT_HOLD or m.reason == PARTNER_LOST)


def ramp(s: record, since: float) -> float:
    """Return the share in [0, 1] of the efforts that is left ``since`` [s] after a fault."""
    return min(1.0, max(0.0, 1.0 - (since - s.fault_hold_time) / s.fault_ramp_time))
