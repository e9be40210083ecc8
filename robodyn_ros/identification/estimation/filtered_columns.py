# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Columns of a regression as the efforts have them: friction, filtered, decimated."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

from numba import types
import numpy as np
from numpy import ndarray

from ..filtering import LowPass
from ..motion import Motion
from ..options import ParameterSelection
from ...compiler.jit import compile_function, jitable
from ...dynamics import Batch, friction as model_friction
from ...dynamics.friction import advance_presliding, loaded_friction
from ...dynamics.model_data import friction_parameters
from ...model.robot import RobotModel

_MATRIX = types.Array(types.float64, 2, 'C')
_READ_ONLY = types.Array(types.float64, 2, 'A', readonly=True)
KERNEL_SIGNATURE = types.void(_MATRIX, _READ_ONLY, _READ_ONLY, _READ_ONLY, types.int64,
                              types.int64, _MATRIX)
SAMPLES_PER_PERIOD = 10.0    # of the cut-off, between which filtered signals are smooth
SAMPLES_PER_CUTOFF_PERIOD = 5   # that are kept: samples between them are redundant
RESPONSE_PERIODS = 1.8    # of the cut-off, after which 1 % of the response is left


def path_friction(model: RobotModel, motion: Motion, load: ndarray | None = None) -> ndarray:
    """
    Return the friction (N, nv) [N·m | N] of a motion.

    A joint with a presliding distance is assumed to slide at the first sample of a segment, in its
    direction of motion.

    :param load: (N, nv) efforts of gravity [N·m | N], which load-dependent friction grows with;
        None: that friction is left out.
    """
    found = np.zeros_like(motion.velocity)
    carried = np.zeros_like(found) if load is None else load
    parameters = friction_parameters(model)
    if not any(a.any() for a in (model.viscous_friction, model.coulomb_friction,
                                 model.static_friction, model.backward_friction,
                                 model.load_friction, model.coupled_friction)):
        return found
    for begin, end in motion.segments:
        _compiled()(parameters, motion.position, motion.velocity, carried, begin, end, found)
    return found


def along(parameters: ndarray, q: ndarray, qd: ndarray, load: ndarray, begin: int, end: int,
          tau: ndarray) -> None:
    """
    Write into ``tau`` (N, nv) the friction of the samples ``begin`` to ``end``.

    :param parameters: (13, nv), see :func:`robodyn_ros.dynamics.friction.friction`.
    :param q: (N, nv) [rad | m], with ``qd`` (N, nv) and ``load`` (N, nv) g(q).
    """
    nv = q.shape[1]
    share, moved = np.zeros(nv), np.zeros(nv)
    for i in range(nv):
        for n in range(begin + 1, end):
            if q[n, i] != q[n - 1, i]:
                share[i] = 1.0 if q[n, i] > q[n - 1, i] else -1.0
                break
    for n in range(begin, end):
        for i in range(nv):
            moved[i] = q[n, i] - q[n - 1, i] if n > begin else 0.0
        advance_presliding(parameters, moved, share)
        loaded_friction(parameters, qd[n], load[n], share, tau[n])


@cache
def _compiled() -> Any:
    return compile_function('path_friction', along, KERNEL_SIGNATURE, (jitable(model_friction),))


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
    return compute() if step == 1 else motion.once((step, *key), compute)


def gravity_efforts(model: RobotModel, motion: Motion, parameters: tuple[float, ...]) -> ndarray:
    """
    Return the efforts of gravity (N, nv) [N·m | N] on the way of a motion, not filtered.

    :param parameters: inertial parameters (10 nb,).
    """
    rest = np.zeros_like(motion.position)
    return motion.once(('gravity', parameters, *kinematics(model)), lambda: Batch(
        model, threads=1).regressor(motion.position, rest, rest) @ np.array(parameters))


def kinematics(model: RobotModel) -> tuple[Any, ...]:
    """Return the key of the columns of inertial parameters."""
    return (model.joint_names, model.body_joint_types, *(
        np.asarray(getattr(model, name)).tobytes() for name in KINEMATIC_FIELDS))


# Fields that the columns of the inertial parameters depend on
KINEMATIC_FIELDS = ('parent', 'driver', 'ratio', 'shift', 'joint_rotation', 'joint_origin',
                    'joint_axis', 'gravity_vector')


def decimated(selection: ParameterSelection, motion: Motion
              ) -> tuple[ParameterSelection, list[str]]:
    """
    Return the selection with its rule of decimation applied, and a note.

    Where ``decimate`` is 1 and the motion is filtered, SAMPLES_PER_CUTOFF_PERIOD samples or more
    are kept in a period of the cutoff.
    """
    if selection.decimate != 1 or not np.isfinite(motion.cutoff):
        return selection, []
    step = max(1, int(motion.rate / (SAMPLES_PER_CUTOFF_PERIOD * motion.cutoff)))
    step -= step % 2 if step > 2 else 0     # columns are computed at half the step
    return replace(selection, decimate=step), [
        f'decimated by {step} (>= {SAMPLES_PER_CUTOFF_PERIOD} samples per cut-off period)']


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
