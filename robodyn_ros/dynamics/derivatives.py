# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Partial derivative of inverse dynamics with respect to the joint positions."""

from numpy import ndarray

from .coriolis import axis_rate, relative_momentum_moment, unit_velocity_cross
from .record_types import Vector3, WorkRecord
from .spatial import (
    acceleration_matrix,
    add,
    cross,
    dot,
    inertia_times,
    joint_effort,
    scale,
    sub,
    to_parent,
    unit_wrench,
    vec,
    wrench_to_parent,
)


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
