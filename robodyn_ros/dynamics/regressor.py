# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Regressor of inverse dynamics, which is linear in the inertial parameters of the bodies."""

from numpy import ndarray

from .record_types import Vector3
from .spatial import (
    acceleration_matrix,
    add,
    cross,
    dot,
    joint_effort,
    scale,
    times,
    vec,
    wrench_to_parent,
    ZERO,
)

BODY_PARAMETERS = 10    # m, m c (3), Ixx, Ixy, Iyy, Ixz, Iyz, Izz


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
