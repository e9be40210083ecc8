# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Covariance of estimates whose residuals are autocorrelated."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy import ndarray
from scipy.signal import oaconvolve

from .regression import Regression, triangle

WINDOW_LENGTH = 5.0    # correlation times
MAX_SPREAD_FACTOR = 10.0    # by which the spread of blocks may enlarge a standard error


class Covariance(NamedTuple):
    """Covariance (p, p) of base parameters, effective samples of each joint (nv,)."""

    matrix: ndarray
    independent: ndarray


def covariance(given: Regression, columns: ndarray, divisor: ndarray, error: ndarray
               ) -> Covariance:
    """
    Return the covariance of an estimate by weighted least squares.

    A⁻¹ B A⁻¹ with A = Σ Wᵀ W/σ² and B = Σ Wᵀ Γ W/σ⁴ over the joints, where W (N, p) are the rows
    of a joint and Γ (N, N) is the autocovariance of its errors. For white noise, Γ = σ² 1, it is
    A⁻¹, the textbook result. Recorded efforts are filtered and model errors change slowly, so that
    errors persist for many samples, and A⁻¹ is too small by as much. This is the estimator of
    Newey and West 1987 for errors that are stationary and independent of the motion and between
    joints: Γ is the autocovariance of the residuals, tapered by Parzen's window so that it stays
    positive, over WINDOW_LENGTH correlation times on either side (Sokal 1997, section 3). Errors
    that depend on the motion, such as a wrong friction law, are not covered.

    :param divisor: (nv,) σ by which the estimate divided the errors, whether correct or not.
    :param error: (N, nv) that the estimate leaves [N·m | N].
    """
    p = len(columns)
    A, B = np.zeros((p, p)), np.zeros((p, p))
    independent = np.empty(len(divisor))
    size = np.linalg.norm(given.matrix[:, :, columns].reshape(-1, p), axis=0)
    for j, s in enumerate(divisor):
        W = given.matrix[:, j, columns] / (s * size)
        count = max(given.counted[:, j].sum(), 1)
        # Excluded samples are 0 in the sums of squares, and are not counted
        gamma = autocovariance(error[:, j] / s, given.segments) * len(given) / count
        independent[j] = independent_samples(gamma, len(given), count)
        A += W.T @ W
        kernel = np.concatenate([gamma[:0:-1], gamma])[:, None]
        lags = len(gamma) - 1
        for a, b in given.segments:
            B += W[a:b].T @ oaconvolve(W[a:b], kernel, axes=0)[lags:lags + b - a]
    inverse = np.linalg.inv(A) / size[:, None]
    # Residuals are smaller than errors: some of those went into the parameters
    total = independent.sum()
    return Covariance(inverse @ B @ inverse.T * total / max(total - p, 1.0), independent)


def independent_samples(gamma: ndarray, size: int, count: int) -> float:
    """
    Return the effective number of samples of errors with an autocovariance ``gamma``.

    :param size: number of samples, of which ``count`` are used.
    """
    count = max(count, 1)
    return float(max(count * gamma[0] / max(gamma[0] + 2.0 * gamma[1:].sum(), gamma[0] / count,
                                            1e-300), 1.0))


def autocovariance(errors: ndarray, segments: tuple[tuple[int, int], ...]) -> ndarray:
    """Return the autocovariance, tapered, of errors (N,), from lag 0: (lags,)."""
    longest = max(b - a for a, b in segments)
    full = np.zeros(longest)
    for a, b in segments:
        piece = errors[a:b]
        spectrum = np.fft.rfft(piece, 2 * len(piece))
        full[:b - a] += np.fft.irfft(abs(spectrum)**2)[:b - a]
    full /= len(errors)
    if full[0] == 0.0:
        return full[:1]
    time = 1.0 + 2.0 * np.cumsum(full[1:] / full[0])        # correlation time by window
    windows = np.arange(1, longest)
    enough = np.flatnonzero(windows >= WINDOW_LENGTH * np.maximum(time, 1.0))
    length = min(2 * (int(windows[enough[0]]) if enough.size else longest), longest)
    u = np.arange(length) / length
    taper = np.where(u < 0.5, 1.0 - 6.0 * u**2 * (1.0 - u), 2.0 * (1.0 - u)**3)
    return full[:length] * taper


def with_spread_of_blocks(matrix: ndarray, blocks: Sequence[ndarray]) -> ndarray:
    """
    Return a covariance (p, p) whose errors are no less than those by blocks of the data.

    Friction changes with temperature and from day to day, so that recordings, or the parts of one,
    differ by more than their residuals show. Each block is left out in turn, and the jackknife
    gives the standard errors (Efron and Stein 1981); where they are larger, rows and columns are
    scaled.

    :param matrix: covariance by the residuals.
    :param blocks: triangular factors (k, p + 1) of the weighted rows of each block, with the
        efforts in the last column; at least three.
    """
    p, found = len(matrix), []
    for k in range(len(blocks)):
        R = triangle(np.vstack([*blocks[:k], *blocks[k + 1:]]))
        if len(R) < p or not (abs(np.diag(R)[:p]) > 0.0).all():
            return matrix               # one block alone determines a parameter
        found.append(np.linalg.lstsq(R[:p, :p], R[:p, p], rcond=None)[0])
    each = np.array(found)
    spread = np.sqrt((len(each) - 1) / len(each) * ((each - each.mean(0))**2).sum(0))
    own = np.sqrt(np.diag(matrix))
    with np.errstate(divide='ignore', invalid='ignore'):
        factor = np.where(own > 0.0, np.maximum(spread / own, 1.0), 1.0)
    factor = np.minimum(factor, MAX_SPREAD_FACTOR)
    return matrix * factor[:, None] * factor
