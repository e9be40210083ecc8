# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Columns of a regression as the efforts have them: filtered, decimated, rows left out."""

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy import ndarray

from .parameter_selection import ParameterSelection
from ..motion import Motion
from ..preparation.filtering import LowPass
from ...dynamics import Batch
from ...model.robot import RobotModel

SAMPLES_PER_PERIOD = 10.0    # of the cut-off, between which filtered signals are smooth
RESPONSE_PERIODS = 1.8    # of the cut-off, after which 1 % of the response is left


def inertial_columns(model: RobotModel, motion: Motion, selection: ParameterSelection) -> ndarray:
    """
    Return the columns of the inertial parameters (N / decimate, nv, 10 nb).

    They are the dearest part of a regression and the same for every choice of friction.
    """
    step, batch = selection.decimate, Batch(model)

    def columns() -> ndarray:
        smooth = max((k for k in range(1, step + 1) if step % k == 0
                      and k * SAMPLES_PER_PERIOD * motion.cutoff <= motion.rate), default=1)
        if smooth == 1:
            return thinner(motion, selection, True)(batch.regressor(
                motion.position, motion.velocity, motion.acceleration))
        low_pass = LowPass(motion.cutoff, motion.rate)
        return np.concatenate([low_pass.of_kept(batch.regressor(*(
            signal[a:b:smooth] for signal in (motion.position, motion.velocity,
                                              motion.acceleration))), smooth, step // smooth)
            for a, b in motion.segments])
    return kept_columns(motion, step, kinematics(model), columns)


def kept_columns(motion: Motion, step: int, key: tuple[Any, ...], compute: Callable[[], ndarray]
                 ) -> ndarray:
    """
    Return columns of a motion, which are kept as long as it is if they are decimated.

    :param step: of the decimation; ``key``: all else that decides them.
    """
    if step == 1:
        return compute()
    kept, key = _COLUMNS.setdefault(motion, {}), (step, *key)
    if key not in kept:
        kept[key] = compute()
    return kept[key]


def gravity_efforts(model: RobotModel, motion: Motion, parameters: tuple[float, ...]) -> ndarray:
    """
    Return the efforts of gravity (N, nv) [N·m | N] on the way of a motion, not filtered.

    :param parameters: inertial parameters (10 nb,).
    """
    key = ('gravity', parameters, *kinematics(model))
    kept = _COLUMNS.setdefault(motion, {})
    if key not in kept:
        rest = np.zeros_like(motion.position)
        kept[key] = Batch(model, threads=1).regressor(motion.position, rest, rest) @ np.array(
            parameters)
    return kept[key]


def kinematics(model: RobotModel) -> tuple[Any, ...]:
    """Return what columns of inertial parameters depend on, to look them up by."""
    return (model.joint_names, model.body_joint_types, *(
        np.asarray(getattr(model, name)).tobytes() for name in KINEMATIC_FIELDS))


# What the columns of the inertial parameters depend on
KINEMATIC_FIELDS = ('parent', 'driver', 'ratio', 'shift', 'joint_rotation', 'joint_origin',
                    'joint_axis', 'gravity_vector')
_COLUMNS: WeakKeyDictionary[Motion, dict[tuple[Any, ...], ndarray]] = WeakKeyDictionary()


def rows_that_count(motion: Motion, selection: ParameterSelection) -> ndarray:
    """Return the rows (N / decimate, nv) that ``selection.moving`` leaves, True for these."""
    pieces = [np.zeros((0, len(motion.joint_names)), bool)]
    reach = int(np.ceil(RESPONSE_PERIODS / motion.cutoff * motion.rate))
    for a, b in motion.segments:
        left_out = np.zeros((b - a, len(motion.joint_names)), bool)
        if selection.moving is not None:
            from scipy.ndimage import binary_dilation  # which few identifications need
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
    low_pass = LowPass(motion.cutoff, motion.rate) if computed else None

    def thin(array: ndarray) -> ndarray:
        pieces = []
        for a, b in motion.segments:
            piece = array[a:b]
            if low_pass is not None and piece.any():
                piece = low_pass(piece)
            pieces.append(piece[::selection.decimate])
        return np.concatenate(pieces or [array[:0]])
    return thin
