# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Coriolis matrix: the factor C of C(q, q̇) q̇ that Christoffel's symbols define."""

from .crba import add_composite, put_body
from .spatial import (
    add,
    cross,
    effort,
    inward,
    moment_to_parent,
    origin,
    put,
    scale,
    sub,
    to_body,
    to_parent,
    turned_moment,
    unit_wrench,
    vec,
)

AXIS = (0.0, 0.0, 1.0)

def coriolis(bodies, base, joints, qd, work, C):
    """
    Write into ``C`` the matrix with C(q, q̇) q̇ the velocity term and Ṁ - 2 C skew-symmetric.

    C[i, j] = Σ Γ[i, j, k] q̇[k] with the Christoffel symbols Γ of the first kind of M(q); they
    are those of Siciliano et al. 2009, eq. 7.45, and Echeandia and Wensing 2021 give another
    algorithm for them. Here: let x(r) = ∂r/∂q[i] be the velocities of all mass points r while
    joint i alone moves at unit rate. From M[i, j] = ∫ xᵢ · xⱼ dm follows C[i, j] = ∫ xᵢ · ẋⱼ dm.
    About the origin of joint j, along z of its body, with ρ from there to the point and u the
    point's velocity, xⱼ = z × ρ and ẋⱼ = ż × ρ + z × ρ̇; of a prismatic joint xⱼ = z, ẋⱼ = ż. So
    composites that know, besides mass and moments, ∫ u dm and ∫ r uᵀ dm suffice.

    :param bodies: (nb,) records of :data:`~.model_data.BODY`.
    :param base: (3, 3), the first row its angular velocity, in its axes.
    :param joints: (nb,) records of :data:`~.model_data.JOINT`, placed at q.
    :param qd: (nv,) [rad/s | m/s].
    :param work: (nb + 1,) records of :data:`~.model_data.WORK`; velocities and composite inertias
        stay there.
    :param C: (nv, nv) out [kg·m²/s | kg·m/s | kg/s].
    """
    n = len(bodies)
    for k in range(C.shape[0]):
        for j in range(C.shape[0]):
            C[k, j] = 0.0

    velocities(bodies, base, joints, qd, work)
    for i in range(n):
        put_body(work[i], bodies[i])
        put_momentum(work[i])

    for i in range(n - 1, -1, -1):
        body, me = bodies[i], work[i]
        m, h, E = me.mass, vec(me.first), me.second
        momentum, D = vec(me.momentum), me.spread
        rate = axis_rate(me)

        # xᵢ over all that joint i carries: ∫ x dm, ∫ ρ × x dm and ∫ u × x dm
        force, moment = unit_wrench(body, m, h, E)
        swirl = unit_swirl(body, momentum, D)

        # ẋᵢ over the same: ∫ ẋ dm, ∫ ρ × ẋ dm
        p = sub(momentum, scale(m, vec(me.v)))
        column_force = add(scale(body.turn, add(cross(rate, h), (-p[1], p[0], 0.0))),
                           scale(body.slide * m, rate))
        column_moment = add(
            scale(body.turn, add(turned_moment(E, rate), spread_across(D, h, vec(me.v), AXIS))),
            scale(body.slide, cross(h, rate)))
        C[body.driver, body.driver] += effort(body, column_force, column_moment)

        # What the joints j that carry joint i see: C[j, i] of the column, C[i, j] of xᵢ
        j = i
        while bodies[j].parent < n:
            force, moment = inward(bodies[j], joints[j], force, moment)
            column_force, column_moment = inward(bodies[j], joints[j], column_force, column_moment)
            swirl = to_parent(bodies[j], joints[j], swirl)
            j = bodies[j].parent
            below, rate, v = bodies[j], axis_rate(work[j]), work[j].v
            C[below.driver, body.driver] += effort(below, column_force, column_moment)
            C[body.driver, below.driver] += (
                below.turn * (rate[0] * moment[0] + rate[1] * moment[1]
                              + swirl[2] - (v[0] * force[1] - v[1] * force[0]))
                + below.slide * (rate[0] * force[0] + rate[1] * force[1]))

        if body.parent < n:
            add_momentum(work[body.parent], body, joints[i], momentum, D)
            add_composite(work[body.parent], body, joints[i], m, h, E)


def velocities(bodies, base, joints, qd, work):
    """Write into ``work`` the angular velocity of each body and the velocity of its origin."""
    put(work[len(bodies)].w, base[0])
    put(work[len(bodies)].v, (0.0, 0.0, 0.0))
    for i in range(len(bodies)):
        body, joint, parent = bodies[i], joints[i], work[bodies[i].parent]
        w = to_body(body, joint, vec(parent.w))
        v = to_body(body, joint, add(vec(parent.v), cross(vec(parent.w), origin(body, joint))))
        put(work[i].w, (w[0], w[1], w[2] + body.turn * qd[body.driver]))
        put(work[i].v, (v[0], v[1], v[2] + body.slide * qd[body.driver]))


def put_momentum(me):
    """Begin ∫ u dm and ∫ r uᵀ dm with those of the body alone: u = v + ω × r."""
    w, v, h, E = vec(me.w), vec(me.v), vec(me.first), me.second
    put(me.momentum, add(scale(me.mass, v), cross(w, h)))
    X = add(scale(h[0], v), cross(w, (E[0], E[3], E[4])))
    Y = add(scale(h[1], v), cross(w, (E[3], E[1], E[5])))
    Z = add(scale(h[2], v), cross(w, (E[4], E[5], E[2])))
    for k in range(3):
        me.spread[k], me.spread[3 + k], me.spread[6 + k] = X[k], Y[k], Z[k]


def add_momentum(parent, body, joint, momentum, D):
    """Merge ∫ u dm and ∫ r uᵀ dm of a composite into those of its parent's."""
    p, momentum = origin(body, joint), to_parent(body, joint, momentum)
    put(parent.momentum, add(vec(parent.momentum), momentum))
    rows = moment_to_parent(body, joint, D)
    for i in range(3):
        for k in range(3):
            parent.spread[3 * i + k] += rows[i][k] + p[i] * momentum[k]


def axis_rate(me):
    """Return ż = ω × z of a body's joint axis."""
    return me.w[1], -me.w[0], 0.0


def unit_swirl(body, momentum, D):
    """Return ∫ u × x dm for x of a unit rate of the joint: z tr D - D z, or ∫ u dm × z."""
    return (body.slide * momentum[1] - body.turn * D[2],
            -(body.slide * momentum[0]) - body.turn * D[5], body.turn * (D[0] + D[4]))


def spread_across(D, h, v, s):
    """Return ∫ ρ × (s × (u - v)) dm = s tr D' - D'ᵀ s with D' = D - h vᵀ."""
    X = sub((D[0], D[1], D[2]), scale(h[0], v))
    Y = sub((D[3], D[4], D[5]), scale(h[1], v))
    Z = sub((D[6], D[7], D[8]), scale(h[2], v))
    return sub(scale(X[0] + Y[1] + Z[2], s),
               add(add(scale(s[0], X), scale(s[1], Y)), scale(s[2], Z)))
