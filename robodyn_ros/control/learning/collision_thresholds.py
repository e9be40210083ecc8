# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Collision thresholds from a motion without contact."""

from typing import NamedTuple

import numpy as np
from numpy import ndarray
from scipy.optimize import linprog

from ...errors import ArgumentError

THRESHOLD_MARGIN = 1.5    # over the external efforts without contact
MIN_THRESHOLD = 0.01    # effort limits
MAX_EFFORT_BAND = 1.0    # of the effort; a model with a larger error is unusable


class CollisionThresholds(NamedTuple):
    """Parameters of :class:`.collisions.Parameters`, (nv,) each."""

    collision_threshold: ndarray
    collision_velocity_band: ndarray
    collision_effort_band: ndarray


def thresholds(velocity: ndarray, bias: ndarray, external: ndarray, effort_limit: ndarray, *,
               margin: float = THRESHOLD_MARGIN) -> CollisionThresholds:
    """
    Return the lowest thresholds that a motion without contact stays below.

    For each joint, threshold + velocity band |q̇| + effort band |C q̇ + g| has the least mean over
    the motion of all that are nowhere below ``margin`` times the external effort: a linear
    programme (SciPy's HiGHS).

    :param velocity: (N, nv) q̇ [rad/s | m/s].
    :param bias: (N, nv) C q̇ + g [N·m | N].
    :param external: (N, nv) estimated external efforts [N·m | N].
    :param effort_limit: (nv,) [N·m | N].
    :param margin: at least 1.
    :raises ArgumentError: no rows, rows that are not finite, or external efforts beyond the
        effort limit.
    """
    if not len(external) or not np.isfinite(external).all():
        raise ArgumentError('there is no external effort to learn from', name='external',
                            remedy='let the arm be driven all the time')
    largest = np.abs(external).max(axis=0)
    if (over := margin * largest > effort_limit).any():
        i = int(over.argmax())
        raise ArgumentError(
            f'joint {i} has an external effort of {largest[i]:.4g} N·m or N, near its effort '
            'limit, although nothing touches the arm', name='external',
            remedy='correct model, payload or friction first: see `robodyn identify`')
    out = []
    for i in range(external.shape[1]):
        rows = np.column_stack([np.ones(len(external)), np.abs(velocity[:, i]),
                                np.abs(bias[:, i])])
        found = linprog(rows.mean(axis=0), -rows, -margin * np.abs(external[:, i]),
                        bounds=[(MIN_THRESHOLD * effort_limit[i], None), (0.0, None),
                                (0.0, MAX_EFFORT_BAND)])
        if not found.success:
            raise ArgumentError(f'no thresholds for joint {i}: {found.message}', name='external',
                                remedy='record another motion')
        out.append(found.x)
    return CollisionThresholds(*np.array(out).T)
