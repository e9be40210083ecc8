# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Polynomial ring of an arm: its symbols, and cosines and sines of its angles.

Along joints with parallel axes the angle is their sum, so that planar arms stay planar. As squares
of sines are replaced, 1 - cos² for sin², a formula that is zero is the polynomial 0.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import sympy as sp
from sympy.polys.rings import PolyElement, ring

from .symbolic_model import Arm
from ..errors import DerivationError

Form = tuple[sp.Rational, ...]      # of each coordinate: how often it is in an angle


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
