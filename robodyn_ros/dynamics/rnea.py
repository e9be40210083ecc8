# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Inverse dynamics (recursive Newton-Euler algorithm), and its regressor."""

from numpy import ndarray

from .model_data import Vector3
from .spatial import (
    acceleration_matrix, add, cross, dot, inertial_moment, joint_effort, origin, put, scale, sub,
    times, to_body, vec, wrench_to_parent, ZERO)

BODY_PARAMETERS = 10    # m, m c (3), Ixx, Ixy, Iyy, Ixz, Iyz, Izz


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


def regressor(bodies: ndarray, axes: ndarray, origins: ndarray, joints: ndarray, work: ndarray,
              Y: ndarray) -> None:
    """
    Write into ``Y`` the matrix with τ = Y φ, without armature and external wrenches.

    Atkeson, An and Hollerbach 1986, eqs. 5-11; Siciliano et al. 2009, section 7.3.3. φ has ten
    numbers per body: mass, first moment, and the inertia Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the
    origin of the link frame, in its axes.

    :param bodies: (nb,) records of :data:`~.model_data.BODY`.
    :param axes: (nb, 9) axes of the record frames in the link frames, by rows.
    :param origins: (nb, 3) [m] origins of the link frames in the record frames.
    :param joints: (nb,) records of :data:`~.model_data.JOINT`, placed at q.
    :param work: (nb + 1,) as left by :func:`~.rnea.rnea`.
    :param Y: (nv, 10 nb) out.
    """
    for i in range(Y.shape[0]):
        for k in range(Y.shape[1]):
            Y[i, k] = 0.0
    for i in range(len(bodies)):
        # Motion in the link frame, in which the parameters are given
        A, at, me = axes[i], vec(origins[i]), work[i]
        U = acceleration_matrix(vec(me.w), vec(me.dw))
        a = to_link(A, add(vec(me.a), times(U, at)))
        w, dw = to_link(A, vec(me.w)), to_link(A, vec(me.dw))
        U = acceleration_matrix(w, dw)
        write_column(bodies, A, at, joints, i, 0, a, ZERO, Y)
        write_column(bodies, A, at, joints, i, 1, (U[0][0], U[1][0], U[2][0]),
                     (0.0, -a[2], a[1]), Y)
        write_column(bodies, A, at, joints, i, 2, (U[0][1], U[1][1], U[2][1]),
                     (a[2], 0.0, -a[0]), Y)
        write_column(bodies, A, at, joints, i, 3, (U[0][2], U[1][2], U[2][2]),
                     (-a[1], a[0], 0.0), Y)

        # I ω̇ and I ω of each entry of I; the moment is I ω̇ + ω × I ω
        for k, spin, momentum in (
                (4, (dw[0], 0.0, 0.0), (w[0], 0.0, 0.0)),
                (5, (dw[1], dw[0], 0.0), (w[1], w[0], 0.0)),
                (6, (0.0, dw[1], 0.0), (0.0, w[1], 0.0)),
                (7, (dw[2], 0.0, dw[0]), (w[2], 0.0, w[0])),
                (8, (0.0, dw[2], dw[1]), (0.0, w[2], w[1])),
                (9, (0.0, 0.0, dw[2]), (0.0, 0.0, w[2]))):
            write_column(bodies, A, at, joints, i, k, ZERO, add(spin, cross(w, momentum)), Y)


def write_column(bodies: ndarray, A: ndarray, at: Vector3, joints: ndarray, i: int,
                 k: int, force: Vector3, moment: Vector3, Y: ndarray) -> None:
    """Write column 10 i + k: the efforts of force and moment on body i, in its link frame."""
    force = to_record(A, force)
    moment = add(to_record(A, moment), cross(at, force))
    j = i
    while j < len(bodies):
        body = bodies[j]
        Y[body.driver, 10 * i + k] += joint_effort(body, force, moment)
        force, moment = wrench_to_parent(body, joints[j], force, moment)
        j = body.parent


def to_link(A: ndarray, v: Vector3) -> Vector3:
    """Return a vector in the axes of the link, given in those of the record."""
    return (dot((A[0], A[1], A[2]), v), dot((A[3], A[4], A[5]), v), dot((A[6], A[7], A[8]), v))


def to_record(A: ndarray, v: Vector3) -> Vector3:
    """Return a vector in the axes of the record, given in those of the link."""
    return add(add(scale(v[0], (A[0], A[1], A[2])), scale(v[1], (A[3], A[4], A[5]))),
               scale(v[2], (A[6], A[7], A[8])))
