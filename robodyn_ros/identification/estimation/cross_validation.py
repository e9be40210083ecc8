# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Cross-validation over blocks of a motion: of candidates as exported, cut-off and mounting."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy import ndarray

from .base_parameters import base_parameters, BaseParameters
from .filtered_columns import decimated
from .least_squares import determined_part, solution_without, solve as solve_freely
from .physical_consistency import divisors, Prior, PRIOR_WEIGHTS, solve
from .regression import Regression, regression, VALIDATION_BLOCKS
from .search import AS_RECORDED, Mounting
from ..motion import Motion
from ..options import DataIssue, ParameterSelection, USUAL_PARAMETERS
from ...errors import Argument, IdentificationError
from ...model.robot import RobotModel

PLAIN_WEIGHT = 10.0
MAX_LOSS = 0.01    # of the error, for a larger weight of the prior
MIN_GAIN = 0.02     # of the error, for another cut-off than that of the motion
CLEAR_GAIN = 0.1    # of the error, for another direction of gravity
MIN_GAIN_ERRORS = 2.0    # standard errors of the gain
MIN_BLOCK_PERIODS = 5    # of the cut-off: shorter blocks predict other cut-offs by chance


class Candidate(NamedTuple):
    """
    Model structure that takes part in the selection, or its result.

    :param model: nominal, with the tilt and the velocity scales of friction of this candidate.
    :param mounting: delay and tilt.
    :param selection: parameters that are estimated.
    :param notes: decisions with reasons, one line each.
    :param weight: of the prior; 0 where it is not chosen yet.
    :param terms: decisions of the cross-validation on terms of the model, one line each.
    """

    model: RobotModel
    mounting: Mounting
    selection: ParameterSelection
    notes: tuple[str, ...] = ()
    weight: float = 0.0
    terms: tuple[str, ...] = ()


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

    The largest weight whose error is within one standard error, and within MAX_LOSS, of the least
    is taken (Hastie, Tibshirani and Friedman 2009, section 7.10): the motion to come may be
    another, and where data are indifferent the nominal model is preferred. Where it exceeds
    ``least``, the error of another estimate, the weight of the least error is taken.
    """
    scores = scores_of(trial, PRIOR_WEIGHTS)
    best = min(scores, key=lambda weight: scores[weight].error)
    weight = max(w for w in scores if w == best or scores[best].gain(scores[w])[0] <= min(
        scores[best].gain(scores[w])[1], MAX_LOSS * scores[best].error))
    if scores[weight].error > least:
        weight = best
    return weight, scores[weight].error


def better_cutoff(model: RobotModel, motions: Mapping[float, Motion]) -> tuple[float, str] | None:
    """
    Return the cut-off [Hz] whose parameters predict best, and why; None for that of the motion.

    Parameters are fitted with each cut-off to all blocks but one, which all of them predict with
    the highest cut-off, so that errors are those of the same efforts. Noise of the accelerations
    grows with the cut-off and biases parameters to zero, and predicted from noisy accelerations
    parameters near zero are best (errors in variables). So a cut-off takes part only if it
    predicts the efforts of the first one, whose accelerations have least noise, as well as that.

    :param motions: the same motion by cut-off; the first is that of the motion.
    """
    own, top = next(iter(motions)), max(motions)
    if len(motions[own]) * own < VALIDATION_BLOCKS * MIN_BLOCK_PERIODS * motions[own].rate:
        return None
    trials = {cutoff: _trial(model, motion) for cutoff, motion in motions.items()}
    try:
        low = {cutoff: trials[own].predicted_by(trial, PLAIN_WEIGHT).error
               for cutoff, trial in trials.items()}
        scores = {cutoff: trials[top].predicted_by(trial, PLAIN_WEIGHT)
                  for cutoff, trial in trials.items()
                  if low[cutoff] <= (1.0 + MIN_GAIN) * low[own]}
    except IdentificationError:
        return None
    best = min(scores, key=lambda cutoff: scores[cutoff].error)
    if not _clear(scores[best], scores[own], MIN_GAIN, 1.0):
        return None
    return best, (f'by cross-validation, which leaves {100 * scores[best].error:.3g} % with it, '
                  f'{100 * scores[own].error:.3g} % with {own:.3g} Hz')


def mounting_issue(model: RobotModel, motion: Motion) -> DataIssue | None:
    """
    Return the issue of gravity along another axis of the base, or None.

    For models without inertias, whose efforts of gravity are unknown.
    """
    size = float(np.linalg.norm(model.gravity_vector))
    axes = [(size * sign * axis).round(3) + 0.0 for axis in np.eye(3) for sign in (1.0, -1.0)]
    try:
        own = _trial(model, motion).exported(PLAIN_WEIGHT)
        scores = [_trial(replace(model, gravity_vector=axis), motion).exported(PLAIN_WEIGHT)
                  for axis in axes]
    except IdentificationError:
        return None
    best = int(np.argmin([score.error for score in scores]))
    if not _clear(scores[best], own, CLEAR_GAIN, MIN_GAIN_ERRORS):
        return None
    found = tuple(axes[best].tolist())
    return DataIssue(
        'mounting', 'gravity', f'with gravity along {found} in the frame of the base cross-'
        f'validation leaves {100 * scores[best].error:.3g} % of the efforts unexplained, as it is '
        f'{100 * own.error:.3g} %',
        ('the base is mounted like this: ', Argument('gravity', found)),
        scores[best].error - own.error)


def _trial(model: RobotModel, motion: Motion) -> Trial:
    return Trial(Candidate(model, AS_RECORDED, decimated(USUAL_PARAMETERS, motion)[0]), motion)


def _clear(score: Score, own: Score, least: float, deviations: float) -> bool:
    gain, deviation = score.gain(own)
    return bool(gain > least * own.error and gain > deviations * deviation)
