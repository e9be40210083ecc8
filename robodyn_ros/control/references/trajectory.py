# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Trajectories: waypoints, checked and interpolated by piecewise polynomials."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn
from unicodedata import normalize

import numpy as np
from numpy import ndarray

from ..algebra.piecewise import cubic, Piecewise, quintic, spline
from ..inputs.points import HEADER, Points, sample
from ...errors import TrajectoryError, TrajectoryJointsError
from ...model.robot import RobotModel

MAX_WAYPOINTS = 20_000
# Segments of trajectories that are queued: the queue must not fill the memory
MAX_SEGMENTS = 2 * MAX_WAYPOINTS
# Velocity [rad/s | m/s] at the last waypoint that counts as rest: the rounding of float32, as for
# the joint_trajectory_controller of ros2_controllers
REST_VELOCITY = float(np.finfo(np.float32).eps)
# Greatest position, velocity or acceleration [1, 1/s, 1/s²] of joints without limits
MAX_MAGNITUDE = 1e9
# Segments that are evaluated at a time: NumPy may hold the GIL as long as an operation takes
CHUNK_SEGMENTS = 128


@dataclass(frozen=True)
class Waypoints:
    """
    Waypoints of a requested trajectory, with the joints in any order.

    :param joint_names: joints of the model, each once; those that are missing keep their
        present reference.
    :param times: (W,) [s] since the start, increasing; none: stop.
    :param positions: (W, len(joint_names)) [rad | m], as all that follows; None where a stream
        has velocities alone, see :func:`.reference_stream.is_streamed`.
    :param velocities: [rad/s | m/s] or None.
    :param accelerations: [rad/s² | m/s²] or None; needs velocities.
    :param efforts: [N·m | N] or None; added to the efforts of the law, with linear
        interpolation, see :mod:`.effort_feedforward`.
    :param elapsed: time [s] since the start for which it should have been under way already.
    """

    joint_names: Sequence[str]
    times: ndarray
    positions: ndarray | None
    velocities: ndarray | None = None
    accelerations: ndarray | None = None
    efforts: ndarray | None = None
    elapsed: float = 0.0


@np.errstate(all='ignore')          # numbers that overflow are refused
def interpolate(model: RobotModel, asked: Waypoints, position: ndarray, velocity: ndarray,
                start: float, serial: int, *, moving_end: bool = False) -> Points:
    """
    Return polynomials through waypoints: quintic where accelerations are given, else cubic.

    Velocities give cubic Hermite segments; positions alone the C² cubic spline that begins with
    the present velocity and ends at rest. A first waypoint later than 0 is reached from the
    present reference, with continuous joints by the shortest way; all waypoints are then moved by
    as many turns. A first waypoint at 0 may be elsewhere than the reference: see
    :func:`.reference_joining.join`.

    :param position, velocity: (nv,) [rad | m], [rad/s | m/s] of the reference at ``start``.
    :param start: time [s] on the clock of the controller.
    :param serial: number of the new reference.
    :param moving_end: whether the velocity of the last waypoint may be other than 0.
    :raises TrajectoryError: naming the joint or the waypoint, and the remedy.
    """
    times, x, xd, xdd, effort = _ordered(model, asked, moving_end)
    turns = np.where(model.periodic, np.round((position - x[0]) / (2.0 * np.pi)), 0.0)
    x = x + 2.0 * np.pi * turns
    if times[0] > 0.0:
        times = np.concatenate([[0.0], times])
        x = np.vstack([position, x])
        xd = None if xd is None else np.vstack([velocity, xd])
        xdd = None if xdd is None else np.vstack([np.zeros(model.nv), xdd])
        effort = None if effort is None else np.vstack([np.zeros(model.nv), effort])
    if len(times) < 2:
        raise TrajectoryError('the trajectory has one waypoint at time 0', name='points',
                              remedy='give it a time after 0')
    p = _polynomials(times, x, xd, xdd, velocity)
    _check_limits(model, p)
    return _points(p, start, serial, effort)


@np.errstate(all='ignore')          # as above
def points_through(times: ndarray, x: ndarray, xd: ndarray, xdd: ndarray, start: float,
                   serial: int) -> Points:
    """
    Return quintic segments through states, which nothing checks.

    :param times: (W,) [s] from 0 on; ``x``, ``xd``, ``xdd``: (W, nv) [rad | m, per s, per s²].
    :param start: time [s] on the clock of the controller.
    :param serial: number of the new reference.
    :raises TrajectoryError: numbers that overflow.
    """
    p = _polynomials(times, x, xd, xdd, xd[0])
    return _points(p, start, serial)


def _points(p: Piecewise, start: float, serial: int, effort: ndarray | None = None) -> Points:
    segments, count, nv = p.coefficients.shape
    coefficients, efforts = np.zeros((segments, 6, nv)), np.zeros((segments, 2, nv))
    coefficients[:, :count] = p.coefficients
    if effort is not None:
        efforts[:, 0] = effort[:-1]
        efforts[:, 1] = np.diff(effort, axis=0) / np.diff(p.times)[:, None]
    header = np.zeros(1, HEADER)
    header[0] = start, serial
    return Points(header, np.ascontiguousarray(p.times), coefficients, efforts)


def splice(old: Points, new: Points, now: float) -> Points:
    """
    Return a reference that follows ``old`` until ``new`` starts, and ``new`` from there on.

    The motion under way is not disturbed, whenever the cycle begins to use the result before
    then. Segments of ``old`` that have ended at ``now`` [s] are left out.

    :raises TrajectoryError: more than MAX_SEGMENTS segments would be queued.
    """
    begin = old.header['start'][0]
    start, end, present = new.header['start'][0] - begin, old.times[-1], now - begin
    if present >= end or start <= 0.0:                      # over, or never begun
        return new
    times, coefficients, efforts = old.times, old.coefficients, old.efforts
    if start > end:                                         # rest at the end of the old one
        hold = np.zeros_like(coefficients[:1])
        hold[0, 0] = sample(old, np.inf)[0]
        times, coefficients = np.append(times, start), np.concatenate([coefficients, hold])
        efforts = np.concatenate([efforts, np.zeros_like(efforts[:1])])
    first = max(int(np.searchsorted(times, present, side='right')) - 1, 0)
    kept = int(np.searchsorted(times, start))               # segments that begin before the start
    if (waiting := kept - first + len(new.coefficients)) > MAX_SEGMENTS:
        _refuse(f'{waiting} segments would wait to be followed', 'points',
                f'at most {MAX_SEGMENTS} may: send it later, or with fewer waypoints')
    header = new.header.copy()
    header['start'] = begin
    return Points(header, np.concatenate([times[first:kept], start + new.times]),
                  np.concatenate([coefficients[first:kept], new.coefficients]),
                  np.concatenate([efforts[first:kept], new.efforts]))


def joint_order(joints: Sequence[str], names: Sequence[str], *,
                partial: bool = False) -> list[int]:
    """
    Return the index in ``names`` of each of ``joints``.

    :param partial: whether joints may be missing, whose index is -1.
    :raises TrajectoryJointsError: ``names`` are not ``joints``, each once.
    """
    ours = ', '.join(joints)
    for name in names:
        if name in joints:
            continue
        shown = repr(name) if repr(name).isascii() else f'{name!r} ({ascii(name)})'
        twins = [j for j in joints if normalize('NFKC', j) == normalize('NFKC', name)]
        _refuse_joint(f'no joint {shown}', name,
                      f'copy it from the URDF: {ascii(twins[0])} looks the '
                      'same and is not' if twins else f'the joints are {ours}')
    at: dict[str, int] = {}
    for i, name in enumerate(names):
        if name in at:
            _refuse_joint(f'joint {name!r} is named twice', name, 'name every joint once')
        at[name] = i
    for name in () if partial else joints:
        if name not in at:
            _refuse_joint(f'joint {name!r} is missing', name, 'name every joint of the robot')
    return [at.get(name, -1) for name in joints]


def _ordered(model: RobotModel, asked: Waypoints, moving_end: bool) -> tuple[
        ndarray, ndarray, ndarray | None, ndarray | None, ndarray | None]:
    """Return times and arrays of valid waypoints in the model's joint order."""
    order = joint_order(model.joint_names, asked.joint_names)
    times = np.asarray(asked.times, float)
    if not 1 <= len(times) <= MAX_WAYPOINTS:
        _refuse(f'{len(times)} waypoints', 'points', f'give 1 to {MAX_WAYPOINTS}', len(times))
    arrays: list[ndarray | None] = []
    for kind in ('positions', 'velocities', 'accelerations', 'efforts'):
        a = getattr(asked, kind)
        if a is None:
            arrays.append(None)
            continue
        a = np.asarray(a, float)
        if a.shape != (len(times), model.nv):
            _refuse(f'{kind} have shape {a.shape}', kind,
                    f'give one value a joint and waypoint: ({len(times)}, {model.nv})')
        if not np.isfinite(a).all():
            w, i = np.argwhere(~np.isfinite(a))[0]
            name = asked.joint_names[i]
            _refuse(f'{kind} of {name} at waypoint {w} is {a[w, i]}', name,
                    'give finite numbers', float(a[w, i]))
        arrays.append(a[:, order])
    steps = np.diff(times, prepend=0.0)
    good = np.isfinite(times) & (steps > 0.0)
    good[0] = times[0] >= 0.0 and np.isfinite(times[0])
    if not good.all():
        w = int(np.argmin(good))
        _refuse(f'waypoint {w} is at {times[w]:.12g} s' + (
            f', waypoint {w - 1} at {times[w - 1]:.12g} s' if w else ''), 'time_from_start',
            'give finite times that increase from 0 on', float(times[w]))
    x, xd, xdd, effort = arrays
    if x is None:
        _refuse('the trajectory has no positions', 'positions', 'give one a joint and waypoint')
    if xdd is not None and xd is None:
        _refuse('accelerations without velocities', 'velocities', 'give velocities too')
    if xd is not None and not moving_end:
        i = int(np.abs(xd[-1]).argmax())
        if abs(xd[-1, i]) > REST_VELOCITY:
            _refuse(f'{model.joint_names[i]} still moves at the end, at {xd[-1, i]:.6g}',
                    model.joint_names[i], 'end with velocity 0, or set '
                    'allow_nonzero_velocity_at_trajectory_end to stop behind the last waypoint',
                    float(xd[-1, i]))
        xd[-1] = 0.0
    return times, x, xd, xdd, effort


def _polynomials(times: ndarray, x: ndarray, xd: ndarray | None, xdd: ndarray | None,
                 velocity: ndarray) -> Piecewise:
    """Return the interpolation of positions, and of derivatives that are not None."""
    if xd is None:
        p = spline(times, x, velocity, np.zeros(len(velocity)))
    else:
        p = cubic(times, x, xd) if xdd is None else quintic(times, x, xd, xdd)
    if not np.isfinite(p.coefficients).all():
        _refuse_overflow()
    return p


def _check_limits(model: RobotModel, p: Piecewise) -> None:
    """Refuse polynomials that exceed the limits at any of 17 points of each segment."""
    slack, parts = 1e-9, np.linspace(0.0, 1.0, 17)
    rate = p.derivative()
    second = rate.derivative()
    for first in range(0, len(p.coefficients), CHUNK_SEGMENTS):
        last = min(first + CHUNK_SEGMENTS, len(p.coefficients))
        grid = (p.times[first:last, None]
                + np.diff(p.times[first:last + 1])[:, None] * parts).ravel()
        x, xd, xdd = (part.within(first, last, parts).reshape(-1, model.nv)
                      for part in (p, rate, second))
        xd = np.abs(xd)
        if not all((np.abs(a) < MAX_MAGNITUDE).all() for a in (x, xd, xdd)):      # nor is NaN
            _refuse_overflow()
        for bad, values, what in (
                (x < model.position_lower - slack, x, 'position'),
                (x > model.position_upper + slack, x, 'position'),
                (xd > model.velocity_limit * (1.0 + slack), xd, 'velocity')):
            if bad.any():
                k, i = np.argwhere(bad)[0]
                limits = (f'[{model.position_lower[i]:.6g}, {model.position_upper[i]:.6g}]'
                          if what == 'position' else f'{model.velocity_limit[i]:.6g}')
                _refuse(f'{what} of {model.joint_names[i]} would be {values[k, i]:.6g} at '
                        f'{grid[k]:.3f} s, outside {limits}', model.joint_names[i],
                        'stay within the limits of the URDF, or give the motion more time',
                        float(values[k, i]))


def _refuse_overflow() -> NoReturn:
    _refuse('position, velocity or acceleration between the waypoints is beyond '
            f'{MAX_MAGNITUDE:g}', 'points', 'give the motion more time')


def _refuse(problem: str, name: str, remedy: str, value: object = None) -> NoReturn:
    raise TrajectoryError(problem, name=name, value=value, remedy=remedy)


def _refuse_joint(problem: str, name: str, remedy: str) -> NoReturn:
    raise TrajectoryJointsError(problem, name=name, remedy=remedy)
