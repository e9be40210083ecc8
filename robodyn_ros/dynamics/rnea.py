# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Inverse dynamics: the recursive Newton-Euler algorithm (Luh, Walker and Paul 1980)."""

from .spatial import (
    acceleration_matrix,
    add,
    cross,
    effort,
    inertial_moment,
    inward,
    origin,
    put,
    scale,
    sub,
    times,
    to_body,
    vec,
)


def rnea(bodies, base, joints, qd, qdd, wrenches, work, tau):
    """
    Write into ``tau`` the joint efforts of a motion: armature included, friction not.

    Luh, Walker and Paul 1980; Craig 2005, eqs. 6.45-6.53 and 6.35; Featherstone 2008, table 5.1.
    Everything is in body frames. Of a body enter its mass m, first moment h = m c and second
    moment E = ∫ r rᵀ dm about its origin; with U = [ω̇]× + [ω]×[ω]× its inertial force is
    m a + U h and its inertial moment h × a + ∫ r × U r dm, which is Craig's F and N moved from the
    centre of mass to the origin.

    :param bodies: (nb,) records of :data:`~.model_data.BODY`; ``turn`` and ``slide`` tell the
        joint type.
    :param base: (3, 3) angular velocity, angular acceleration, acceleration less gravity of the
        base, in its axes.
    :param joints: (nb,) records of :data:`~.model_data.JOINT`, placed at q.
    :param qd: (nv,) [rad/s | m/s].
    :param qdd: (nv,) [rad/s² | m/s²].
    :param wrenches: (nb, 6) force [N] and moment [N·m] that act on each body, at its origin, in
        its axes.
    :param work: (nb + 1,) records of :data:`~.model_data.WORK`; the last one is the base.
    :param tau: (nv,) out [N·m | N].
    """
    n = len(bodies)

    # A base that accelerates against gravity makes every body feel its weight
    put(work[n].w, base[0])
    put(work[n].dw, base[1])
    put(work[n].a, base[2])

    # Outward: the motion of each body, and the force and moment that this motion takes
    for i in range(n):
        body, joint, parent, me = bodies[i], joints[i], work[bodies[i].parent], work[i]
        turn_rate, slide_rate = body.turn * qd[body.driver], body.slide * qd[body.driver]

        # ω = ω' + q̇ z,  ω̇ = ω̇' + ω' × q̇ z + q̈ z;  prismatic: a = a' + 2 ω' × q̇ z + q̈ z
        U = acceleration_matrix(vec(parent.w), vec(parent.dw))
        w = to_body(body, joint, vec(parent.w))
        dw = add(to_body(body, joint, vec(parent.dw)),
                 (w[1] * turn_rate, -(w[0] * turn_rate), body.turn * qdd[body.driver]))
        a = add(to_body(body, joint, add(vec(parent.a), times(U, origin(body, joint)))),
                (2.0 * (w[1] * slide_rate), -2.0 * (w[0] * slide_rate),
                 body.slide * qdd[body.driver]))
        w = (w[0], w[1], w[2] + turn_rate)
        put(me.w, w)
        put(me.dw, dw)
        put(me.a, a)

        h = vec(body.first)
        U = acceleration_matrix(w, dw)
        force = add(scale(body.mass, a), times(U, h))
        moment = add(cross(h, a), inertial_moment(U, body.second))
        put(me.f, sub(force, (wrenches[i, 0], wrenches[i, 1], wrenches[i, 2])))
        put(me.n, sub(moment, (wrenches[i, 3], wrenches[i, 4], wrenches[i, 5])))

    # Inward: what a body takes, its joint carries and its parent bears; joints that mimic pass
    # theirs on to the one they follow
    for k in range(len(tau)):
        tau[k] = 0.0
    for i in range(n - 1, -1, -1):
        body, joint, me = bodies[i], joints[i], work[i]
        tau[body.driver] += effort(body, me.f, me.n) + body.armature * qdd[body.driver]
        if body.parent < n:
            parent = work[body.parent]
            force, moment = inward(body, joint, vec(me.f), vec(me.n))
            put(parent.f, add(vec(parent.f), force))
            put(parent.n, add(vec(parent.n), moment))
