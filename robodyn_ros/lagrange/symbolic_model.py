# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Symbolic model of an arm: kinematics and inertia in symbols, of DH rows or of a numerical model.

In a numerical model every parameter that is not zero gets a name: m_i are masses, l_i lengths, g
gravity; I_xxi ... moments and products of inertia about the centre of mass, J_i rotor inertias.
Where body i has several lengths, l_xi is the distance of the next joint along x, r_xi that of the
centre of mass. Numbers of one body that are the same along the same axis get one symbol: a point
mass at the end of a link is at its length.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
import re
from typing import Any

import numpy as np
from numpy import ndarray
import sympy as sp

from ..errors import DerivationError
from ..model.arithmetic import evaluate
from ..model.dh_file import DhFile, Expression, mapped
from ..model.robot import RobotModel

RIGHT_ANGLE = 1e-9      # [rad] so close to a multiple of pi/2 an angle is taken as one
Z = sp.Matrix([0, 0, 1])
AXES = 'xyz'
ZERO_SUM_ROUNDING = 1e-15    # [SI units]


@dataclass(frozen=True)
class Body:
    """
    Moving body, as in :class:`~robodyn_ros.model.robot.RobotModel`, with SymPy values.

    :param parent: index of the body that carries its joint, -1 for the base.
    :param driver: index of the coordinate q; the joint is at ``ratio * q + shift``.
    """

    parent: int
    turns: bool
    rotation: sp.Matrix
    origin: sp.Matrix
    axis: sp.Matrix
    driver: int
    ratio: sp.Expr
    shift: sp.Expr
    mass: sp.Expr
    com: sp.Matrix
    inertia: sp.Matrix


@dataclass(frozen=True)
class Arm:
    """
    Symbolic model: bodies, coordinates, rotor inertias and gravity.

    :param q: coordinates: theta_i of revolute, d_i of prismatic joints (q_i where the arm has a
        symbol of that name).
    :param armature: rotor inertia of each coordinate.
    :param frames: body (-1: the base), rotation and origin of each frame by name.
    :param values: value of each symbol [SI units], in the order of printing.
    :param inertial: symbols of masses and moments of inertia.
    :param model: the numerical model that results are compared with.
    """

    name: str
    bodies: tuple[Body, ...]
    q: tuple[sp.Symbol, ...]
    armature: tuple[sp.Expr, ...]
    gravity: sp.Matrix
    frames: Mapping[str, tuple[int, sp.Matrix, sp.Matrix]]
    values: Mapping[sp.Symbol, float]
    inertial: frozenset[sp.Symbol]
    model: RobotModel

    @property
    def qd(self) -> tuple[sp.Symbol, ...]:
        """Velocities."""
        return tuple(velocity(q) for q in self.q)


def velocity(q: sp.Symbol) -> sp.Symbol:
    """Return the symbol of the velocity of a coordinate: thetadot_1 of theta_1."""
    return sp.Symbol('dot_'.join(q.name.split('_')), real=True)


def coordinates(turns: list[bool], taken: set[str]) -> tuple[sp.Symbol, ...]:
    """Return names of coordinates that no other symbol has."""
    names = [f'{"theta" if turning else "d"}_{i + 1}' for i, turning in enumerate(turns)]
    if taken & set(names):
        names = [f'q_{i + 1}' for i in range(len(turns))]
    return tuple(sp.Symbol(name, real=True) for name in names)


def shown(name: str) -> str:
    """Return the printed form of a name in a file: l_1 of l1, I_zz1 of Izz1."""
    letters = name.rstrip('0123456789')
    if '_' in name or len(letters) == len(name):
        return name
    if letters[1:] in ('xx', 'yy', 'zz', 'xy', 'xz', 'yz') and letters[0] in 'IJ':
        return f'{letters[0]}_{name[1:]}'
    return f'{letters}_{name[len(letters):]}'


def exact(x: float) -> sp.Rational:
    """Return the decimal number that a float prints as, as a rational."""
    return sp.Rational(repr(float(x)))


def cos_sin(angle: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Return cosine and sine, exact for multiples of pi/2 and of symbols, else numbers."""
    if angle.free_symbols:
        return sp.cos(angle), sp.sin(angle)
    quarters = float(angle) / (sp.pi / 2).evalf()
    if abs(quarters - round(quarters)) * (sp.pi / 2).evalf() <= RIGHT_ANGLE:
        angle = round(quarters) * sp.pi / 2
        return sp.cos(angle), sp.sin(angle)
    return exact(sp.cos(angle).evalf()), exact(sp.sin(angle).evalf())


def turned(axis: str, angle: sp.Expr) -> sp.Matrix:
    """Return the rotation (3, 3) about x or z."""
    c, s = cos_sin(angle)
    return sp.Matrix([[1, 0, 0], [0, c, -s], [0, s, c]] if axis == 'x' else
                     [[c, -s, 0], [s, c, 0], [0, 0, 1]])


def dh_arm(file: DhFile, model: RobotModel, *, numbers: bool = False) -> Arm:
    """
    Return the symbolic model of a file of DH rows, in its own symbols.

    :param model: the numerical model, from :func:`~robodyn_ros.model.dh_file.load_dh`.
    :param numbers: use the values of the symbols.
    :raises DerivationError: a name in the file would be printed as another one, or as a cosine or
        sine.
    """
    symbols = {name: sp.Symbol(shown(name), real=True) for name in file.values}
    for name, symbol in symbols.items():
        if re.fullmatch(r'[cs]_\d+', symbol.name):
            raise DerivationError(f'{file.path}: {name} under values would be read as a cosine or '
                                  'a sine', name=name, remedy='call it something else')
    if len({s.name for s in symbols.values()}) < len(symbols):
        raise DerivationError(f'{file.path}: two names under values would be shown alike',
                              name='values', remedy='do not use l1 and l_1 side by side')
    values = {symbols[name]: value for name, value in file.values.items()}
    known = {**symbols, 'pi': sp.pi}
    if numbers:
        known.update((name, exact(value)) for name, value in file.values.items())
        values = {}

    def formula(expression: Expression) -> sp.Expr:
        return sp.sympify(evaluate(expression.tree, known, sp.Rational))

    rows = [mapped(row, formula) for row in file.rows]
    standard = file.convention == 'standard'
    bodies: list[Body] = []
    frames: dict[str, Any] = {'base': (-1, sp.eye(3), sp.zeros(3, 1))}
    R, p = _placement(mapped(file.base, formula))
    for i, row in enumerate(rows):
        turns, offset = row.get('joint', 'revolute') == 'revolute', row.get('offset', sp.S.Zero)
        turn = row['theta'] + (offset if turns else 0)
        slide = row['d'] + (0 if turns else offset)
        along = turned('x', row['alpha']), sp.Matrix([row['a'], 0, 0])
        none = sp.eye(3), sp.zeros(3, 1)
        before, after = (none, along) if standard else (along, none)
        R, p = R * before[0], p + R * before[1]
        rotation = R * turned('z', turn)
        given = row.get('inertia', [0, 0, 0])
        inertia = sp.Matrix(given) if isinstance(given[0], list) else sp.diag(*given)
        bodies.append(Body(
            i - 1, turns, rotation, p + R * Z * slide, Z, i, sp.S.One, sp.S.Zero,
            row.get('mass', sp.S.Zero),
            after[0] * sp.Matrix(row.get('com', [0, 0, 0])) + after[1],
            after[0] * inertia * after[0].T))
        frames[f'link{i + 1}'] = (i, *after)
        R, p = after
    if file.tool is not None:
        T, t = _placement(mapped(file.tool, formula))
        frames['tool'] = (len(rows) - 1, R * T, p + R * t)
    armature = tuple(row.get('armature', sp.S.Zero) + row.get('rotor_inertia', sp.S.Zero)
                     * row.get('gear_ratio', sp.S.One)**2 for row in rows)
    inertial = {s for row in rows for key in ('mass', 'inertia', 'armature', 'rotor_inertia')
                for s in sp.Matrix(sp.flatten([row.get(key, 0)])).free_symbols}
    return Arm(file.name, tuple(bodies),
               coordinates([b.turns for b in bodies], {s.name for s in values}),
               armature,
               sp.Matrix(mapped(file.gravity, formula)), frames,
               values, frozenset(inertial), model)


def _placement(given: list[Any] | None) -> tuple[sp.Matrix, sp.Matrix]:
    """Return rotation and origin of a transform, of a translation, or of None."""
    if given is None or len(given) == 3:
        return sp.eye(3), sp.Matrix(given or [0, 0, 0])
    M = sp.Matrix(given)
    return M[:3, :3], M[:3, 3]


def model_arm(model: RobotModel, *, numbers: bool = False, rounding: float = RIGHT_ANGLE) -> Arm:
    """
    Return the symbolic model of a robot, with a symbol for every value that is not zero.

    :param numbers: keep the numbers instead.
    :param rounding: tolerance [rad] for right angles, which applies to ``Arm.model`` too.
    """
    def right(array: ndarray) -> ndarray:
        """Return direction cosines, exact if all of them are 0 or 1 within a tolerance."""
        near = array.round() + 0.0
        return near if np.abs(array - near).max() <= rounding else array

    model = replace(
        model, joint_rotation=np.array([right(R) for R in model.joint_rotation]),
        joint_axis=np.array([right(a) for a in model.joint_axis]),
        frames={name: replace(f, rotation=right(f.rotation)) for name, f in model.frames.items()})
    names = _Names(numbers)
    lengths = [names.lengths(model, i) for i in range(-1, model.nb)]
    bodies = []
    for i in range(model.nb):
        mass = names.symbol(f'm_{i + 1}', model.mass[i], inertial=True)
        inertia = sp.zeros(3)
        for a in range(3):
            for b in range(a, 3):
                inertia[a, b] = inertia[b, a] = names.symbol(
                    f'I_{AXES[a]}{AXES[b]}{i + 1}', model.inertia[i, a, b], inertial=True)
        bodies.append(Body(
            int(model.parent[i]), not model.body_slides[i],
            _matrix(model.joint_rotation[i]),
            sp.Matrix([lengths[model.parent[i] + 1][f'o{i}', a] for a in range(3)]),
            sp.Matrix([exact(x) for x in model.joint_axis[i]]), int(model.driver[i]),
            exact(model.ratio[i]), exact(model.shift[i]), mass,
            sp.Matrix([lengths[i + 1]['com', a] for a in range(3)]), inertia))
    armature = tuple(names.symbol(f'J_{i + 1}', x, inertial=True)
                     for i, x in enumerate(model.armature))
    pull = [int(a) for a in np.flatnonzero(model.gravity_vector)]
    gravity = sp.zeros(3, 1)
    for a in pull:
        x = model.gravity_vector[a]
        name = 'g' if len(pull) == 1 else f'g_{AXES[a]}'
        gravity[a] = -names.symbol(name, -x) if x < 0 else names.symbol(name, x)
    frames = {}
    for name, frame in model.frames.items():
        at = lengths[frame.body + 1]
        frames[name] = (frame.body, _matrix(frame.rotation),
                        sp.Matrix([at.get((f'f{name}', a), exact(frame.origin[a]))
                                   for a in range(3)]))
    turns = [not slides for slides in model.slides]
    return Arm(model.name, tuple(bodies), coordinates(turns, set()), armature, gravity, frames,
               names.values, frozenset(names.inertial), model)


def _matrix(array: ndarray) -> sp.Matrix:
    return sp.Matrix(*array.shape, [exact(x) for x in array.flat])


class _Names:
    """Symbols and their values."""

    def __init__(self, numbers: bool):
        self.numbers = numbers
        self.values: dict[sp.Symbol, float] = {}
        self.inertial: set[sp.Symbol] = set()

    def symbol(self, name: str, value: float, *, inertial: bool = False) -> sp.Expr:
        if value == 0 or self.numbers:
            return exact(value)
        symbol = sp.Symbol(name, real=True)
        self.values[symbol] = float(value)
        if inertial:
            self.inertial.add(symbol)
        return symbol

    def lengths(self, model: RobotModel, body: int) -> dict[tuple[str, int], sp.Expr]:
        """Return a formula for each coordinate of points fixed to a body: joints, com, frames."""
        points = [(f'o{j}', model.joint_origin[j]) for j in np.flatnonzero(model.parent == body)]
        if body >= 0 and model.mass[body]:
            points.append(('com', model.com[body]))
        parts = [(what, a, float(x) if abs(x) > ZERO_SUM_ROUNDING else 0.0)
                 for what, point in points for a, x in enumerate(point)]
        # What frames of the tip add is named only where it is the length of something
        tips = [(f'f{name}', a, float(f.origin[a])) for name, f in model.frames.items()
                if f.body == body for a in range(3)]
        alone = len({(a, abs(x)) for _, a, x in parts if x}) == 1
        named: dict[tuple[int, float], sp.Expr] = {}
        found: dict[tuple[str, int], sp.Expr] = {('com', a): sp.S.Zero for a in range(3)}
        for what, a, x in [*parts, *tips]:
            if not x or self.numbers:
                found[what, a] = exact(x)
            elif (a, x) in named:
                found[what, a] = named[a, x]
            elif (a, -x) in named:
                found[what, a] = -named[a, -x]
            elif what[0] == 'f':
                found[what, a] = exact(x)
            else:
                kind = 'r' if what == 'com' else 'l'
                name = f'l_{body + 1}' if alone else f'{kind}_{AXES[a]}{body + 1}'
                if sp.Symbol(name, real=True) in self.values:       # several joints on one body
                    name += f',{int(what[1:]) + 1}'
                found[what, a] = named[a, x] = self.symbol(name, x)
        return found
