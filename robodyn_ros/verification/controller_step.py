# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
The loop around the control cycle: samples, period or state, stalls; compiled, see :mod:`.tick`.

``w`` is the :class:`~.world_data.WorldData`, of which ``m`` are the numbers; ``c`` is the
:class:`~..control.steps.cycle_data.Cycle` of the controller.
"""

from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from .sensing import INBOX
from ..control.steps.guard import FAULT, RUNNING

RELEASE_TICKS = 50    # ticks in which what has braked a joint is let go again
OBSERVED_TICKS = 20    # ticks between two looks at the reference
NO_CYCLE, DUE, DONE = range(3)

NUMBERS = [
    ('on_timer', int),              # 1: cycles on a grid, 0: for a state, or its absence
    ('period_ticks', int),
    ('rate', float),                # Hz
    ('state_timeout', float),       # s
    ('stalled_until', float),       # s: the loop stands still until then
    ('stall', float),               # s: duration of the stall that has just ended
    ('stepped', float),             # s: time of the last cycle
    ('sequence', float),            # number of samples
    ('due', int),                   # NO_CYCLE, DUE, or DONE where plain Python has run it
    ('published', int),             # 1: `tau` is published in this tick
    ('limited', int),               # cycles so far in which joint limits have changed the efforts
    ('released', int),              # ticks until that is over
    ('phase', int),                 # after this tick, with the reason
    ('reason', int),
    ('observed', int),              # 1: the motion is observed
    ('observed_mode', int),         # number of the mode whose reference counts
    ('late_from', float),           # s: time from which on the arm should rest
    ('late_speed', float)]          # largest speed since then, in velocity limits


class ObservedVectors(NamedTuple):
    """How each joint has followed its reference (nv,)."""

    lower: ndarray              # rad | m: smallest and largest position of the reference
    upper: ndarray
    error: ndarray              # rad | m: largest distance from the reference, at `time` [s]
    time: ndarray
    requested: ndarray          # N·m | N: effort of the law then, and what limits withheld of it
    withheld: ndarray


def take(w: Any, c: Any, time: float, now: float) -> None:
    """Write the samples of the inbox as the decoder would, and decide whether a cycle runs."""
    m = w.numbers
    m.due = m.published = 0
    if time < m.stalled_until:
        return
    m.stall = 0.0
    if m.stalled_until > -inf:
        m.stall, m.stalled_until = time - m.stepped, -inf
    accepted = False
    for k in range(min(m.inbox, INBOX)):
        accepted |= take_sample(w, c, k, now)
    m.inbox = 0
    if m.on_timer:
        due = m.ticks % m.period_ticks == 0
    else:
        silence = 1.0 / m.rate if c.controller.phase == FAULT else m.state_timeout
        due = accepted or time - m.stepped > silence + 1e-9
    if not due:
        return
    m.due = DUE
    if m.stall > 0.0:
        c.cycle_input.stalled = m.stall
        c.cycle_input.missed = int(m.stall * m.rate) - 1 if m.on_timer else 0
    m.stepped, m.limited = time, c.controller.joint_limited


def take_sample(w: Any, c: Any, k: int, now: float) -> bool:
    """Write a sample; return False if it is refused."""
    m, state, rows, n = w.numbers, c.state, w.inbox_rows[k], w.inbox_rows.shape[2]
    if w.inbox[k].foreign:
        for i in range(n):
            state[i].other = now
    for i in range(n):
        if not abs(rows[0, i]) < inf:
            return False
    m.sequence += 1.0
    stamp = w.inbox[k].stamp
    for i in range(n):
        state[i].position, state[i].velocity, state[i].effort = rows[0, i], rows[1, i], rows[2, i]
        state[i].received, state[i].sequence = now, m.sequence
        state[i].stamp = stamp if stamp != 0.0 else np.nan
    return True


def after_cycle(w: Any, c: Any) -> None:
    """Note what a cycle has done."""
    m = w.numbers
    if c.controller.joint_limited != m.limited:
        m.released = RELEASE_TICKS
    m.released = max(0, m.released - 1)
    if m.stall > 0.0:
        c.cycle_input.stalled, c.cycle_input.missed = 0.0, 0


def observe(w: Any, c: Any, time: float) -> None:
    """Observe the distance from the reference, and whether the arm rests after its motion."""
    m, q, o = w.numbers, w.plant.q, w.observed
    if not m.observed or c.controller.phase != RUNNING:
        return
    if m.ticks % OBSERVED_TICKS == 0 and c.controller.mode == m.observed_mode:
        for i in range(q.shape[0]):
            target = c.vectors.target[i]
            o.lower[i], o.upper[i] = min(o.lower[i], target), max(o.upper[i], target)
            if abs(q[i] - target) > o.error[i]:
                o.error[i], o.time[i] = abs(q[i] - target), time
                o.requested[i], o.withheld[i] = c.vectors.requested[i], c.vectors.withheld[i]
    if time > m.late_from:
        m.late_speed = max(m.late_speed, m.speed)
