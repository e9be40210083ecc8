# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Robots in the simulator whose masses, friction and rotors nobody told, and what is found of them.

What is true is not what the estimator assumes: MuJoCo's dry friction holds a joint still where it
reverses, for some hundredths of a second, with any effort up to its size, and the sign of the
velocity is no model of that. So rows of a joint that is slower than MOVING, and those that the
low-pass mixes with them, are left out, of fits and of judgements alike.

Standard errors as small as those that are claimed need a long motion: a minute of each robot at
1 kHz, which takes about ten seconds.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy import ndarray
import pytest
from robodyn_ros.identification import Estimate, identify, Motion, ParameterSelection
from robodyn_ros.identification.estimation.regression import regression, rows_that_count
from robodyn_ros.identification.preparation.options import PreparationOptions
from robodyn_ros.identification.recorded_motion import checked_motion
from robodyn_ros.identification.validation import efforts_of
from scipy.stats import binom
from simulated import arm, drive

pytestmark = pytest.mark.slow

MOVING = 0.05           # rad/s
CHOICE = ParameterSelection(moving=MOVING, decimate=20)
# Hz: the rule takes less, and so leaves more of the rows near reversals out
OPTIONS = PreparationOptions(cutoff=10.0)
ROBOTS = {'two_link': 0, 'arm6': 1}         # and the seeds of what is not known
SECONDS = 40            # of the motion that is fitted
UNSEEN_SECONDS = 20     # of the one that is predicted


@dataclass(frozen=True, eq=False)
class Unseen:
    """
    A motion that nothing was fitted to.

    :param counted: (N, nv) where a joint moves; ``floor`` (nv,) RMS of the noise there [N·m].
    """

    motion: Motion
    counted: ndarray
    floor: ndarray

    def error(self, predicted: ndarray) -> ndarray:
        """RMS of what is between measured and predicted efforts, as a share of the floor (nv,)."""
        off = self.motion.effort - predicted
        return np.sqrt(np.mean(off**2, axis=0, where=self.counted)) / self.floor


@cache
def found(name: str, seed: int) -> Estimate:
    known = arm(name, seed).known
    motion, *_ = checked_motion(drive(name, seed, SECONDS, 2 * seed).recording, known, OPTIONS)
    return identify(known, motion, CHOICE)


@cache
def unseen(name: str, seed: int) -> Unseen:
    known, driven = arm(name, seed).known, drive(
        name, seed, UNSEEN_SECONDS, 2 * seed + 1)
    motion, exact = (checked_motion(recording, known, OPTIONS)[0]
                     for recording in (driven.recording, driven.exact))
    counted = rows_that_count(motion, ParameterSelection(moving=MOVING))
    noise = motion.effort - exact.effort
    return Unseen(motion, counted, np.sqrt(np.mean(noise**2, axis=0, where=counted)))


def deviations(name: str, seed: int) -> ndarray:
    """Return how far off base parameters are (p,), in standard errors."""
    estimate = found(name, seed)
    true = regression(arm(name, seed).true, unseen(name, seed).motion, CHOICE).prior
    return (estimate.values - estimate.base.values(true)) / estimate.standard_errors


@pytest.mark.parametrize('name, seed', ROBOTS.items())
def test_parameters_are_within_three_standard_errors(name, seed):
    # As many of normal numbers as 99.9 % of all trials have at most: one of 13, two of 58
    off = abs(deviations(name, seed))
    assert np.sum(off > 3.0) <= binom.ppf(0.999, len(off), 0.0027)
    assert off.max() < 6.0


@pytest.mark.parametrize('name, seed', ROBOTS.items())
def test_prediction_of_another_motion_errs_as_the_sensors_do(name, seed):
    other, estimate = unseen(name, seed), found(name, seed)
    assert (other.counted.mean(0) > 0.4).all()
    assert (other.error(estimate.predict(other.motion)) <= 1.1).all()


@pytest.mark.parametrize('name, seed', ROBOTS.items())
def test_what_the_maker_said_was_off(name, seed):
    other = unseen(name, seed)
    assert (other.error(efforts_of(arm(name, seed).known, other.motion)) > 10.0).all()
