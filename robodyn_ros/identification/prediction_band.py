# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Confidence band of predicted efforts over the workspace."""

from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from .estimation.estimate import Estimate
from .estimation.regression import regression
from .motion import Motion
from ..model.pose import MAX_LIMIT

RANDOM_STATES, SEED = 400, 0
BAND_WIDTH = 1.96    # standard errors: 95 %


class PredictionBand(NamedTuple):
    """
    Half widths of the 95 % band of the predicted efforts, at random states.

    It is that of the parameters' uncertainty. Residual efforts, which the estimate's σ describes,
    come in addition.

    :param median: (nv,) over the states [N·m | N]; ``largest``: at the worst state. Both are
        infinite at joints that are not identified.
    :param worst: (nv, nv) [rad | m] position of the worst state of each joint.
    :param parameters: (nv,) base parameter to which each joint's band is due most.
    :param undetermined: base parameters that the motion does not determine, which the band leaves
        out: they stay as in the nominal model.
    """

    joint_names: tuple[str, ...]
    median: ndarray
    largest: ndarray
    worst: ndarray
    parameters: tuple[str, ...]
    undetermined: tuple[str, ...]

    def plain(self) -> dict[str, Any]:
        """Return the numbers as they are written to parameters.yaml."""
        return {name: {'median': float(self.median[j]), 'largest': float(self.largest[j]),
                       'at': self.worst[j].tolist(), 'due_to': self.parameters[j]}
                for j, name in enumerate(self.joint_names) if np.isfinite(self.median[j])}


def prediction_band(estimate: Estimate, motion: Motion) -> PredictionBand:
    """
    Return the band of an estimate's predictions over the workspace.

    States are drawn uniformly within the position limits, at velocities and accelerations up to
    the largest of each joint in the motion that was fitted.

    :param motion: that the estimate was fitted to.
    """
    model, rng = estimate.model, np.random.default_rng(SEED)
    lower, upper = (np.clip(limit, -MAX_LIMIT, MAX_LIMIT) for limit in (model.position_lower,
                                                            model.position_upper))
    shape = RANDOM_STATES, model.nv
    speed, acceleration = (abs(a).max(0) for a in (motion.velocity, motion.acceleration))
    states = Motion(model.joint_names, np.arange(RANDOM_STATES, dtype=float),
                    rng.uniform(lower, upper, shape), rng.uniform(-speed, speed, shape),
                    rng.uniform(-acceleration, acceleration, shape), np.zeros(shape), 1.0,
                    ((0, RANDOM_STATES),))
    given = regression(model, states, estimate.every_sample)
    told = np.isfinite(np.diag(estimate.covariance))
    rows = given.matrix[:, :, estimate.base.independent[told]]
    values, vectors = np.linalg.eigh(estimate.covariance[np.ix_(told, told)])
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    width = BAND_WIDTH * np.linalg.norm(rows @ root, axis=2)
    width[:, list(estimate.selection.unexplained)] = np.inf
    at = width.argmax(0)
    names = np.array(estimate.base.base_names)[told]
    alone = abs(rows) * np.sqrt(np.diag(estimate.covariance)[told])
    most = [str(names[alone[k, j].argmax()]) for j, k in enumerate(at)]
    return PredictionBand(model.joint_names, np.median(width, axis=0), width.max(0),
                          states.position[at], tuple(most), estimate.undetermined)
