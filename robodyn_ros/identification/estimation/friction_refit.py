# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Friction of an estimate with presliding, refitted as a function of the velocity alone."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy import ndarray
from scipy.optimize import lsq_linear

from ..motion import Motion
from .estimate import Estimate
from .regression import Regression, regression


def with_smooth_friction(estimate: Estimate, motion: Motion) -> Estimate:
    """
    Return an estimate without presliding, as models and controllers have friction.

    Inertias and armature stay. Friction and offsets are refitted, with the smooth sign of the
    velocity and joint by joint by nonnegative least squares, to the efforts that the inertias
    leave. Base parameters and covariance stay those of the estimate with presliding.
    """
    given = regression(estimate.model, motion, replace(estimate.selection, presliding=()))
    parameters = smooth_parameters(given, dict(zip(estimate.names, estimate.parameters.tolist())))
    return replace(estimate, selection=given.selection, names=given.names, units=given.units,
                   prior=given.prior, joint=given.joint, parameters=parameters)


def smooth_parameters(given: Regression, parameters: Mapping[str, float]) -> ndarray:
    """
    Return the parameters (P,) of a regression without presliding, friction and offsets refitted.

    :param parameters: of an estimate, by name.
    """
    kinds = np.array([name.split()[0] for name in given.names])
    found = np.array([parameters[name] for name in given.names])
    for j in range(given.model.nv):
        # A column of zeros tells nothing: its parameter stays as it is
        own = (given.joint == j) & (kinds != 'armature') & given.matrix[:, j].any(0)
        if not own.any():
            continue
        rest = given.target[:, j] - given.matrix[:, j, ~own] @ found[~own]
        low = np.where(kinds[own] == 'offset', -np.inf, 0.0)
        found[own] = lsq_linear(given.matrix[:, j, own], rest, (low, np.inf)).x
    return found
