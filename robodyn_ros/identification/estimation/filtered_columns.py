# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Columns of a regression as the efforts have them: filtered, decimated, rows left out."""

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy import ndarray
from scipy.ndimage import binary_dilation

from ...dynamics import Batch
from ...errors import IdentificationError
from ...model.robot import RobotModel
from ..motion import Motion
from ..preparation.filtering import LowPass
from .parameter_selection import ParameterSelection

REACH = 1.8   # periods of a cutoff, beyond which 1 % of the response is left


def inertial_columns(model: RobotModel, motion: Motion, selection: ParameterSelection) -> ndarray:
    """
    Return the columns of the inertial parameters (N / decimate, nv, 10 nb).

    They are the dearest part of a regression and the same for every choice of friction, so that
    those of a motion are kept as long as the motion is, if they are decimated.
    """
    def columns() -> ndarray:
        return thinner(motion, selection, True)(Batch(model).regressor(
            motion.position, motion.velocity, motion.acceleration))
    if selection.decimate == 1:
        return columns()
    key = (selection.bandwidth, selection.decimate, model.joint_names, model.body_joint_types,
           *(np.asarray(getattr(model, name)).tobytes() for name in KINEMATICS))
    kept = _COLUMNS.setdefault(motion, {})
    if key not in kept:
        kept[key] = columns()
    return kept[key]


# What the columns of the inertial parameters depend on
KINEMATICS = ('parent', 'driver', 'ratio', 'shift', 'joint_rotation', 'joint_origin', 'joint_axis',
              'gravity_vector')
_COLUMNS: WeakKeyDictionary[Motion, dict[tuple[Any, ...], ndarray]] = WeakKeyDictionary()


def rows_that_count(motion: Motion, selection: ParameterSelection) -> ndarray:
    """Return the rows (N / decimate, nv) that ``selection.moving`` leaves, True for these."""
    pieces = [np.zeros((0, len(motion.joint_names)), bool)]
    periods = 1.0 / motion.cutoff + (1.0 / selection.bandwidth if selection.bandwidth else 0.0)
    reach = int(np.ceil(REACH * periods * motion.rate))
    for a, b in motion.segments:
        left_out = np.zeros((b - a, len(motion.joint_names)), bool)
        if selection.moving is not None:
            left_out = binary_dilation(abs(motion.velocity[a:b]) < selection.moving,
                                       np.ones((2 * reach + 1, 1), bool), border_value=1)
        pieces.append(~left_out[::selection.decimate])
    return np.concatenate(pieces)


def thinner(motion: Motion, selection: ParameterSelection, computed: bool
            ) -> Callable[[ndarray], ndarray]:
    """
    Return a function that filters and decimates an array (N, ...), each segment separately.

    :param computed: whether the array is computed from positions, and so has yet to pass the
        filter of the motion.
    """
    filters = [LowPass(motion.cutoff, motion.order, motion.rate)] if computed else []
    if selection.bandwidth is not None:
        if not 0.0 < selection.bandwidth < motion.rate / 2:
            raise IdentificationError(
                f'the bandwidth is {selection.bandwidth!r}', name='bandwidth',
                value=selection.bandwidth, remedy=f'give a frequency between 0 and half the rate, '
                                               f'{motion.rate / 2:g} Hz')
        filters.append(LowPass(selection.bandwidth, motion.order, motion.rate))
        least = filters[-1].settling
        if any(b - a <= least for a, b in motion.segments):
            raise IdentificationError(
                f'a stretch without a gap has less than {least + 1} samples', name='bandwidth',
                value=selection.bandwidth, remedy='leave short stretches out, or filter less')

    def thin(array: ndarray) -> ndarray:
        pieces = []
        for a, b in motion.segments:
            piece = array[a:b]
            for low_pass in filters:
                piece = low_pass(piece)
            pieces.append(piece[::selection.decimate])
        return np.concatenate(pieces or [array[:0]])
    return thin
