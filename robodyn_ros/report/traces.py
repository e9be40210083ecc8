# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Samples of long curves for a plot."""

import numpy as np
from numpy import ndarray

MOST = 4000         # points of a curve
COLORS = ('#2f7ed8', '#e07b1a', '#2a9d5c', '#d03b4f', '#8b6bd1', '#a0764a', '#d16ba5', '#7f8c99',
          '#b5a81c', '#22a3b8')


def envelope(values: ndarray, most: int = MOST) -> ndarray:
    """
    Return indices of at most so many samples that keep each peak of a curve (N,), and its breaks.

    Of each of ``most / 2`` intervals they are those of the least and of the greatest value; a
    break is the first of the samples in a row that are NaN, of which there may be more.
    """
    n = len(values)
    if n <= most:
        return np.arange(n)
    edges = np.linspace(0, n, most // 2 + 1).astype(int)
    low, high = np.where(np.isnan(values), np.inf, values), np.where(
        np.isnan(values), -np.inf, values)
    found = [(a + int(np.argmin(low[a:b])), a + int(np.argmax(high[a:b])))
             for a, b in zip(edges[:-1], edges[1:])]
    absent = np.isnan(values)
    breaks = np.flatnonzero(absent & ~np.append(False, absent[:-1]))
    return np.union1d(found, breaks)


def finite(values: ndarray) -> list[float | None]:
    """Return numbers of six digits for JSON, None where they are not finite."""
    return [float(f'{x:.6g}') if np.isfinite(x) else None for x in values.tolist()]
