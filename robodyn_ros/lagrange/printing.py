# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Printing of formulas in Unicode, in ASCII and in LaTeX."""

from dataclasses import dataclass
import re
from typing import Any

import sympy as sp

from .collect import Product, Sum, Trig

SUBSCRIPTS = str.maketrans('0123456789', '₀₁₂₃₄₅₆₇₈₉')
SUPERSCRIPTS = str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹')
COMBINING_DOTS = '', '\u0307', '\u0308'    # for the letter before
SIGNIFICANT_DIGITS = 5
MAX_NUMERATOR = 1000    # of a fraction that is printed
MAX_DENOMINATOR = 12    # of a fraction that is printed


@dataclass(frozen=True)
class Style:
    """Notation: 'unicode' (m₂ l₁²), 'ascii' (m_2 l_1^2) or 'latex'; fractions or decimals."""

    kind: str
    q: tuple[sp.Symbol, ...]
    decimal: bool = False

    def symbol(self, name: str) -> str:
        """Return a symbol: l_1 as l₁, I_zz1 as I_zz₁."""
        head, _, index = name.partition('_')
        greek = head in ('theta', 'phi', 'alpha', 'beta', 'gamma', 'tau')
        if self.kind == 'ascii':
            return name
        if self.kind == 'latex':
            head = f'\\{head}' if greek else head if len(head) == 1 else f'\\mathrm{{{head}}}'
            index = index.replace('_', '\\_')
            return f'{head}_{{{index}}}' if index else head
        head = {'theta': 'θ', 'phi': 'φ', 'alpha': 'α', 'beta': 'β', 'gamma': 'γ',
                'tau': 'τ'}.get(head, head)
        if not index:
            return head
        return f'{head}{index.translate(SUBSCRIPTS)}' if index.isdigit() else (
            f'{head}_{index}')

    def velocity(self, q: sp.Symbol, dots: int = 1) -> str:
        """Return a derivative of a coordinate."""
        if self.kind == 'ascii':
            return q.name + "'" * dots
        head, _, index = q.name.partition('_')
        if self.kind == 'latex':
            return f'\\{"d" * dots}ot{{{self.symbol(head)}}}_{{{index}}}'
        return f'{self.symbol(head)}{COMBINING_DOTS[dots]}{index.translate(SUBSCRIPTS)}'

    def power(self, base: str, power: int) -> str:
        """Return a power."""
        if power == 1:
            return base
        if self.kind == 'unicode':
            return base + str(power).translate(SUPERSCRIPTS)
        return f'{base}^{power}' if self.kind == 'ascii' else f'{base}^{{{power}}}'

    def trig(self, t: Trig, power: int = 1) -> str:
        """Return c_12, or cos(...) where the shorthand is not defined."""
        if isinstance(t.angle, tuple) and set(t.angle) <= {0, 1} and len(t.angle) < 10:
            index = ''.join(str(i + 1) for i, k in enumerate(t.angle) if k)
            return self.power({'ascii': f'{t.kind}_{index}', 'latex': f'{t.kind}_{{{index}}}',
                               'unicode': t.kind + index.translate(SUBSCRIPTS)}[self.kind], power)
        return self.power(self.function(t), power)

    def function(self, t: Trig) -> str:
        """Return the function in full."""
        name = ('\\' if self.kind == 'latex' else '') + {'c': 'cos', 's': 'sin'}[t.kind]
        return f'{name}({self.angle(t.angle)})'

    def angle(self, angle: Any) -> str:
        """Return an angle: a form in the coordinates, or a constant one."""
        if not isinstance(angle, tuple):
            if self.kind == 'latex':
                return str(sp.latex(angle))
            return re.sub(r'[A-Za-z]\w*', lambda m: self.symbol(m[0]), str(angle))
        return self.sum(Sum(tuple(Product(sp.Rational(k), ((q, 1),))
                                  for k, q in zip(angle, self.q) if k)))

    def number(self, x: sp.Rational) -> str:
        """Return a number that is not negative."""
        if x.q == 1 and x.p < MAX_NUMERATOR ** 2:
            return str(x.p)
        if not self.decimal and x.q in (2, 3, 4, 6, 8, 12) and x.p < MAX_NUMERATOR:
            return f'\\tfrac{{{x.p}}}{{{x.q}}}' if self.kind == 'latex' else f'{x.p}/{x.q}'
        text = f'{float(x):.{SIGNIFICANT_DIGITS}g}'
        if 'e' in text and self.kind == 'latex':
            mantissa, _, exponent = text.partition('e')
            return f'{mantissa} \\cdot 10^{{{int(exponent)}}}'
        return text

    def sum(self, formula: Sum) -> str:  # noqa: A003
        """Return a sum; 0 without terms."""
        return ' '.join(self.pieces(formula)) or '0'

    def pieces(self, formula: Sum) -> list[str]:
        """Return the terms with their signs, between which a line may be broken."""
        out = []
        for k, term in enumerate(formula.terms):
            minus = term.coefficient < 0
            sign = ('-' if minus else '') if k == 0 else '- ' if minus else '+ '
            out.append(sign + self.product(term))
        return out

    def product(self, term: Product) -> str:
        """Return a product, without its sign."""
        above = [(b, e) for b, e in term.factors if e > 0]
        below = [(b, -e) for b, e in term.factors if e < 0]
        x = abs(term.coefficient)
        if below and not self.decimal and x.q <= MAX_DENOMINATOR:
            number = '' if x.p == 1 else str(x.p)
            under = [] if x.q == 1 else [str(x.q)]
        else:
            number, under = '' if x == 1 else self.number(x), []
        alone = self.kind == 'latex' and bool(below)
        over = [number] * bool(number) + [self._factor(b, e, alone and len(above) == 1
                                                       and not number) for b, e in above]
        text = ' '.join(over) or '1'
        if not below:
            return text
        under += [self._factor(b, e, alone and len(below) == 1 and not under) for b, e in below]
        bottom = ' '.join(under)
        if self.kind == 'latex':
            return f'\\frac{{{text}}}{{{bottom}}}'
        return f'{text} / ({bottom})' if len(under) > 1 else f'{text} / {bottom}'

    def _factor(self, base: Any, power: int, bare: bool) -> str:
        if isinstance(base, Trig):
            return self.trig(base, power)
        if isinstance(base, sp.Symbol):
            return self.power(self.symbol(base.name), power)
        text = self.sum(base)
        return text if bare and power == 1 else self.power(
            f'\\left({text}\\right)' if self.kind == 'latex' else f'({text})', power)
