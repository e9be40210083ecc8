# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Base parameters by ordinary and weighted least squares."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy import ndarray
from scipy.linalg import cho_factor, cho_solve, LinAlgError, qr, solve_triangular
from scipy.special import chdtri

from .base_parameters import base_parameters, BaseParameters
from .estimate import (
    autocovariance, covariance, Estimate, independent_samples, lengths, trusted,
    with_spread_of_blocks)
from .regression import Compressed, Regression, triangle, VALIDATION_BLOCKS
from ...errors import IdentificationError

CONVERGENCE_TOLERANCE = 1e-4    # relative change of weights
MAX_ROUNDS = 100
MAX_SPREAD_BLOCKS = 20
ZERO_ERROR = 1e-12    # of the efforts
SUM_ROUNDING = 1e-6    # of the efforts, where squares are summed
RANK_TOLERANCE = 1e-8                      # of the largest singular value
MIN_NAMED_ENTRY = 0.1    # of the largest entry of a direction, to be named with it
METHODS = ('ordinary', 'weighted')


class Solution(NamedTuple):
    """
    Base parameters (p,), σ of the residuals (nv,) and divisor of the errors (nv,).

    ``error`` (N, nv) are the residual efforts.
    """

    values: ndarray
    sigma: ndarray
    divisor: ndarray
    condition: float
    error: ndarray


def least_squares(given: Regression, method: str = 'weighted',
                  base: BaseParameters | None = None, full_rank: bool = True) -> Estimate:
    """
    Estimate the base parameters, and the full parameters nearest to the nominal ones.

    - 'ordinary': all samples of all joints have the same weight.
    - 'weighted': errors are divided by the standard deviation σ of the joint's residuals (Gautier
      1997; Khalil and Dombre 2002, chapter 12), iterated until it settles.

    :param base: of this robot and selection; None: computed here.
    :param full_rank: whether the motion has to determine every base parameter; otherwise those
        that it does not determine keep their nominal values and have infinite standard errors.
    :raises IdentificationError: too few samples, or parameters that this motion does not
        determine: the error names them, or the joint that stood still.
    """
    base = base or base_parameters(given.model, given.selection)
    lost = undetermined(given, base)
    if full_rank and lost.any():
        raise undetermined_error(given, base, lost)
    fitted, kept = determined_part(given, base)
    found = solve(fitted, kept, method)
    spread = covariance(fitted, kept.independent, found.divisor, found.error)
    spread = spread._replace(matrix=with_spread_of_blocks(
        spread.matrix, block_factors(fitted, kept, found.sigma)))
    at = np.flatnonzero(np.isin(base.independent, kept.independent))
    values = base.values(given.prior)
    values[at] = found.values
    full = nearest(given, base, values)
    matrix = np.diag(np.where(lost, np.inf, 0.0))
    matrix[np.ix_(at, at)] += np.where(np.logical_or.outer(lost[at], lost[at]), 0.0, spread.matrix)
    return Estimate(
        given.model, given.selection, given.names, given.units, given.prior, given.joint, method,
        full, base, values, matrix, found.sigma, spread.independent, found.condition,
        undetermined=tuple(np.array(base.base_names)[lost].tolist()))


def block_factors(given: Regression, base: BaseParameters, sigma: ndarray) -> list[ndarray]:
    """
    Return triangular factors (k, p + 1) of the weighted rows of blocks, base parameters only.

    Blocks are the segments between gaps, such as recordings, if there are enough of them;
    otherwise equal shares of the samples.
    """
    compressed = given.compressed
    if VALIDATION_BLOCKS <= len(given.segments) <= MAX_SPREAD_BLOCKS:
        compressed = Compressed(given.matrix, given.target,
                                [*(a for a, _ in given.segments), len(given)])
    return compressed.blocks(sigma, base.independent)


class Likelihood:
    """
    Likelihood of regressions of one motion, for normal errors of one σ per joint.

    It is greatest where Σ n log σ over the joints is least, with σ of weighted least squares with
    all parameters free, and n the effective number of samples: less by as much as errors persist.

    :param given: regression by whose residuals samples are counted.
    """

    def __init__(self, given: Regression):
        found = solve(*determined_part(given, base_parameters(given.model, given.selection)),
                      'weighted')
        #: (nv,) effective numbers of samples.
        self.count = np.array([
            independent_samples(autocovariance(found.error[:, j], given.segments),
                                int(given.counted[:, j].sum())) for j in range(given.model.nv)])
        self._sigma = found.sigma       # with which the search of others begins
        #: Σ n log σ of this regression.
        self.reference = float(self.count @ np.log(found.sigma))

    def misfit(self, given: Regression) -> float:
        """Return Σ n log σ of another regression."""
        base = base_parameters(given.model, given.selection)
        joints = Compressed(given.matrix, given.target, (0, len(given))).joints(base.independent)
        _, sigma, _, _ = _determined_solution(joints, base.values(given.prior),
                                               given.counted.sum(0), 'weighted', self._sigma)
        return float(self.count @ np.log(sigma))

    def explains(self, misfit: float, parameters: int, level: float) -> bool:
        """Return whether more parameters than those of the reference gain more than chance."""
        return bool(2.0 * (self.reference - misfit) > chdtri(parameters, level))


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
    R, norms = _normalized(given.compressed.joints(base.independent))
    _, singular, directions = np.linalg.svd(R)
    told = np.zeros(len(directions), bool)      # a few rows have as few singular values
    told[:len(singular)] = singular > RANK_TOLERANCE * singular.max(initial=0.0)
    size = abs(directions[~told])
    involved = size > MIN_NAMED_ENTRY * size.max(axis=1, keepdims=True, initial=0.0)
    return involved.any(axis=0) | (norms == 0.0)


def undetermined_error(given: Regression, base: BaseParameters, lost: ndarray
                       ) -> IdentificationError:
    """Return the error that names lost parameters (p,), or the joint that stood still."""
    _, norms = _normalized(given.compressed.joints(base.independent))
    for i in np.flatnonzero(norms == 0.0):
        name, joint = base.base_names[i], given.joint[base.independent[i]]
        still = '' if joint < 0 else f': joint {given.model.joint_names[joint]!r} did not move'
        return IdentificationError(f'no effort of this motion depends on {name}{still}',
                                   name=name, remedy='move every joint, to and fro, at several '
                                   'speeds; or lock it in the model')
    involved = [base.base_names[i] for i in np.flatnonzero(lost)]
    return IdentificationError(
        f'this motion does not distinguish {", ".join(involved)}', name=involved[0],
        remedy='move the joints that carry them through more poses, speeds and accelerations, not '
               'all in step; or choose fewer parameters')


def determined_part(given: Regression, base: BaseParameters) -> tuple[Regression, BaseParameters]:
    """
    Return the regression and the base parameters that its motion determines.

    The others keep their nominal values: their efforts are known. Where all are determined both
    are returned as they are.
    """
    determined = _determined(given.compressed.joints(base.independent))
    if determined.all():
        return given, base
    rest = base.independent[~determined]
    known = given.known + given.matrix[:, :, rest] @ base.values(given.prior)[~determined]
    return replace(given, known=known), replace(
        base, independent=base.independent[determined], combination=base.combination[determined])


def _determined(joints: list[ndarray]) -> ndarray:
    """Return which parameters (p,) rows (k, p + 1) of joints determine, as many as possible."""
    R, _ = _normalized(joints)
    singular = np.linalg.svd(R, compute_uv=False)
    rank = int(np.sum(singular > RANK_TOLERANCE * singular.max(initial=0.0)))
    determined = np.full(R.shape[1], rank == R.shape[1])
    if determined.all():
        return determined
    determined[qr(R, mode='r', pivoting=True)[1][:rank]] = True
    return determined


def _normalized(joints: list[ndarray]) -> tuple[ndarray, ndarray]:
    """Return the triangular factor (p, p) of the columns at unit length, and their norms (p,)."""
    matrix = np.vstack(joints)[:, :-1]
    norms = np.linalg.norm(matrix, axis=0)
    return triangle(matrix / np.where(norms > 0.0, norms, 1.0)), norms


def solve(given: Regression, base: BaseParameters, method: str) -> Solution:
    """Iterate the σ of the joints and the solution until they settle."""
    columns = base.independent
    values, sigma, divisor, condition = _solution(
        given.compressed.joints(columns), given.counted.sum(0), method)
    return Solution(values, sigma, divisor, condition,
                    given.target - given.matrix[:, :, columns] @ values)


def solution_without(given: Regression, base: BaseParameters, method: str, block: int) -> ndarray:
    """
    Return parameters (P,) of the same efforts as the base parameters of the other blocks.

    Those that the other blocks do not determine are nominal.
    """
    compressed = given.compressed
    a, b = compressed.bounds[block:block + 2]
    parameters = np.zeros(given.size)
    parameters[base.independent], *_ = _determined_solution(
        compressed.joints(base.independent, without=block), base.values(given.prior),
        given.counted.sum(0) - given.counted[a:b].sum(0), method)
    return parameters


def _determined_solution(joints: list[ndarray], values: ndarray, counted: ndarray, method: str,
                         sigma: ndarray | None = None) -> tuple[ndarray, ndarray, ndarray, float]:
    """Return the fields of :func:`_solution`; of what rows do not determine the given values."""
    determined = _determined(joints)
    kept = [np.column_stack([rows[:, :-1][:, determined],
                             rows[:, -1] - rows[:, :-1][:, ~determined] @ values[~determined]])
            for rows in joints]
    found, sigma, divisor, condition = _solution(kept, counted, method, sigma)
    values = values.copy()
    values[determined] = found
    return values, sigma, divisor, condition


def _solution(joints: list[ndarray], counted: ndarray, method: str,
              sigma: ndarray | None = None) -> tuple[ndarray, ndarray, ndarray, float]:
    """
    Return the fields of :class:`Solution` but the error.

    :param joints: rows (k, p + 1) of each joint, of the parameters and the target.
    :param counted: (nv,) samples of each joint.
    :param sigma: (nv,) with which the iteration begins; None: equal ones.
    """
    p, nv = joints[0].shape[1] - 1, len(joints)
    square = np.array([(rows**2).sum(0) for rows in joints])
    scale = np.sqrt(square[:, :p].sum(0))
    floor = np.finfo(float).tiny + ZERO_ERROR * np.sqrt(
        square[:, p] / np.maximum(counted, 1)).max(initial=0.0)
    freedom = np.maximum(counted - p / nv, 1.0)
    scaled = [triangle(rows / np.append(scale, 1.0)) for rows in joints]
    squares = np.array([rows.T @ rows for rows in scaled])
    sigma = np.ones(nv) if sigma is None or method == 'ordinary' else sigma
    # The σ by normal equations, which lose half of the digits, and the solution without them
    coarse = np.maximum(floor, SUM_ROUNDING * np.sqrt(square[:, p] / np.maximum(counted, 1)))
    for _ in range(0 if method == 'ordinary' else MAX_ROUNDS):
        total = np.tensordot(1.0 / sigma**2, squares, 1)
        solution = np.append(normal_solution(total[:p, :p], total[:p, p]), -1.0)
        before, sigma = sigma, np.maximum(np.sqrt(np.maximum(
            squares @ solution @ solution, 0.0) / freedom), coarse)
        if np.allclose(sigma, before, rtol=CONVERGENCE_TOLERANCE, atol=0.0):
            break
    whole = triangle(np.vstack([rows / s for rows, s in zip(scaled, sigma)]))
    R = whole[:p, :p]
    values = solve_triangular(R, whole[:p, p])
    divisor, solution = sigma, np.append(values, -1.0)
    sigma = np.maximum(np.sqrt([np.sum((rows @ solution)**2) for rows in scaled] / freedom), floor)
    singular = np.linalg.svd(R, compute_uv=False)
    return values / scale, sigma, divisor, float(singular[0] / singular[-1])


def normal_solution(square: ndarray, right: ndarray) -> ndarray:
    """Return the solution (p,) of normal equations, the shortest where rounding hides it."""
    try:
        return np.asarray(cho_solve(cho_factor(square), right))
    except LinAlgError:
        return np.linalg.lstsq(square, right, rcond=None)[0]


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
