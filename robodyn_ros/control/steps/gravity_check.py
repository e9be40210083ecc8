# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Detection of a wrong ``robot_compensates_gravity`` from measured efforts, before the arm has moved.

While an arm is at rest, its measured efforts contain gravity, whether brakes, drives or the
robot's own compensation hold it. They differ as soon as efforts are commanded: a robot that adds
its own gravity compensation measures it in addition to them. With the wrong setting g(q) acts
twice, and throws the arm, or not at all, and lets it sink.

``tau`` (nv,) are the efforts published last [N·m | N].
"""

from __future__ import annotations

from math import isnan
from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from numpy import ndarray, record

if TYPE_CHECKING:
    from .cycle_data import Cycle, Vectors


CHECK_TIME = 1.0    # s after arming; brakes take time to open
CONTRADICTING_SAMPLES = 3    # in a row
# Effort limits that gravity must take to be distinguishable from friction and noise
MIN_GRAVITY = 0.03
# Fractions of the effort measured at arming: measured efforts within AGREEMENT_TOLERANCE agree
# with it; commands that differ by more than HOLDING_TOLERANCE do not hold the arm, and an
# external effort within it is that of gravity
AGREEMENT_TOLERANCE, HOLDING_TOLERANCE = 0.3, 0.5
# Fraction of gravity that may be commanded at arming. From 1/6 on, which follows from both
# tolerances, fault efforts could look like those of the other choice if sensors do not follow them
MAX_COMMANDED_SHARE = 0.1
# Fraction of the effort measured at arming that gravity must have in its direction. Where a hand
# has moved the arm to less gravity, measured efforts of a right choice look like those without
# gravity. At least 2 AGREEMENT_TOLERANCE, since sensors may measure half of gravity
MIN_PRESENT_GRAVITY = 0.6
# Weight of the newest command in a running mean. Commands that differ from it by more than this
# fraction of the effort measured at arming change quickly: efforts measured late look like gravity
NEWEST_SHARE, CHANGE_TOLERANCE = 0.05, 0.15


class Memory(NamedTuple):
    """Efforts (nv,) [N·m | N]."""

    tau_offset: ndarray     # measured minus commanded effort at arming, see gravity_check.py
    tau_mean: ndarray       # running mean of the commands that were received

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
    efforts from which it has been subtracted), and fault efforts that hold the arm make the check
    inconclusive.
    """
    joints, m, v = c.joints, c.controller, c.vectors
    m.armed, m.contradictions = now, 0
    sensed = weight = commanded = 0.0
    for i in range(v.q.shape[0]):
        v.gravity_check.tau_offset[i] = 0.0 if isnan(v.measured[i]) else v.measured[i] - tau[i]
        v.gravity_check.tau_mean[i] = v.tau_gravity[i]      # where the commands rise to
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
    if c.cycle_input.listeners > 0:     # drives keep the effort that they received last
        for i in range(tau.shape[0]):
            v.gravity_check.tau_mean[i] += NEWEST_SHARE * (tau[i] - v.gravity_check.tau_mean[i])
    m.contradictions = m.contradictions + 1 if matches_other_choice(c, tau) else 0
    if m.contradictions < CONTRADICTING_SAMPLES:
        return False
    reverse(m, v)
    return True


def reverse(m: record, v: Vectors) -> None:
    """Put the other choice in force; efforts continue with its gravity alone."""
    m.gravity_by_robot, m.contradictions = 1 - m.gravity_by_robot, 0
    for i in range(v.q.shape[0]):
        v.tau_gravity[i] = 0.0 if m.gravity_by_robot == 1 else v.gravity[i]
        v.tau_residual[i] = v.published[i] = 0.0


def reconsider(c: Cycle, fresh: int) -> None:
    """
    Reverse the choice once more, in the fault, where the arm moves as if it were wrong.

    A driver that sends zero efforts for a few samples makes a right choice look wrong. Its
    opposite then throws the arm, or lets it fall, with the whole of g(q): an external effort that
    no late effort explains, since those of the first choice act the other way.
    """
    m, v = c.controller, c.vectors
    if m.senses_gravity == 0 or fresh == 0:
        return
    m.contradictions = m.contradictions + 1 if moves_by_gravity(c) else 0
    if m.contradictions >= CONTRADICTING_SAMPLES:
        reverse(m, v)
        m.senses_gravity = 0        # once only


def moves_by_gravity(c: Cycle) -> bool:
    """Return whether the external efforts are, over all joints, those of a wrong choice."""
    joints, m, v = c.joints, c.controller, c.vectors
    off = weight = 0.0
    for i in range(v.q.shape[0]):
        g = v.gravity[i] / joints[i].effort_limit
        external = v.momentum_observer.external[i] / joints[i].effort_limit
        off += (external + g if m.gravity_by_robot == 1 else external - g) ** 2
        weight += g * g
    return off < HOLDING_TOLERANCE * HOLDING_TOLERANCE * weight


def matches_other_choice(c: Cycle, tau: ndarray) -> bool:
    """
    Return whether the newest measured efforts are, over all joints, those of the other choice.

    Efforts are compared as fractions of the effort limits. Commands that do not hold the arm, as
    those of a motion, or that change quickly are inconclusive, and so is a pose with little of the
    gravity at arming.
    """
    joints, m, v = c.joints, c.controller, c.vectors
    away = off = changed = sensed = present = 0.0
    for i in range(v.q.shape[0]):
        if isnan(v.measured[i]):
            continue
        limit = joints[i].effort_limit
        offset = v.gravity_check.tau_offset[i]
        holding, on_top = (0.0, 0.0) if m.gravity_by_robot == 1 else (offset, offset)
        away += ((tau[i] - holding) / limit) ** 2
        off += ((v.measured[i] - tau[i] - on_top) / limit) ** 2
        changed += ((tau[i] - v.gravity_check.tau_mean[i]) / limit) ** 2
        sensed += (offset / limit) ** 2
        present += v.gravity[i] / limit * offset / limit
    return (present > MIN_PRESENT_GRAVITY * sensed
            and away < HOLDING_TOLERANCE * HOLDING_TOLERANCE * sensed
            and changed < CHANGE_TOLERANCE * CHANGE_TOLERANCE * sensed
            and off < AGREEMENT_TOLERANCE * AGREEMENT_TOLERANCE * sensed)
