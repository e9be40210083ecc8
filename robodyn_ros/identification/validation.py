# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Validation of a model on a motion that it was not fitted to."""

from dataclasses import dataclass

import numpy as np
from numpy import ndarray

from .estimation.estimate import Estimate
from .estimation.filtered_columns import rows_that_count
from .estimation.regression import predicted
from .motion import Motion
from .options import INERTIAL_ONLY, ParameterSelection
from ..errors import Argument, IdentificationError
from ..model.robot import RobotModel

MAX_LAGS = 50           # of the autocorrelation that are looked at, and a quarter of the samples
BAND = 1.96         # standard deviations: 95 % of the autocorrelations of white noise are within


@dataclass(frozen=True, eq=False)
class Validation:
    """
    Measured and predicted efforts, and measures of their difference for each joint.

    :param motion: with the measured efforts.
    :param predicted: (N, nv) [N·m | N].
    :param rms: (nv,) root mean square of the errors [N·m | N].
    :param relative: (nv,) ``rms`` over the standard deviation of the efforts.
    :param determination: (nv,) coefficient of determination, 1 - ``relative``².
    :param whiteness: (nv,) share of the autocorrelations of the errors, from lag 1 on, outside the
        95 % band of white noise: 0.05 is white. Computed from samples half a period of the
        filter's cutoff apart, since the filter correlates neighbours.
    """

    joint_names: tuple[str, ...]
    motion: Motion
    predicted: ndarray
    rms: ndarray
    relative: ndarray
    determination: ndarray
    whiteness: ndarray

    @property
    def error(self) -> ndarray:
        """Measured less predicted efforts (N, nv) [N·m | N]."""
        return self.motion.effort - self.predicted


def validate(motion: Motion, predicted: ndarray, moving: float | None = None) -> Validation:
    """
    Return the measures of a prediction.

    :param predicted: (N, nv), of every sample of the motion.
    :param moving: velocity [rad/s | m/s] below which samples of a joint do not count, see
        :class:`~.options.ParameterSelection`; None: all count.
    :raises IdentificationError: a joint is never that fast.
    """
    counted = rows_that_count(motion, ParameterSelection(moving=moving))
    if not counted.any(0).all():
        joint = motion.joint_names[int(np.flatnonzero(~counted.any(0))[0])]
        raise IdentificationError(
            f'{joint} is faster than {moving:g} for too short a time', name=joint, value=moving,
            remedy=('give a lower velocity, or none: ', Argument('moving', 0.01)))
    error = np.where(counted, motion.effort - predicted, 0.0)
    rms = np.sqrt((error**2).mean(0, where=counted))
    spread = motion.effort.std(0, where=counted)
    with np.errstate(divide='ignore', invalid='ignore'):
        relative = rms / spread
    return Validation(motion.joint_names, motion, predicted, rms, relative, 1.0 - relative**2,
                      whiteness(error, motion))


def of_estimate(estimate: Estimate, motion: Motion) -> Validation:
    """Validate an estimate, its offsets included."""
    return validate(motion, estimate.predict(motion))


def of_model(model: RobotModel, motion: Motion, offset: ndarray | float = 0.0,
             moving: float | None = None) -> Validation:
    """
    Validate a model with its friction and armature.

    :param offset: (nv,) constant efforts in addition [N·m | N].
    :param moving: see :func:`validate`.
    """
    return validate(motion, efforts_of(model, motion) + offset, moving)


def efforts_of(model: RobotModel, motion: Motion) -> ndarray:
    """Return the efforts (N, nv) of a model, which pass the filter of the motion."""
    return predicted(model, motion, INERTIAL_ONLY, model.inertial_parameters)


def whiteness(error: ndarray, motion: Motion) -> ndarray:
    """Return the share of autocorrelations outside the band of white noise (nv,)."""
    step = max(1, round(motion.rate / (2 * motion.cutoff)))
    pieces = [error[a:b:step] - error.mean(0) for a, b in motion.segments]
    count = sum(len(piece) for piece in pieces)
    lags = min(MAX_LAGS, count // 4)
    power = sum((piece**2).sum(0) for piece in pieces)
    if lags < 1:
        return np.full(error.shape[1], np.nan)
    outside = np.zeros(error.shape[1])
    for lag in range(1, lags + 1):
        product = sum((piece[lag:] * piece[:-lag]).sum(0) for piece in pieces)
        with np.errstate(divide='ignore', invalid='ignore'):
            outside += np.abs(product / power) > BAND / np.sqrt(count)
    return outside / lags
