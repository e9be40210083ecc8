# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""References that begin anywhere: time-optimal motion to a target, and deceleration to rest."""

from dataclasses import replace

import numpy as np
from numpy import ndarray

from .time_optimal import cruise, time_optimal
from .trajectory import joint_order, points_through, Waypoints
from ..inputs.points import Points
from ..settings.motion_limits import check_positions, LIMIT_ROUNDING, MotionLimits
from ..settings.settings import VELOCITY_TIME
from ..steps.acceleration_limits import VELOCITY_SHARE
from ...errors import TrajectoryError
from ...model.robot import RobotModel

# s: a single waypoint no later than that is one of a stream, which the next one will replace
MAX_STREAM_TIME = 0.2
# s in which a stream with velocities sets off the distance from its positions
CATCH_UP_TIME = 0.2
OVERDUE_FACTOR = 1.5    # times of a waypoint, after which the next one of a stream is missing
# Durations [s] of a deceleration, of which the shortest within the limits is taken
DECELERATION_DURATIONS = np.geomspace(5e-3, 100.0, 240)
# Shares of a deceleration, and of each phase of a motion, at which the limits are checked
CHECKED_SHARES = np.linspace(0.0, 1.0, 17)[:, None, None]
PHASE_SHARES = np.linspace(0.0, 1.0, 9)[:, None]
POINTS_ROUNDING = 1e-6    # of these checks: rad | m, and per s


def is_target(asked: Waypoints) -> bool:
    """Return whether one waypoint at time 0 asks for a pose as soon as the limits allow."""
    return len(asked.times) == 1 and asked.times[0] == 0.0


def is_streamed(asked: Waypoints) -> bool:
    """
    Return whether a single waypoint is one of a stream, as MoveIt Servo and teleoperators send.

    The next one will replace it before, or soon after, the reference is there: each of them to be
    reached at rest, at its time exactly, would demand that the arm stop and go with each.
    """
    return len(asked.times) == 1 and 0.0 < asked.times[0] <= MAX_STREAM_TIME


def stream(limits: MotionLimits, asked: Waypoints, position: ndarray, velocity: ndarray,
           acceleration: ndarray, start: float, serial: int) -> Points:
    """
    Return the motion toward the newest waypoint of a stream, within all limits from any state.

    Positions alone, or with velocities of zero: the time-optimal motion to them, in at least the
    time of the waypoint, and rest there. Velocities: the reference accelerates to them, corrected
    so that it reaches the positions within CATCH_UP_TIME, and decelerates to rest when the next
    waypoint is overdue; if that leaves the limits, it moves to the positions. Accelerations are
    ignored. If neither motion keeps the limits of position and velocity, it decelerates.

    Parameters and errors are those of :func:`reach`.
    """
    model, T, state = limits.model, float(asked.times[0]), (position, velocity, acceleration)
    target, rate = _target(limits, replace(asked, accelerations=None),
                           model.velocity_limit / VELOCITY_SHARE)
    target = _nearest_turn(model, target, position)
    if rate.any():
        # Within all limits, else the motion to the positions alone, else a stop
        wanted = np.clip(rate + (target - position - rate * T) / CATCH_UP_TIME,
                         -model.velocity_limit, model.velocity_limit)
        times, x, xd, xdd = _then_rest(limits, *cruise(limits, state, wanted, OVERDUE_FACTOR * T))
        points = points_through(times, x, xd, xdd, start, serial)
        if _keeps_limits(limits, points, position, velocity):
            return points
    times, x, xd, xdd = time_optimal(limits, state, (target, 0.0 * rate), T)
    x[-1], xd[-1], xdd[-1] = target, 0.0, 0.0
    check_positions(limits, x)
    points = points_through(times, x, xd, xdd, start, serial)
    if _keeps_limits(limits, points, position, velocity):
        return points
    return decelerate(limits, *state, start, serial)


def reach(limits: MotionLimits, asked: Waypoints, position: ndarray, velocity: ndarray,
          acceleration: ndarray, start: float, serial: int) -> Points:
    """
    Return the time-optimal motion to a target, with limited velocity, acceleration and jerk.

    See :mod:`.time_optimal`. A target velocity is followed by :func:`decelerate`. Continuous
    joints take the shortest way.

    :param asked: see :func:`is_target`.
    :param position, velocity, acceleration: (nv,) of the reference at ``start`` [rad | m, per s,
        per s²].
    :param start: time [s] on the clock of the controller.
    :param serial: number of the new reference.
    :raises TrajectoryError: naming the joint, and the remedy; without Ruckig.
    """
    target, target_velocity = _target(limits, asked, limits.model.velocity_limit)
    target = _nearest_turn(limits.model, target, position)
    times, x, xd, xdd = time_optimal(limits, (position, velocity, acceleration),
                                     (target, target_velocity))
    x[-1], xd[-1], xdd[-1] = target, target_velocity, 0.0
    times, x, xd, xdd = _then_rest(limits, times, x, xd, xdd)
    check_positions(limits, x)
    points = points_through(times, x, xd, xdd, start, serial)
    if not _keeps_limits(limits, points, position, velocity):
        raise TrajectoryError('the reference accelerates too much to reach the target within the '
                              'limits', name='points', remedy='send it again a little later')
    return points


def _keeps_limits(limits: MotionLimits, points: Points, position: ndarray,
                  velocity: ndarray) -> bool:
    """
    Return whether a motion keeps the limits of position and velocity, or stays where it begins.

    Limited jerk lets a reference overshoot that accelerates near a limit, as trajectories may.
    """
    model, t = limits.model, PHASE_SHARES * np.diff(points.times)[:, None, None]
    c = points.coefficients[:, :, None]
    x = sum(c[:, k] * t**k for k in range(6))
    xd = sum(k * c[:, k] * t**(k - 1) for k in range(1, 6))
    fastest = np.maximum(model.velocity_limit, abs(velocity))
    return bool((x >= np.minimum(model.position_lower, position) - POINTS_ROUNDING).all()
                and (x <= np.maximum(model.position_upper, position) + POINTS_ROUNDING).all()
                and (abs(xd) <= fastest + POINTS_ROUNDING).all())


def _nearest_turn(model: RobotModel, target: ndarray, position: ndarray) -> ndarray:
    """Return a target (nv,), of continuous joints the one that is nearest to a position."""
    return target + np.where(model.periodic,
                             2.0 * np.pi * np.round((position - target) / (2.0 * np.pi)), 0.0)


def _then_rest(limits: MotionLimits, times: ndarray, x: ndarray, xd: ndarray,
               xdd: ndarray) -> tuple[ndarray, ndarray, ndarray, ndarray]:
    """Return times and states of a motion, with a deceleration to rest where it ends moving."""
    if not xd[-1].any():
        return times, x, xd, xdd
    then = deceleration(limits, x[-1], xd[-1], xdd[-1])
    x, xd, xdd = (np.vstack([a, b[1:]]) for a, b in zip((x, xd, xdd), then[1:], strict=True))
    return np.concatenate([times, times[-1] + then[0][1:]]), x, xd, xdd


def decelerate(limits: MotionLimits, position: ndarray, velocity: ndarray, acceleration: ndarray,
               start: float, serial: int) -> Points:
    """
    Return the reference that comes to rest smoothly, each joint as soon as its limits allow.

    Parameters as for :func:`reach`. Where not all limits can be kept, those of position and
    velocity are, then that of acceleration, then that of jerk.
    """
    return points_through(*deceleration(limits, position, velocity, acceleration), start, serial)


def deceleration(limits: MotionLimits, position: ndarray, velocity: ndarray,
                 acceleration: ndarray) -> tuple[ndarray, ndarray, ndarray, ndarray]:
    """
    Return times (W,) [s] and states (W, nv) of a deceleration to rest, with ends of its phases.

    Each joint follows the quartic x₀ + v₀ t + a₀ t²/2 - (v₀ + 2 a₀ T/3) t³/T²
    + (a₀ + 2 v₀/T) t⁴/(4 T²), whose velocity and acceleration are 0 at its end T.
    """
    quartic, chosen = _shortest(limits, position, velocity, acceleration)
    times = np.unique(np.concatenate([[0.0], chosen]))
    x, xd, xdd, _ = _derivatives(quartic, np.minimum(times[:, None], chosen))
    return times, x, xd, xdd


def _shortest(limits, position, velocity, acceleration):
    """Return coefficients (5, nv) and duration (nv,) of the shortest quartics within limits."""
    model, T = limits.model, DECELERATION_DURATIONS[:, None]
    tried = np.broadcast_arrays(
        position, velocity, acceleration / 2.0,
        -(velocity + 2.0 / 3.0 * acceleration * T) / T**2,
        (acceleration + 2.0 * velocity / T) / (4.0 * T**2))
    x, xd, xdd, jerk = _derivatives(tried, CHECKED_SHARES * T)
    greatest = np.where(np.isfinite(limits.acceleration), limits.acceleration,
                        np.abs(velocity).max() / VELOCITY_TIME)
    fastest = np.maximum(model.velocity_limit, np.abs(velocity))
    greatest = np.maximum(greatest, np.abs(acceleration))
    inside = ((x >= np.minimum(model.position_lower, position) - LIMIT_ROUNDING)
              & (x <= np.maximum(model.position_upper, position) + LIMIT_ROUNDING)
              & (np.abs(xd) <= fastest + LIMIT_ROUNDING)).all(0)
    allowed = inside & (np.abs(xdd) <= greatest + LIMIT_ROUNDING).all(0)
    gentle = allowed & (np.abs(jerk) <= limits.jerk + LIMIT_ROUNDING).all(0)
    k = gentle.argmax(0)
    for best in (allowed, inside):      # the jerk is exceeded first, then the acceleration
        k = np.where(gentle.any(0), k, len(T) - 1 - best[::-1].argmax(0))
        gentle = gentle | (best & ~gentle.any(0))
    k = np.where(inside.any(0), k, 0)
    each = np.arange(len(position))
    return np.array([c[k, each] for c in tried]), DECELERATION_DURATIONS[k]


def _derivatives(c, t):
    """Return position, velocity, acceleration and jerk of quartics."""
    return (c[0] + t * (c[1] + t * (c[2] + t * (c[3] + t * c[4]))),
            c[1] + t * (2.0 * c[2] + t * (3.0 * c[3] + t * 4.0 * c[4])),
            2.0 * c[2] + t * (6.0 * c[3] + t * 12.0 * c[4]),
            6.0 * c[3] + t * 24.0 * c[4])


def _target(limits: MotionLimits, asked: Waypoints, fastest: ndarray) -> tuple[ndarray, ndarray]:
    """
    Return position and velocity (nv,) of a target within the limits.

    :param fastest: (nv,) greatest velocity that is not refused.
    """
    model = limits.model
    order = joint_order(model.joint_names, asked.joint_names)
    if asked.positions is None:
        raise TrajectoryError('the target has no positions', name='positions',
                              remedy='give one a joint')
    if asked.accelerations is not None and np.any(asked.accelerations):
        raise TrajectoryError('the target has accelerations', name='accelerations',
                              remedy='leave them empty: the motion ends at rest')
    values = []
    for kind in ('positions', 'velocities'):
        a = np.zeros((1, model.nv)) if getattr(asked, kind) is None else np.asarray(
            getattr(asked, kind), float)
        if a.shape != (1, model.nv):
            raise TrajectoryError(f'{kind} have shape {a.shape}', name=kind,
                                  remedy=f'give one value a joint: (1, {model.nv})')
        values.append(a[0, order])
    target, velocity = values
    for i, name in enumerate(model.joint_names):
        for what, value in (('position', target[i]), ('velocity', velocity[i])):
            if not np.isfinite(value):
                raise TrajectoryError(f'the target {what} of {name} is {value}', name=name,
                                      value=float(value), remedy='give finite numbers')
        if abs(velocity[i]) > fastest[i]:
            raise TrajectoryError(
                f'the target velocity of {name} is {velocity[i]:.6g}', name=name,
                value=float(velocity[i]), remedy=f'give at most {fastest[i]:.6g}')
    check_positions(limits, target[None])
    return target, velocity
