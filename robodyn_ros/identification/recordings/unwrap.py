# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Angles of encoders that count a turn, from -π to π or from 0 to 2 π."""

import numpy as np
from numpy import ndarray

TURN_TOLERANCE = 1.0    # [rad] of motion between two samples beside a jump by a turn


def unwrapped(angle: ndarray) -> tuple[ndarray, int]:
    """
    Return angles (N,) [rad] without jumps by a turn, and their number.

    Not ``numpy.unwrap``, which spreads NaN, and changes steps of any size above half a turn, also
    those of angles that are in degrees.
    """
    known = np.isfinite(angle)
    steps = np.diff(angle[known])
    turns = np.where(np.abs(np.abs(steps) - 2 * np.pi) < TURN_TOLERANCE, np.sign(steps), 0.0)
    result = angle.copy()
    result[np.flatnonzero(known)[1:]] -= 2 * np.pi * np.cumsum(turns)
    return result, int(np.count_nonzero(turns))
