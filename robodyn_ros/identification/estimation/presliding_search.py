# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Maximum-likelihood presliding distance."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from .filtered_columns import thinner
from .least_squares import Likelihood
from .parameter_selection import ParameterSelection
from .regression import friction_columns, presliding_model, Regression, regression
from ..motion import Motion
from ..path_friction import path_friction
from ...model.robot import RobotModel

SIGNIFICANCE = 1e-3                                # level of the likelihood-ratio test
DISTANCES = 10.0**np.arange(-4.0, -1.49, 0.125)    # [rad]; the last one is rejected
DISTANCES_PER_STEP = 4    # of the first pass


@dataclass(frozen=True)
class Presliding:
    """
    Presliding distance.

    :param distance: [rad]; 0 where it is not significant.
    :param note: estimate and decision in one line.
    """

    distance: float
    note: str


def find_presliding(model: RobotModel, motion: Motion, selection: ParameterSelection,
                    near: float = 0.0) -> Presliding:
    """
    Return the maximum-likelihood presliding distance, common to all rotary joints.

    The likelihood is that of :class:`~.least_squares.Likelihood`. A
    distance that is not significant (likelihood-ratio test at ``SIGNIFICANCE``) is zero. Friction
    that changes its sign late opposes the acceleration; ignored, it appears as a delay of the
    efforts, or as inertias that are too small or even negative, which no consistent estimate has.

    :param near: distance about which is searched first [rad]; 0: over the whole range.
    """
    likelihood = Likelihood(regression(model, motion, replace(selection, presliding=0.0)))
    given = regression(model, motion, replace(selection, presliding=float(DISTANCES[0])))
    errors: dict[int, float] = {}

    def look_at(places: Iterable[int]) -> int:
        for k in places:
            if k not in errors and 0 <= k < len(DISTANCES):
                errors[k] = likelihood.misfit(with_distance(given, motion, float(DISTANCES[k])))
        return min(errors, key=errors.__getitem__)

    best = look_at(range(0, len(DISTANCES), DISTANCES_PER_STEP) if near == 0.0 else
                   [int(abs(np.log(DISTANCES / near)).argmin())])
    step = DISTANCES_PER_STEP // 2
    while step:         # nearer and nearer to the best
        before_best, best = best, look_at((best - step, best + step))
        step = step if near and best != before_best else step // 2
    chance = not likelihood.explains(errors[best], 1, SIGNIFICANCE)
    taken = not chance and best < len(DISTANCES) - 1
    return Presliding(float(DISTANCES[best]) if taken else 0.0, (
        f'presliding distance {1e3 * DISTANCES[best]:.2g} mrad' + (
            ': significant' if taken else ': not significant, not modelled' if chance
            else ' or more: rejected as implausible')))


def with_distance(given: Regression, motion: Motion, distance: float) -> Regression:
    """Return the regression with another presliding distance; only its columns are recomputed."""
    selection = replace(given.selection, presliding=distance)
    thin, matrix = thinner(motion, selection, True), given.matrix.copy()
    each, first = np.arange(given.model.nv), 10 * given.model.nb
    columns = friction_columns(presliding_model(given.model, selection), selection, motion)
    for name, *_, unit, load in columns:
        if not name.startswith('viscous'):      # it has no distance
            matrix[:, each, first + each] = thin(path_friction(unit, motion, load)) \
                * given.counted
        first += given.model.nv
    return replace(given, selection=selection, matrix=matrix)
