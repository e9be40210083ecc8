# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Maximum-likelihood presliding distances."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import chi2

from ...model.robot import RobotModel
from ..motion import Motion
from .base_parameters import base_parameters
from .least_squares import least_squares, solve
from .presliding import friction, shares
from .regression import SLOW, ParameterSelection, Regression, friction_columns, regression, thinner

CHANCE = 1e-3       # with which what is none is taken for one
SHORT = 10.0**np.arange(-4.0, -1.49, 0.125)     # [rad] that are tried; the last is too much
LONG = 10.0**np.arange(-1.5, 0.1, 0.25)         # of the second way; as well


@dataclass(frozen=True)
class Presliding:
    """
    What was found.

    :param ways: [rad] as in :class:`~.regression.ParameterSelection`; none where they are not
        significant.
    :param notes: for a person.
    """

    ways: tuple[float, ...]
    notes: tuple[str, ...]


def find_presliding(model: RobotModel, motion: Motion, selection: ParameterSelection
                    ) -> Presliding:
    """
    Return the ways, the same for all rotary joints, with which friction explains efforts best.

    They are the likeliest as in :func:`~.delay_and_tilt.find_mounting`: Σ n log σ is least. What
    could be chance (likelihood ratio, ``CHANCE``) is none. Friction that turns late pushes against
    the acceleration; unnoticed, it is taken for late efforts, and for bodies or rotors of too
    little inertia, negative ones even, which no consistent estimate can have.
    """
    ways: tuple[float, ...] = ()
    notes: list[str] = []
    given = regression(model, motion, replace(selection, presliding=()))
    base = base_parameters(model, given.selection)
    count = least_squares(given, 'weighted', base).independent
    before = float(count @ np.log(solve(given, base, 'weighted').sigma))
    for tried, more, text in (
            (SHORT, 1, 'after a reversal friction turns round within some {:.2g} mrad'),
            (LONG, 1 + model.nv, 'besides, friction turns round within some {:.2g} mrad')):
        given = regression(model, motion, replace(selection, presliding=(*ways, float(tried[0]))))
        base = base_parameters(model, given.selection)
        errors = [float(count @ np.log(solve(with_ways(given, motion, (*ways, way)), base,
                                             'weighted').sigma)) for way in tried.tolist()]
        best = int(np.argmin(errors))
        chance = 2.0 * (before - errors[best]) <= chi2.isf(CHANCE, more)
        taken = not chance and best < len(tried) - 1
        notes.append(text.format(1e3 * tried[best]) + (
            ': taken into account' if taken else ': could be chance, it is not assumed' if chance
            else ', or more: not believed, it is too much'))
        if not taken:
            break
        ways, before = (*ways, float(tried[best])), errors[best]
    return Presliding(ways, tuple(notes))


def with_ways(given: Regression, motion: Motion, ways: tuple[float, ...]) -> Regression:
    """Return the regression of the motion with as many other ways; the rest is not made anew."""
    model, selection = given.model, replace(given.selection, presliding=ways)
    thin, matrix = thinner(motion, selection, True), given.matrix.copy()
    each = np.arange(model.nv)
    columns = [(10 * model.nb + k * model.nv, friction(unit, motion, ways))
               for k, (*_, unit) in enumerate(friction_columns(model, selection))]
    if len(ways) > 1:
        columns.append((given.names.index(f'{SLOW} {model.joint_names[0]}'),
                        shares(model, motion, ways[1])))
    for first, column in columns:
        matrix[:, each, first + each] = thin(column) * given.counted
    return replace(given, selection=selection, matrix=matrix)
