# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Report of a derivation for a terminal or in LaTeX."""

from dataclasses import dataclass
import textwrap
from unicodedata import normalize

import sympy as sp

from .check import MAX_EFFORT_DEVIATION, TESTED_STATES
from .collect import Sum, Trig
from .derivation import Derivation
from .equations import pairs
from .printing import Style

TERMINAL_WIDTH = 80    # columns
LATEX_LINE_LENGTH = 100    # characters, most of them not printed
ASCII = (('τ', 'tau'), ('θ', 'theta'), ('²', '^2'), ('ᵀ', '^T'), ('ₓ', '_x'), ('\u0308', "''"),
         ('\u0307', "'"))


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
