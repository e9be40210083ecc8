# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Combination of references: one that joins a path from elsewhere, and one for each joint."""

from math import comb

import numpy as np
from numpy import ndarray

from ..algebra.piecewise import quintic
from ..inputs.points import HEADER, Points, sample_state
from ..settings.motion_limits import LIMIT_ROUNDING, MotionLimits
from ..settings.settings import VELOCITY_TIME
from ...errors import TrajectoryError

State = tuple[ndarray, ndarray, ndarray]
# rad | m and rad/s | m/s by which a path may be elsewhere than the reference without being joined
SAME_STATE_TOLERANCE = 1e-9
# Shares of the duration of a transition at which its limits are checked
CHECKED_SHARES = np.linspace(0.0, 1.0, 17)
# A transition that is too fast is tried again, longer by this factor, up to MAX_DURATION [s]
DURATION_FACTOR, MIN_DURATION, MAX_DURATION = 1.15, 5e-3, 100.0
# Peaks of the quintic that brings a distance d to rest in T: of acceleration d/T², of jerk d/T³
PEAK_ACCELERATION, PEAK_JERK = 5.78, 60.0


@np.errstate(all='ignore')          # joints without limits
def join(limits: MotionLimits, path: Points, state: State, start: float) -> Points:
    """
    Return the reference that begins in a state, and joins a path that is elsewhere.

    Each joint follows a quintic from the state to the path, with the position, velocity and
    acceleration that the path has there, as soon as the limits of velocity and acceleration allow;
    the distance is set off within the limit of jerk, too. Joints that are on the path follow it.

    :param path: begins at ``start`` or before it.
    :param state: position, velocity and acceleration (nv,) of the reference at ``start``.
    :param start: time [s] on the clock of references.
    :raises TrajectoryError: naming the joint that is further from the path than
        ``start_tolerance``, or that cannot join it within its limits.
    """
    model, offset = limits.model, path.header['start'][0] - start
    there = sample_state(path, start)
    turns = np.where(model.periodic, np.round((state[0] - there[0]) / (2.0 * np.pi)), 0.0)
    coefficients = path.coefficients.copy()
    coefficients[:, 0] += 2.0 * np.pi * turns
    path = path._replace(coefficients=coefficients)
    distance = there[0] + 2.0 * np.pi * turns - state[0]
    change = there[1] - state[1]
    apart = (np.abs(distance) > SAME_STATE_TOLERANCE) | (np.abs(change) > SAME_STATE_TOLERANCE)
    _check_distance(limits, np.abs(distance), state[0])
    if not apart.any() and offset == 0.0:
        return path
    duration, quintics = np.zeros(model.nv), np.zeros((6, model.nv))
    if apart.any():
        duration, quintics = _transitions(limits, path, offset, state, distance, change, apart)
    knots = np.concatenate([[0.0], offset + path.times, duration[apart]])
    knots = np.unique(knots[knots >= 0.0])
    knots = knots[np.concatenate([[True], np.diff(knots) > 1e-9])]
    header = np.zeros(1, HEADER)
    header[0] = start, path.header['serial'][0]
    single = Points(header, np.array([0.0, MAX_DURATION]), quintics[None], path.efforts[:1])
    joining = knots[:-1, None] < np.where(apart, duration, 0.0) - 1e-9
    return Points(header, knots, np.ascontiguousarray(np.where(
        joining[:, None], _expanded(single, knots[:-1], 0.0),
        _expanded(path, knots[:-1], offset))), _expanded_efforts(path, knots[:-1], offset))


def _check_distance(limits: MotionLimits, distance: ndarray, position: ndarray) -> None:
    """Refuse a path that is further from the reference than ``start_tolerance``."""
    tolerance = np.broadcast_to(limits.start_tolerance, distance.shape)
    i = int((distance / tolerance).argmax())
    if distance[i] > tolerance[i] + SAME_STATE_TOLERANCE:
        name, unit = limits.model.joint_names[i], 'm' if limits.model.slides[i] else 'rad'
        raise TrajectoryError(
            f'the trajectory starts {distance[i]:.4g} {unit} from the reference of {name}, more '
            f'than the trajectory_start_tolerance of {tolerance[i]:.4g} {unit}', name=name,
            value=float(distance[i]), remedy=f'start at {position[i]:.6g}, give the first '
            'waypoint a time after 0, or raise trajectory_start_tolerance')


def _transitions(limits: MotionLimits, path: Points, offset: float, state: State,
                 distance: ndarray, change: ndarray, apart: ndarray) -> tuple[ndarray, ndarray]:
    """Return duration (nv,) [s] and coefficients (6, nv) of the quintics that join a path."""
    model, far = limits.model, np.abs(distance)
    acceleration = np.where(np.isfinite(limits.acceleration), limits.acceleration,
                            far / VELOCITY_TIME**2 + np.abs(change) / VELOCITY_TIME)
    lower, upper = (np.minimum(model.position_lower, state[0]) - LIMIT_ROUNDING,
                    np.maximum(model.position_upper, state[0]) + LIMIT_ROUNDING)
    fastest = np.maximum(model.velocity_limit, np.abs(state[1])) + LIMIT_ROUNDING
    T = np.maximum.reduce([np.full(model.nv, MIN_DURATION), np.cbrt(PEAK_JERK * far / limits.jerk),
                           np.sqrt(PEAK_ACCELERATION * far / acceleration)])
    while True:
        if (late := T > MAX_DURATION).any():
            i = int(late.argmax())
            raise TrajectoryError(
                f'{model.joint_names[i]} cannot join the trajectory, {distance[i]:.4g} from its '
                'reference, within its limits of position, velocity and acceleration',
                name=model.joint_names[i], value=float(distance[i]),
                remedy='give the first waypoint a time after 0, or the motion more time')
        c, planned = _quintics(path, offset, state, T)
        x, xd, xdd = _derivatives(c, CHECKED_SHARES[:, None] * T)
        allowed = np.maximum(np.maximum(acceleration, np.abs(state[2])), planned) + LIMIT_ROUNDING
        wrong = apart & ~(((x >= lower) & (x <= upper) & (np.abs(xd) <= fastest)
                           & (np.abs(xdd) <= allowed)).all(0))
        if not wrong.any():
            return T, c
        T = np.where(wrong, DURATION_FACTOR * T, T)


def _quintics(path: Points, offset: float, state: State, T: ndarray) -> tuple[ndarray, ndarray]:
    """Return coefficients (6, nv) from a state to a path, and the path's peaks of acceleration."""
    nv = len(T)
    samples = _expanded(path, (CHECKED_SHARES[:, None] * T).ravel(), offset)
    samples = samples.reshape(len(CHECKED_SHARES), nv, 6, nv)
    there = samples[:, range(nv), :, range(nv)].transpose(1, 2, 0)      # (CHECKED_SHARES, 6, nv)
    end = there[-1]
    c = quintic(np.array([0.0, 1.0]), np.stack([state[0], end[0]]),
                T * np.stack([state[1], end[1]]),
                T**2 * np.stack([state[2], 2.0 * end[2]])).coefficients[0]
    return c / T**np.arange(6.0)[:, None], 2.0 * np.abs(there[:, 2]).max(0)


def _derivatives(c: ndarray, t: ndarray) -> State:
    """Return position, velocity and acceleration of quintics (6, nv) at times (N, nv) [s]."""
    return (c[0] + t * (c[1] + t * (c[2] + t * (c[3] + t * (c[4] + t * c[5])))),
            c[1] + t * (2.0 * c[2] + t * (3.0 * c[3] + t * (4.0 * c[4] + t * 5.0 * c[5]))),
            2.0 * c[2] + t * (6.0 * c[3] + t * (12.0 * c[4] + t * 20.0 * c[5])))


def end_state(points: Points) -> State:
    """Return position, velocity and acceleration (nv,) with which the last segment ends."""
    c, h, k = points.coefficients[-1], points.times[-1] - points.times[-2], np.arange(6.0)
    powers = h**k
    return (powers @ c, (k[1:] * powers[:-1]) @ c[1:], (k[2:] * k[1:-1] * powers[:-2]) @ c[2:])


def continued(points: Points, tail: Points) -> Points:
    """Return a reference that goes on with the segments of another one at its end."""
    return points._replace(times=np.append(points.times, points.times[-1] + tail.times[1:]),
                           coefficients=np.concatenate([points.coefficients, tail.coefficients]),
                           efforts=np.concatenate([points.efforts, tail.efforts]))


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
