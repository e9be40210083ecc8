# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Joint transforms, and algebra of 3-vectors as tuples.

Sines and cosines are evaluated here only. Entries are floats or symbolic scalars. ``body`` is a
record of :data:`~.model_data.BODY`, ``joint`` the record of :data:`~.model_data.JOINT` of the
joint above it. Matrices are tuples of rows; a symmetric one is (xx, yy, zz, xy, xz, yz).
"""

import numpy as np
from numpy import ndarray

from .model_data import BodyRecord, Entries, JointRecord, Matrix3, Vector3

ZERO = (0.0, 0.0, 0.0)


def vec(a: ndarray) -> Vector3:
    """Return the three entries of an array as a tuple."""
    return a[0], a[1], a[2]


def put(a: ndarray, v: Vector3) -> None:
    """Write the tuple ``v`` into the array ``a``."""
    a[0], a[1], a[2] = v[0], v[1], v[2]


def add(a: Vector3, b: Vector3) -> Vector3:
    """Return a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def sub(a: Vector3, b: Vector3) -> Vector3:
    """Return a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def scale(k: float, a: Vector3) -> Vector3:
    """Return k·a."""
    return k * a[0], k * a[1], k * a[2]


def dot(a: Vector3, b: Vector3) -> float:
    """Return a · b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vector3, b: Vector3) -> Vector3:
    """Return a × b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def times(A: Matrix3, v: Vector3) -> Vector3:
    """Return the matrix A times v."""
    return dot(A[0], v), dot(A[1], v), dot(A[2], v)


def to_body(body: BodyRecord, joint: JointRecord, v: Vector3) -> Vector3:
    """Return a vector in the axes of the body, given in those of the parent: (R Rz(q))ᵀ v."""
    R = body.rotation
    a = R[0] * v[0] + R[3] * v[1] + R[6] * v[2]
    b = R[1] * v[0] + R[4] * v[1] + R[7] * v[2]
    return (joint.cos * a + joint.sin * b, joint.cos * b - joint.sin * a,
            R[2] * v[0] + R[5] * v[1] + R[8] * v[2])


def to_parent(body: BodyRecord, joint: JointRecord, v: Vector3) -> Vector3:
    """Return a vector in the axes of the parent, given in those of the body: R Rz(q) v."""
    R = body.rotation
    a = joint.cos * v[0] - joint.sin * v[1]
    b = joint.sin * v[0] + joint.cos * v[1]
    return (R[0] * a + R[1] * b + R[2] * v[2],
            R[3] * a + R[4] * b + R[5] * v[2],
            R[6] * a + R[7] * b + R[8] * v[2])


def origin(body: BodyRecord, joint: JointRecord) -> Vector3:
    """Return the origin of the body in the frame of its parent."""
    R, p = body.rotation, body.origin
    d = joint.slide
    return p[0] + R[2] * d, p[1] + R[5] * d, p[2] + R[8] * d


def unit_wrench(body: BodyRecord, m: float, h: Vector3, E: Entries) -> tuple[Vector3, Vector3]:
    """
    Return force and moment about the origin for unit acceleration of the joint, at rest.

    ``m``, ``h`` and ``E`` are mass, first and second moment of all that the joint carries.
    """
    return ((-(body.turn * h[1]), body.turn * h[0], body.slide * m),
            (body.slide * h[1] - body.turn * E[4], -(body.slide * h[0]) - body.turn * E[5],
             body.turn * (E[0] + E[1])))


def moment_to_parent(body: BodyRecord, joint: JointRecord, D: Entries) -> Matrix3:
    """Return the rows of a matrix D in the axes of the parent, given in those of the body."""
    X = to_parent(body, joint, (D[0], D[1], D[2]))
    Y = to_parent(body, joint, (D[3], D[4], D[5]))
    Z = to_parent(body, joint, (D[6], D[7], D[8]))
    A = to_parent(body, joint, (X[0], Y[0], Z[0]))
    B = to_parent(body, joint, (X[1], Y[1], Z[1]))
    C = to_parent(body, joint, (X[2], Y[2], Z[2]))
    return (A[0], B[0], C[0]), (A[1], B[1], C[1]), (A[2], B[2], C[2])


def second_moment_to_parent(body: BodyRecord, joint: JointRecord, E: Entries) -> Entries:
    """Return a second moment in the axes of the parent, given in those of the body: R E Rᵀ."""
    X, Y, Z = moment_to_parent(body, joint, (E[0], E[3], E[4], E[3], E[1], E[5], E[4], E[5], E[2]))
    return X[0], Y[1], Z[2], X[1], X[2], Y[2]


def joint_effort(body: BodyRecord, force: Vector3, moment: Vector3) -> float:
    """Return the effort of the joint under force and moment on its body: the component along z."""
    return body.turn * moment[2] + body.slide * force[2]


def wrench_to_parent(body: BodyRecord, joint: JointRecord, force: Vector3, moment: Vector3
                     ) -> tuple[Vector3, Vector3]:
    """Return force and moment on a body, about the origin and in the axes of its parent."""
    force = to_parent(body, joint, force)
    return force, add(to_parent(body, joint, moment), cross(origin(body, joint), force))


def inertia_times(E: Entries, s: Vector3) -> Vector3:
    """Return I s = ∫ r × (s × r) dm = s tr E - E s, with the inertia I of a second moment E."""
    trace = E[0] + E[1] + E[2]
    return (trace * s[0] - (E[0] * s[0] + E[3] * s[1] + E[4] * s[2]),
            trace * s[1] - (E[3] * s[0] + E[1] * s[1] + E[5] * s[2]),
            trace * s[2] - (E[4] * s[0] + E[5] * s[1] + E[2] * s[2]))


def acceleration_matrix(w: Vector3, dw: Vector3) -> Matrix3:
    """
    Return U = [ω̇]× + [ω]×[ω]×: U r is the acceleration of the point r relative to the origin.

    The notation is that of Khalil and Dombre 2002, section 9.6.
    """
    xx, yy, zz = w[0] * w[0], w[1] * w[1], w[2] * w[2]
    xy, xz, yz = w[0] * w[1], w[0] * w[2], w[1] * w[2]
    return ((-(yy + zz), xy - dw[2], xz + dw[1]),
            (xy + dw[2], -(xx + zz), yz - dw[0]),
            (xz - dw[1], yz + dw[0], -(xx + yy)))


def inertial_moment(U: Matrix3, E: Entries) -> Vector3:
    """
    Return the inertial moment ∫ r × U r dm = I ω̇ + ω × I ω, with E = ∫ r rᵀ dm.

    Entry x is the sum over k of ``U[z, k] E[y, k] - U[y, k] E[z, k]``, in which the terms with
    ``E[y, z]`` share a product. Entries y and z follow by cyclic permutation.
    """
    xx, yy, zz, xy, xz, yz = E[0], E[1], E[2], E[3], E[4], E[5]
    return (U[2][0] * xy - U[1][0] * xz + U[2][1] * yy - U[1][2] * zz + (U[2][2] - U[1][1]) * yz,
            U[0][1] * yz - U[2][1] * xy + U[0][2] * zz - U[2][0] * xx + (U[0][0] - U[2][2]) * xz,
            U[1][2] * xz - U[0][2] * yz + U[1][0] * xx - U[0][1] * yy + (U[1][1] - U[0][0]) * xy)


# [rad] Beyond, the argument reduction of `cos_sin` loses digits, and `far_cos_sin` takes over.
REDUCTION_LIMIT = 1e5
QUARTERS_PER_RADIAN = 0.6366197723675814


def cos_sin(angle: float) -> tuple[float, float]:
    """
    Return cos and sin of an angle [rad] within ±REDUCTION_LIMIT.

    The error is below 2e-16, and NaN gives NaN. There are no branches, so that loops over joints
    are vectorized.
    """
    k = np.floor(angle * QUARTERS_PER_RADIAN + 0.5)
    c, s = remainder_cos_sin(angle, k)
    quadrant = k - 4.0 * np.floor(k * 0.25)
    odd = (quadrant == 1.0) | (quadrant == 3.0)
    sine, cosine = (c if odd else s), (s if odd else c)
    return (-cosine if (quadrant == 1.0) | (quadrant == 2.0) else cosine,
            -sine if quadrant >= 2.0 else sine)


def remainder_cos_sin(angle: float, k: float) -> tuple[float, float]:
    """
    Return cos and sin of ``angle - k π/2`` [rad], which is within ±π/4.

    The polynomials are those of fdlibm. The angle is reduced in two parts, the first of 33 bits.
    """
    r = (angle - k * 1.57079632673412561417e+00) - k * 6.07710050650619224932e-11
    z = r * r
    s = r + r * z * (-1.66666666666666324348e-01 + z * (8.33333333332248946124e-03 + z * (
        -1.98412698298579493134e-04 + z * (2.75573137070700676789e-06 + z * (
            -2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)))))
    c = 1.0 + z * (-0.5 + z * (4.16666666666666019037e-02 + z * (
        -1.38888888888741095749e-03 + z * (2.48015872894767294178e-05 + z * (
            -2.75573143513906633035e-07 + z * (
                2.08757232129817482790e-09 + z * -1.13596475577881948265e-11))))))
    return c, s


def far_cos_sin(angle: float, offset: float) -> tuple[float, float]:
    """
    Return cos and sin of ``angle + offset`` [rad] beyond REDUCTION_LIMIT.

    The addition theorem keeps the digits of the offset that the sum would lose.
    """
    c, s, c0, s0 = np.cos(angle), np.sin(angle), np.cos(offset), np.sin(offset)
    return c * c0 - s * s0, s * c0 + c * s0


def place_joints(bodies: ndarray, q: ndarray, joints: ndarray) -> None:
    """
    Write into ``joints`` cosine, sine and displacement of each joint at q.

    The angle about z is ``turn * q[driver] + offset``, the displacement along z is
    ``slide * q[driver]``; ``turn`` of a prismatic joint and ``slide`` of a revolute joint are 0.

    :param bodies: (nb,) records of :data:`~.model_data.BODY`.
    :param q: (nv,) [rad | m].
    :param joints: (nb,) records of :data:`~.model_data.JOINT`, out.
    """
    for i in range(len(bodies)):
        at = q[bodies[i].driver]
        joints[i].cos, joints[i].sin = cos_sin(bodies[i].turn * at + bodies[i].offset)
        joints[i].slide = bodies[i].slide * at
    for i in range(len(bodies)):
        angle, offset = bodies[i].turn * q[bodies[i].driver], bodies[i].offset
        if abs(angle + offset) > REDUCTION_LIMIT:
            joints[i].cos, joints[i].sin = far_cos_sin(angle, offset)
