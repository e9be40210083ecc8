# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Base parameters: the combinations of parameters that the efforts depend on."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy import ndarray

from .filtered_columns import kinematics
from .regression import INERTIAL_PARAMETERS, Regression, regression
from ..motion import Motion
from ..options import ParameterSelection, USUAL_PARAMETERS
from ...dynamics.model_data import friction_parameters
from ...model.robot import MAX_LIMIT, RobotModel

# Share of a column below which its independent part is due to rounded angles of the URDF (1.5708
# is 4e-6 off a right angle), and invisible to sensors
DEPENDENCE_TOLERANCE = 1e-4
ZERO_COLUMN = 1e-7    # of the largest column
NEGLIGIBLE_SHARE = 1e-5    # of a column: the effect of a smaller share on the efforts
EXACT_TOLERANCE = 1e-9    # of a short decimal or fraction
# Parameters of a body in the order in which they are kept; textbooks regroup the last ones
KEPT_FIRST = ('Izz', 'Ixx', 'Ixy', 'Ixz', 'Iyz', 'mcx', 'mcy', 'mcz', 'Iyy', 'm')
SAMPLES_PER_PARAMETER = 4


@dataclass(frozen=True, eq=False)
class BaseParameters:
    """
    Base parameters β = combination @ φ, all that efforts depend on of the parameters φ.

    :param names: (P,) names of φ.
    :param independent: (p,) indices of the columns that the regression keeps; each leads one
        combination, with the coefficient 1.
    :param combination: (p, P).
    """

    names: tuple[str, ...]
    independent: ndarray
    combination: ndarray

    @property
    def rank(self) -> int:
        """Return the number of base parameters p."""
        return len(self.independent)

    @property
    def base_names(self) -> tuple[str, ...]:
        """Names (p,) of the leading parameters."""
        return tuple(self.names[i] for i in self.independent)

    @property
    def unseen(self) -> tuple[str, ...]:
        """Parameters that no effort depends on."""
        return tuple(name for name, column in zip(self.names, self.combination.T)
                     if not column.any())

    @property
    def texts(self) -> tuple[str, ...]:
        """Return the combinations (p,) as text: 'Izz link1 + 0.09 m link2'."""
        lines = []
        for k, lead in enumerate(self.independent):
            line = self.names[lead]
            for i in np.flatnonzero(self.combination[k]):
                if i != lead:
                    c = self.combination[k, i]
                    factor = number(abs(c))
                    line += (f' {"-" if c < 0 else "+"} {factor + " " if factor != "1" else ""}'
                             f'{self.names[i]}')
            lines.append(line)
        return tuple(lines)

    def values(self, parameters: ndarray) -> ndarray:
        """Return the base parameters (p,) of full ones (P,)."""
        return self.combination @ parameters


def number(value: float) -> str:
    """Return a positive number as text: a short decimal or fraction where it is exactly one."""
    short = f'{value:.6g}'
    if abs(float(short) - value) > EXACT_TOLERANCE:
        fraction = Fraction(value).limit_denominator(64)
        if abs(float(fraction) - value) <= EXACT_TOLERANCE:
            return str(fraction)
    return short


def base_parameters(model: RobotModel, selection: ParameterSelection = USUAL_PARAMETERS
                    ) -> BaseParameters:
    """
    Return the base parameters of a robot under any motion.

    Computed numerically from the regression of random states (Gautier 1991; Khalil and Dombre
    2002, section 9.4 and appendix 5): its columns are orthogonalized one after the other, bodies
    from the base to the tip, so that parameters are regrouped with those of bodies nearer to the
    base.

    :param selection: joint parameters besides the inertial ones.
    """
    # Dry friction has columns of its own, whatever its distance
    plain = replace(selection, moving=None, decimate=1, presliding=0.0, still=(),
                    unexplained=())
    key = (plain, *kinematics(model), friction_parameters(model).tobytes())
    if key not in _CACHE:
        while len(_CACHE) >= MAX_CACHED_MODELS:
            del _CACHE[next(iter(_CACHE))]
        _CACHE[key] = base_of(regression(model, random_states(model), plain))
    return _CACHE[key]


# Every candidate of a selection asks for the same ones again
_CACHE: dict[Any, BaseParameters] = {}
MAX_CACHED_MODELS = 64


def random_states(model: RobotModel) -> Motion:
    """Return random states at slow and fast speeds; consecutive ones are unrelated."""
    rng = np.random.default_rng(1991)
    parameters = 10 * model.nb + 9 * model.nv
    count = SAMPLES_PER_PARAMETER * parameters // model.nv + 10
    lower, upper = (np.clip(limit, -MAX_LIMIT, MAX_LIMIT) for limit in (model.position_lower,
                                                            model.position_upper))
    shape = (count, model.nv)
    speed = 10.0**rng.uniform(-3, 0.5, shape) * rng.choice([-1, 1], shape)
    return Motion(model.joint_names, np.arange(count, dtype=float),
                  rng.uniform(lower, upper, shape), speed, rng.normal(size=shape) * 3.0,
                  np.zeros(shape), 1.0, ((0, count),))


def base_of(given: Regression, order: Sequence[int] | None = None) -> BaseParameters:
    """
    Return the base parameters of the columns of a regression.

    :param order: in which columns are considered; each is kept unless those before it explain it.
        None: bodies from the base to the tip.
    """
    matrix = given.matrix.reshape(-1, given.size)
    norms = np.linalg.norm(matrix, axis=0)
    present = above_rounding(norms, sum(name.startswith('m ') for name in given.names))
    if order is None:
        order = [10 * b + INERTIAL_PARAMETERS.index(name) for b in range(given.model.nb)
                 for name in KEPT_FIRST]
        order += range(len(order), given.size)
    independent = independent_columns(matrix, [i for i in order if present[i]])
    kept = np.array(sorted(independent), int)
    scale = norms[kept]
    combination = np.linalg.lstsq(matrix[:, kept] / scale, matrix, rcond=None)[0] / scale[:, None]
    # Rounding, measured by its effect on the efforts
    effect = abs(combination) * scale[:, None]
    combination[effect <= NEGLIGIBLE_SHARE * norms] = 0.0
    combination[:, ~present] = 0.0
    combination[:, kept] = np.eye(len(kept))
    return BaseParameters(given.names, kept, combination)


def independent_columns(matrix: ndarray, order: Sequence[int]) -> list[int]:
    """
    Return which columns of a matrix (n, P) those before them do not explain.

    :param order: in which they are considered, none of them zero.
    """
    basis = np.zeros((len(matrix), len(order)))
    found: list[int] = []
    for i in order:
        rest = matrix[:, i] / np.linalg.norm(matrix[:, i])
        known = basis[:, :len(found)]
        for _ in range(2):          # twice is enough: Giraud, Langou, Rozložník 2005
            rest = rest - known @ (known.T @ rest)
        size = np.linalg.norm(rest)
        if size > DEPENDENCE_TOLERANCE:
            basis[:, len(found)] = rest / size
            found.append(i)
    return found


def above_rounding(size: ndarray, bodies: int) -> ndarray:
    """
    Return which columns of a regression are more than rounding (P,), by their sizes (P,).

    Those of masses, of first moments and of inertias are compared among themselves.

    :param bodies: whose ten columns each come first.
    """
    least = np.full(len(size), size.max(initial=0.0) * ZERO_COLUMN)
    of_body, bound = (a[:10 * bodies].reshape(bodies, 10) for a in (size, least))
    for kind in (slice(0, 1), slice(1, 4), slice(4, 10)):
        largest = of_body[:, kind].max(initial=0.0)
        bound[:, kind] = np.maximum(bound[:, kind], DEPENDENCE_TOLERANCE * largest)
    return size > least
