# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Division of trigonometric polynomials: (c_1 - c_2 c_12) / s_2 is s_12.

Cosines and sines of whole multiples of the coordinates are Laurent polynomials in e^{iq}: there
division either leaves a remainder or does not.
"""

from collections import defaultdict
from typing import Any

import sympy as sp
from sympy.polys.rings import PolyElement, ring

from .collect import collected, grouped, powers_of, Product, shortened, Sum, Terms, Trig
from .polynomials import Polynomials

Laurent = dict[tuple[int, ...], Any]


def quotient(p: PolyElement, d: PolyElement, power: int, poly: Polynomials) -> Sum:
    """Return p / d**power in textbook form."""
    if not p:
        return Sum()
    n = len(poly.symbols)
    below = shortened(d, poly)
    if len(below) != 1:
        return _fraction(p, d, power, poly)
    ((symbols, trigs), x), = below.items()
    parts: dict[tuple[int, ...], PolyElement] = defaultdict(lambda: poly.ring.zero)
    for m, y in p.items():
        parts[m[:n]] = parts[m[:n]] + poly.ring({(*(0,) * n, *m[n:]): y})
    terms: Terms = {}
    for m, part in parts.items():
        key = tuple(a - power * b for a, b in zip(m, symbols))
        for (_, over), y in _divided(part, [(t, e * power) for t, e in trigs], poly).items():
            terms[key, over] = terms.get((key, over), 0) + y / x ** power
    return grouped(terms, poly)


def _fraction(p: PolyElement, d: PolyElement, power: int, poly: Polynomials) -> Sum:
    """Return a quotient whose denominator is a sum."""
    while power:
        _, rest, below = p.cofactors(d)
        if not below.is_ground:
            break
        p, power = rest / below.LC, power - 1
    if not power:
        return collected(p, poly)
    return Sum((Product(sp.S.One, ((collected(p, poly), 1), (collected(d, poly), -power))),))


def _divided(part: PolyElement, below: list[tuple[Trig, int]], poly: Polynomials) -> Terms:
    """Return the terms of a polynomial without symbols, divided by cosines and sines."""
    none = (0,) * len(poly.symbols)
    whole = all(isinstance(a, tuple) and all(k.is_integer for k in a) for a in poly.angles)
    quotient, left = _exponentials(part, poly) if whole else {}, []
    for t, e in below:
        while whole and e:
            less = _exact(quotient, _of_trig(t))
            if less is None:
                break
            quotient, e = less, e - 1
        left += [(t, -e)] * bool(e)
    terms = _waves(quotient, none)
    if left == [(t, -e) for t, e in below]:         # nothing cancels: as it was, if that is short
        terms = min(shortened(part, poly), terms or shortened(part, poly), key=len)
    return {(none, powers_of(*over, *left)): x for (_, over), x in terms.items()}


def _of_trig(t: Trig) -> Laurent:
    k = tuple(int(x) for x in t.angle)
    minus = tuple(-x for x in k)
    half, i = sp.QQ_I(sp.QQ(1, 2)), sp.QQ_I(0, 1)
    return {k: half, minus: half} if t.kind == 'c' else {k: half / i, minus: -half / i}


def _exponentials(part: PolyElement, poly: Polynomials) -> Laurent:
    """Return a polynomial in cosines and sines as a polynomial in e^{iq}."""
    n, zero = len(poly.symbols), (0,) * len(poly.q)
    result: Laurent = defaultdict(lambda: sp.QQ_I(0))
    for m, x in part.items():
        term: Laurent = {zero: sp.QQ_I(x)}
        for k, e in enumerate(m[n:]):
            for _ in range(e):
                new: Laurent = defaultdict(lambda: sp.QQ_I(0))
                factor = _of_trig(Trig('cs'[k % 2], poly.angles[k // 2]))
                for a, u in term.items():
                    for b, v in factor.items():
                        new[tuple(i + j for i, j in zip(a, b))] += u * v
                term = new
        for a, u in term.items():
            result[a] += u
    return {a: u for a, u in result.items() if u}


def _exact(a: Laurent, b: Laurent) -> Laurent | None:
    """Return a / b, None where there is a remainder."""
    if not a:
        return a
    R = ring([f'z{i}' for i in range(len(next(iter(b))))], sp.QQ_I)[0]
    low = [tuple(map(min, zip(*x))) for x in (a, b)]
    over, under = (R({tuple(i - j for i, j in zip(k, shift)): u for k, u in x.items()})
                   for x, shift in zip((a, b), low))
    result, rest = over.div(under)
    if rest:
        return None
    return {tuple(i + j - k for i, j, k in zip(m, *low)): u for m, u in result.items()}


def _waves(a: Laurent, symbols: tuple[int, ...]) -> Terms:
    """Return a real sum of exponentials as cosines and sines; doubled angles become squares."""
    terms: dict[Any, Any] = defaultdict(int)
    constant = next((u.x for k, u in a.items() if not any(k)), sp.QQ(0))
    for k, u in a.items():
        if next((x for x in k if x), 0) <= 0:       # its twin is the conjugate
            continue
        twice = all(x % 2 == 0 for x in k)
        angle = tuple(sp.Rational(x, 1 + twice) for x in k)
        c, s, x, y = Trig('c', angle), Trig('s', angle), 2 * u.x, -2 * u.y
        if not twice:
            terms[(c, 1),] += x
            terms[(s, 1),] += y
        elif constant == x:                         # 1 + cos 2a = 2 cos² a
            terms[(c, 2),] += 2 * x
            constant = sp.QQ(0)
        else:                                       # cos 2a = 1 - 2 sin² a
            terms[(s, 2),] -= 2 * x
            constant += x
        if twice:
            terms[powers_of((c, 1), (s, 1))] += 2 * y
    terms[()] += constant
    return {(symbols, over): x for over, x in terms.items() if x}
