# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Coriolis matrix C(q, q̇), and the derivative of inverse dynamics by the positions."""

from numpy import ndarray

from .forward_dynamics import add_composite, reset_composite
from .model_data import BodyRecord, Entries, JointRecord, Vector3, WorkRecord
from .spatial import (
    acceleration_matrix, add, cross, dot, inertia_times, joint_effort, moment_to_parent, origin,
    put, scale, sub, to_body, to_parent, unit_wrench, vec, wrench_to_parent)

JOINT_AXIS = (0.0, 0.0, 1.0)


def coriolis(bodies: ndarray, base: ndarray, joints: ndarray, qd: ndarray, work: ndarray,
             C: ndarray) -> None:
    """
    Write into ``C`` the Coriolis matrix, for which Ṁ - 2 C is skew-symmetric.

    C[i, j] = Σ Γ[i, j, k] q̇[k] with the Christoffel symbols Γ of the first kind of M(q)
    (Siciliano et al. 2009, eq. 7.45; Echeandia and Wensing 2021 give another algorithm). Let
    xᵢ(r) = ∂r/∂q[i] be the velocity of each mass point r while joint i alone moves at unit rate.
    From M[i, j] = ∫ xᵢ · xⱼ dm follows C[i, j] = ∫ xᵢ · ẋⱼ dm. With z the axis of joint j, ρ the
    vector from its origin to the point and u the velocity of the point, xⱼ = z × ρ and
    ẋⱼ = ż × ρ + z × ρ̇ for a revolute joint, xⱼ = z and ẋⱼ = ż for a prismatic one. So the
    composite bodies need, besides mass and moments, only ∫ u dm and ∫ r uᵀ dm.

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
        reset_composite(work[i], bodies[i])
        reset_momentum(work[i])

    for i in range(n - 1, -1, -1):
        body, me = bodies[i], work[i]
        m, h, E = me.mass, vec(me.first), me.second
        momentum, D = vec(me.momentum), me.momentum_moment
        rate = axis_rate(me)

        # xᵢ over all that joint i carries: ∫ x dm, ∫ ρ × x dm and ∫ u × x dm
        force, moment = unit_wrench(body, m, h, E)
        velocity_cross = unit_velocity_cross(body, momentum, D)

        # ẋᵢ over the same: ∫ ẋ dm, ∫ ρ × ẋ dm
        p = sub(momentum, scale(m, vec(me.v)))
        column_force = add(scale(body.turn, add(cross(rate, h), (-p[1], p[0], 0.0))),
                           scale(body.slide * m, rate))
        column_moment = add(
            scale(body.turn, add(inertia_times(E, rate),
                                 relative_momentum_moment(D, h, vec(me.v), JOINT_AXIS))),
            scale(body.slide, cross(h, rate)))
        C[body.driver, body.driver] += joint_effort(body, column_force, column_moment)

        # Project on the joints j that carry joint i: C[j, i] from the column, C[i, j] from xᵢ
        j = i
        while bodies[j].parent < n:
            force, moment = wrench_to_parent(bodies[j], joints[j], force, moment)
            column_force, column_moment = wrench_to_parent(bodies[j], joints[j], column_force,
                                                           column_moment)
            velocity_cross = to_parent(bodies[j], joints[j], velocity_cross)
            j = bodies[j].parent
            below, rate, v = bodies[j], axis_rate(work[j]), work[j].v
            C[below.driver, body.driver] += joint_effort(below, column_force, column_moment)
            C[body.driver, below.driver] += (
                below.turn * (rate[0] * moment[0] + rate[1] * moment[1]
                              + velocity_cross[2] - (v[0] * force[1] - v[1] * force[0]))
                + below.slide * (rate[0] * force[0] + rate[1] * force[1]))

        if body.parent < n:
            add_momentum(work[body.parent], body, joints[i], momentum, D)
            add_composite(work[body.parent], body, joints[i], m, h, E)


def velocities(bodies: ndarray, base: ndarray, joints: ndarray, qd: ndarray, work: ndarray
               ) -> None:
    """Write into ``work`` angular velocity and velocity of the origin of each body."""
    put(work[len(bodies)].w, base[0])
    put(work[len(bodies)].v, (0.0, 0.0, 0.0))
    for i in range(len(bodies)):
        body, joint, parent = bodies[i], joints[i], work[bodies[i].parent]
        w = to_body(body, joint, vec(parent.w))
        v = to_body(body, joint, add(vec(parent.v), cross(vec(parent.w), origin(body, joint))))
        put(work[i].w, (w[0], w[1], w[2] + body.turn * qd[body.driver]))
        put(work[i].v, (v[0], v[1], v[2] + body.slide * qd[body.driver]))


def reset_momentum(me: WorkRecord) -> None:
    """Set ∫ u dm and ∫ r uᵀ dm of a composite to those of its first body: u = v + ω × r."""
    w, v, h, E = vec(me.w), vec(me.v), vec(me.first), me.second
    put(me.momentum, add(scale(me.mass, v), cross(w, h)))
    X = add(scale(h[0], v), cross(w, (E[0], E[3], E[4])))
    Y = add(scale(h[1], v), cross(w, (E[3], E[1], E[5])))
    Z = add(scale(h[2], v), cross(w, (E[4], E[5], E[2])))
    D = me.momentum_moment
    for k in range(3):
        D[k], D[3 + k], D[6 + k] = X[k], Y[k], Z[k]


def add_momentum(parent: WorkRecord, body: BodyRecord, joint: JointRecord, momentum: Vector3,
                 D: Entries) -> None:
    """Add ∫ u dm and ∫ r uᵀ dm of a composite to those of its parent."""
    p, momentum = origin(body, joint), to_parent(body, joint, momentum)
    put(parent.momentum, add(vec(parent.momentum), momentum))
    rows = moment_to_parent(body, joint, D)
    for i in range(3):
        for k in range(3):
            parent.momentum_moment[3 * i + k] += rows[i][k] + p[i] * momentum[k]


def axis_rate(me: WorkRecord) -> Vector3:
    """Return ż = ω × z of the joint axis of a body."""
    return me.w[1], -me.w[0], 0.0


def unit_velocity_cross(body: BodyRecord, momentum: Vector3, D: Entries) -> Vector3:
    """Return ∫ u × x dm with x at unit rate of the joint: z tr D - D z, or ∫ u dm × z."""
    return (body.slide * momentum[1] - body.turn * D[2],
            -(body.slide * momentum[0]) - body.turn * D[5], body.turn * (D[0] + D[4]))


def relative_momentum_moment(D: Entries, h: Vector3, v: Vector3, s: Vector3) -> Vector3:
    """Return ∫ ρ × (s × (u - v)) dm = s tr D' - D'ᵀ s with D' = D - h vᵀ."""
    X = sub((D[0], D[1], D[2]), scale(h[0], v))
    Y = sub((D[3], D[4], D[5]), scale(h[1], v))
    Z = sub((D[6], D[7], D[8]), scale(h[2], v))
    return sub(scale(X[0] + Y[1] + Z[2], s),
               add(add(scale(s[0], X), scale(s[1], Y)), scale(s[2], Z)))


def add_velocity_terms(k: int, christoffel: ndarray, B: ndarray, C: ndarray) -> None:
    """
    Add the contribution of unit velocity of joint k to B and C (Craig 2005, eqs. 6.63 to 6.65).

    The columns of B belong to the products q̇₁q̇₂, q̇₁q̇₃, ..., q̇₂q̇₃, ..., those of C to the
    squares.

    :param k: index of the joint that moves.
    :param christoffel: (m, nv) matrix whose product with q̇ is the velocity term, at q̇ = e_k:
        the Christoffel symbols Γ[:, :, k], or their task-space counterpart.
    :param B: (m, nv (nv - 1) / 2) added to; zero before the first joint.
    :param C: (m, nv) matrix, overwritten.
    """
    n = C.shape[1]
    for i in range(C.shape[0]):
        C[i, k] += christoffel[i, k]
        for j in range(n):
            if j != k:
                first, second = min(j, k), max(j, k)
                pair = first * (2 * n - first - 1) // 2 + second - first - 1
                B[i, pair] += christoffel[i, j]


def position_derivative(bodies: ndarray, joints: ndarray, work: ndarray, dtau_dq: ndarray) -> None:
    """
    Write into ``dtau_dq`` ∂τ/∂q of inverse dynamics at constant q̇ and q̈.

    Carpentier and Mansard 2018 give another algorithm. Here, with xᵢ = ∂r/∂q[i] as
    in :func:`~.coriolis.coriolis` and α = r̈ less gravity, τ[i] = ∫ xᵢ · α dm, so ∂τ[i]/∂q[j] =
    ∫ xᵢ · ẍⱼ dm + ∫ ∂xᵢ/∂q[j] · α dm. About the origin of joint j, ẍⱼ = z̈ × ρ + 2 ż × ρ̇ + z × ρ̈
    (z̈ of a prismatic joint), and ∂xᵢ/∂q[j] is the cross product of z of the joint nearer to the
    base with x of the other. The terms in α reduce to the force and moment of the Newton-Euler
    recursion. (∂τ/∂q̇ is 2 C, as ∂r̈/∂q̇[j] = 2 ẋⱼ.) External wrenches are constant in the axes of
    their bodies.

    :param bodies, joints: as :func:`~.rnea.rnea` takes them.
    :param work: (nb + 1,) as left by :func:`~.rnea.rnea` and then :func:`~.coriolis.coriolis` of
        the same state.
    :param dtau_dq: (nv, nv) out [N·m/rad | N/m | ...], row i that of τ[i].
    """
    n = len(bodies)
    for k in range(dtau_dq.shape[0]):
        for j in range(dtau_dq.shape[0]):
            dtau_dq[k, j] = 0.0

    for i in range(n - 1, -1, -1):
        body, me = bodies[i], work[i]
        m, h, E, D = me.mass, vec(me.first), me.second, me.momentum_moment
        v, a, f, moment_below = vec(me.v), vec(me.a), vec(me.f), vec(me.n)
        rate, axis_acc = axis_rate(me), axis_acceleration(me)

        # xᵢ over all that joint i carries: ∫ x dm, ∫ ρ × x dm and ∫ u × x dm
        force, moment = unit_wrench(body, m, h, E)
        velocity_cross = unit_velocity_cross(body, vec(me.momentum), D)

        # ẍᵢ over the same, and the terms in α; z × b is (-b[1], b[0], 0)
        p, b = sub(vec(me.momentum), scale(m, v)), sub(f, scale(m, a))
        column_force = add(
            scale(body.turn, add(add(cross(axis_acc, h), scale(2.0, cross(rate, p))),
                                 (-b[1], b[0], 0.0))),
            scale(body.slide * m, axis_acc))
        twist = sub((-moment_below[1], moment_below[0], 0.0), cross(h, (-a[1], a[0], 0.0)))
        column_moment = add(
            scale(body.turn, add(add(inertia_times(E, axis_acc), twist),
                                 scale(2.0, relative_momentum_moment(D, h, v, rate)))),
            scale(body.slide, add(cross(h, axis_acc), (-f[1], f[0], 0.0))))
        dtau_dq[body.driver, body.driver] += joint_effort(body, column_force, column_moment)

        # Project on the joints j that carry joint i
        j = i
        while bodies[j].parent < n:
            force, moment = wrench_to_parent(bodies[j], joints[j], force, moment)
            column_force, column_moment = wrench_to_parent(bodies[j], joints[j], column_force,
                                                           column_moment)
            velocity_cross = to_parent(bodies[j], joints[j], velocity_cross)
            j = bodies[j].parent
            below, rate, axis_acc = bodies[j], axis_rate(work[j]), axis_acceleration(work[j])
            v, a = vec(work[j].v), vec(work[j].a)
            dtau_dq[below.driver, body.driver] += joint_effort(below, column_force, column_moment)
            flow = sub(velocity_cross, cross(v, force))
            dtau_dq[body.driver, below.driver] += (
                below.turn * (dot(axis_acc, moment)
                              + 2.0 * (rate[0] * flow[0] + rate[1] * flow[1])
                              - (a[0] * force[1] - a[1] * force[0]))
                + below.slide * dot(axis_acc, force))


def axis_acceleration(me: WorkRecord) -> Vector3:
    """Return z̈ = ω̇ × z + ω × (ω × z) of the joint axis of a body."""
    U = acceleration_matrix(vec(me.w), vec(me.dw))
    return U[0][2], U[1][2], U[2][2]
