# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Physical consistency of inertias: test and nearest consistent inertia."""

import numpy as np
from numpy import ndarray

# Product with the principal moments: twice the second moments of mass ∫ x² dm, ∫ y² dm, ∫ z² dm,
# all of them positive for a body with volume (Traversaro et al. 2016).
SECOND_MOMENTS = np.array([[-1.0, 1.0, 1.0], [1.0, -1.0, 1.0], [1.0, 1.0, -1.0]])
MIN_SECOND_MOMENT = 1e-6    # of a result, relative to the largest principal moment
ZERO_SECOND_MOMENT = 1e-9    # relative to the largest principal moment


def is_consistent(inertia: ndarray) -> bool:
    """
    Return whether a body with mass and with extent in all directions can have this inertia.

    Its pseudo-inertia [[Σ, m c], [m cᵀ, m]] is then positive definite: by Schur's complement, if
    and only if m and the second moments about the center of mass are positive.

    :param inertia: (3, 3) [kg·m²] about the center of mass.
    """
    moments = np.linalg.eigvalsh(inertia)
    return bool((SECOND_MOMENTS @ moments).min() > ZERO_SECOND_MOMENT * moments[-1] > 0)


def can_exist(inertia: ndarray) -> bool:
    """
    Return whether a body can have this inertia, which may be thin, or a point.

    No second moment of mass is negative, beyond rounding: the triangle inequality.

    :param inertia: (3, 3) [kg·m²] about the center of mass, symmetric.
    """
    moments = np.linalg.eigvalsh(inertia)
    return bool((SECOND_MOMENTS @ moments).min() >= -ZERO_SECOND_MOMENT * abs(moments).max())


def nearest_consistent(inertia: ndarray) -> ndarray:
    """
    Return the inertia (3, 3) [kg·m²] of a rigid body that is nearest to the given one.

    Nearest in the Frobenius norm |I - I₀|, under the triangle inequality with a margin: every
    second moment of mass is at least ``MARGIN`` of the largest principal moment. Norm and
    inequality do not depend on the axes, so the principal axes stay, and what is left is a
    least-distance problem of three principal moments (Lawson and Hanson 1974, chapter 23).

    :param inertia: (3, 3) [kg·m²] about the center of mass, symmetric and not zero.
    """
    from scipy.optimize import nnls  # takes a while to import, and few models need it

    moments, axes = np.linalg.eigh(inertia)
    size = abs(moments).max()
    bound = np.full(3, 2.0 * MIN_SECOND_MOMENT) - SECOND_MOMENTS @ (moments / size)
    E = np.vstack([SECOND_MOMENTS.T, bound])
    weights, _ = nnls(E, np.array([0.0, 0.0, 0.0, 1.0]))
    residual = E @ weights - [0.0, 0.0, 0.0, 1.0]
    shifted = moments - size * residual[:3] / residual[3]
    return (axes * shifted) @ axes.T
