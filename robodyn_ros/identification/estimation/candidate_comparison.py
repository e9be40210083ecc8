# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Comparison of candidate models by their cross-validated error, and its protocol."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .cross_validation import Candidate, Score, Trial
from .physical_consistency import PRIOR_WEIGHTS
from ..motion import Motion
from ...errors import IdentificationError

COARSE_WEIGHTS = PRIOR_WEIGHTS[::2]   # of the prior, among which one is chosen for the comparisons


@dataclass(frozen=True)
class Term:
    """
    Decision on a term of the model.

    :param name: of the term.
    :param taken: whether the exported model has it.
    :param with_term: mean relative RMS of the blocks that were left out, with the term;
        ``without_term``: without it. NaN where the model cannot be fitted.
    :param deviation: standard error of the difference.
    :param why: reason of the decision.
    """

    name: str
    taken: bool
    with_term: float
    without_term: float
    deviation: float
    why: str

    def __str__(self) -> str:
        """Return the decision in one line."""
        found = 'taken' if self.taken else 'rejected'
        if np.isnan(self.with_term):
            return f'{self.name}: {found}, {self.why}'
        return (f'{self.name}: {found}, {100 * self.with_term:.2f} % with it, '
                f'{100 * self.without_term:.2f} % without: {self.why}')


class Race:
    """
    Best candidate so far and the decisions that led to it.

    :param motion: the training part, as it was prepared.
    :param start: first candidate, for which the weight of the prior in all comparisons is chosen.
    """

    def __init__(self, motion: Motion, start: Candidate):
        self.motion = motion
        self.terms: list[Term] = []
        self.best = Trial(start, motion)
        scores = scores_of(self.best, COARSE_WEIGHTS)
        self.weight = min(scores, key=lambda weight: scores[weight].error)
        self.score = scores[self.weight]

    def enter(self, name: str, other: Candidate, adds: bool, margin: bool = False) -> None:
        """
        Compare a candidate with the best one so far, which the winner becomes.

        :param name: of the term in which both differ; ``adds``: whether the new one has it.
        :param margin: whether it has to gain more than one standard error.
        """
        trial = Trial(other, self.motion)
        try:
            score = trial.exported(self.weight)
        except IdentificationError as error:
            self.refuse(name, str(error))
            return
        gain, deviation = score.gain(self.score)
        wins = bool(gain > (deviation if margin else 0.0))
        errors = (score.error, self.score.error) if adds else (self.score.error, score.error)
        small = margin and 0.0 < gain <= deviation
        self.terms.append(Term(name, adds == wins, *errors, deviation, (
            f'the gain is within its standard error of {100 * deviation:.2g} %' if small else
            'the lower error')))
        if wins:
            self.best, self.score = trial, score

    def refuse(self, name: str, why: str) -> None:
        """Note a term whose model cannot be fitted."""
        self.terms.append(Term(name, False, np.nan, np.nan, np.nan, why))


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
