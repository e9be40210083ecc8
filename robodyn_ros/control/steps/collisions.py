# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Collisions: detection, the joint concerned, and the reaction.

A collision is detected where the external effort r of :mod:`.momentum_observer` exceeds

    |r - r_p| > threshold + velocity band |q̇| + effort band |C q̇ + g|

in two samples in a row, because one false velocity is no contact. The bands are those of friction
and of the model's errors, which grow with velocity and load (Haddadin, De Luca and Albu-Schäffer,
"Robot collisions: a survey", IEEE Transactions on Robotics 33, 2017, sections IV and V). A contact
has no effect on the joints beyond the link that it touches: that link is moved by the last joint
whose threshold is exceeded within ISOLATION_TIME.

r_p is zero or, with ``push_bandwidth``, the part of r below this bandwidth. A deliberate push is
slower than an impact and is no collision: with the low-pass filter of the observer, the difference
is a band-pass filter of the contact. A push is a fault, PUSHED, above ``push_threshold``.

The reaction is a latched fault with the reason COLLISION or PUSHED, whose efforts are damped
gravity compensation as those of any fault (*stop*), gravity compensation alone (*float*), or the
damping follows a slow motion along the external effort, away from the contact, for RETREAT_TIME
(*retreat*). In mode gravity_compensation, and while a hand guides the arm, it is meant to be
pushed, and nothing is detected.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np
from numpy import ndarray, record

from . import guard
from .trajectory_tracking import yields
from ..declare import (
    choice, JOINT_RECORD as JOINT, number, numbers, PerJoint, SETTINGS_RECORD as SETTINGS)

if TYPE_CHECKING:
    from .cycle_data import Cycle, Vectors

COLLISION_SAMPLES = 2    # in a row above the threshold
ISOLATION_TIME = 0.03   # s after the detection, in which a later joint may still take part
RETREAT_TIME = 0.3      # s
RETREAT_SPEED = 0.1     # velocity limits, of the joint that retreats fastest
#: Reactions, in the order of their numbers.
COLLISION_REACTION = ('stop', 'float', 'retreat')
REACT_STOP, REACT_FLOAT, REACT_RETREAT = range(len(COLLISION_REACTION))


@dataclass(frozen=True)
class Parameters:
    """Thresholds of collisions and pushes, and the reaction."""

    collision_threshold: PerJoint = numbers(
        'N·m or N', 0.0, 1e6, 'External effort that is a fault, except in gravity_compensation. '
        'Empty or 0: unlimited.', record=JOINT, unlimited=True)
    collision_velocity_band: PerJoint = numbers(
        'N·m·s/rad or N·s/m', 0.0, 1e5, 'Increase of the threshold with the velocity. Empty: '
        'none.', record=JOINT)
    collision_effort_band: PerJoint = numbers(
        '', 0.0, 1.0, "Increase of the threshold with the model's effort without accelerations. "
        "Empty: none.", record=JOINT)
    push_bandwidth: float = number(
        0.0, '1/s', 0.0, 1e2, 'Bandwidth below which an external effort is a push; 0: every '
        'contact is a collision.', record=SETTINGS)
    push_threshold: PerJoint = numbers(
        'N·m or N', 0.0, 1e6, 'Push that is a fault, except in gravity_compensation. Empty or 0: '
        'unlimited.', record=JOINT, unlimited=True)
    collision_reaction: str = choice(
        COLLISION_REACTION, 'Fault efforts after a collision: damped, undamped, or with a slow '
        'retreat.', record=SETTINGS)


class Memory(NamedTuple):
    """Reaction to a collision, (nv,) each."""

    retreat: ndarray        # reference velocity after a collision

#: Fields of the controller state.
STATE = [
    ('above', np.int64),            # samples in a row above a collision threshold
    ('contact_time', float),        # s, when the last collision was detected
    ('contact_side', np.int64),     # direction in which it pushed its joint, 1 or -1
]


def above_threshold(j: record, v: Vectors, i: int) -> bool:
    """Return whether the external effort of joint ``i``, record ``j``, is that of a contact."""
    threshold = (j.collision_threshold + j.collision_velocity_band * abs(v.qd[i])
                 + j.collision_effort_band * abs(v.bias[i]))
    return abs(v.momentum_observer.external[i] - v.momentum_observer.pushing[i]) > threshold


def last_above(joints: ndarray, v: Vectors) -> int:
    """Return the last joint above its threshold, -1 for none."""
    last = -1
    for i in range(v.q.shape[0]):
        if above_threshold(joints[i], v, i):
            last = i
    return last


def collision(c: Cycle, fresh: int, now: float) -> int:
    """Return the joint of a collision of a RUNNING arm, -1 for none."""
    joints, m, v = c.joints, c.controller, c.vectors
    if yields(m):
        m.above = 0
        return -1
    i = last_above(joints, v)
    if fresh == 1:
        m.above = m.above + 1 if i >= 0 else 0
    if i < 0 or m.above < COLLISION_SAMPLES:
        return -1
    m.contact_time, m.unbraked = now, 0.0
    note_contact(m, v, i)
    return i


def push(c: Cycle, now: float) -> int:
    """Return the last joint of a RUNNING arm that is pushed too hard, -1 for none."""
    joints, m, v = c.joints, c.controller, c.vectors
    last: Any = -1
    if yields(m):
        return last
    for i in range(v.q.shape[0]):
        if abs(v.momentum_observer.pushing[i]) > joints[i].push_threshold:
            last = i
    if last >= 0:
        m.contact_time, m.unbraked = now, 0.0
        note_contact(m, v, last)
    return last


def isolate(c: Cycle, now: float) -> None:
    """Correct the joint of a latched collision, for ISOLATION_TIME after its detection."""
    joints, m, v = c.joints, c.controller, c.vectors
    if m.phase != guard.FAULT or m.reason != guard.COLLISION or (
            now - m.contact_time > ISOLATION_TIME):
        return
    joint: Any = max(m.joint, last_above(joints, v))
    m.joint = joint
    note_contact(m, v, joint)


def note_contact(m: record, v: Vectors, joint: int) -> None:
    """Note the direction of a contact, and the velocities of a retreat from it."""
    external, retreat, largest = v.momentum_observer.external, v.collisions.retreat, 0.0
    m.contact_side = 1 if external[joint] > 0.0 else -1
    for i in range(v.q.shape[0]):
        largest = max(largest, abs(external[i]))
    for i in range(v.q.shape[0]):       # r · q̇ > 0: the contact moves as its force points
        retreat[i] = (RETREAT_SPEED * v.speed_limit[i] * external[i] / largest
                      if largest > 0.0 else 0.0)


def react(c: Cycle, now: float, tau: ndarray) -> None:
    """
    Turn the damped gravity compensation of a fault into the reaction to a collision.

    :param tau: (nv,) efforts [N·m | N], in and out.
    """
    s, m, v, M = c.settings, c.controller, c.vectors, c.workspace.M
    if (m.reason != guard.COLLISION and m.reason != guard.PUSHED) or m.without_state == 1:
        return
    if s.collision_reaction == REACT_FLOAT:
        for i in range(tau.shape[0]):
            tau[i] = v.tau_gravity[i]
    elif s.collision_reaction == REACT_RETREAT and now - m.contact_time < RETREAT_TIME:
        for i in range(tau.shape[0]):
            for j in range(tau.shape[0]):
                tau[i] += s.damping_rate * M[i, j] * v.collisions.retreat[j]
