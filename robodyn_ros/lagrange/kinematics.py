# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Forward kinematics as polynomials in the cosines and sines of the joint angles."""

from dataclasses import dataclass

import numpy as np
import sympy as sp
from sympy.polys.rings import PolyElement

from .polynomials import Form, Polynomials
from .symbolic_model import Arm, cos_sin, exact

Rows = list[list[PolyElement]]


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
