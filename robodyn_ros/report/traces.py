# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Samples of long curves for a plot."""

import numpy as np
from numpy import ndarray

MAX_POINTS = 4000    # of a curve
COLORS = ('#2f7ed8', '#e07b1a', '#2a9d5c', '#d03b4f', '#8b6bd1', '#a0764a', '#d16ba5', '#7f8c99',
          '#b5a81c', '#22a3b8')


def envelope(values: ndarray, most: int = MAX_POINTS) -> ndarray:
    """
    Return indices of at most so many samples that keep each peak of a curve (N,), and its breaks.

    Of each of ``most / 2`` intervals they are those of the least and of the greatest value; a
    break is the first of the samples in a row that are NaN, of which there may be more.
    """
    n = len(values)
    if n <= most:
        return np.arange(n)
    width = -(-n // (most // 2))
    first = np.arange(0, n, width)
    intervals = np.full((len(first), width), np.nan)
    intervals.ravel()[:n] = values
    absent = np.isnan(intervals)
    low = np.where(absent, np.inf, intervals).argmin(axis=1)
    high = np.where(absent, -np.inf, intervals).argmax(axis=1)
    absent = np.isnan(values)
    breaks = np.flatnonzero(absent & ~np.append(False, absent[:-1]))
    return np.unique(np.concatenate((first + low, first + high, breaks)))


def finite(values: ndarray) -> list[float | None]:
    """Return numbers of six digits for JSON, None where they are not finite."""
    x = np.asarray(values, float)
    known = np.isfinite(x)
    size = np.abs(np.where(known & (x != 0.0), x, 1.0))
    digits = np.clip(5.0 - np.floor(np.log10(size)), -300.0, 300.0)
    scale = 10.0**np.abs(digits)
    with np.errstate(invalid='ignore', over='ignore'):
        rounded = np.where(digits >= 0.0, np.round(x * scale) / scale, np.round(x / scale) * scale)
    return [value if there else None for value, there in zip(rounded.tolist(), known.tolist())]
