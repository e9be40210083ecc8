# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Maximum-likelihood presliding distances."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import chi2

from ...model.robot import RobotModel
from ..motion import Motion
from .base_parameters import base_parameters
from .filtered_columns import thinner
from .least_squares import determined_part, least_squares, solve
from .parameter_selection import ParameterSelection
from .presliding import friction, shares
from .regression import SLOW, Regression, friction_columns, regression

SIGNIFICANCE = 1e-3                                # level of the likelihood-ratio test
DISTANCES = 10.0**np.arange(-4.0, -1.49, 0.125)    # [rad]; the last one is rejected
SLOW_DISTANCES = 10.0**np.arange(-1.5, 0.1, 0.25)  # [rad] of slow friction, likewise
COARSE = 2                                         # distances in a step of the first pass


@dataclass(frozen=True)
class Presliding:
    """
    Presliding distances.

    :param ways: [rad] as in :class:`~.parameter_selection.ParameterSelection`; empty where not
        significant.
    :param notes: estimates and decisions, one line each.
    """

    ways: tuple[float, ...]
    notes: tuple[str, ...]


def find_presliding(model: RobotModel, motion: Motion, selection: ParameterSelection
                    ) -> Presliding:
    """
    Return the maximum-likelihood presliding distances, common to all rotary joints.

    The likelihood is that of :func:`~.delay_and_tilt.find_mounting`: Σ n log σ is least. Distances
    that are not significant (likelihood-ratio test at ``SIGNIFICANCE``) are left out. Friction
    that changes its sign late opposes the acceleration; ignored, it appears as a delay of the
    efforts, or as inertias that are too small or even negative, which no consistent estimate has.
    """
    ways: tuple[float, ...] = ()
    notes: list[str] = []
    given = regression(model, motion, replace(selection, presliding=()))
    given, base = determined_part(given, base_parameters(model, given.selection))
    count = least_squares(given, 'weighted', base).independent
    before = float(count @ np.log(solve(given, base, 'weighted').sigma))
    for tried, more, text in (
            (DISTANCES, 1, 'presliding distance {:.2g} mrad'),
            (SLOW_DISTANCES, 1 + model.nv, 'presliding distance of slow friction {:.2g} mrad')):
        given = regression(model, motion, replace(selection, presliding=(*ways, float(tried[0]))))
        given, base = determined_part(given, base_parameters(model, given.selection))
        errors: dict[int, float] = {}
        for step in (COARSE, 1):        # every second distance, then the neighbours of the best
            best = min(errors, key=errors.__getitem__, default=0)
            near = range(0, len(tried), COARSE) if step > 1 else range(
                max(best - 1, 0), min(best + 2, len(tried)))
            for k in near:
                if k not in errors:
                    errors[k] = float(count @ np.log(solve(with_ways(
                        given, motion, (*ways, float(tried[k]))), base, 'weighted').sigma))
        best = min(errors, key=errors.__getitem__)
        chance = 2.0 * (before - errors[best]) <= chi2.isf(SIGNIFICANCE, more)
        taken = not chance and best < len(tried) - 1
        notes.append(text.format(1e3 * tried[best]) + (
            ': taken into account' if taken else ': not significant, not modelled' if chance
            else ' or more: rejected as implausible'))
        if not taken:
            break
        ways, before = (*ways, float(tried[best])), errors[best]
    return Presliding(ways, tuple(notes))


def with_ways(given: Regression, motion: Motion, ways: tuple[float, ...]) -> Regression:
    """Return the regression with other presliding distances; only their columns are recomputed."""
    model, selection = given.model, replace(given.selection, presliding=ways)
    thin, matrix = thinner(motion, selection, True), given.matrix.copy()
    each = np.arange(model.nv)
    columns = [(10 * model.nb + k * model.nv, friction(unit, motion, ways))
               for k, (*_, unit) in enumerate(friction_columns(model, selection))
               if unit.coulomb_friction.any() or unit.static_friction.any()
               or unit.backward_friction[1:].any()]     # viscous friction has no distance
    if len(ways) > 1:
        columns.append((given.names.index(f'{SLOW} {model.joint_names[0]}'),
                        shares(model, motion, ways[1])))
    for first, column in columns:
        matrix[:, each, first + each] = thin(column) * given.counted
    return replace(given, selection=selection, matrix=matrix)
