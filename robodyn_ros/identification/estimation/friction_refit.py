# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Friction of an estimate with presliding, refitted as a function of the velocity alone."""

from dataclasses import replace

import numpy as np
from scipy.optimize import lsq_linear

from ..motion import Motion
from .estimate import Estimate
from .regression import regression


def with_smooth_friction(estimate: Estimate, motion: Motion) -> Estimate:
    """
    Return an estimate without presliding, as models and controllers have friction.

    Inertias and armature stay. Friction and offsets are refitted, with the smooth sign of the
    velocity and joint by joint by nonnegative least squares, to the efforts that the inertias
    leave. Base parameters and covariance stay those of the estimate with presliding.
    """
    given = regression(estimate.model, motion, replace(estimate.selection, presliding=()))
    kinds = np.array([name.split()[0] for name in given.names])
    parameters = np.array([estimate[name] for name in given.names])
    for j in range(estimate.model.nv):
        # A column of zeros tells nothing: its parameter stays as it is
        own = (given.joint == j) & (kinds != 'armature') & given.matrix[:, j].any(0)
        if not own.any():
            continue
        rest = given.target[:, j] - given.matrix[:, j, ~own] @ parameters[~own]
        low = np.where(kinds[own] == 'offset', -np.inf, 0.0)
        parameters[own] = lsq_linear(given.matrix[:, j, own], rest, (low, np.inf)).x
    return replace(estimate, selection=given.selection, names=given.names, units=given.units,
                   prior=given.prior, joint=given.joint, parameters=parameters)
