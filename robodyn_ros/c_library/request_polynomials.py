# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Polynomials of one request, and their checks."""

from math import copysign, inf, isfinite

from numpy import ndarray

from .request import (
    CHECKED_PARTS,
    DEFAULT_TIME,
    LIMIT_ROUNDING,
    MAX_ATTEMPTS,
    MIN_DURATION,
    NOT_FINITE,
    OK,
    OUTSIDE,
    RETRY_FACTOR,
    STREAM_PERIODS,
    TOO_FAST,
)


def polynomial(x0: float, v0: float, a0: float, x1: float, v1: float, a1: float, T: float,
               out: ndarray, i: int) -> None:
    """Write the quintic from one state to another within T [s] to column ``i`` of ``out``."""
    d = (x1 - x0 - T * (v0 + 0.5 * T * a0)) / T**3
    e = (v1 - v0 - T * a0) / T**2
    f = (a1 - a0) / T
    out[0, i], out[1, i], out[2, i] = x0, v0, 0.5 * a0
    out[3, i] = 10.0 * d - 4.0 * e + 0.5 * f
    out[4, i] = (-15.0 * d + 7.0 * e - f) / T
    out[5, i] = (6.0 * d - 3.0 * e + 0.5 * f) / T**2


def faulty(coefficients: ndarray, i: int, T: float, lower: float, upper: float, velocity: float,
           acceleration: float) -> int:
    """Return what a polynomial of one joint exceeds on the grid: OUTSIDE, TOO_FAST or OK."""
    c = coefficients
    for k in range(CHECKED_PARTS + 1):
        t = T * k / CHECKED_PARTS
        x = c[0, i] + t * (c[1, i] + t * (c[2, i] + t * (c[3, i] + t * (c[4, i] + t * c[5, i]))))
        xd = c[1, i] + t * (2.0 * c[2, i] + t * (3.0 * c[3, i] + t * (
            4.0 * c[4, i] + t * 5.0 * c[5, i])))
        xdd = 2.0 * c[2, i] + t * (6.0 * c[3, i] + t * (12.0 * c[4, i] + t * 20.0 * c[5, i]))
        if not (isfinite(x) and isfinite(xd) and isfinite(xdd)):
            return NOT_FINITE
        if not lower - LIMIT_ROUNDING <= x <= upper + LIMIT_ROUNDING:
            return OUTSIDE
        if not (abs(xd) <= velocity * (1.0 + LIMIT_ROUNDING) + LIMIT_ROUNDING
                and abs(xdd) <= acceleration * (1.0 + LIMIT_ROUNDING) + LIMIT_ROUNDING):
            return TOO_FAST
    return OK


def go_on_and_stop(x: ndarray, lower: ndarray, upper: ndarray, acceleration: ndarray,
                   period: float, times: ndarray, coefficients: ndarray) -> None:
    """
    Write a reference that goes on for STREAM_PERIODS from a state, and decelerates to rest.

    Position limits come first: near one the deceleration is as short as it has to be. All axes
    take the same time, so that the path stays straight.

    :param x: (3, n) position, velocity, acceleration, which falls to 0 before the deceleration.
    """
    n, first = x.shape[1], STREAM_PERIODS * period
    stop, room = MIN_DURATION, inf
    for i in range(n):
        a = x[2, i]
        c, d = coefficients[0], coefficients[1]
        for k in range(6):
            c[k, i] = d[k, i] = 0.0
        c[0, i], c[1, i], c[2, i], c[3, i] = x[0, i], x[1, i], 0.5 * a, -a / (6.0 * first)
        d[0, i] = x[0, i] + first * (x[1, i] + first * a / 3.0)
        d[1, i] = v = x[1, i] + 0.5 * first * a
        if v == 0.0:
            continue
        stop = max(stop, 1.5 * abs(v) / acceleration[i] if isfinite(acceleration[i])
                   else 1.5 * DEFAULT_TIME)
        left = upper[i] - d[0, i] if v > 0.0 else d[0, i] - lower[i]
        room = min(room, 2.0 * max(left, 0.0) / abs(v))
    stop = max(MIN_DURATION, min(stop, room))
    for i in range(n):      # velocity v (1 - 3 s² + 2 s³) with s = t / stop
        v = coefficients[1, 1, i]
        coefficients[1, 3, i], coefficients[1, 4, i] = -v / stop**2, 0.5 * v / stop**3
    times[0], times[1], times[2] = 0.0, first, first + stop


def move(x: ndarray, target: ndarray, lower: ndarray, upper: ndarray, velocity: ndarray,
         acceleration: ndarray, jerk: ndarray, out: ndarray) -> float:
    """
    Write quintics from a state to a target at rest; return their duration [s], or minus an error.

    It is about the shortest with which no axis exceeds its limits, or what it begins with.

    :param x: (3, n) position, velocity, acceleration.
    :param out: (6, n).
    """
    n, T = x.shape[1], MIN_DURATION
    for i in range(n):      # peaks of a motion from rest to rest
        d = abs(target[i] - x[0, i])
        fastest = velocity[i] if isfinite(velocity[i]) else 1.0
        most = acceleration[i] if isfinite(acceleration[i]) else fastest / DEFAULT_TIME
        T = max(T, 1.875 * d / fastest, (5.7736 * d / most)**0.5)
        if isfinite(jerk[i]):
            T = max(T, (60.0 * d / jerk[i])**(1.0 / 3.0))
        T = max(T, 1.5 * abs(x[1, i]) / most)
    wrong = OK
    for _ in range(MAX_ATTEMPTS):
        wrong = OK
        for i in range(n):
            polynomial(x[0, i], x[1, i], x[2, i], target[i], 0.0, 0.0, T, out, i)
            wrong = faulty(out, i, T, min(lower[i], x[0, i]), max(upper[i], x[0, i]),
                           max(velocity[i], abs(x[1, i])), max(acceleration[i], abs(x[2, i])))
            if wrong != OK:
                break
        if wrong == OK:
            return T
        T *= RETRY_FACTOR
    return -float(wrong)


def approached(offset: float, step: float) -> float:
    """Return an offset that has come nearer to 0 by a step."""
    return 0.0 if not abs(offset) > step else offset - copysign(step, offset)
