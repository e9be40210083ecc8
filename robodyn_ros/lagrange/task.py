# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Task-space equation of motion in the axes of a frame of the arm.

With ẋ = J(q) q̇, the velocity of the frame's origin and its angular velocity in its axes, and ẍ
the rate of change of these numbers, τ = Jᵀ (M_x ẍ + V_x + G_x) where M_x = J⁻ᵀ M J⁻¹,
V_x = J⁻ᵀ (V - M J⁻¹ J̇ q̇), G_x = J⁻ᵀ g: Craig, Introduction to Robotics (2005), section 6.8.
V_x = B_x [q̇q̇] + C_x [q̇²] is split as in joint space. Jᵀ B_x and Jᵀ C_x are what Craig calls B_x
and C_x in section 6.9: where V_x of the two-link arm has c_2 / s_2², they have c_2 / s_2.
"""

from dataclasses import dataclass
import re

import sympy as sp
from sympy.polys.rings import PolyElement

from .equations import angular, chopped, Equations, pairs, Placement, Polynomials, Rows
from .symbolic_model import Arm
from .textbook_form import collected, quotient, Sum
from ..errors import DerivationError, UnknownNameError

MAX_READABLE_INVERSE = 3    # rows of a Jacobian
AXES = re.compile(r'(x?)(y?)(z?)(r?)(p?)(y?)')


@dataclass(frozen=True)
class TaskSpace:
    """
    Task-space equation of motion of n coordinates; rows are those of ``axes``.

    :param rows: indices 0 to 5 of the axes in x, y, z, roll, pitch, yaw.
    :param J: (n, n); M: (n, n); B: (n, n (n - 1) / 2); C: (n, n); G: (n, 1), of forces [N | N·m].
    :param B_joint: JᵀB, in joint efforts; C_joint: JᵀC.
    """

    frame: str
    axes: str
    rows: tuple[int, ...]
    J: list[list[Sum]]
    M: list[list[Sum]]
    B: list[list[Sum]]
    C: list[list[Sum]]
    G: list[list[Sum]]
    B_joint: list[list[Sum]]
    C_joint: list[list[Sum]]


def chosen_axes(axes: str) -> tuple[int, ...]:
    """Return the rows of ``xyzrpy``, or of some letters of it in this order ('xy', 'xyr')."""
    match = AXES.fullmatch(axes)
    if not axes:
        raise DerivationError('a frame without axes', name='axes', remedy='say which of xyzrpy, '
                              'as many as there are joints, e.g. xy')
    if not match:
        raise DerivationError(f'axes {axes!r} cannot be read', name='axes', value=axes,
                              remedy='write letters of xyzrpy in this order, e.g. xy; a y after r '
                                     'or p is yaw')
    return tuple(i for i, letter in enumerate(match.groups()) if letter)


def task_space(arm: Arm, poly: Polynomials, placed: list[Placement], equations: Equations,
               frame: str, axes: str) -> TaskSpace:
    """
    Return the equation of motion in some axes of a frame.

    :raises DerivationError: J is not square, too large to invert readably, or singular in every
        pose.
    """
    n, rows = len(arm.q), chosen_axes(axes)
    if frame not in arm.frames:
        raise UnknownNameError('frame', frame, arm.frames)
    if len(rows) != n:
        raise DerivationError(f'{len(rows)} axes of {n} joints: the Jacobian is not square',
                              name='axes', value=axes, remedy=f'choose {n} axes')
    if n > MAX_READABLE_INVERSE:
        raise DerivationError(f'the inverse of a Jacobian of {n} joints in closed form is too '
                              'long to be read', name='frame', value=frame,
                              remedy=f'lock joints until there are {MAX_READABLE_INVERSE}')
    J = _jacobian(arm, poly, placed, frame, rows)
    adjugate, det = _inverse(poly, J)
    if not det:
        raise DerivationError(f'the Jacobian of {frame!r} in {axes} is singular in every pose',
                              name='axes', value=axes, remedy='choose axes along which the arm '
                              'can move the frame')
    back = [list(column) for column in zip(*adjugate)]
    d = [[[poly.derivative(x, k) for k in range(n)] for x in row] for row in J]
    coriolis = [[d[r][i][j] + d[r][j][i] for i, j in pairs(n)] for r in range(n)]
    squares = [[d[r][i][i] for i in range(n)] for r in range(n)]
    inertia = poly.product(equations.M, adjugate)

    def velocity_terms(V: Rows, a: Rows) -> Rows:
        """D (V - M J⁻¹ a), in joint efforts."""
        lost = poly.product(inertia, a)
        return [[poly.reduced(det * x - y) for x, y in zip(*both)] for both in zip(V, lost)]

    def over(rows: Rows, power: int) -> list[list[Sum]]:
        return [[quotient(x, det, power, poly) for x in row] for row in chopped(rows)]

    B, C = velocity_terms(equations.B, coriolis), velocity_terms(equations.C, squares)
    G = poly.times(back, equations.g)
    return TaskSpace(
        frame, axes, rows, [[collected(x, poly) for x in row] for row in J],
        over(poly.product(back, inertia), 2), over(poly.product(back, B), 2),
        over(poly.product(back, C), 2), over([[x] for x in G], 1), over(B, 1), over(C, 1))


def _jacobian(arm: Arm, poly: Polynomials, placed: list[Placement], frame: str,
              rows: tuple[int, ...]) -> Rows:
    """Return the rows of J (n, n) in the axes of the frame."""
    body, R, p = arm.frames[frame]
    rotation, origin = poly.matrix(R), poly.vector(p)
    if body >= 0:
        at = placed[body]
        origin = [x + y for x, y in zip(at.origin, poly.times(at.rotation, origin))]
        rotation = poly.product(at.rotation, rotation)
    columns: list[list[PolyElement]] = []
    for i in range(len(arm.q)):
        moved = [poly.derivative(x, i) for x in origin]
        twist = (poly.times([list(c) for c in zip(*rotation)], moved)
                 + angular(poly, rotation, i))
        columns.append([twist[r] for r in rows])
    return chopped([list(row) for row in zip(*columns)])


def _inverse(poly: Polynomials, J: Rows) -> tuple[Rows, PolyElement]:
    """Return adjugate and determinant."""
    n = len(J)
    unknown = sp.Matrix(n, n, lambda i, j: sp.Symbol(f'j{i}{j}'))
    put = {unknown[i, j]: J[i][j] for i in range(n) for j in range(n)}

    def filled(formula: sp.Expr) -> PolyElement:
        total = poly.ring.zero
        for product, sign in formula.expand().as_coefficients_dict().items():
            term = poly.ring(int(sign))
            for symbol in product.free_symbols:
                term = poly.reduced(term * put[symbol])
            total = total + term
        return poly.reduced(total)
    return ([[filled(x) for x in unknown.adjugate().row(i)] for i in range(n)],
            filled(unknown.det()))
