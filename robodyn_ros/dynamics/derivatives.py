# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""How efforts change with position: the derivative of inverse dynamics."""

from .coriolis import axis_rate, spread_across, unit_swirl
from .spatial import (
    acceleration_matrix,
    add,
    cross,
    effort,
    inward,
    scale,
    sub,
    to_parent,
    turned_moment,
    unit_wrench,
    vec,
)


def position_derivative(bodies, joints, work, dtau_dq):
    """
    Write into ``dtau_dq`` ∂τ/∂q of inverse dynamics, q̇ and q̈ held.

    Carpentier and Mansard 2018 give the problem and another algorithm. Here: with xᵢ = ∂r/∂q[i] as
    in :func:`~.coriolis.coriolis` and α = r̈ less gravity, τ[i] = ∫ xᵢ · α dm, so ∂τ[i]/∂q[j] =
    ∫ xᵢ · ẍⱼ dm + ∫ ∂xᵢ/∂q[j] · α dm. About the origin of joint j, ẍⱼ = z̈ × ρ + 2 ż × ρ̇ + z × ρ̈
    (z̈ where it slides), and ∂xᵢ/∂q[j] is z of the joint nearer to the base times x of the
    other. What depends on α gathers in force and moment that Newton and Euler know already.
    (∂τ/∂q̇ needs nothing new: it is 2 C, as ∂r̈/∂q̇[j] = 2 ẋⱼ.) Wrenches keep their place and
    direction in the axes of their bodies.

    :param bodies, joints: as :func:`~.rnea.rnea` takes them.
    :param work: (nb + 1,) as :func:`~.rnea.rnea` and, after it, :func:`~.coriolis.coriolis` of the
        same state left it.
    :param dtau_dq: (nv, nv) out [N·m/rad | N/m | ...], row i that of τ[i].
    """
    n = len(bodies)
    for k in range(dtau_dq.shape[0]):
        for j in range(dtau_dq.shape[0]):
            dtau_dq[k, j] = 0.0

    for i in range(n - 1, -1, -1):
        body, me = bodies[i], work[i]
        m, h, E, D = me.mass, vec(me.first), me.second, me.spread
        v, a, f, moment_below = vec(me.v), vec(me.a), vec(me.f), vec(me.n)
        rate, bend = axis_rate(me), axis_bend(me)

        # xᵢ over all that joint i carries: ∫ x dm, ∫ ρ × x dm and ∫ u × x dm
        force, moment = unit_wrench(body, m, h, E)
        swirl = unit_swirl(body, vec(me.momentum), D)

        # ẍᵢ over the same, and what of α comes with it; z × b is (-b[1], b[0], 0)
        p, b = sub(vec(me.momentum), scale(m, v)), sub(f, scale(m, a))
        column_force = add(
            scale(body.turn, add(add(cross(bend, h), scale(2.0, cross(rate, p))),
                                 (-b[1], b[0], 0.0))),
            scale(body.slide * m, bend))
        twist = sub((-moment_below[1], moment_below[0], 0.0), cross(h, (-a[1], a[0], 0.0)))
        column_moment = add(
            scale(body.turn, add(add(turned_moment(E, bend), twist),
                                 scale(2.0, spread_across(D, h, v, rate)))),
            scale(body.slide, add(cross(h, bend), (-f[1], f[0], 0.0))))
        dtau_dq[body.driver, body.driver] += effort(body, column_force, column_moment)

        # What the joints j that carry joint i see
        j = i
        while bodies[j].parent < n:
            force, moment = inward(bodies[j], joints[j], force, moment)
            column_force, column_moment = inward(bodies[j], joints[j], column_force, column_moment)
            swirl = to_parent(bodies[j], joints[j], swirl)
            j = bodies[j].parent
            below, rate, bend = bodies[j], axis_rate(work[j]), axis_bend(work[j])
            v, a = vec(work[j].v), vec(work[j].a)
            dtau_dq[below.driver, body.driver] += effort(below, column_force, column_moment)
            flow = sub(swirl, cross(v, force))
            dtau_dq[body.driver, below.driver] += (
                below.turn * (bend[0] * moment[0] + bend[1] * moment[1] + bend[2] * moment[2]
                              + 2.0 * (rate[0] * flow[0] + rate[1] * flow[1])
                              - (a[0] * force[1] - a[1] * force[0]))
                + below.slide * (bend[0] * force[0] + bend[1] * force[1] + bend[2] * force[2]))


def axis_bend(me):
    """Return z̈ = ω̇ × z + ω × (ω × z) of a body's joint axis."""
    U = acceleration_matrix(vec(me.w), vec(me.dw))
    return U[0][2], U[1][2], U[2][2]
