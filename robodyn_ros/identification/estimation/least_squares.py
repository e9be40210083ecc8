# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Base parameters by ordinary, weighted and robust least squares."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy import ndarray
from scipy.linalg import qr

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
                  base: BaseParameters | None = None, full_rank: bool = True) -> Estimate:
    """
    Estimate the base parameters, and the full parameters nearest to the nominal ones.

    - 'ordinary': all samples of all joints have the same weight.
    - 'weighted': errors are divided by the standard deviation σ of the joint's residuals (Gautier
      1997; Khalil and Dombre 2002, chapter 12), iterated until it settles.
    - 'huber', 'tukey': in addition, samples beyond some σ have less or no weight (iteratively
      reweighted: Holland and Welsch 1977); σ is computed from medians, which outliers do not
      affect.

    :param base: of this robot and selection; None: computed here.
    :param full_rank: whether the motion has to determine every base parameter; otherwise those
        that it does not determine keep their nominal values and have infinite standard errors.
    :raises IdentificationError: too few samples, or parameters that this motion does not
        determine: the error names them, or the joint that stood still.
    """
    if method not in ('ordinary', 'weighted', *TUNING):
        raise IdentificationError(f'no method {method!r}', name='method', value=method,
                                  remedy=f'choose ordinary, weighted, {", ".join(TUNING)}')
    base = base or base_parameters(given.model, given.selection)
    lost = undetermined(given, base)
    if full_rank and lost.any():
        raise undetermined_error(given, base)
    fitted, kept = determined_part(given, base)
    found = solve(fitted, kept, method)
    spread = covariance(fitted, kept.independent, found.divisor, found.influence, found.slope)
    at = np.flatnonzero(np.isin(base.independent, kept.independent))
    values = base.values(given.prior)
    values[at] = found.values
    full = nearest(given, base, values)
    matrix = np.diag(np.where(lost, np.inf, 0.0))
    matrix[np.ix_(at, at)] += np.where(np.logical_or.outer(lost[at], lost[at]), 0.0, spread.matrix)
    return Estimate(
        method, given.model, given.selection, given.names, given.units, given.prior, given.joint,
        full, base, values, matrix, found.sigma, spread.independent, found.condition,
        undetermined=tuple(np.array(base.base_names)[lost].tolist()))


def check_determined(given: Regression, base: BaseParameters) -> None:
    """Refuse a regression that does not determine the base parameters."""
    if undetermined(given, base).any():
        raise undetermined_error(given, base)


def undetermined(given: Regression, base: BaseParameters) -> ndarray:
    """
    Return which base parameters (p,) a motion does not determine.

    These are columns of zeros, and those that take part in a combination to which the efforts of
    this motion are insensitive.

    :raises IdentificationError: too few equations, or numbers that are not finite.
    """
    count = given.counted.sum()
    if count < base.rank:
        raise IdentificationError(
            f'{count} equations for {base.rank} base parameters', name='motion', value=count,
            remedy='record a longer motion, decimate less, or choose fewer parameters')
    for name, values in (('effort', given.effort), ('motion', given.matrix)):
        if not np.isfinite(values).all():
            raise IdentificationError(f'the {name} has numbers that are not finite', name=name,
                                      remedy='leave these samples out')
    R, norms = _normalized(given, base)
    _, singular, directions = np.linalg.svd(R)
    size = abs(directions[singular <= RANK_TOLERANCE * singular.max(initial=0.0)])
    involved = size > MIN_ENTRY * size.max(axis=1, keepdims=True, initial=0.0)
    return involved.any(axis=0) | (norms == 0.0)


def undetermined_error(given: Regression, base: BaseParameters) -> IdentificationError:
    """Return the error that names the parameters, or the joint that stood still."""
    for i in np.flatnonzero(_normalized(given, base)[1] == 0.0):
        name, joint = base.base_names[i], given.joint[base.independent[i]]
        still = '' if joint < 0 else f': joint {given.model.joint_names[joint]!r} did not move'
        return IdentificationError(f'no effort of this motion depends on {name}{still}',
                                   name=name, remedy='move every joint, to and fro, at several '
                                   'speeds; or lock it in the model')
    involved = [base.base_names[i] for i in np.flatnonzero(undetermined(given, base))]
    return IdentificationError(
        f'this motion does not tell {", ".join(involved)} apart', name=involved[0],
        remedy='move the joints that carry them through more poses, speeds and accelerations, not '
               'all in step; or choose fewer parameters')


def determined_part(given: Regression, base: BaseParameters) -> tuple[Regression, BaseParameters]:
    """
    Return the regression and the base parameters that its motion tells apart.

    The others keep their nominal values: their efforts are known. Where all are determined both
    are returned as they are.
    """
    R, _ = _normalized(given, base)
    singular = np.linalg.svd(R, compute_uv=False)
    rank = int(np.sum(singular > RANK_TOLERANCE * singular.max(initial=0.0)))
    told = np.zeros(base.rank, bool)
    told[qr(R, mode='r', pivoting=True)[1][:rank]] = True
    if told.all():
        return given, base
    rest = base.independent[~told]
    known = given.known + given.matrix[:, :, rest] @ base.values(given.prior)[~told]
    return replace(given, known=known), replace(
        base, independent=base.independent[told], combination=base.combination[told])


def _normalized(given: Regression, base: BaseParameters) -> tuple[ndarray, ndarray]:
    """Return the triangular factor (p, p) of the columns at unit length, and their norms (p,)."""
    matrix = given.matrix[:, :, base.independent].reshape(-1, base.rank)
    norms = np.linalg.norm(matrix, axis=0)
    return triangle(matrix / np.where(norms > 0.0, norms, 1.0)), norms


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
