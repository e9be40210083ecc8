# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Base parameters by ordinary, weighted and robust least squares."""

from typing import NamedTuple

import numpy as np
from numpy import ndarray

from ...errors import IdentificationError
from .base_parameters import BaseParameters, base_parameters
from .covariance import covariance
from .estimate import Estimate
from .inertia import lengths, trusted
from .regression import Regression, triangle

SETTLED = 1e-4  # relative change of weights
ROUNDS = 100
MIN_ERROR = 1e-12                          # of the efforts; less is rounding
RANK_TOLERANCE = 1e-8                      # of the largest singular value
MIN_ENTRY = 0.1  # of the largest entry of a direction, to be named with it
MAD = 1.4826  # standard deviation of normal numbers over median absolute deviation
TUNING = {'huber': 1.345, 'tukey': 4.685}  # 95 % efficient for normal noise


class Solution(NamedTuple):
    """
    Base parameters (p,), σ of the residuals (nv,) and divisor of the errors (nv,).

    ``influence`` (N, nv) are the values of the influence function ψ, ``slope`` (nv,) the means of
    ψ'.
    """

    values: ndarray
    sigma: ndarray
    divisor: ndarray
    condition: float
    influence: ndarray
    slope: ndarray


def least_squares(given: Regression, method: str = 'weighted',
                  base: BaseParameters | None = None) -> Estimate:
    """
    Estimate the base parameters, and the full parameters nearest to the nominal ones.

    - 'ordinary': all samples of all joints have the same weight.
    - 'weighted': errors are divided by the standard deviation σ of the joint's residuals (Gautier
      1997; Khalil and Dombre 2002, chapter 12), iterated until it settles.
    - 'huber', 'tukey': in addition, samples beyond some σ have less or no weight (iteratively
      reweighted: Holland and Welsch 1977); σ is computed from medians, which outliers do not
      affect.

    :param base: of this robot and selection; None: computed here.
    :raises IdentificationError: too few samples, or parameters that this motion does not
        determine: the error names them, or the joint that stood still.
    """
    if method not in ('ordinary', 'weighted', *TUNING):
        raise IdentificationError(f'no method {method!r}', name='method', value=method,
                                  remedy=f'choose ordinary, weighted, {", ".join(TUNING)}')
    base = base or base_parameters(given.model, given.selection)
    check_determined(given, base)
    found = solve(given, base, method)
    spread = covariance(given, base.independent, found.divisor, found.influence, found.slope)
    return Estimate(
        method, given.model, given.selection, given.names, given.units, given.prior, given.joint,
        nearest(given, base, found.values), base, found.values, spread.matrix, found.sigma,
        spread.independent, found.condition)


def check_determined(given: Regression, base: BaseParameters) -> None:
    """Refuse a regression that does not determine the base parameters."""
    count = given.counted.sum()
    if count < base.rank:
        raise IdentificationError(
            f'{count} equations for {base.rank} base parameters', name='motion', value=count,
            remedy='record a longer motion, decimate less, or choose fewer parameters')
    for name, values in (('effort', given.effort), ('motion', given.matrix)):
        if not np.isfinite(values).all():
            raise IdentificationError(f'the {name} has numbers that are not finite', name=name,
                                      remedy='leave these samples out')
    matrix = given.matrix[:, :, base.independent].reshape(-1, base.rank)
    norms = np.linalg.norm(matrix, axis=0)
    for i in np.flatnonzero(norms == 0.0):
        name, joint = base.base_names[i], given.joint[base.independent[i]]
        still = '' if joint < 0 else f': joint {given.model.joint_names[joint]!r} did not move'
        raise IdentificationError(f'no effort of this motion depends on {name}{still}',
                                  name=name, remedy='move every joint, to and fro, at several '
                                  'speeds; or lock it in the model')
    _, singular, directions = np.linalg.svd(triangle(matrix / norms))
    if singular[-1] <= RANK_TOLERANCE * singular[0]:
        last = abs(directions[-1])
        involved = [base.base_names[i] for i in np.flatnonzero(last > MIN_ENTRY * last.max())]
        raise IdentificationError(
            f'this motion does not tell {", ".join(involved)} apart', name=involved[0],
            value=float(singular[-1] / singular[0]),
            remedy='move the joints that carry them through more poses, speeds and '
                   'accelerations, not all in step; or choose fewer parameters')


def solve(given: Regression, base: BaseParameters, method: str) -> Solution:
    """Iterate weights and solutions until the weights settle."""
    matrix, target = given.matrix[:, :, base.independent], given.target
    nv, p = target.shape[1], base.rank
    scale = np.linalg.norm(matrix.reshape(-1, p), axis=0)
    matrix = matrix / scale
    sigma, weights = np.ones(nv), np.ones(target.shape)
    freedom = np.maximum(given.counted.sum(0) - p / nv, 1.0)
    floor = MIN_ERROR * np.sqrt((target**2).mean(0)).max(initial=0.0) + np.finfo(float).tiny
    rows = np.concatenate([matrix, target[:, :, None]], axis=2)
    joints = [triangle(rows[:, j]) for j in range(nv)]      # all that unweighted samples say
    for _ in range(1 if method == 'ordinary' else ROUNDS):
        if method in TUNING:
            weighed = rows * (np.sqrt(weights) / sigma)[:, :, None]
            whole = triangle(weighed.reshape(-1, p + 1))
        else:
            whole = triangle(np.vstack([R / s for R, s in zip(joints, sigma)]))
        R = whole[:p, :p]
        values = np.linalg.solve(R, whole[:p, p])
        error = target - matrix @ values
        divisor = sigma
        if method in TUNING:
            sizes = np.where(given.counted, abs(error), np.nan)
            sigma = np.maximum(MAD * np.nanmedian(sizes, axis=0), floor)
            weights = robust_weights(error / sigma, method)
        else:
            sigma = np.maximum(np.sqrt((error**2).sum(0) / freedom), floor)
        if np.allclose(sigma, divisor, rtol=SETTLED, atol=0.0):
            break
    singular = np.linalg.svd(R, compute_uv=False)
    influence, slope = error, np.ones(nv)
    if method in TUNING:
        influence = weights * error
        slope = np.mean(robust_slope(error / sigma, method), axis=0, where=given.counted)
    return Solution(values / scale, sigma, divisor, float(singular[0] / singular[-1]), influence,
                    slope)


def robust_weights(z: ndarray, method: str) -> ndarray:
    """Return the weights of samples with errors of z σ; 1 for small ones."""
    c = TUNING[method]
    if method == 'huber':
        return c / np.maximum(abs(z), c)
    return np.where(abs(z) < c, (1.0 - (z / c)**2)**2, 0.0)


def robust_slope(z: ndarray, method: str) -> ndarray:
    """Return the derivative of z times its weight."""
    c = TUNING[method]
    if method == 'huber':
        return (abs(z) <= c).astype(float)
    return np.where(abs(z) < c, (1.0 - (z / c)**2) * (1.0 - 5.0 * (z / c)**2), 0.0)


def nearest(given: Regression, base: BaseParameters, values: ndarray) -> ndarray:
    """
    Return of all parameters (P,) with these base parameters those nearest to the nominal ones.

    Deviations are measured relative to the size that each parameter has by the mass and the extent
    of its body.
    """
    nb = given.model.nb
    inertial = given.prior[:10 * nb]
    mass, length = trusted(inertial)[:, 3, 3], lengths(inertial)
    scale = np.ones(given.size)
    powers = np.array([0] + [1] * 3 + [2] * 6)
    scale[:10 * nb] = (mass[:, None] * length[:, None]**powers).ravel()
    K = base.combination * scale
    step = np.linalg.lstsq(K, values - base.values(given.prior), rcond=None)[0]
    return given.prior + scale * step
