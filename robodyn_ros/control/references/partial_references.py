# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""References of some joints, with the others following the one before."""

from math import comb

import numpy as np
from numpy import ndarray

from ..inputs.points import HEADER, Points


def combined(new: Points, old: Points, named: ndarray) -> Points:
    """
    Return the reference ``new`` of some joints, with the others following ``old`` to its end.

    :param named: (nv,) whether a joint follows ``new``.
    """
    start = new.header['start'][0]
    past = old.header['start'][0] - start
    times = np.union1d(new.times, past + old.times)
    times = times[(times >= 0.0)]
    times = times[np.concatenate([[True], np.diff(times) > 1e-9])]
    coefficients = np.where(named, _expanded(new, times[:-1], 0.0),
                            _expanded(old, times[:-1], past))
    efforts = np.where(named, _expanded_efforts(new, times[:-1], 0.0),
                       _expanded_efforts(old, times[:-1], past))
    header = np.zeros(1, HEADER)
    header[0] = start, new.header['serial'][0]
    return Points(header, times, np.ascontiguousarray(coefficients), np.ascontiguousarray(efforts))


def _segments(points: Points, knots: ndarray, offset: float) -> tuple[ndarray, ndarray]:
    """Return the segment of a reference at each of ``knots`` [s], and whether it rests there."""
    times = offset + points.times
    k = np.clip(np.searchsorted(times, knots + 1e-9, side='right') - 1, 0,
                len(points.coefficients) - 1)
    return k, (knots + 1e-9 >= times[-1]) | (knots + 1e-9 < times[0])


def _expanded(points: Points, knots: ndarray, offset: float) -> ndarray:
    """Return Taylor coefficients (K, 6, nv) of a reference about ``knots`` [s] of another."""
    times, c = offset + points.times, points.coefficients
    k, outside = _segments(points, knots, offset)
    x = np.clip(knots, times[0], times[-1])[:, None] - times[k, None]
    out = np.stack([sum(comb(i, j) * c[k, i] * x**(i - j) for i in range(j, 6))
                    for j in range(6)], axis=1)
    out[outside, 1:] = 0.0
    return out


def _expanded_efforts(points: Points, knots: ndarray, offset: float) -> ndarray:
    """Return efforts and their slopes (K, 2, nv) of a reference at ``knots`` [s] of another."""
    k, outside = _segments(points, knots, offset)
    out = points.efforts[k]
    out[:, 0] += (knots - offset - points.times[k])[:, None] * out[:, 1]
    out[outside] = 0.0
    return out
