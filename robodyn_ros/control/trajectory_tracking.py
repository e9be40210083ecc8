# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The reference as the cycle reads it: polynomials between waypoints, sampled at a time."""

from typing import NamedTuple

import numpy as np
from numpy import ndarray

from .dtypes import MEMORY, Vectors

HEADER = np.dtype([('start', float), ('serial', np.int64)])


class Points(NamedTuple):
    """
    A sampled reference as the cycle reads it.

    ``header`` (1,): when it starts, on the cycle's clock, and a serial number that is new for each
    trajectory; ``times`` (S + 1,) [s] from the start; ``coefficients`` (S, 6, nv), by ascending
    powers.
    """

    header: ndarray
    times: ndarray
    coefficients: ndarray

    @classmethod
    def none(cls, nv: int) -> 'Points':
        """No trajectory: serial 0 is never followed."""
        return cls(np.zeros(1, HEADER), np.zeros(2), np.zeros((1, 6, nv)))


def hold_here(m, v):
    """The present pose becomes the reference, at rest."""
    m.following = 0
    for i in range(v.q.shape[0]):
        v.target[i], v.target_qd[i], v.target_qdd[i] = v.q[i], 0.0, 0.0


def follow(points, m, v, now):
    """Sample the trajectory in force into ``v.target``; before and after it, its end poses."""
    header, times, coefficients = points.header[0], points.times, points.coefficients
    if header.serial != m.serial:
        m.serial, m.following, m.segment = header.serial, 1, 0
    if m.following == 0:
        return
    last = coefficients.shape[0] - 1
    t = min(max(now - header.start, 0.0), times[last + 1])
    if t < times[m.segment]:
        m.segment = 0
    while m.segment < last and t >= times[m.segment + 1]:
        m.segment += 1
    c, x = coefficients[m.segment], t - times[m.segment]
    for i in range(v.q.shape[0]):
        v.target[i] = c[0, i] + x * (c[1, i] + x * (c[2, i] + x * (
            c[3, i] + x * (c[4, i] + x * c[5, i]))))
        v.target_qd[i] = c[1, i] + x * (2.0 * c[2, i] + x * (
            3.0 * c[3, i] + x * (4.0 * c[4, i] + x * 5.0 * c[5, i])))
        v.target_qdd[i] = 2.0 * c[2, i] + x * (6.0 * c[3, i] + x * (
            12.0 * c[4, i] + x * 20.0 * c[5, i]))
    if t >= times[last + 1] or now < header.start:
        for i in range(v.q.shape[0]):
            v.target_qd[i], v.target_qdd[i] = 0.0, 0.0


def sample(points: Points, time: float) -> tuple[ndarray, ndarray]:
    """Position and velocity (nv,) of a reference at a time on its clock [s]."""
    m, v = np.zeros(1, MEMORY).view(np.recarray)[0], Vectors.zeros(points.coefficients.shape[2])
    follow(points._replace(header=points.header.view(np.recarray)), m, v, time)
    return v.target, v.target_qd
