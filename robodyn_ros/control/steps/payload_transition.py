# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Gradual change of the dynamics in force, from those with one payload to those with another.

Efforts are linear in the inertial parameters of the bodies: masses, first and second moments about
the origins of fixed frames (Atkeson, An and Hollerbach, IJRR 5(3), 1986, equation 5). Their linear
interpolation in time is therefore that of g(q), M(q) and C(q, q̇) q̇. An interpolation between two
physical bodies is physical: pseudo-inertias are a convex cone (Wensing, Kim and Slotine, RA-L
3(1), 2018).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from numpy import ndarray, record

from .plausibility import IN_FAULT, NOT_DRIVEN
from .robot_dynamics import gravity
from ..declare import number, SETTINGS_RECORD
from ...dynamics.model_data import BODY, ModelData

if TYPE_CHECKING:
    from .cycle_data import Cycle, Vectors

INERTIAL_PARAMETERS = 10    # mass, first and second moments of a body


@dataclass(frozen=True)
class Parameters:
    """Duration of a transition."""

    payload_transition: float = number(
        0.5, 's', 0.0, 60.0, 'Duration of a change of payload while driven.',
        record=SETTINGS_RECORD, after='payload_inertia')


#: Fields of the controller state.
STATE = [
    ('payload', np.int64),
    ('payload_time', float),        # s until the payload in force is that of the settings
]


class PayloadInForce(NamedTuple):
    """Inertial parameters in force, kept from cycle to cycle, and the robot that has them."""

    inertial: ndarray       # (nb, 10) mass, first and second moments, as in BODY
    bodies: ndarray         # (nb,) BODY, written while the payload changes
    friction: ndarray       # (13, nv), also written: that of the settings
    robot: ModelData        # with read-only views of both, and without kernels


def rows(nb: int, nv: int) -> int:
    """Return how many rows of nv numbers hold the inertial parameters of nb bodies."""
    return -(-INERTIAL_PARAMETERS * nb // nv)


def payload_in_force(robot: ModelData, memory: ndarray) -> PayloadInForce:
    """
    Return the memory of a payload in force as the cycle takes it.

    :param robot: with any payload.
    :param memory: (R, nv) rows that the flight recorder copies, R as from :func:`rows`.
    """
    nb = len(robot.bodies)
    bodies, friction = np.zeros(nb, BODY), np.zeros(robot.friction.shape)
    views = bodies.view(), friction.view(), np.zeros_like(robot.addresses)
    for array in views:
        array.setflags(write=False)
    inertial = memory.reshape(-1)[:INERTIAL_PARAMETERS * nb].reshape(nb, INERTIAL_PARAMETERS)
    return PayloadInForce(inertial, bodies, friction, robot._replace(
        bodies=views[0], friction=views[1], addresses=views[2]))


def changes_payload(c: Cycle, driven: int, dt: float) -> bool:
    """
    Move the payload in force toward that of the settings; return whether it is still another one.

    Then the dynamics in force are those of ``p.robot``. An arm that is not driven has the new
    payload at once; while efforts of a fault hold it, the payload stays as it is. What g(q) of the
    present pose changes by is taken from the rest of the efforts, so that their sum continues: it
    follows at the effort rate limit, however short the transition is.

    :param driven: NOT_DRIVEN, DRIVEN or IN_FAULT of :mod:`.plausibility`.
    """
    s, m, v, work = c.settings, c.controller, c.vectors, c.workspace
    robot, p = c.robot, c.payload
    if driven == NOT_DRIVEN:
        m.payload, m.payload_time = s.payload, 0.0
        move(p.inertial, robot.bodies, 1.0)
        return False
    if m.payload == s.payload and m.payload_time == 0.0:
        return False
    write_robot(p, robot)
    if driven == IN_FAULT:
        return True
    left: float = s.payload_transition if m.payload != s.payload else m.payload_time
    m.payload, m.payload_time = s.payload, max(0.0, left - dt)
    gravity(p.robot, v.q, work, v.gravity)
    shift_efforts(m, v, 1.0)
    move(p.inertial, robot.bodies, 1.0 if left <= dt else dt / left)
    write_robot(p, robot)
    gravity(p.robot, v.q, work, v.gravity)
    shift_efforts(m, v, -1.0)
    return left > dt


def move(inertial: ndarray, bodies: ndarray, share: float) -> None:
    """Move inertial parameters (nb, 10) toward those of bodies by a share of the difference."""
    for i in range(bodies.shape[0]):
        body = bodies[i]
        inertial[i, 0] = between(inertial[i, 0], body.mass, share)
        for k in range(3):
            inertial[i, 1 + k] = between(inertial[i, 1 + k], body.first[k], share)
        for k in range(6):
            inertial[i, 4 + k] = between(inertial[i, 4 + k], body.second[k], share)


def between(a: float, b: float, share: float) -> float:
    """Return the linear interpolation from a to b; exactly b at share = 1."""
    return b if share == 1.0 else a + share * (b - a)


def write_robot(p: PayloadInForce, robot: ModelData) -> None:
    """Write friction and bodies as they are given, but with the inertial parameters in force."""
    for i in range(robot.friction.shape[0]):
        for k in range(robot.friction.shape[1]):
            p.friction[i, k] = robot.friction[i, k]
    for i in range(robot.bodies.shape[0]):
        p.bodies[i] = robot.bodies[i]
        body = p.bodies[i]
        body.mass = p.inertial[i, 0]
        for k in range(3):
            body.first[k] = p.inertial[i, 1 + k]
        for k in range(6):
            body.second[k] = p.inertial[i, 4 + k]


def shift_efforts(m: record, v: Vectors, sign: float) -> None:
    """Add the gravity term to the rest of the last efforts, or subtract it."""
    if m.gravity_by_robot == 1:
        return
    for i in range(v.q.shape[0]):
        v.tau_residual[i] += sign * v.gravity[i]
        v.published[i] += sign * v.gravity[i]
