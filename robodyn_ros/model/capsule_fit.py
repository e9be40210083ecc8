# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Capsule of little volume around points or balls.

A capsule is all that is within a radius r of a segment. About a given axis, a ball of radius ρ at
the distance d from the axis and at t along it is inside where the segment reaches into
t ± √((r - ρ)² - d²); the shortest segment follows in closed form, and the best radius by a search
over one number. A capsule is inside where the balls at its ends are. The axis is found by the
method of Nelder and Mead from a principal axis of the centers: the result encloses all balls
whatever the search has found, and is no more than nearly the smallest.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

# Candidates of the radius, in the least one: in the search, and at its end
COARSE, FINE = (1.0 + np.linspace(0.0, 1.0, count)**2 for count in (12, 400))
SEARCH_ROUNDS = 2    # each starts at the result of the last
EVALUATIONS_PER_ROUND = 120
SIMPLEX_TILT = 0.2    # of the first simplex: of the axis, and of its position in radii
RADIUS_MARGIN = 1e-9    # of radii, against rounding


class Capsule(NamedTuple):
    """Segment between two points (3,) [m], and radius [m]."""

    begin: ndarray
    end: ndarray
    radius: float

    @property
    def volume(self) -> float:
        """Volume [m³]."""
        return volume(self.radius, float(np.linalg.norm(self.end - self.begin)))


def volume(radius: Any, length: Any) -> Any:
    """Return the volume [m³] of a capsule of this length between the centers of its ends."""
    return np.pi * radius**2 * (length + 4.0 / 3.0 * radius)


def around(points: ndarray, balls: ndarray | float = 0.0) -> Capsule:
    """
    Return a capsule of nearly the least volume that encloses points, or balls there.

    :param points: (N, 3) [m]; ``balls`` radii (N,) [m].
    """
    from scipy.optimize import minimize  # takes a while to import

    middle = points.mean(0)
    centered = points - middle
    size = max(float(np.linalg.norm(centered, axis=1).max()), 1e-12)
    axes = np.linalg.svd(centered, full_matrices=True)[2]
    first = min(range(3), key=lambda k: about(centered, axes[k], np.zeros(3), balls)[1])
    axis, across, upward = np.roll(axes, -first, axis=0)

    def placed(x: ndarray) -> tuple[ndarray, ndarray]:
        """Return an axis that x[:2] tilt and x[2:] shift, and a point of it."""
        tilted = axis + x[0] * across + x[1] * upward
        return tilted / np.linalg.norm(tilted), size * (x[2] * across + x[3] * upward)

    x = np.zeros(4)
    for k in range(SEARCH_ROUNDS):
        simplex = x + np.vstack([np.zeros(4), SIMPLEX_TILT / 4.0**k * np.eye(4)])
        x = minimize(lambda x: about(centered, *placed(x), balls)[1], x, method='Nelder-Mead',
                     options={'initial_simplex': simplex, 'xatol': 1e-4, 'fatol': 0.0,
                              'maxfev': EVALUATIONS_PER_ROUND}).x
    begin, end, radius = about(centered, *placed(x), balls, FINE)[0]
    return Capsule(begin + middle, end + middle, radius)


def about(points: ndarray, axis: ndarray, center: ndarray, balls: ndarray | float = 0.0,
          candidates: ndarray = COARSE) -> tuple[Capsule, float]:
    """
    Return the smallest capsule about an axis that encloses points or balls, and its volume [m³].

    :param axis: (3,) unit vector through ``center`` (3,) [m].
    :param candidates: of the radius, in the least one.
    """
    offset = points - center
    along = offset @ axis
    away = np.linalg.norm(offset - along[:, None] * axis, axis=1)
    radii = candidates * (away + balls).max()
    reach = np.sqrt(np.maximum((radii[:, None] - balls)**2 - away**2, 0.0))
    lower, upper = (along + reach).min(1), (along - reach).max(1)
    volumes = volume(radii, np.maximum(upper - lower, 0.0))
    k = int(volumes.argmin())
    if lower[k] > upper[k]:         # one ball is enough
        lower[k] = upper[k] = 0.5 * (lower[k] + upper[k])
    return Capsule(center + lower[k] * axis, center + upper[k] * axis,
                   float(radii[k]) * (1.0 + RADIUS_MARGIN) + 1e-12), float(volumes[k])
