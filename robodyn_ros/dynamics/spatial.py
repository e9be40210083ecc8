# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
3-vectors as tuples, and how they pass between the frames of a body and of its parent.

An entry may be a float or anything else that adds and multiplies: nothing here asks which.
``body`` is a record of :data:`~.model_data.BODY`, ``joint`` one of
:data:`~.model_data.JOINT` that tells where its joint stands. Matrices are tuples of rows; a
symmetric one is (xx, yy, zz, xy, xz, yz).
"""

ZERO = (0.0, 0.0, 0.0)


def vec(a):
    """Return the three entries of an array as a tuple."""
    return a[0], a[1], a[2]


def put(a, v):
    """Write the tuple ``v`` into the array ``a``."""
    a[0], a[1], a[2] = v[0], v[1], v[2]


def add(a, b):
    """Return a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def sub(a, b):
    """Return a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def scale(k, a):
    """Return k·a."""
    return k * a[0], k * a[1], k * a[2]


def dot(a, b):
    """Return a · b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a, b):
    """Return a × b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def times(A, v):
    """Return the matrix A times v."""
    return dot(A[0], v), dot(A[1], v), dot(A[2], v)


def to_body(body, joint, v):
    """Turn a vector from the parent's axes into the body's: (R Rz(q))ᵀ v."""
    R = body.rotation
    a = R[0] * v[0] + R[3] * v[1] + R[6] * v[2]
    b = R[1] * v[0] + R[4] * v[1] + R[7] * v[2]
    return (joint.cos * a + joint.sin * b, joint.cos * b - joint.sin * a,
            R[2] * v[0] + R[5] * v[1] + R[8] * v[2])


def to_parent(body, joint, v):
    """Turn a vector from the body's axes into the parent's: R Rz(q) v."""
    R = body.rotation
    a = joint.cos * v[0] - joint.sin * v[1]
    b = joint.sin * v[0] + joint.cos * v[1]
    return (R[0] * a + R[1] * b + R[2] * v[2],
            R[3] * a + R[4] * b + R[5] * v[2],
            R[6] * a + R[7] * b + R[8] * v[2])


def origin(body, joint):
    """Return the body's origin in its parent's frame: a prismatic joint slides it along z."""
    R, p = body.rotation, body.origin
    d = joint.slide
    return p[0] + R[2] * d, p[1] + R[5] * d, p[2] + R[8] * d


def unit_wrench(body, m, h, E):
    """
    Return force and moment, about the origin, that a unit acceleration of the joint alone takes.

    Of all that the joint carries: mass, first and second moment ``m``, ``h``, ``E``.
    """
    return ((-(body.turn * h[1]), body.turn * h[0], body.slide * m),
            (body.slide * h[1] - body.turn * E[4], -(body.slide * h[0]) - body.turn * E[5],
             body.turn * (E[0] + E[1])))


def moment_to_parent(body, joint, D):
    """Turn a matrix of nine, by rows, from the body's axes into the parent's: rows of R D Rᵀ."""
    X = to_parent(body, joint, (D[0], D[1], D[2]))
    Y = to_parent(body, joint, (D[3], D[4], D[5]))
    Z = to_parent(body, joint, (D[6], D[7], D[8]))
    A = to_parent(body, joint, (X[0], Y[0], Z[0]))
    B = to_parent(body, joint, (X[1], Y[1], Z[1]))
    C = to_parent(body, joint, (X[2], Y[2], Z[2]))
    return (A[0], B[0], C[0]), (A[1], B[1], C[1]), (A[2], B[2], C[2])


def second_moment_to_parent(body, joint, E):
    """Turn a second moment from the body's axes into the parent's: R E Rᵀ."""
    X, Y, Z = moment_to_parent(body, joint, (E[0], E[3], E[4], E[3], E[1], E[5], E[4], E[5], E[2]))
    return X[0], Y[1], Z[2], X[1], X[2], Y[2]


def effort(body, force, moment):
    """Return what the joint of a body bears of force and moment on it: their part along z."""
    return body.turn * moment[2] + body.slide * force[2]


def inward(body, joint, force, moment):
    """Return force and moment on a body, about its origin, as its parent sees them."""
    force = to_parent(body, joint, force)
    return force, add(to_parent(body, joint, moment), cross(origin(body, joint), force))


def turned_moment(E, s):
    """Return ∫ r × (s × r) dm = s tr E - E s of a second moment E: the inertia times s."""
    trace = E[0] + E[1] + E[2]
    return (trace * s[0] - (E[0] * s[0] + E[3] * s[1] + E[4] * s[2]),
            trace * s[1] - (E[3] * s[0] + E[1] * s[1] + E[5] * s[2]),
            trace * s[2] - (E[4] * s[0] + E[5] * s[1] + E[2] * s[2]))


def acceleration_matrix(w, dw):
    """
    Return U = [ω̇]× + [ω]×[ω]×: the point r of a body accelerates by U r about its origin.

    (Khalil and Dombre 2002, section 9.6, write the same U.)
    """
    xx, yy, zz = w[0] * w[0], w[1] * w[1], w[2] * w[2]
    xy, xz, yz = w[0] * w[1], w[0] * w[2], w[1] * w[2]
    return ((-(yy + zz), xy - dw[2], xz + dw[1]),
            (xy + dw[2], -(xx + zz), yz - dw[0]),
            (xz - dw[1], yz + dw[0], -(xx + yy)))


def inertial_moment(U, E):
    """Return ∫ r × U r dm = I ω̇ + ω × I ω, of a body with second moment E = ∫ r rᵀ dm."""
    X, Y, Z = (E[0], E[3], E[4]), (E[3], E[1], E[5]), (E[4], E[5], E[2])
    return dot(U[2], Y) - dot(U[1], Z), dot(U[0], Z) - dot(U[2], X), dot(U[1], X) - dot(U[0], Y)
