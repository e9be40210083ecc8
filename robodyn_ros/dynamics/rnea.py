# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Recursive Newton-Euler inverse dynamics (Luh, Walker and Paul 1980)."""

from numpy import ndarray

from .spatial import (
    acceleration_matrix,
    add,
    cross,
    inertial_moment,
    joint_effort,
    origin,
    put,
    scale,
    sub,
    times,
    to_body,
    vec,
    wrench_to_parent,
)


def rnea(bodies: ndarray, base: ndarray, joints: ndarray, qd: ndarray, qdd: ndarray,
         wrenches: ndarray, work: ndarray, tau: ndarray) -> None:
    """
    Write into ``tau`` the joint efforts of a motion, with armature and without friction.

    Luh, Walker and Paul 1980; Craig 2005, eqs. 6.45-6.53 and 6.35; Featherstone 2008, table 5.1.
    All quantities are in body frames. A body is described by its mass m, first moment h = m c and
    second moment E = ∫ r rᵀ dm about its origin; with U = [ω̇]× + [ω]×[ω]× its inertial force is
    m a + U h and its inertial moment h × a + ∫ r × U r dm, which are F and N of Craig about the
    origin instead of the center of mass.

    :param bodies: (nb,) records of :data:`~.model_data.BODY`; ``turn`` is zero for prismatic,
        ``slide`` for revolute joints.
    :param base: (3, 3) angular velocity, angular acceleration, and acceleration minus gravity of
        the base, in its axes.
    :param joints: (nb,) records of :data:`~.model_data.JOINT`, placed at q.
    :param qd: (nv,) [rad/s | m/s].
    :param qdd: (nv,) [rad/s² | m/s²].
    :param wrenches: (nb, 6) external force [N] and moment [N·m] on each body, at its origin, in
        its axes.
    :param work: (nb + 1,) records of :data:`~.model_data.WORK`; the last one is the base.
    :param tau: (nv,) out [N·m | N].
    """
    n = len(bodies)

    # An acceleration of the base by -g is equivalent to gravity
    put(work[n].w, base[0])
    put(work[n].dw, base[1])
    put(work[n].a, base[2])

    # Outward: motion of each body, and the force and moment that it takes
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

    # Inward: force and moment on each body, projected on the joint axis and added to those of the
    # parent; the efforts of mimic joints add to that of the joint that drives them
    for k in range(len(tau)):
        tau[k] = 0.0
    for i in range(n - 1, -1, -1):
        body, joint, me = bodies[i], joints[i], work[i]
        tau[body.driver] += joint_effort(body, me.f, me.n) + body.armature * qdd[body.driver]
        if body.parent < n:
            parent = work[body.parent]
            force, moment = wrench_to_parent(body, joint, vec(me.f), vec(me.n))
            put(parent.f, add(vec(parent.f), force))
            put(parent.n, add(vec(parent.n), moment))
