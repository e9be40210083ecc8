# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Equations of motion from the energies: τ = M(q) q̈ + B(q) [q̇q̇] + C(q) [q̇²] + g(q).

Kinematics and energies are polynomials in the symbols, cosines and sines of an arm. With
T = ½ q̇ᵀ M(q) q̇ and U(q), Lagrange's equations d/dt ∂T/∂q̇ - ∂T/∂q + ∂U/∂q = τ give, for row k,
Σ Γ_kij q̇_i q̇_j with Christoffel's symbols Γ_kij = ½ (∂M_ki/∂q_j + ∂M_kj/∂q_i - ∂M_ij/∂q_k):
Siciliano, Sciavicco, Villani, Oriolo, Robotics (2009), section 7.1. The products of two different
velocities are Coriolis', the squares centrifugal terms: Craig, Introduction to Robotics (2005),
section 6.9.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import sympy as sp
from sympy.polys.rings import PolyElement, ring

from .symbolic_model import Arm, cos_sin, exact
from ..errors import DerivationError

Form = tuple[sp.Rational, ...]      # of each coordinate: how often it is in an angle
Rows = list[list[PolyElement]]
ROUNDING_RATIO = 10 ** 13    # terms smaller than the largest by this factor are rounding


class Polynomials:
    """
    The ring of the formulas of an arm.

    Its first generators, ``symbols``, are the arm's symbols and those of its coordinates that
    slide, in the order they are shown: masses and inertias, lengths, coordinates, gravity. Then
    come a cosine and a sine for each of ``angles``, which are forms, or SymPy for a constant one.
    """

    def __init__(self, arm: Arm):
        weight = arm.gravity.free_symbols
        kinds = [[s for s in arm.values if s in arm.inertial],
                 [s for s in arm.values if s not in arm.inertial | weight],
                 [q for i, q in enumerate(arm.q)
                  if any(b.driver == i and not b.turns for b in arm.bodies)],
                 [s for s in arm.values if s in weight - arm.inertial]]
        self.symbols: list[sp.Symbol] = [s for kind in kinds for s in kind]
        self.inertial = len(kinds[0])
        self.q = arm.q
        constants = {a.args[0] for b in arm.bodies
                     for part in (b.rotation, b.origin, b.com, b.inertia)
                     for a in part.atoms(sp.cos, sp.sin)}
        constants |= {a.args[0] for _, R, p in arm.frames.values()
                      for a in R.atoms(sp.cos, sp.sin) | p.atoms(sp.cos, sp.sin)}
        self.angles: list[Any] = sorted(constants, key=str)
        most = len(self.angles) + sum(body.turns for body in arm.bodies)
        pairs = [sp.Dummy(f'{kind}{i}') for i in range(most) for kind in 'cs']
        self.ring, *self.gens = ring([*self.symbols, *pairs], sp.QQ)
        self._constants = {f(a): self.gens[len(self.symbols) + 2 * i + j].as_expr()
                           for i, a in enumerate(self.angles) for j, f in enumerate(
                               (sp.cos, sp.sin))}

    def pair(self, form: Form) -> tuple[PolyElement, PolyElement]:
        """Return the cosine and sine of an angle."""
        if not any(form):
            return self.ring.one, self.ring.zero
        sign = 1 if next(x for x in form if x) > 0 else -1
        form = tuple(sign * x for x in form)
        if form not in self.angles:
            self.angles.append(form)
        at = len(self.symbols) + 2 * self.angles.index(form)
        return self.gens[at], sign * self.gens[at + 1]

    def convert(self, formula: sp.Expr) -> PolyElement:
        """Return a formula of the arm as a polynomial."""
        try:
            return self.ring.from_expr(sp.expand(sp.sympify(formula).subs(self._constants)))
        except (ValueError, sp.CoercionFailed):
            raise DerivationError(
                f'{formula} is not made of sums, products and powers', name=str(formula),
                remedy='give it a name of its own under values, and use that') from None

    def matrix(self, M: sp.Matrix) -> list[list[PolyElement]]:
        """Return a matrix as lists of rows."""
        return [[self.convert(x) for x in M.row(i)] for i in range(M.rows)]

    def vector(self, v: sp.Matrix) -> list[PolyElement]:
        """Return a column."""
        return [self.convert(x) for x in v]

    def reduced(self, p: PolyElement) -> PolyElement:
        """Return the same without squares of sines."""
        for i in range(len(self.angles)):
            c = len(self.symbols) + 2 * i
            if all(m[c + 1] < 2 for m in p):
                continue
            parts: dict[int, Any] = defaultdict(self.ring.zero.copy)
            for m, x in p.items():
                k, odd = divmod(m[c + 1], 2)
                key = (*m[:c + 1], odd, *m[c + 2:])
                parts[k][key] = parts[k].get(key, 0) + x
            p = self.ring.zero
            for k, part in parts.items():
                part.strip_zero()
                p = p + part * (1 - self.gens[c] ** 2) ** k
        return p

    def derivative(self, p: PolyElement, i: int) -> PolyElement:
        """Return the partial derivative by a coordinate."""
        result = self.ring.zero
        if self.q[i] in self.symbols:
            result = p.diff(self.gens[self.symbols.index(self.q[i])])
        for k, form in enumerate(self.angles):
            if isinstance(form, tuple) and form[i]:
                c, s = self.gens[len(self.symbols) + 2 * k:][:2]
                result = result + sp.QQ.convert(form[i]) * (p.diff(s) * c - p.diff(c) * s)
        return self.reduced(result)

    def product(self, A: Sequence[Sequence[PolyElement]], B: Sequence[Sequence[PolyElement]],
                ) -> list[list[PolyElement]]:
        """Return the product of two matrices."""
        return [[self.dot(row, column) for column in zip(*B)] for row in A]

    def dot(self, a: Sequence[PolyElement], b: Sequence[PolyElement]) -> PolyElement:
        """Return the inner product."""
        return self.reduced(sum((x * y for x, y in zip(a, b)), self.ring.zero))

    def times(self, A: Sequence[Sequence[PolyElement]], b: Sequence[PolyElement],
              ) -> list[PolyElement]:
        """Return the product of a matrix and a vector."""
        return [self.dot(row, b) for row in A]


@dataclass(frozen=True)
class Placement:
    """
    Rotation and origin of a body in the base frame.

    The rotation is ``before`` Rz(``form``) ``after``: joints with parallel axes only add to the
    form.
    """

    before: Rows
    form: Form
    after: Rows
    rotation: Rows
    origin: list[PolyElement]


def placements(arm: Arm, poly: Polynomials) -> list[Placement]:
    """Return the placement of each body."""
    unit = poly.matrix(sp.eye(3))
    none = (sp.S.Zero,) * len(arm.q)
    base = Placement(unit, none, unit, unit, [poly.ring.zero] * 3)
    placed: list[Placement] = []
    for body in arm.bodies:
        at = base if body.parent < 0 else placed[body.parent]
        origin = _sum(at.origin, poly.times(at.rotation, poly.vector(body.origin)))
        fixed = poly.product(at.after, poly.matrix(body.rotation))
        before, form = at.before, at.form
        if body.turns:
            fixed = poly.product(fixed, poly.matrix(_rodrigues(body.axis, body.shift)))
            axis = poly.times(fixed, poly.vector(body.axis))
            sign = next((k for k in (1, -1) if axis == [0, 0, k]), 0)
            if not (sign and any(form)):
                aligned, sign = _aligned(body.axis)
                Q = poly.matrix(aligned)
                before = poly.product(poly.product(before, _turn(poly, form)),
                                      poly.product(fixed, Q))
                fixed, form = [list(column) for column in zip(*Q)], none
            form = tuple(x + sign * body.ratio * (i == body.driver) for i, x in enumerate(form))
            rotation = poly.product(poly.product(before, _turn(poly, form)), fixed)
        else:
            rotation = poly.product(poly.product(before, _turn(poly, form)), fixed)
            way = poly.convert(body.ratio * arm.q[body.driver] + body.shift)
            axis = poly.times(rotation, poly.vector(body.axis))
            origin = _sum(origin, [x * way for x in axis])
        placed.append(Placement(before, form, fixed, rotation,
                                [poly.reduced(x) for x in origin]))
    return placed


def _sum(a: list[PolyElement], b: list[PolyElement]) -> list[PolyElement]:
    return [x + y for x, y in zip(a, b)]


def _turn(poly: Polynomials, form: Form) -> Rows:
    c, s = poly.pair(form)
    zero, one = poly.ring.zero, poly.ring.one
    return [[c, -s, zero], [s, c, zero], [zero, zero, one]]


def _rodrigues(axis: sp.Matrix, angle: sp.Expr) -> sp.Matrix:
    """Return the rotation (3, 3) about a unit axis by a constant angle (Rodrigues)."""
    c, s = cos_sin(angle)
    x, y, z = axis
    cross = sp.Matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return sp.eye(3) + s * cross + (1 - c) * cross * cross


def _aligned(axis: sp.Matrix) -> tuple[sp.Matrix, int]:
    """Return a rotation (3, 3) that takes z to the axis, or to its opposite (sign -1)."""
    columns = [1, 2, 0]         # of the unit matrix, turned until the last is the axis
    for _ in range(3):
        columns = columns[1:] + columns[:1]
        if abs(axis[columns[2]]) == 1:
            return sp.eye(3)[:, columns], int(axis[columns[2]])
    z = np.array(axis, float).ravel()
    x = np.cross(z, np.eye(3)[np.argmin(abs(z))])
    x /= np.linalg.norm(x)
    return sp.Matrix(3, 3, [exact(v) for v in np.column_stack([x, np.cross(z, x), z]).flat]), 1


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
