# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Pseudo-inertia of a body: P = ∫ r̃ r̃ᵀ dm with r̃ = (r, 1), [[E, h], [hᵀ, m]] (4, 4).

The ten inertial parameters are those of a body with a non-negative density if and only if P is
positive semidefinite (Wensing, Kim and Slotine, "Linear matrix inequalities for physically
consistent inertial parameter identification", IEEE Robotics and Automation Letters 3, 2018).
Velocities and accelerations of the points of a body are affine in the points: ṙ = S r̃ and
r̈ = H r̃, with S and H (3, 4). Matrices are tuples of rows.
"""

from numpy import ndarray

from .model_data import BodyRecord, Entries, Matrix3, Vector3, WorkRecord
from .spatial import acceleration_matrix, vec

Vector4 = tuple[float, float, float, float]
Matrix34 = tuple[Vector4, Vector4, Vector4]
Matrix4 = tuple[Vector4, Vector4, Vector4, Vector4]


def pseudo_inertia(m: float, h: Vector3, E: Entries) -> Matrix4:
    """Return P of mass, first moment, and second moment (xx, yy, zz, xy, xz, yz)."""
    return ((E[0], E[3], E[4], h[0]), (E[3], E[1], E[5], h[1]), (E[4], E[5], E[2], h[2]),
            (h[0], h[1], h[2], m))


def of_body(body: BodyRecord) -> Matrix4:
    """Return P of a record of :data:`~.model_data.BODY`, about its origin, in its axes."""
    return pseudo_inertia(body.mass, vec(body.first), body.second)


def point_velocities(me: WorkRecord) -> Matrix34:
    """Return S = [[ω]×, v] of a body whose velocities are in ``me``."""
    w, v = me.w, me.v
    return (0.0, -w[2], w[1], v[0]), (w[2], 0.0, -w[0], v[1]), (-w[1], w[0], 0.0, v[2])


def point_accelerations(me: WorkRecord) -> Matrix34:
    """Return H = [U, a], minus gravity, of a body as :func:`~.rnea.rnea` leaves it."""
    U: Matrix3 = acceleration_matrix(vec(me.w), vec(me.dw))
    return row4(U[0], me.a[0]), row4(U[1], me.a[1]), row4(U[2], me.a[2])


def row4(v: Vector3, last: float) -> Vector4:
    """Return a vector with a fourth entry."""
    return v[0], v[1], v[2], last


def inertial_wrench(H: Matrix34, P: Matrix4) -> tuple[Vector3, Vector3]:
    """Return ∫ r̈ dm and ∫ r × r̈ dm, which are entries of H P = ∫ r̈ r̃ᵀ dm."""
    x, y, z = times4(P, H[0]), times4(P, H[1]), times4(P, H[2])
    return (x[3], y[3], z[3]), (z[1] - y[2], x[2] - z[0], y[0] - x[1])


def power_matrix(S: Matrix34, H: Matrix34) -> Matrix4:
    """Return the symmetric L with tr(L P) = ∫ (S r̃)·(H r̃) dm for any P: sym(Sᵀ H)."""
    return power_row(S, H, 0), power_row(S, H, 1), power_row(S, H, 2), power_row(S, H, 3)


def power_row(S: Matrix34, H: Matrix34, i: int) -> Vector4:
    """Return row ``i`` of :func:`power_matrix`."""
    return (power_entry(S, H, i, 0), power_entry(S, H, i, 1), power_entry(S, H, i, 2),
            power_entry(S, H, i, 3))


def power_entry(S: Matrix34, H: Matrix34, i: int, j: int) -> float:
    """Return entry ``i``, ``j`` of :func:`power_matrix`."""
    total = 0.0
    for k in range(3):
        total += S[k][i] * H[k][j] + S[k][j] * H[k][i]
    return 0.5 * total


def dot4(a: Vector4, b: Vector4) -> float:
    """Return a · b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]


def times4(A: Matrix4, b: Vector4) -> Vector4:
    """Return A b."""
    return dot4(A[0], b), dot4(A[1], b), dot4(A[2], b), dot4(A[3], b)


def plus4(a: Vector4, k: float, b: Vector4) -> Vector4:
    """Return a + k b."""
    return a[0] + k * b[0], a[1] + k * b[1], a[2] + k * b[2], a[3] + k * b[3]


def plus(A: Matrix4, k: float, B: Matrix4) -> Matrix4:
    """Return A + k B."""
    return plus4(A[0], k, B[0]), plus4(A[1], k, B[1]), plus4(A[2], k, B[2]), plus4(A[3], k, B[3])


def plus34(A: Matrix34, k: float, B: Matrix34) -> Matrix34:
    """Return A + k B."""
    return plus4(A[0], k, B[0]), plus4(A[1], k, B[1]), plus4(A[2], k, B[2])


def scale34(k: float, A: Matrix34) -> Matrix34:
    """Return k A."""
    return plus34(A, k - 1.0, A)


def transposed(A: Matrix4) -> Matrix4:
    """Return Aᵀ."""
    return ((A[0][0], A[1][0], A[2][0], A[3][0]), (A[0][1], A[1][1], A[2][1], A[3][1]),
            (A[0][2], A[1][2], A[2][2], A[3][2]), (A[0][3], A[1][3], A[2][3], A[3][3]))


def times_transposed(A: Matrix4, B: Matrix4) -> Matrix4:
    """Return A Bᵀ."""
    return times4(B, A[0]), times4(B, A[1]), times4(B, A[2]), times4(B, A[3])


def read4(a: ndarray) -> Matrix4:
    """Return the matrix whose entries, by rows, are those of an array (16,)."""
    return ((a[0], a[1], a[2], a[3]), (a[4], a[5], a[6], a[7]), (a[8], a[9], a[10], a[11]),
            (a[12], a[13], a[14], a[15]))


def write4(a: ndarray, A: Matrix4) -> None:
    """Write the entries of a matrix, by rows, into an array (16,)."""
    for i in range(4):
        for j in range(4):
            a[4 * i + j] = A[i][j]
