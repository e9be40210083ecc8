# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Derivation of the equations of motion of an arm, and their check against Newton-Euler."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
import re
from typing import Any

import numpy as np
from numpy import ndarray
import sympy as sp
from sympy.polys.rings import PolyElement

from .equations import (
    angular, chopped, Equations, equations, pairs, Placement, placements, Polynomials, Rows)
from .symbolic_model import Arm, dh_arm, model_arm, RIGHT_ANGLE
from .textbook_form import collected, quotient, Sum
from ..dynamics import Dynamics
from ..errors import DerivationError, UnknownNameError
from ..model.dh_file import load_dh, read_dh
from ..model.resources import robot_path, rows_path
from ..model.robot import RobotModel
from ..model.urdf import load_urdf

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


MAX_JOINTS = 4    # 26,000 characters and 1 s of a Panda; 420,000 and 10 s with 6, a minute with 7
MAX_ROUNDING = 0.01    # [rad]
MAX_EFFORT_DEVIATION = 1e-9    # relative
TESTED_STATES = 100
MAX_POSITION = 2.0    # [rad | m], of joints without limits
MAX_VELOCITY = 2.0    # [rad/s | m/s, and per s]
MIN_SINGULAR_VALUE = 1e-2    # [m | 1] of the Jacobian at tested states


def joint_deviation(arm: Arm, M: list[list[Sum]], B: list[list[Sum]], C: list[list[Sum]],
                    g: list[Sum], seed: int = 0) -> float:
    """
    Return the largest relative deviation of τ from inverse dynamics at random states.

    The deviation of the vector τ is relative to the largest of its terms M q̈, B [q̇q̇], C [q̇²]
    and g.
    """
    dynamics, worst = Dynamics(arm.model), 0.0
    states = _states(arm.model, seed)
    known = [numbers(arm, rows, states[:, 0]) for rows in (M, B, C, [[x] for x in g])]
    for (q, qd, qdd), m, b, c, pull in zip(states, *known):
        terms = [m @ qdd, b @ products(qd), c @ qd ** 2, pull[:, 0]]
        tau = dynamics.inverse_dynamics(q, qd, qdd)
        worst = _worse(worst, sum(terms) - tau, terms)
    return worst


def task_deviation(arm: Arm, task: TaskSpace, seed: int = 0) -> float:
    """
    Return the largest relative deviation of Jᵀ (M_x ẍ + V_x + G_x).

    J and J̇ are those of the numerical model; poses where J is close to singular are left out.
    """
    dynamics, worst = Dynamics(arm.model), 0.0
    states = _states(arm.model, seed)
    known = [numbers(arm, rows, states[:, 0]) for rows in (
        task.M, task.B, task.C, task.G, task.B_joint, task.C_joint)]
    for (q, qd, qdd), m, b, c, pull, b_joint, c_joint in zip(states, *known):
        J, rate = (x[list(task.rows)] for x in (
            dynamics.jacobian(q, task.frame, 'body'),
            dynamics.jacobian_dot(q, qd, task.frame, 'body')))
        if np.linalg.svd(J)[1][-1] < MIN_SINGULAR_VALUE:
            continue
        forces = [m @ (J @ qdd + rate @ qd), b @ products(qd), c @ qd ** 2, pull[:, 0]]
        terms = [J.T @ force for force in forces]
        tau = dynamics.inverse_dynamics(q, qd, qdd)
        worst = _worse(worst, sum(terms) - tau, terms)
        split = b_joint @ products(qd) + c_joint @ qd ** 2
        worst = _worse(worst, split - terms[1] - terms[2], terms)
    return worst


def products(qd: ndarray) -> ndarray:
    """Return q̇_i q̇_j of i < j, in the order of the columns of B."""
    return np.array([qd[i] * qd[j] for i, j in pairs(len(qd))])


def numbers(arm: Arm, rows: list[list[Sum]], q: ndarray) -> ndarray:
    """Return the values (k, rows, columns) of formulas at positions q (k, n)."""
    known: dict[sp.Symbol, Any] = {**arm.values, **dict(zip(arm.q, q.T))}
    found = np.empty((len(q), len(rows), len(rows[0])))
    for i, row in enumerate(rows):
        for j, formula in enumerate(row):
            found[:, i, j] = formula.value((q.T, known))
    return found


def _states(model: RobotModel, seed: int) -> ndarray:
    """Return q, q̇, q̈ of each state, (TESTED_STATES, 3, nv)."""
    random = np.random.default_rng(seed)
    lower = np.maximum(model.position_lower, -MAX_POSITION)
    upper = np.minimum(model.position_upper, MAX_POSITION)
    lower, upper = np.minimum(lower, upper), np.maximum(lower, upper)
    return np.array([[random.uniform(lower, upper), *random.uniform(-MAX_VELOCITY, MAX_VELOCITY,
                                                                    (2, model.nv))]
                     for _ in range(TESTED_STATES)])


def _worse(worst: float, off: ndarray, terms: list[ndarray]) -> float:
    """Return the larger deviation; NaN is the largest."""
    scale = max(abs(term).max() for term in terms)
    found = abs(off).max() / scale if scale else float(abs(off).max())
    return max(worst, float(found)) if np.isfinite(found) else float('inf')


@dataclass(frozen=True, eq=False)
class Derivation:
    """
    Equation of motion τ = M(q) q̈ + B(q) [q̇q̇] + C(q) [q̇²] + g(q) of an arm.

    M (n, n), B (n, n (n - 1) / 2), C (n, n) and g (n, 1) are SymPy matrices of the symbols of
    ``values`` and ``q``; columns of B are q̇_1 q̇_2, q̇_1 q̇_3, ..., q̇_2 q̇_3, ... SI units,
    without friction, with rotor inertias. Craig 2005, section 6.8.

    :param M_form: (n, n) entries in the order of printing; ``B_form``, ``C_form``, ``g_form``
        likewise.
    :param task: of the chosen frame, or None.
    :param deviation: largest relative deviation from numerical inverse dynamics at random states.
    """

    arm: Arm
    M_form: list[list[Sum]]
    B_form: list[list[Sum]]
    C_form: list[list[Sum]]
    g_form: list[Sum]
    task: TaskSpace | None
    deviation: float

    @property
    def q(self) -> tuple[sp.Symbol, ...]:
        """Coordinates: theta_i of revolute joints, d_i of prismatic joints."""
        return self.arm.q

    @property
    def qd(self) -> tuple[sp.Symbol, ...]:
        """Velocities."""
        return self.arm.qd

    @property
    def values(self) -> dict[sp.Symbol, float]:
        """Value of each symbol, for ``subs``."""
        return dict(self.arm.values)

    @property
    def trusted(self) -> bool:
        """Whether the formulas agree with inverse dynamics."""
        return self.deviation <= MAX_EFFORT_DEVIATION

    @cached_property
    def M(self) -> sp.Matrix:
        """Mass matrix."""
        return self.matrix(self.M_form)

    @cached_property
    def B(self) -> sp.Matrix:
        """Coriolis coefficients, of products of different velocities."""
        return self.matrix(self.B_form)

    @cached_property
    def C(self) -> sp.Matrix:
        """Centrifugal coefficients, of squares of velocities."""
        return self.matrix(self.C_form)

    @cached_property
    def g(self) -> sp.Matrix:
        """Gravity efforts."""
        return self.matrix([[x] for x in self.g_form])

    def matrix(self, rows: list[list[Sum]]) -> sp.Matrix:
        """Return formulas of this arm as a matrix of SymPy."""
        return sp.Matrix(len(rows), len(rows[0]) if rows else 0,
                         [x.sympy(self.q) for row in rows for x in row])


def derive(source: RobotModel | str | Path, *, numbers: bool = False, frame: str | None = None,
           axes: str = '', rounding: float = RIGHT_ANGLE, force: bool = False) -> Derivation:
    """
    Derive the equation of motion of a small arm from its energies, and check it.

    :param source: a model; or path or known name of a URDF, or of a file of DH rows
        (:mod:`~robodyn_ros.model.dh_file`), whose symbols are used.
    :param numbers: use numbers instead of symbols.
    :param frame: derive the equation of motion in the axes of this frame too (:mod:`~.task`).
    :param axes: of the task, some of ``xyzrpy``, as many as there are joints.
    :param rounding: tolerance [rad] for treating an angle of a model or a URDF as a right angle:
    1e-5 where a URDF says 1.5708. The check is then against the rounded robot.
    :param force: allow any number of joints.
    :raises DerivationError: there are more joints than formulas can be read of, or the task-space
        inertia has no closed form.
    :raises UnknownNameError: there is no such frame.
    """
    if frame is None and axes:
        raise DerivationError(f'axes {axes!r} of no frame', name='axes', value=axes,
                              remedy='name the frame too, e.g. tool')
    if not 0 <= rounding <= MAX_ROUNDING:
        raise DerivationError(f'rounding {rounding!r} cannot be used', name='rounding',
                              value=rounding, remedy=f'use 0 to {MAX_ROUNDING} rad')
    arm = _arm(source, numbers, rounding)
    n = len(arm.q)
    if n > MAX_JOINTS and not force:
        raise DerivationError(
            f'{arm.name!r} has {n} joints, the formulas of more than {MAX_JOINTS} fill many pages',
            name=arm.name, value=n, remedy='lock some (--locked), or insist (--force): '
            '6 joints take up to 10 s and 400,000 characters, 7 a minute and four times as many')
    poly = Polynomials(arm)
    placed = placements(arm, poly)
    found = equations(arm, poly, placed)
    M, B, C = ([[collected(x, poly) for x in row] for row in rows]
               for rows in (found.M, found.B, found.C))
    g = [collected(x, poly) for x in found.g]
    task = task_space(arm, poly, placed, found, frame, axes) if frame is not None else None
    deviation = joint_deviation(arm, M, B, C, g)
    if task:
        deviation = max(deviation, task_deviation(arm, task))
    return Derivation(arm, M, B, C, g, task, deviation)


def _arm(source: RobotModel | str | Path, numbers: bool, rounding: float) -> Arm:
    if isinstance(source, RobotModel):
        return model_arm(source, numbers=numbers, rounding=rounding)
    if rows := rows_path(source):
        return dh_arm(read_dh(rows), load_dh(rows), numbers=numbers)
    return model_arm(load_urdf(robot_path(source)), numbers=numbers, rounding=rounding)
