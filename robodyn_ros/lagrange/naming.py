# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Symbols for a numerical model: every parameter that is not zero gets a name.

m_i are masses, l_i lengths, g gravity; I_xxi ... moments and products of inertia about the centre
of mass, J_i rotor inertias. Where body i has several lengths, l_xi is the distance of the next
joint along x, r_xi that of the centre of mass. Numbers of one body that are the same along the
same axis get one symbol: a point mass at the end of a link is at its length.
"""

from dataclasses import replace

import numpy as np
from numpy import ndarray
import sympy as sp

from .symbolic_model import Arm, Body, coordinates, exact, RIGHT_ANGLE
from ..model.robot import RobotModel

AXES = 'xyz'
ZERO_SUM_ROUNDING = 1e-15    # [SI units]


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
