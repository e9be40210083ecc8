# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Piecewise polynomials through waypoints: cubic and quintic Hermite segments, and the C² spline.

SciPy has all of them too, but its import would make each start of a controller longer.
"""

from typing import NamedTuple

import numpy as np
from numpy import ndarray


class Piecewise(NamedTuple):
    """
    Polynomials of S segments.

    ``times`` (S + 1,) [s], increasing; ``coefficients`` (S, degree + 1, nv) of ascending powers
    of the time since the start of the segment.
    """

    times: ndarray
    coefficients: ndarray

    def derivative(self) -> 'Piecewise':
        """Return the derivative with respect to time."""
        powers = np.arange(1.0, self.coefficients.shape[1])
        return Piecewise(self.times, self.coefficients[:, 1:] * powers[:, None])

    def within(self, first: int, last: int, shares: ndarray) -> ndarray:
        """
        Return values of the segments from ``first`` to before ``last``, (segments, shares, nv).

        :param shares: (N,) of the duration of each segment, 0 to 1.
        """
        after = (np.diff(self.times[first:last + 1])[:, None] * shares)[:, :, None]
        total = np.zeros((*after.shape[:2], self.coefficients.shape[2]))
        for k in reversed(range(self.coefficients.shape[1])):       # Horner's scheme
            total = total * after + self.coefficients[first:last, k, None]
        return total


def cubic(times: ndarray, x: ndarray, xd: ndarray) -> Piecewise:
    """Return cubic Hermite segments: positions and velocities (W, nv) at the waypoints."""
    h = np.diff(times)[:, None]
    slope, v0, v1 = np.diff(x, axis=0) / h, xd[:-1], xd[1:]
    return Piecewise(times, np.stack(
        [x[:-1], v0, (3.0 * slope - 2.0 * v0 - v1) / h, (v0 + v1 - 2.0 * slope) / h**2], axis=1))


def quintic(times: ndarray, x: ndarray, xd: ndarray, xdd: ndarray) -> Piecewise:
    """Return quintic Hermite segments: accelerations (W, nv) at the waypoints too."""
    h = np.diff(times)[:, None]
    d = np.diff(x, axis=0)
    (v0, v1), (a0, a1) = ((h**k * a[:-1], h**k * a[1:]) for k, a in ((1, xd), (2, xdd)))
    return Piecewise(times, np.stack([
        x[:-1], xd[:-1], xdd[:-1] / 2.0,
        (10.0 * d - 6.0 * v0 - 4.0 * v1 - 1.5 * a0 + 0.5 * a1) / h**3,
        (-15.0 * d + 8.0 * v0 + 7.0 * v1 + 1.5 * a0 - a1) / h**4,
        (6.0 * d - 3.0 * (v0 + v1) - 0.5 * (a0 - a1)) / h**5], axis=1))


def spline(times: ndarray, x: ndarray, first: ndarray, last: ndarray) -> Piecewise:
    """
    Return the C² cubic spline through positions (W, nv) with given velocities at its ends.

    The velocities at the waypoints in between solve a tridiagonal system (de Boor, A Practical
    Guide to Splines, 1978, chapter IV), which needs no pivoting: it is diagonally dominant.

    :param first, last: (nv,) velocities.
    """
    h = np.diff(times)[:, None]
    slope = np.diff(x, axis=0) / h
    # Row i: h[i] xd[i - 1] + 2 (h[i - 1] + h[i]) xd[i] + h[i - 1] xd[i + 1] = right side, in xd
    xd = np.empty_like(x)
    xd[0], xd[-1] = first, last
    xd[1:-1] = 3.0 * (h[1:] * slope[:-1] + h[:-1] * slope[1:])
    steps = h[:, 0].tolist()
    above = [0.0]                   # eliminated rows: xd[i] + above[i] xd[i + 1] = xd[i] so far
    for i in range(1, len(x) - 1):
        pivot = 2.0 * (steps[i - 1] + steps[i]) - steps[i] * above[-1]
        above.append(steps[i - 1] / pivot)
        xd[i] = (xd[i] - steps[i] * xd[i - 1]) / pivot
    for i in range(len(x) - 2, 0, -1):
        xd[i] -= above[i] * xd[i + 1]
    return cubic(times, x, xd)
