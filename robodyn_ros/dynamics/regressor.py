# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Inverse dynamics as a matrix times the inertial parameters of the bodies."""

from .spatial import (
    ZERO,
    acceleration_matrix,
    add,
    cross,
    dot,
    effort,
    inward,
    scale,
    times,
    vec,
)

PARAMETERS = 10     # of a body: m, m c (3), Ixx, Ixy, Iyy, Ixz, Iyz, Izz


def regressor(bodies, axes, origins, joints, work, Y):
    """
    Write into ``Y`` the matrix with τ = Y φ, armature and external wrenches left out.

    Atkeson, An and Hollerbach 1986, eqs. 5-11; Siciliano et al. 2009, section 7.3.3. φ has ten
    numbers a body: mass, first moment, and the inertia Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the
    origin of the link's frame, in its axes.

    :param bodies: (nb,) records of :data:`~.model_data.BODY`.
    :param axes: (nb, 9) axes of the records in those of the links, by rows; ``origins`` (nb, 3)
        those of the links in the records' frames.
    :param joints: (nb,) records of :data:`~.model_data.JOINT`, placed at q.
    :param work: (nb + 1,) as :func:`~.rnea.rnea` left it.
    :param Y: (nv, 10 nb) out.
    """
    for i in range(Y.shape[0]):
        for k in range(Y.shape[1]):
            Y[i, k] = 0.0
    for i in range(len(bodies)):
        # The motion in the link's own frame, which the parameters are given in
        A, at, me = axes[i], vec(origins[i]), work[i]
        U = acceleration_matrix(vec(me.w), vec(me.dw))
        a = to_link(A, add(vec(me.a), times(U, at)))
        w, dw = to_link(A, vec(me.w)), to_link(A, vec(me.dw))
        U = acceleration_matrix(w, dw)
        carry(bodies, A, at, joints, i, 0, a, ZERO, Y)
        carry(bodies, A, at, joints, i, 1, (U[0][0], U[1][0], U[2][0]), (0.0, -a[2], a[1]), Y)
        carry(bodies, A, at, joints, i, 2, (U[0][1], U[1][1], U[2][1]), (a[2], 0.0, -a[0]), Y)
        carry(bodies, A, at, joints, i, 3, (U[0][2], U[1][2], U[2][2]), (-a[1], a[0], 0.0), Y)

        # I ω̇ and I ω of each entry of I; the moment is I ω̇ + ω × I ω
        for k, spin, momentum in (
                (4, (dw[0], 0.0, 0.0), (w[0], 0.0, 0.0)),
                (5, (dw[1], dw[0], 0.0), (w[1], w[0], 0.0)),
                (6, (0.0, dw[1], 0.0), (0.0, w[1], 0.0)),
                (7, (dw[2], 0.0, dw[0]), (w[2], 0.0, w[0])),
                (8, (0.0, dw[2], dw[1]), (0.0, w[2], w[1])),
                (9, (0.0, 0.0, dw[2]), (0.0, 0.0, w[2]))):
            carry(bodies, A, at, joints, i, k, ZERO, add(spin, cross(w, momentum)), Y)


def carry(bodies, A, at, joints, i, k, force, moment, Y):
    """Write the efforts of parameter k of body i: of force and moment, in its link's frame."""
    force = to_record(A, force)
    moment = add(to_record(A, moment), cross(at, force))
    j = i
    while j < len(bodies):
        body = bodies[j]
        Y[body.driver, 10 * i + k] += effort(body, force, moment)
        force, moment = inward(body, joints[j], force, moment)
        j = body.parent


def to_link(A, v):
    """Turn a vector from the axes of a record into those of its link."""
    return (dot((A[0], A[1], A[2]), v), dot((A[3], A[4], A[5]), v), dot((A[6], A[7], A[8]), v))


def to_record(A, v):
    """Turn a vector from the axes of a link into those of its record."""
    return add(add(scale(v[0], (A[0], A[1], A[2])), scale(v[1], (A[3], A[4], A[5]))),
               scale(v[2], (A[6], A[7], A[8])))
