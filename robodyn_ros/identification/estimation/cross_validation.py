# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Cross-validation of candidate models over blocks of a motion, as they would be exported."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy import ndarray

from .base_parameters import base_parameters, BaseParameters
from .compressed import VALIDATION_BLOCKS
from .least_squares import determined_part, solution_without
from .least_squares import solve as solve_freely
from .parameter_selection import ParameterSelection
from .physical_consistency import divisors, Prior, PRIOR_WEIGHTS, solve
from .regression import Regression, regression
from .search import Mounting
from ..motion import Motion
from ...errors import IdentificationError
from ...model.robot import RobotModel


class Candidate(NamedTuple):
    """
    Model structure that takes part in the selection.

    :param model: nominal, with the tilt and the velocity scales of friction of this candidate.
    :param mounting: delay and tilt.
    :param selection: parameters that are estimated.
    """

    model: RobotModel
    mounting: Mounting
    selection: ParameterSelection


@dataclass(frozen=True, eq=False)
class Score:
    """
    Error of prediction of the blocks that were left out.

    :param squares: (BLOCKS, nv) sums of squared errors of each block [(N·m)² | N²].
    :param size: (nv,) sum of squares of the efforts about their mean.
    """

    squares: ndarray
    size: ndarray

    @property
    def error(self) -> float:
        """Mean over the joints of the relative RMS."""
        return float(self.errors.mean())

    @property
    def errors(self) -> ndarray:
        """Relative RMS of each joint (nv,)."""
        return np.sqrt(self.squares.sum(0) / self.size)

    def gain(self, other: 'Score') -> tuple[float, float]:
        """
        Return by how much this error is below another one, and the standard error of that.

        The standard error is that of the jackknife over blocks (Efron and Stein 1981).
        """
        def without(score: 'Score') -> ndarray:
            rest = score.squares.sum(0) - score.squares
            return np.sqrt(rest / score.size * VALIDATION_BLOCKS / (VALIDATION_BLOCKS - 1)).mean(1)
        spread = without(other) - without(self)
        deviation = np.sqrt((VALIDATION_BLOCKS - 1) / VALIDATION_BLOCKS
                            * np.sum((spread - spread.mean())**2))
        return other.error - self.error, float(deviation)


class Trial:
    """
    Regressions of one candidate, block by block.

    :param motion: as it was prepared, without the delay of the candidate.
    """

    def __init__(self, candidate: Candidate, motion: Motion):
        self.candidate = candidate
        self.prepared = motion
        self._exported: dict[float, Score] = {}

    @cached_property
    def given(self) -> Regression:
        """Regression of all blocks."""
        of = self.candidate
        return regression(of.model, of.mounting.motion(self.prepared), of.selection)

    @cached_property
    def base(self) -> BaseParameters:
        """Return the base parameters of the candidate."""
        return base_parameters(self.candidate.model, self.candidate.selection)

    @cached_property
    def rests(self) -> list[ndarray]:
        """Triangular factors of all blocks but one, for each block."""
        plain = solve_freely(*determined_part(self.given, self.base), 'weighted')
        sigma = divisors(self.given, plain.sigma)
        return [self.given.compressed.whole(sigma, without=k) for k in range(VALIDATION_BLOCKS)]

    def exported(self, weight: float) -> Score:
        """Return the score of the consistent estimate."""
        if weight not in self._exported:
            self._exported[weight] = self.predicted_by(self, weight)
        return self._exported[weight]

    def predicted_by(self, other: 'Trial', weight: float) -> Score:
        """Return the score of consistent estimates from the blocks of another trial."""
        prior = Prior.of(other.given)
        return self._score([solve(rest, prior, weight) for rest in other.rests])

    def least_squares(self, method: str) -> Score:
        """Return the score of least squares without constraints."""
        return self._score([solution_without(self.given, self.base, method, k)
                            for k in range(VALIDATION_BLOCKS)])

    def _score(self, parameters: list[ndarray]) -> Score:
        """Return the score of parameters (P,) for each block, which was left out."""
        efforts = np.where(self.given.counted, self.given.effort, np.nan)
        size = np.nansum((efforts - np.nanmean(efforts, axis=0))**2, axis=0)
        return Score(np.array([self.given.compressed.squares(k, found)
                               for k, found in enumerate(parameters)]),
                     np.maximum(size, np.finfo(float).tiny))


def scores_of(trial: Trial, weights: Sequence[float]) -> dict[float, Score]:
    """
    Return the scores by the weight of the prior, of all that the solver can solve.

    :raises IdentificationError: it solves none.
    """
    scores, failure = {}, None
    for weight in weights:
        try:
            scores[weight] = trial.exported(weight)
        except IdentificationError as error:
            failure = error
    if failure is not None and not scores:
        raise failure
    return scores


def choose_weight(trial: Trial, least: float = np.inf) -> tuple[float, float]:
    """
    Return the weight of the prior, and the error of prediction with it.

    The largest weight whose error is within one standard error of the least is taken (Hastie,
    Tibshirani and Friedman 2009, section 7.10): the motion to come may be another, and where data
    are indifferent the nominal model is preferred. Where it exceeds ``least``, the error of
    another estimate, the weight of the least error is taken.
    """
    scores = scores_of(trial, PRIOR_WEIGHTS)
    best = min(scores, key=lambda weight: scores[weight].error)
    weight = max(w for w in scores if w == best or np.less_equal(
        *scores[best].gain(scores[w])))
    if scores[weight].error > least:
        weight = best
    return weight, scores[weight].error
