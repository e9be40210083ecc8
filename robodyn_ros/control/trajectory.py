# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Trajectories: waypoints that somebody asks for, checked once, become polynomials to sample."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
from numpy import ndarray
from scipy.interpolate import BPoly, CubicHermiteSpline, CubicSpline, PPoly

from ..errors import TrajectoryError
from ..model.robot import RobotModel
from .reference import HEADER, Points, sample

MOST_WAYPOINTS = 20_000
# A first waypoint at time 0 must be where the reference is, up to this many radians or metres
START_TOLERANCE = 1e-3


@dataclass(frozen=True)
class Waypoints:
    """
    A trajectory as somebody asks for it, joints in any order.

    :param joint_names: every joint of the model, once.
    :param times: (W,) [s] from the start, increasing.
    :param positions: (W, nv) [rad | m]; velocities [1/s] and accelerations [1/s²] or None.
    """

    joint_names: Sequence[str]
    times: ndarray
    positions: ndarray
    velocities: ndarray | None = None
    accelerations: ndarray | None = None


def interpolate(model: RobotModel, asked: Waypoints, position: ndarray, velocity: ndarray,
                start: float, serial: int) -> Points:
    """
    Polynomials through waypoints: quintic where accelerations are given, cubic otherwise.

    Positions alone give the C² cubic spline that begins with the present velocity and ends at
    rest. A first waypoint later than 0 is reached from the present reference.

    :param position, velocity: (nv,) the reference in force at ``start`` [s].
    :raises TrajectoryError: naming the joint or the waypoint, and what would be right.
    """
    times, x, xd, xdd = _ordered(model, asked)
    if times[0] > 0.0:
        times = np.concatenate([[0.0], times])
        x = np.vstack([position, x])
        xd = None if xd is None else np.vstack([velocity, xd])
        xdd = None if xdd is None else np.vstack([np.zeros(model.nv), xdd])
    elif (worst := np.abs(x[0] - position)).max() > START_TOLERANCE:
        i = int(worst.argmax())
        raise TrajectoryError(
            f'the trajectory starts {worst[i]:.4g} away from where {model.joint_names[i]} is',
            name=model.joint_names[i], value=float(x[0, i]),
            remedy=f'start at {position[i]:.6g}, or give the first waypoint a time after 0')
    if len(times) < 2:
        raise TrajectoryError('the trajectory has one waypoint at time 0', name='points',
                              remedy='give it a time after 0')
    p = _polynomials(times, x, xd, xdd, velocity)
    _check_limits(model, p)
    coefficients = np.zeros((len(times) - 1, 6, model.nv))
    for k, c in enumerate(p.c[::-1]):           # scipy: (power, segment, joint), highest first
        coefficients[:, k] = c
    header = np.zeros(1, HEADER)
    header[0] = start, serial
    return Points(header, np.ascontiguousarray(times), coefficients)


def splice(old: Points, new: Points, now: float) -> Points:
    """
    One reference that follows ``old`` until ``new`` starts, and ``new`` from there on.

    Whenever the cycle takes it over before that, nothing happens to the motion under way. What of
    ``old`` is over ``now`` [s] is left out.
    """
    begin = old.header['start'][0]
    start, end, present = new.header['start'][0] - begin, old.times[-1], now - begin
    if present >= end or start <= 0.0:                      # over, or never begun
        return new
    times, coefficients = old.times, old.coefficients
    if start > end:                                         # rest at the end of the old one
        hold = np.zeros_like(coefficients[:1])
        hold[0, 0] = sample(old, np.inf)[0]
        times, coefficients = np.append(times, start), np.concatenate([coefficients, hold])
    first = max(int(np.searchsorted(times, present, side='right')) - 1, 0)
    kept = int(np.searchsorted(times, start))               # segments that begin before the start
    header = new.header.copy()
    header['start'] = begin
    return Points(header, np.concatenate([times[first:kept], start + new.times]),
                  np.concatenate([coefficients[first:kept], new.coefficients]))


def _ordered(model: RobotModel, asked: Waypoints) -> tuple[
        ndarray, ndarray, ndarray | None, ndarray | None]:
    """Arrays of the waypoints in the model's joint order, or what is wrong with them."""
    def refuse(problem: str, name: str, remedy: str, value: object = None) -> NoReturn:
        raise TrajectoryError(problem, name=name, value=value, remedy=remedy)

    names = list(asked.joint_names)
    for name in names:
        if name not in model.joint_names:
            refuse(f'no joint {name!r}', name, f'the joints are {", ".join(model.joint_names)}')
        if names.count(name) > 1:
            refuse(f'joint {name!r} is named twice', name, 'name every joint once')
    for name in model.joint_names:
        if name not in names:
            refuse(f'joint {name!r} is missing', name, 'name every joint of the robot')
    times = np.asarray(asked.times, float)
    if not 1 <= len(times) <= MOST_WAYPOINTS:
        refuse(f'{len(times)} waypoints', 'points', f'give 1 to {MOST_WAYPOINTS}', len(times))
    order = [names.index(name) for name in model.joint_names]
    arrays: list[ndarray | None] = []
    for kind in ('positions', 'velocities', 'accelerations'):
        a = getattr(asked, kind)
        if a is None:
            arrays.append(None)
            continue
        a = np.asarray(a, float)
        if a.shape != (len(times), model.nv):
            refuse(f'{kind} have shape {a.shape}', kind,
                   f'give one value a joint and waypoint: ({len(times)}, {model.nv})')
        if not np.isfinite(a).all():
            w, i = np.argwhere(~np.isfinite(a))[0]
            refuse(f'{kind} of {names[i]} at waypoint {w} is {a[w, i]}', names[i],
                   'give finite numbers', float(a[w, i]))
        arrays.append(a[:, order])
    if not np.isfinite(times).all() or times[0] < 0.0 or (np.diff(times) <= 0.0).any():
        refuse('times of the waypoints do not increase from 0 on', 'time_from_start',
               'give finite, increasing times', times.tolist()[:5])
    x, xd, xdd = arrays
    if x is None:
        refuse('the trajectory has no positions', 'positions', 'give one a joint and waypoint')
    if xdd is not None and xd is None:
        refuse('accelerations without velocities', 'velocities', 'give velocities too')
    if xd is not None and np.abs(xd[-1]).max() > 0.0:
        i = int(np.abs(xd[-1]).argmax())
        refuse(f'{model.joint_names[i]} still moves at the end', model.joint_names[i],
               'end at rest: velocity 0 at the last waypoint', float(xd[-1, i]))
    return times, x, xd, xdd


def _polynomials(times, x, xd, xdd, velocity):
    """Interpolate with scipy; numbers that overflow are refused."""
    try:
        with np.errstate(all='ignore'):
            if xd is None:
                p = CubicSpline(times, x, bc_type=((1, velocity), (1, np.zeros(len(velocity)))))
            elif xdd is None:
                p = CubicHermiteSpline(times, x, xd)
            else:
                p = PPoly.from_bernstein_basis(BPoly.from_derivatives(
                    times, np.stack([x, xd, xdd], axis=1)))
        finite = np.isfinite(p.c).all()
    except ValueError:                                      # scipy found it first
        finite = False
    if not finite:
        raise TrajectoryError('the polynomials between the waypoints are not finite',
                              name='points', remedy='give the motion more time')
    return p


def _check_limits(model, p):
    """Refuse polynomials that leave the limits, at and between waypoints (16 points a segment)."""
    grid = (p.x[:-1, None] + np.diff(p.x)[:, None] * np.linspace(0.0, 1.0, 17)).ravel()
    x, xd = p(grid), np.abs(p(grid, 1))
    slack = 1e-9
    for bad, values, what in (
            (x < model.position_lower - slack, x, 'position'),
            (x > model.position_upper + slack, x, 'position'),
            (xd > model.velocity_limit * (1.0 + slack), xd, 'velocity')):
        if bad.any():
            k, i = np.argwhere(bad)[0]
            limits = (f'[{model.position_lower[i]:.6g}, {model.position_upper[i]:.6g}]'
                      if what == 'position' else f'{model.velocity_limit[i]:.6g}')
            raise TrajectoryError(
                f'{what} of {model.joint_names[i]} would be {values[k, i]:.6g} at '
                f'{grid[k]:.3f} s, outside {limits}',
                name=model.joint_names[i], value=float(values[k, i]),
                remedy='stay within the limits of the URDF, or give the motion more time')
