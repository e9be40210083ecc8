# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Inverse dynamics as a matrix times the inertial parameters of the bodies."""

from .spatial import acceleration_matrix, add, cross, dot, origin, scale, to_parent, vec

PARAMETERS = 10     # of a body: m, m c (3), Ixx, Ixy, Iyy, Ixz, Iyz, Izz


def regressor(bodies, axes, joints, work, Y):
    """
    Write into ``Y`` the matrix with τ = Y φ, armature and external wrenches left out.

    Atkeson, An and Hollerbach 1986, eqs. 5-11; Siciliano et al. 2009, section 7.3.3. φ has ten
    numbers a body: mass, first moment, and the inertia Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the
    origin of the link's frame, in its axes.

    :param bodies: (nb,) records of :data:`~.bodies.BODY`.
    :param axes: (nb, 9) axes of the records in those of the links, by rows.
    :param joints: (nb,) records of :data:`~.bodies.JOINT`, placed at q.
    :param work: (nb + 1,) as :func:`~.rnea.rnea` left it.
    :param Y: (nv, 10 nb) out.
    """
    for i in range(Y.shape[0]):
        for k in range(Y.shape[1]):
            Y[i, k] = 0.0
    for i in range(len(bodies)):
        # The motion in the link's own axes, which the parameters are given in
        A, me = axes[i], work[i]
        w, dw, a = to_link(A, vec(me.w)), to_link(A, vec(me.dw)), to_link(A, vec(me.a))
        U = acceleration_matrix(w, dw)
        carry(bodies, A, joints, i, 0, a, (0.0, 0.0, 0.0), Y)
        carry(bodies, A, joints, i, 1, (U[0][0], U[1][0], U[2][0]), (0.0, -a[2], a[1]), Y)
        carry(bodies, A, joints, i, 2, (U[0][1], U[1][1], U[2][1]), (a[2], 0.0, -a[0]), Y)
        carry(bodies, A, joints, i, 3, (U[0][2], U[1][2], U[2][2]), (-a[1], a[0], 0.0), Y)

        # n = I ω̇ + ω × I ω, an entry of I at a time
        none = (0.0, 0.0, 0.0)
        carry(bodies, A, joints, i, 4, none, about(w, (dw[0], 0.0, 0.0), (w[0], 0.0, 0.0)), Y)
        carry(bodies, A, joints, i, 5, none, about(w, (dw[1], dw[0], 0.0), (w[1], w[0], 0.0)), Y)
        carry(bodies, A, joints, i, 6, none, about(w, (0.0, dw[1], 0.0), (0.0, w[1], 0.0)), Y)
        carry(bodies, A, joints, i, 7, none, about(w, (dw[2], 0.0, dw[0]), (w[2], 0.0, w[0])), Y)
        carry(bodies, A, joints, i, 8, none, about(w, (0.0, dw[2], dw[1]), (0.0, w[2], w[1])), Y)
        carry(bodies, A, joints, i, 9, none, about(w, (0.0, 0.0, dw[2]), (0.0, 0.0, w[2])), Y)


def carry(bodies, A, joints, i, k, force, moment, Y):
    """Write the efforts of a unit of parameter k of body i, in the axes of its link."""
    force, moment = to_record(A, force), to_record(A, moment)
    j = i
    while j < len(bodies):
        body = bodies[j]
        Y[body.driver, 10 * i + k] += body.turn * moment[2] + body.slide * force[2]
        force = to_parent(body, joints[j], force)
        moment = add(to_parent(body, joints[j], moment), cross(origin(body, joints[j]), force))
        j = body.parent


def about(w, spin, momentum):
    """Return I ω̇ + ω × I ω of I ω̇ and I ω."""
    return add(spin, cross(w, momentum))


def to_link(A, v):
    """Turn a vector from the axes of a record into those of its link."""
    return (dot((A[0], A[1], A[2]), v), dot((A[3], A[4], A[5]), v), dot((A[6], A[7], A[8]), v))


def to_record(A, v):
    """Turn a vector from the axes of a link into those of its record."""
    return add(add(scale(v[0], (A[0], A[1], A[2])), scale(v[1], (A[3], A[4], A[5]))),
               scale(v[2], (A[6], A[7], A[8])))
