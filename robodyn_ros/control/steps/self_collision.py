# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Distance between links of the arm, as capsules, and how fast it shrinks.

The distance of two capsules is that of their segments less both radii; the closest points of two
segments are those of Ericson, Real-Time Collision Detection, 2005, section 5.1.9. With n from one
closest point to the other and the velocities of both points, the distance changes at
n · (v_b - v_a): those of the points in the links do not matter, since the distance is least there.

Its rate is bounded by APPROACH_RATE times the remaining distance to the permitted one, as near any
other boundary of :mod:`.time_scaling`.

A pose leaves motions of the null space to the arm, which no reference bounds: the posture, a hand
at the elbow. For a law that follows a pose, :func:`keep_apart` limits the acceleration of two
links toward each other to λ times the margin of their speed below the permitted one, with the
least change of the efforts in the metric of M⁻¹ (Featherstone, Rigid Body Dynamics Algorithms,
2008, section 11.7), as :mod:`.limits` does at the limits of the joints.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import TYPE_CHECKING

from numpy import ndarray

from .guard import NO_REASON, SELF_COLLISION
from ..inputs.task import Bounds
from ...dynamics.forward_dynamics import ltdl, ltdl_solve
from ...dynamics.model_data import ModelData, Vector3, Workspace
from ...dynamics.spatial import (
    add, cross, dot, origin, place_joints, put, scale, sub, to_parent, vec)

if TYPE_CHECKING:
    from .cycle_data import Cycle, Vectors

APPROACH_RATE = 5.0    # 1/s, speed toward a boundary over the distance from it
MIN_CLOSING_SPEED = 1e-9    # m/s; slower pairs do not approach
MIN_SEGMENT_DISTANCE = 1e-9    # m; closer segments have no direction
WATCHED_SPEED = 0.5    # m/s below the permitted speed; efforts are bounded from there on
# Of `limit_rate`: λ, with which efforts keep the links apart
SEPARATION_RATE_SHARE = 0.5
# 1/kg, less mobile pairs are no longer moved by the joints
MIN_MOBILITY = 1e-9


def self_collision_share(bounds: Bounds, robot: ModelData, work: Workspace, q: ndarray,
                         rate: ndarray) -> float:
    """
    Return the share of the velocity ``rate`` at ``q`` with which no two links come too close.

    It is infinite where no pair comes closer. The pair that permits least, and its distance, are
    left in ``bounds.nearest``.
    """
    place_joints(robot.bodies, q, work.joints)
    place_bodies(robot, work, rate, bounds.motion)
    place_capsules(bounds)
    share = inf
    for k in range(bounds.pairs.shape[0]):
        distance, closing = pair_distance(bounds, bounds.pairs[k, 0], bounds.pairs[k, 1])
        left = APPROACH_RATE * (distance - bounds.clearance[0])
        if closing > MIN_CLOSING_SPEED and not left >= share * closing:
            share = max(0.0, left / closing)
            bounds.nearest[0], bounds.nearest[1] = k, distance
    return share


def place_bodies(robot: ModelData, work: Workspace, rate: ndarray, motion: ndarray) -> None:
    """
    Write where the bodies are, and how they move, in the frame of the base.

    :param work: with the joints placed.
    :param rate: (nv,) [rad/s | m/s].
    :param motion: (nb + 1, 18) out: axes x, y, z, origin [m], its velocity [m/s], and angular
        velocity [rad/s], 3 each; the last row is the base, and stays.
    """
    for i in range(len(robot.bodies)):
        body, joint = robot.bodies[i], work.joints[i]
        above, here, speed = motion[body.parent], motion[i], rate[body.driver]
        x = turned(above, to_parent(body, joint, (1.0, 0.0, 0.0)))
        y = turned(above, to_parent(body, joint, (0.0, 1.0, 0.0)))
        z = turned(above, to_parent(body, joint, (0.0, 0.0, 1.0)))
        arm = turned(above, origin(body, joint))
        put(here[0:3], x)
        put(here[3:6], y)
        put(here[6:9], z)
        put(here[9:12], add(vec(above[9:12]), arm))
        put(here[12:15], add(add(vec(above[12:15]), cross(vec(above[15:18]), arm)),
                             scale(body.slide * speed, z)))
        put(here[15:18], add(vec(above[15:18]), scale(body.turn * speed, z)))


def turned(motion: ndarray, a: Vector3) -> Vector3:
    """Return a vector of a body in the axes of the base."""
    return add(add(scale(a[0], vec(motion[0:3])), scale(a[1], vec(motion[3:6]))),
               scale(a[2], vec(motion[6:9])))


def place_capsules(bounds: Bounds) -> None:
    """Write the ends of the segments, in the frame of the base, into ``bounds.ends`` (C, 6)."""
    for c in range(bounds.capsules.shape[0]):
        at, given = bounds.motion[bounds.carriers[c]], bounds.capsules[c]
        put(bounds.ends[c, 0:3], add(vec(at[9:12]), turned(at, vec(given[0:3]))))
        put(bounds.ends[c, 3:6], add(vec(at[9:12]), turned(at, vec(given[3:6]))))


def pair_distance(bounds: Bounds, a: int, b: int) -> tuple[float, float]:
    """
    Return the distance [m] of two capsules, negative where they overlap, and -d/dt of it [m/s].

    Segments that touch have no direction: their whole relative speed counts as approach.
    """
    p, q = closest_points(vec(bounds.ends[a, 0:3]), vec(bounds.ends[a, 3:6]),
                          vec(bounds.ends[b, 0:3]), vec(bounds.ends[b, 3:6]))
    apart = sub(q, p)
    length = sqrt(dot(apart, apart))
    u = sub(point_velocity(bounds.motion[bounds.carriers[a]], p),
            point_velocity(bounds.motion[bounds.carriers[b]], q))
    closing = dot(u, apart) / length if length > MIN_SEGMENT_DISTANCE else sqrt(dot(u, u))
    return length - bounds.capsules[a, 6] - bounds.capsules[b, 6], closing


def point_velocity(motion: ndarray, p: Vector3) -> Vector3:
    """Return the velocity [m/s] of the point of a body that is at ``p`` [m]."""
    return add(vec(motion[12:15]), cross(vec(motion[15:18]), sub(p, vec(motion[9:12]))))


def closest_points(a: Vector3, b: Vector3, c: Vector3, d: Vector3) -> tuple[Vector3, Vector3]:
    """Return the points of the segments ab and cd that are closest to each other [m]."""
    along, other, r = sub(b, a), sub(d, c), sub(a, c)
    A, E, F = dot(along, along), dot(other, other), dot(other, r)
    B, C = dot(along, other), dot(along, r)
    denominator = A * E - B * B
    s = 0.0
    if denominator > 1e-12 * A * E:         # not parallel, and both have a length
        s = min(max((B * F - C * E) / denominator, 0.0), 1.0)
    t = (B * s + F) / E if E > 0.0 else 0.0
    if not 0.0 <= t <= 1.0:
        t = min(max(t, 0.0), 1.0)
    if A > 0.0:
        s = min(max((B * t - C) / A, 0.0), 1.0)
    return add(a, scale(s, along)), add(c, scale(t, other))


def keep_apart(c: Cycle, robot: ModelData, tau: ndarray) -> None:
    """
    Remove the part of the efforts ``tau`` (nv,) [N·m | N] that brings two links too close.

    Links that are closer than permitted are not pushed apart. What the arm is known to be
    accelerated by besides, as by a hand, is added to the efforts' part.
    """
    s, m, v, work, bounds = c.settings, c.controller, c.vectors, c.workspace, c.bounds
    if bounds.pairs.shape[0] == 0:
        return
    place_joints(robot.bodies, v.q, work.joints)
    place_bodies(robot, work, v.qd, bounds.motion)
    place_capsules(bounds)
    acceleration, row, response = bounds.rate, bounds.vector[0], bounds.vector[1]
    solved = False
    for k in range(bounds.pairs.shape[0]):
        a, b = bounds.pairs[k, 0], bounds.pairs[k, 1]
        distance, closing = pair_distance(bounds, a, b)
        room = APPROACH_RATE * max(0.0, distance - bounds.clearance[0]) - closing
        if room > WATCHED_SPEED:
            continue
        if not solved:
            solved = True
            accelerations(robot, work, v, tau, acceleration)
        closing_row(bounds, robot, a, b, row)
        for i in range(tau.shape[0]):
            response[i] = row[i]
        ltdl_solve(robot.elimination_parent, work.C, response)
        mobility, along, other = 0.0, 0.0, 0.0
        for i in range(tau.shape[0]):
            mobility += row[i] * response[i]
            along += row[i] * acceleration[i]
            other += row[i] * v.limits.disturbance[i]
        excess = along + max(0.0, other) - SEPARATION_RATE_SHARE * s.limit_rate * room
        if excess > 0.0 and mobility > MIN_MOBILITY:
            for i in range(tau.shape[0]):
                tau[i] -= excess / mobility * row[i]
                acceleration[i] -= excess / mobility * response[i]
            bounds.nearest[0], bounds.nearest[1] = k, distance
            if m.slowed_by == NO_REASON:
                m.slowed_by = SELF_COLLISION


def accelerations(robot: ModelData, work: Workspace, v: Vectors, tau: ndarray,
                  acceleration: ndarray) -> None:
    """Write M⁻¹ (τ - C q̇ - g) (nv,) [rad/s² | m/s²]; the factors of M are left in ``work.C``."""
    for i in range(tau.shape[0]):
        acceleration[i] = tau[i] - v.bias[i]
        for j in range(i + 1):
            work.C[i, j] = work.M[i, j]
    ltdl(robot.elimination_parent, work.C)
    ltdl_solve(robot.elimination_parent, work.C, acceleration)


def closing_row(bounds: Bounds, robot: ModelData, a: int, b: int, row: ndarray) -> None:
    """Write the row (nv,) [m/rad | 1] whose product with q̇ is the speed of two capsules."""
    p, q = closest_points(vec(bounds.ends[a, 0:3]), vec(bounds.ends[a, 3:6]),
                          vec(bounds.ends[b, 0:3]), vec(bounds.ends[b, 3:6]))
    apart = sub(q, p)
    n = scale(1.0 / max(sqrt(dot(apart, apart)), MIN_SEGMENT_DISTANCE), apart)
    for i in range(row.shape[0]):
        row[i] = 0.0
    add_row(bounds, robot, bounds.carriers[a], p, n, row)
    add_row(bounds, robot, bounds.carriers[b], q, scale(-1.0, n), row)


def add_row(bounds: Bounds, robot: ModelData, carrier: int, p: Vector3, n: Vector3, row: ndarray
            ) -> None:
    """Add the row of the velocity along ``n`` of the point of a body that is at ``p`` [m]."""
    i = carrier
    while 0 <= i < len(robot.bodies):
        body, here = robot.bodies[i], bounds.motion[i]
        z, arm = vec(here[6:9]), sub(p, vec(here[9:12]))
        row[body.driver] += dot(n, add(scale(body.slide, z), scale(body.turn, cross(z, arm))))
        i = body.parent
