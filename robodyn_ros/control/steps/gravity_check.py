# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Detection of a wrong ``robot_compensates_gravity`` from measured efforts, before the arm has moved.

While an arm stands still, its measured efforts contain gravity whoever holds it: brakes, drives or
the robot's own compensation. They differ as soon as efforts are commanded: a robot that adds its
own gravity compensation measures it in addition to them. With the wrong setting g(q) acts twice,
and throws the arm, or not at all, and lets it sink.

``tau`` (nv,) are the efforts published last [N·m | N].
"""

from __future__ import annotations

from math import isnan
from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from numpy import ndarray

if TYPE_CHECKING:
    from .cycle_data import Cycle, Vectors


CHECK_TIME = 1.0    # s after arming; brakes take time to open
CONTRADICTING_SAMPLES = 3    # in a row
# Effort limits that gravity must take to be distinguishable from friction and noise
MIN_GRAVITY = 0.03
# Fractions of the effort measured at arming: measured efforts within AGREEMENT_TOLERANCE agree
# with it; commands that differ by more than HOLDING_TOLERANCE do not hold the arm
AGREEMENT_TOLERANCE, HOLDING_TOLERANCE = 0.3, 0.5
# Fraction of gravity that may be commanded at arming. From 1/6 on, which follows from both
# tolerances, fault efforts could look like those of the other choice if sensors do not follow them
MAX_COMMANDED_SHARE = 0.1
# Velocity limits: in faster motion, late measurements of efforts look like gravity
MAX_CHECKED_VELOCITY = 0.25


class Memory(NamedTuple):
    """Efforts at arming, (nv,) each."""

    tau_offset: ndarray     # measured minus commanded effort at arming, see gravity_check.py

#: Fields of the controller state.
STATE = [
    ('gravity_by_robot', np.int64), # 1: the efforts are without g(q), see gravity_check.py
    ('senses_gravity', np.int64),   # 1: the measured efforts include it
    ('armed', float),               # s, when the arm last began to rise
    ('contradictions', np.int64),   # consecutive samples that indicate the other choice
]


def begin(c: Cycle, now: float, tau: ndarray) -> None:
    """
    Note, as the arm begins to rise, which efforts are measured beyond the commanded ones.

    The check is made only if these include gravity: some sensors do not measure it (currents, or
    efforts from which it has been subtracted), and nothing can be concluded while efforts of a
    fault hold the arm.
    """
    joints, m, v = c.joints, c.controller, c.vectors
    m.armed, m.contradictions = now, 0
    sensed = weight = commanded = 0.0
    for i in range(v.q.shape[0]):
        v.gravity_check.tau_offset[i] = 0.0 if isnan(v.measured[i]) else v.measured[i] - tau[i]
        g = v.gravity[i] / joints[i].effort_limit
        sensed += v.gravity_check.tau_offset[i] / joints[i].effort_limit * g
        commanded += abs(tau[i] / joints[i].effort_limit * g)
        weight += g * g
    conclusive = weight > MIN_GRAVITY * MIN_GRAVITY and commanded < MAX_COMMANDED_SHARE * weight
    m.senses_gravity = 1 if conclusive and sensed > 0.5 * weight else 0


def gravity_contradicted(c: Cycle, fresh: int, now: float, tau: ndarray) -> bool:
    """
    Return whether measured efforts contradict the setting; if so, reverse it for this controller.

    They contradict it where the effort measured beyond the commands is still that at arming,
    although the controller should hold the arm, or is gone, although the robot should. The other
    choice is in force from there on, so that the efforts of the following fault hold the arm.
    """
    m, v = c.controller, c.vectors
    if m.senses_gravity == 0 or fresh == 0 or now - m.armed > CHECK_TIME:
        return False
    matches = not moves_fast(v) and matches_other_choice(c, tau)
    m.contradictions = m.contradictions + 1 if matches else 0
    if m.contradictions < CONTRADICTING_SAMPLES:
        return False
    m.gravity_by_robot = 1 - m.gravity_by_robot
    for i in range(v.q.shape[0]):
        v.tau_gravity[i] = 0.0 if m.gravity_by_robot == 1 else v.gravity[i]
        v.tau_residual[i] = v.published[i] = 0.0
    return True


def moves_fast(v: Vectors) -> bool:
    """Return whether a joint is faster than MAX_CHECKED_VELOCITY velocity limits."""
    for i in range(v.q.shape[0]):
        if abs(v.qd[i]) > MAX_CHECKED_VELOCITY * v.speed_limit[i]:
            return True
    return False


def matches_other_choice(c: Cycle, tau: ndarray) -> bool:
    """
    Return whether the newest measured efforts are, over all joints, those of the other choice.

    Efforts are compared as fractions of the effort limits. Commands that do not hold the arm, as
    those of a motion, are inconclusive.
    """
    joints, m, v = c.joints, c.controller, c.vectors
    away = off = sensed = 0.0
    for i in range(v.q.shape[0]):
        if isnan(v.measured[i]):
            continue
        limit = joints[i].effort_limit
        offset = v.gravity_check.tau_offset[i]
        holding, on_top = (0.0, 0.0) if m.gravity_by_robot == 1 else (offset, offset)
        away += ((tau[i] - holding) / limit) ** 2
        off += ((v.measured[i] - tau[i] - on_top) / limit) ** 2
        sensed += (offset / limit) ** 2
    return (away < HOLDING_TOLERANCE * HOLDING_TOLERANCE * sensed
            and off < AGREEMENT_TOLERANCE * AGREEMENT_TOLERANCE * sensed)
