# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Cut-off of the filter and direction of gravity by cross-validation of a plain model."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from .compressed import VALIDATION_BLOCKS
from .cross_validation import Candidate, Score, Trial
from .model_selection import decimated
from .parameter_selection import USUAL_PARAMETERS
from .search import AS_RECORDED
from ..data_checks.data_issue import DataIssue
from ..motion import Motion
from ...errors import Argument, IdentificationError
from ...model.robot import RobotModel

PRIOR_WEIGHT = 10.0
MIN_GAIN = 0.02     # of the error, for another cut-off than that of the motion
CLEAR_GAIN = 0.1    # of the error, for another direction of gravity
MIN_GAIN_ERRORS = 2.0    # standard errors of the gain
MIN_BLOCK_PERIODS = 5    # of the cut-off: shorter blocks predict other cut-offs by chance


def better_cutoff(model: RobotModel, motions: Mapping[float, Motion]) -> tuple[float, str] | None:
    """
    Return the cut-off [Hz] whose parameters predict best, and why; None for that of the motion.

    Parameters are fitted with each cut-off to all blocks but one, which all of them predict with
    the highest cut-off, so that errors are those of the same efforts.

    :param motions: the same motion by cut-off; the first is that of the motion.
    """
    own, top = next(iter(motions)), max(motions)
    if len(motions[own]) * own < VALIDATION_BLOCKS * MIN_BLOCK_PERIODS * motions[own].rate:
        return None
    trials = {cutoff: _trial(model, motion) for cutoff, motion in motions.items()}
    try:
        scores = {cutoff: trials[top].predicted_by(trial, PRIOR_WEIGHT)
                  for cutoff, trial in trials.items()}
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
        own = _trial(model, motion).exported(PRIOR_WEIGHT)
        scores = [_trial(replace(model, gravity_vector=axis), motion).exported(PRIOR_WEIGHT)
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
