# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Motor faults: motors that are reversed, dead, or swapped with another one.

The observer of :mod:`.momentum_observer` sees such a motor as an external effort, hence as a
collision, and the efforts of the reaction drive the arm. The two differ in their pattern. If τ is
sent, a motor of joint i that is reversed, dead, or connected to the drive of joint k causes an
external effort of

    r_i = -2 τ_i,    r_i = -τ_i,    r_i = -r_k = τ_k - τ_i

and nothing in the other joints. A contact acts on all joints before the link that it touches, and
not in proportion to the efforts. Both are compared as impulses over IMPULSE_TIME, so that one
false velocity has little effect.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .guard import FAULT, OTHER_JOINT_MOVES, RISING, VELOCITY_ABOVE_LIMIT
from .momentum_observer import IMPULSE_TIME, rejects

if TYPE_CHECKING:
    from .cycle_data import Cycle

FAULT_SAMPLES = 3    # in a row with the pattern of a motor fault
# External effort of a dead or reversed motor, relative to the effort sent
MIN_EFFORT_RATIO, MAX_EFFORT_RATIO = 0.7, 2.3
# Of the squares of all impulses, without the pattern; and of swapped motors while the arm rises in
# a slow loop: unknown friction is not small beside the first efforts
MAX_UNEXPLAINED_SHARE, MAX_RISING_SHARE = 0.05, 0.15
MIN_DRIVEN_VELOCITY = 0.15    # velocity limits, in the direction of the external effort
#: Fields of the controller state.
STATE = [
    ('disobeyed', np.int64),        # samples in a row that indicate a motor fault
]


def motor_fault(c: Cycle, fresh: int) -> bool:
    """
    Return whether FAULT_SAMPLES in a row have had the pattern of a motor that drives the arm.

    One is enough where its joint is above its velocity limit, or while RISING if samples are
    IMPULSE_TIME or more apart, so that it makes up the impulses. So is, that far apart, a rejected
    sample of a joint that is above its limit after VELOCITY_ABOVE_LIMIT: it still becomes faster.
    """
    m, v, samples = c.controller, c.vectors, c.vectors.plausibility
    if fresh == 1 and rejects(v):
        i = m.joint
        if (m.reason == VELOCITY_ABOVE_LIMIT and samples.rejected[i] > 0.0
                and abs(v.qd[i]) > v.speed_limit[i] and samples.interval[i] >= IMPULSE_TIME):
            m.disobeyed = FAULT_SAMPLES
    elif fresh == 1:
        i, _ = driven_joint(c, MIN_DRIVEN_VELOCITY)
        if i < 0 or m.phase == FAULT and acts_late(c, i):
            m.disobeyed = 0
        else:
            at_once = abs(v.qd[i]) > v.speed_limit[i] or rises_slowly(c, i)
            m.disobeyed += FAULT_SAMPLES if at_once else 1
    return bool(m.disobeyed >= FAULT_SAMPLES)


def acts_late(c: Cycle, i: int) -> bool:
    """
    Return whether the delay of the loop explains the external effort on joint i.

    Efforts that change by τ̇ and act late by T leave r = -T τ̇. In a fault they pass from those of
    the law to those of braking at the effort rate limit, and some of them look like -r or -r/2.
    """
    memory = c.vectors.momentum_observer
    late = -c.settings.loop_delay * memory.sent_rate[i]
    return abs(memory.external_impulse[i]) <= abs(late) and (
        memory.external_impulse[i] * late > 0.0)


def rises_slowly(c: Cycle, i: int) -> bool:
    """Return whether the arm is RISING, or was, and a sample of joint i makes up the impulses."""
    m = c.controller
    return bool((m.phase == RISING or m.reason == OTHER_JOINT_MOVES)
                and c.vectors.plausibility.interval[i] >= IMPULSE_TIME)


def driven_joint(c: Cycle, least: float) -> tuple[int, int]:
    """
    Return the joint that a motor fault accelerates, and the joint whose effort does.

    They are equal if the motor is reversed or dead, and -1 where efforts have another pattern.

    :param least: speed of the joint [velocity limits].
    """
    joints, v, memory, total = c.joints, c.vectors, c.vectors.momentum_observer, 0.0
    for i in range(v.q.shape[0]):
        total += (memory.external_impulse[i] / joints[i].effort_limit)**2
    for i in range(v.q.shape[0]):
        limit = joints[i].effort_limit
        impulse, sent = memory.external_impulse[i], memory.sent_impulse[i]
        if impulse * v.qd[i] <= 0.0 or abs(v.qd[i]) < least * v.speed_limit[i]:
            continue
        others = total - (impulse / limit)**2
        if (others < MAX_UNEXPLAINED_SHARE * total and impulse * sent < 0.0
                and MIN_EFFORT_RATIO * abs(sent) < abs(impulse) < MAX_EFFORT_RATIO * abs(sent)):
            return i, i
        most = MAX_RISING_SHARE if rises_slowly(c, i) else MAX_UNEXPLAINED_SHARE
        for k in range(v.q.shape[0]):
            swapped, other = memory.sent_impulse[k] - sent, memory.external_impulse[k]
            rest = others + ((impulse - swapped) / limit)**2 + (
                (2.0 * other + swapped) * swapped / joints[k].effort_limit**2)
            if k != i and rest < most * total:
                return i, k
    return -1, -1
