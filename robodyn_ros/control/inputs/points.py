# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Reference of the control cycle: piecewise polynomials between waypoints, and their sampling."""

from typing import NamedTuple

import numpy as np
from numpy import ndarray

HEADER = np.dtype([('start', float), ('serial', np.int64)])


class Points(NamedTuple):
    """
    Reference of S segments, quintic polynomials of the time since the start of their segment.

    ``header`` (1,) ``HEADER``: start [s] on the clock of references, and a serial number that is
    new for each trajectory; ``times`` (S + 1,) [s] since the start, before which the reference may
    be that of the trajectory before; ``coefficients`` (S, 6, nv)
    [rad | m, per s to the power], by ascending powers; ``efforts`` (S, 2, nv) [N·m | N, per s]
    feed-forward, at the start of the segment and its slope.
    """

    header: ndarray
    times: ndarray
    coefficients: ndarray
    efforts: ndarray

    @classmethod
    def none(cls, nv: int) -> 'Points':
        """Return the reference of no trajectory: serial 0 is never followed."""
        return cls(np.zeros(1, HEADER), np.zeros(2), np.zeros((1, 6, nv)), np.zeros((1, 2, nv)))


def segment_of(times: ndarray, segment: int, t: float) -> int:
    """Return the segment in which ``t`` [s] is, sought from ``segment`` on."""
    if t < times[segment]:
        segment = 0
    while segment < times.shape[0] - 2 and t >= times[segment + 1]:
        segment += 1
    return segment


def evaluate(points: Points, segment: int, now: float, position: ndarray, velocity: ndarray,
             acceleration: ndarray, effort: ndarray) -> None:
    """
    Write a reference at a time into (nv,) arrays; before and after it, its end poses at rest.

    The polynomials are evaluated by Horner's scheme.

    :param segment: from :func:`segment_of`.
    :param now: time of the clock of references [s], see :mod:`.time_scaling`.
    """
    since, times = now - points.header[0].start, points.times
    end = times[times.shape[0] - 1]
    t = min(max(since, times[0]), end)
    c, x, added = points.coefficients[segment], t - times[segment], points.efforts[segment]
    for i in range(position.shape[0]):
        position[i] = c[0, i] + x * (c[1, i] + x * (c[2, i] + x * (
            c[3, i] + x * (c[4, i] + x * c[5, i]))))
        velocity[i] = c[1, i] + x * (2.0 * c[2, i] + x * (
            3.0 * c[3, i] + x * (4.0 * c[4, i] + x * 5.0 * c[5, i])))
        acceleration[i] = 2.0 * c[2, i] + x * (6.0 * c[3, i] + x * (
            12.0 * c[4, i] + x * 20.0 * c[5, i]))
        effort[i] = added[0, i] + x * added[1, i]
    if t >= end or since < times[0]:
        for i in range(position.shape[0]):
            velocity[i], acceleration[i], effort[i] = 0.0, 0.0, 0.0


def sample(points: Points, time: float) -> tuple[ndarray, ndarray]:
    """Return position and velocity (nv,) of a reference at a time on its clock [s]."""
    position, velocity, _ = sample_state(points, time)
    return position, velocity


def sample_state(points: Points, time: float) -> tuple[ndarray, ndarray, ndarray]:
    """Return position, velocity and acceleration (nv,) of a reference at a time [s]."""
    points = points._replace(header=points.header.view(np.recarray))
    out = np.zeros((4, points.coefficients.shape[2]))
    t = min(max(time - points.header[0].start, points.times[0]), points.times[-1])
    evaluate(points, segment_of(points.times, 0, t), time, *out)
    return out[0], out[1], out[2]
