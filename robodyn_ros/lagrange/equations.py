# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Equations of motion from the energies: τ = M(q) q̈ + B(q) [q̇q̇] + C(q) [q̇²] + g(q).

With T = ½ q̇ᵀ M(q) q̇ and U(q), Lagrange's equations d/dt ∂T/∂q̇ - ∂T/∂q + ∂U/∂q = τ give, for row
k, Σ Γ_kij q̇_i q̇_j with Christoffel's symbols Γ_kij = ½ (∂M_ki/∂q_j + ∂M_kj/∂q_i - ∂M_ij/∂q_k):
Siciliano, Sciavicco, Villani, Oriolo, Robotics (2009), section 7.1. The products of two different
velocities are Coriolis', the squares centrifugal terms: Craig, Introduction to Robotics (2005),
section 6.9.
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

from sympy.polys.rings import PolyElement

from .kinematics import Placement, Rows
from .polynomials import Polynomials
from .symbolic_model import Arm

ROUNDING_RATIO = 10 ** 13    # terms smaller than the largest by this factor are rounding


@dataclass(frozen=True)
class Equations:
    """
    Polynomials of the equation of motion of n coordinates.

    :param M: (n, n); B: (n, n (n - 1) / 2), columns as in :func:`pairs`; C: (n, n); g: (n).
    :param potential: U.
    """

    M: Rows
    B: Rows
    C: Rows
    g: list[PolyElement]
    potential: PolyElement


def pairs(n: int) -> list[tuple[int, int]]:
    """Return the products of velocities that are columns of B: (0, 1), (0, 2), (1, 2), ..."""
    return list(combinations(range(n), 2))


def equations(arm: Arm, poly: Polynomials, placed: list[Placement]) -> Equations:
    """Return the equation of motion of an arm from its kinetic and potential energy."""
    n = len(arm.q)
    M, U = _energies(arm, poly, placed)
    M = [[poly.reduced(p) for p in row] for row in chopped(M)]
    [[U]] = chopped([[U]])
    d = [[[poly.derivative(M[i][j], k) for k in range(n)] for j in range(n)] for i in range(n)]
    B = [[d[k][i][j] + d[k][j][i] - d[i][j][k] for i, j in pairs(n)] for k in range(n)]
    C = [[d[k][i][i] - d[i][i][k] / 2 for i in range(n)] for k in range(n)]
    # Rounded numbers leave the same of M and of its derivatives, of which nothing else may be left
    scale = largest(M)
    return Equations(M, chopped(B, scale), chopped(C, scale),
                     chopped([[poly.derivative(U, i) for i in range(n)]])[0], U)


def _energies(arm: Arm, poly: Polynomials, placed: list[Placement]) -> tuple[Rows, PolyElement]:
    """Return the matrix of the quadratic form 2 T, and the potential energy U."""
    n, zero = len(arm.q), poly.ring.zero
    M = [[zero] * n for _ in range(n)]
    for i, x in enumerate(arm.armature):
        M[i][i] = poly.convert(x)
    U, pull = zero, poly.vector(arm.gravity)
    for body, at in zip(arm.bodies, placed, strict=True):
        mass, inertia = poly.convert(body.mass), poly.matrix(body.inertia)
        heavy = [x + y for x, y in zip(at.origin, poly.times(at.rotation,
                                                             poly.vector(body.com)))]
        U = U - mass * poly.dot(pull, heavy)
        v = [[poly.derivative(x, i) for x in heavy] for i in range(n)]
        w = [angular(poly, at.rotation, i) for i in range(n)]
        for i in range(n):
            for j in range(i, n):
                M[i][j] += poly.reduced(mass * poly.dot(v[i], v[j])
                                        + poly.dot(w[i], poly.times(inertia, w[j])))
    for i, j in pairs(n):
        M[j][i] = M[i][j]
    return M, poly.reduced(U)


def angular(poly: Polynomials, R: Rows, i: int) -> list[PolyElement]:
    """Return ∂ω/∂q̇_i (3) in the axes of the frame R: the vector of Rᵀ ∂R/∂q_i."""
    columns = list(zip(*R))
    turned = [[poly.derivative(x, i) for x in column] for column in columns]
    return [poly.dot(columns[b], turned[a]) for a, b in ((1, 2), (2, 0), (0, 1))]


def largest(rows: Rows) -> Any:
    """Return the largest coefficient."""
    return max((abs(x) for row in rows for p in row for x in p.values()), default=0)


def chopped(rows: Rows, scale: Any = 0) -> Rows:
    """
    Return polynomials without the residue of rounded numbers.

    Terms that are negligible against the largest one, or against ``scale``, are removed, and
    coefficients that are integers but for rounding are rounded: the sine and cosine of a locked
    joint are decimals whose squares do not exactly add up to 1.
    """
    most = max(largest(rows), scale)

    def kept(p: PolyElement) -> PolyElement:
        few = p.ring.zero
        for m, x in p.items():
            if abs(x) * ROUNDING_RATIO > most:
                whole = p.ring.domain(round(Fraction(int(x.numerator), int(x.denominator))))
                few[m] = whole if abs(x - whole) * ROUNDING_RATIO < abs(x) else x
        return few
    return [[kept(p) for p in row] for row in rows]
