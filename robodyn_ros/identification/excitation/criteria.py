# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Optimality criteria of an exciting motion: condition number and information."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy import ndarray

# Of eigenvalues (n,), rising: the value, and its derivative by each of them
Criterion = Callable[[ndarray], tuple[float, ndarray]]


class Quality(NamedTuple):
    """
    Quality of a motion for identification.

    :param condition: condition number of the scaled matrix W, by which relative errors of the
        efforts may grow (Gautier and Khalil 1992).
    :param information: ln det(Wᵀ W / rows) divided by the number of parameters, to be maximized
        (Swevers et al. 1997).
    """

    condition: float
    information: float


def quality(matrix: ndarray) -> Quality:
    """Return the quality of a matrix (N, nv, columns); the condition of a singular one is inf."""
    values = np.linalg.svd(matrix.reshape(-1, matrix.shape[-1]), compute_uv=False)
    with np.errstate(divide='ignore'):
        return Quality(float(np.divide(values[0], values[-1])), float(
            2.0 * np.mean(np.log(values)) - np.log(matrix.shape[0] * matrix.shape[1])))


def smooth_condition(power: float) -> Criterion:
    """
    Return a smooth approximation of the logarithm of the condition number.

    ½ ln of the p-norms of the eigenvalues λ and of 1/λ: for ``power`` p = 1 the condition number
    in the Frobenius norm, towards infinity that in the 2-norm, which has no derivative where
    singular values coincide, as they do at its minimum.
    """
    def criterion(values: ndarray) -> tuple[float, ndarray]:
        up, down = values / values[-1], values[0] / values
        above, below = up**power, down**power
        value = 0.5 * np.log(values[-1] / values[0]) + (
            np.log(above.sum()) + np.log(below.sum())) / (2.0 * power)
        return value, 0.5 * (above / above.sum() - below / below.sum()) / values
    return criterion


def little_information(values: ndarray) -> tuple[float, ndarray]:
    """Return -½ ln det divided by the number of eigenvalues, to be minimized."""
    return -0.5 * float(np.mean(np.log(values))), -0.5 / (len(values) * values)


def of_matrix(criterion: Criterion, matrix: ndarray) -> tuple[float, ndarray]:
    """Return a criterion of a matrix (N, nv, columns), and its gradient of the same shape."""
    tall = matrix.reshape(-1, matrix.shape[-1])
    values, vectors = np.linalg.eigh(tall.T @ tall)
    # Rounding may leave the least ones at or below zero: raise them to the rounding
    values = np.maximum(values, np.finfo(float).eps * max(values[-1], np.finfo(float).tiny))
    value, slope = criterion(values)
    return value, (2.0 * (tall @ vectors) * slope @ vectors.T).reshape(matrix.shape)
