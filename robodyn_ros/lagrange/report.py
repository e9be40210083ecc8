# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Printing of formulas in Unicode, in ASCII and in LaTeX."""

from dataclasses import dataclass
import re
import textwrap
from typing import Any
from unicodedata import normalize

import sympy as sp

from .derivation import Derivation, MAX_EFFORT_DEVIATION, TESTED_STATES
from .equations import pairs
from .textbook_form import Product, Sum, Trig

SUBSCRIPTS = str.maketrans('0123456789', '₀₁₂₃₄₅₆₇₈₉')
SUPERSCRIPTS = str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹')
COMBINING_DOTS = '', '\u0307', '\u0308'    # for the letter before
SIGNIFICANT_DIGITS = 5
MAX_NUMERATOR = 1000    # of a fraction that is printed
MAX_DENOMINATOR = 12    # of a fraction that is printed
TERMINAL_WIDTH = 80    # columns
LATEX_LINE_LENGTH = 100    # characters, most of them not printed
ASCII = (('τ', 'tau'), ('θ', 'theta'), ('²', '^2'), ('ᵀ', '^T'), ('ₓ', '_x'), ('\u0308', "''"),
         ('\u0307', "'"))


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


@dataclass(frozen=True)
class Block:
    """
    Matrix of formulas.

    :param name: for a terminal; ``latex``: for LaTeX, with {} in the place of the index.
    :param columns: the index of each column; empty for a vector.
    """

    heading: str
    name: str
    latex: str
    rows: list[list[Sum]]
    columns: list[str]
    symmetric: bool = False

    def cells(self) -> list[tuple[list[str], Sum]]:
        """Return indices and formula of each nonzero entry; symmetric ones with both indices."""
        found = []
        for i, row in enumerate(self.rows):
            for j, formula in enumerate(row):
                if formula.terms and not (self.symmetric and j < i):
                    places = [(i, j), (j, i)] if self.symmetric and i != j else [(i, j)]
                    found.append(([','.join([str(a + 1), *self.columns[b:b + 1]])
                                   for a, b in places], formula))
        return found

    @property
    def full(self) -> bool:
        """Whether no entry is 0."""
        return all(formula.terms for row in self.rows for formula in row)


def text(derivation: Derivation, *, ascii_only: bool = False, width: int = TERMINAL_WIDTH) -> str:
    """
    Return the report as text.

    :param ascii_only: m_1 l_1^2 instead of m₁ l₁².
    :param width: of the lines, in characters; only long names exceed it.
    """
    style = _style('ascii' if ascii_only else 'unicode', derivation)
    arm = derivation.arm
    lines = [f'{arm.name}: τ = M(q) q̈ + B(q) [q̇q̇] + C(q) [q̇²] + g(q)',
             *_filled(', '.join(f'{style.symbol(q.name)}: {name}' for q, name in
                                zip(arm.q, arm.model.joint_names)), width)]
    for block in _blocks(derivation, style):
        heading = _ascii(block.heading) if ascii_only else block.heading
        lines += ['', *textwrap.wrap(heading, width, subsequent_indent='  ')]
        for indices, formula in block.cells():
            head = '  ' + ''.join(f'{block.name}[{index}] = ' for index in indices)
            lines += _broken(head, style.pieces(formula), width)
        if not block.full:
            lines.append('  the others are 0' if block.cells() else '  all are 0')
    if trigs := _trigs(derivation):
        lines += ['', *_filled('with ' + ', '.join(
            f'{style.trig(t)} = {style.function(t)}' for t in trigs), width)]
    if _used(derivation):
        lines += ['', *_filled('where, in SI units, ' + ', '.join(
            f'{style.symbol(s.name)} = {x:.6g}' for s, x in _used(derivation).items()), width)]
    out = '\n'.join([*lines, '', *_filled(checked(derivation), width)])
    return _ascii(out) if ascii_only else out


def latex(derivation: Derivation) -> str:
    """Return blocks for a document that uses the package amsmath."""
    style = _style('latex', derivation)
    lines = [f'% {derivation.arm.name}', f'% {checked(derivation)}']
    for block in _blocks(derivation, style):
        rows = []
        for indices, formula in block.cells():
            head = ' = '.join(block.latex.format(index.replace(',', '') if len(index) == 3 else
                                                 index) for index in indices)
            rows += _broken_latex(f'{head} &= ', style.pieces(formula))
        rows = rows or [f'{block.latex.format("ij" if block.columns else "i")} &= 0']
        lines.append(f'% {_ascii(block.heading)}')
        lines += [r'\begin{align*}', ' \\\\\n'.join(rows), r'\end{align*}']
    notes = [rf'{style.trig(t)} &= {style.function(t)}' for t in _trigs(derivation)]
    notes += [f'{style.symbol(s.name)} &= {_decimal(x)}' for s, x in _used(derivation).items()]
    if notes:
        lines += ['% where, in SI units', r'\begin{align*}', ' \\\\\n'.join(notes),
                  r'\end{align*}']
    return '\n'.join(lines)


def checked(derivation: Derivation) -> str:
    """Return a sentence about the deviation from the numerical model."""
    what = ' in joint and task space' if derivation.task else ''
    verdict = 'checked against' if derivation.trusted else 'NOT TO BE TRUSTED: compared with'
    return (f'{verdict} recursive Newton-Euler{what} at {TESTED_STATES} random states: largest '
            f'relative deviation {derivation.deviation:.1e}'
            + ('' if derivation.trusted else f', allowed is {MAX_EFFORT_DEVIATION:.0e}'))


def _blocks(derivation: Derivation, style: Style) -> list[Block]:
    n, q = len(derivation.q), derivation.q
    each, gap = [str(i + 1) for i in range(n)], '' if n < 10 else ' '
    both = [f'{i + 1}{gap}{j + 1}' for i, j in pairs(n)]
    rates = [style.velocity(x) for x in q]
    products = ', '.join(f'{rates[i]} {rates[j]}' for i, j in pairs(n))
    squares = ', '.join(style.power(x, 2) for x in rates)
    blocks = [
        Block('Mass matrix', 'M', 'M_{{{}}}', derivation.M_form, each, True),
        Block(f'Coriolis, columns {products}', 'B', 'B_{{{}}}', derivation.B_form, both),
        Block(f'Centrifugal, columns {squares}', 'C', 'C_{{{}}}', derivation.C_form, each),
        Block('Gravity', 'g', 'g_{{{}}}', [[x] for x in derivation.g_form], [])]
    if task := derivation.task:
        blocks += [
            Block(f'Task space: {task.axes} of {task.frame} in its own axes: ẋ = J q̇, '
                  'τ = Jᵀ (Mₓ ẍ + Bₓ [q̇q̇] + Cₓ [q̇²] + Gₓ), with ẍ the rate of change of '
                  'these ẋ', 'J', 'J_{{{}}}', task.J, each),
            Block('Mass matrix', 'Mₓ', '(M_x)_{{{}}}', task.M, each, True),
            Block('Coriolis', 'Bₓ', '(B_x)_{{{}}}', task.B, both),
            Block('Centrifugal', 'Cₓ', '(C_x)_{{{}}}', task.C, each),
            Block('Gravity', 'Gₓ', '(G_x)_{{{}}}', task.G, []),
            Block('Coriolis, in joint efforts', 'JᵀBₓ', '(J^T B_x)_{{{}}}', task.B_joint, both),
            Block('Centrifugal, in joint efforts', 'JᵀCₓ', '(J^T C_x)_{{{}}}', task.C_joint,
                  each)]
    return [block for block in blocks if block.rows[0]]     # one joint has no products


def _style(kind: str, derivation: Derivation) -> Style:
    return Style(kind, derivation.q, decimal=not derivation.values)


def _bases(derivation: Derivation) -> set[sp.Symbol | Trig]:
    """Return all symbols, cosines and sines of the formulas."""
    task = derivation.task
    rows = [*derivation.M_form, *derivation.B_form, *derivation.C_form, derivation.g_form]
    if task:
        rows += [*task.J, *task.M, *task.B, *task.C, *task.G, *task.B_joint, *task.C_joint]
    return set().union(*(formula.bases() for row in rows for formula in row))


def _trigs(derivation: Derivation) -> list[Trig]:
    """Return the shorthands that occur, in order."""
    return sorted((t for t in _bases(derivation) if isinstance(t, Trig)
                   and isinstance(t.angle, tuple) and set(t.angle) <= {0, 1}),
                  key=lambda t: ([i for i, k in enumerate(t.angle) if k], t.kind))


def _used(derivation: Derivation) -> dict[sp.Symbol, float]:
    """Return the values of the symbols that occur, in order."""
    used: set[sp.Symbol] = set()
    for base in _bases(derivation):
        used |= ({base} if isinstance(base, sp.Symbol) else set() if isinstance(base.angle, tuple)
                 else base.angle.free_symbols)
    return {s: x for s, x in derivation.values.items() if s in used}


def _broken(head: str, pieces: list[str], width: int) -> list[str]:
    """Return the lines of a formula, broken between terms where possible."""
    lines, indent = [head.rstrip(' ')], ' ' * min(len(head), 12)
    for k, piece in enumerate(pieces):
        joined = f'{lines[-1]} {piece}'
        if len(joined) <= width:
            lines[-1] = joined
        elif len(indent + piece) <= width:
            lines.append(indent + piece)
        else:
            lines += textwrap.wrap(piece, width, initial_indent=indent if k else '    ',
                                   subsequent_indent=indent + '    ', break_on_hyphens=False,
                                   break_long_words=False)
    return lines


def _broken_latex(head: str, pieces: list[str]) -> list[str]:
    rows = [head]
    for k, piece in enumerate(pieces):
        if k and len(rows[-1]) + len(piece) > LATEX_LINE_LENGTH:
            rows.append(r'&\quad ')
        rows[-1] += piece + ' '
    return [row.rstrip() for row in rows]


def _filled(words: str, width: int) -> list[str]:
    """Return the lines of a list of words, broken after commas where possible."""
    glued = words.replace(' = ', '\xa0=\xa0').replace(' + ', '\xa0+\xa0')
    return [line.replace('\xa0', ' ') for line in textwrap.wrap(
        glued, width, subsequent_indent='  ', break_long_words=False, break_on_hyphens=False)]


def _decimal(x: float) -> str:
    mantissa, _, exponent = f'{x:.6g}'.partition('e')
    return f'{mantissa} \\cdot 10^{{{int(exponent)}}}' if exponent else mantissa


def _ascii(words: str) -> str:
    for mark, plain in ASCII:
        words = normalize('NFD', words).replace(mark, plain)
    return words
