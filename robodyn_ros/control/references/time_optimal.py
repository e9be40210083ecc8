# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Time-optimal motions with limited velocity, acceleration and jerk, by Ruckig.

The phases of constant jerk are those of Berscheid and Kröger, Jerk-limited Real-time Trajectory
Generation with Arbitrary Target States, RSS 2021.
"""

import numpy as np

from ..settings.motion_limits import check_positions, LIMIT_ROUNDING
from ...errors import TrajectoryError
from ...extras import pip_install

# s; ends of phases of constant jerk that are closer together become one
MIN_PHASE_DURATION = 1e-5
RETRY_LIMIT_SHARE = 0.9871    # see `_calculate`


def _asked_of_ruckig(limits, present):
    """Return the module, and its input with the limits and the present state."""
    try:
        import ruckig
    except ImportError:
        raise TrajectoryError(
            'targets without a time and streams need Ruckig, which is not installed',
            name='ruckig', remedy=f'run `{pip_install("ruckig")}`, or give the waypoint a later '
            'time') from None
    model = limits.model
    if not np.isfinite([model.velocity_limit, limits.acceleration, limits.jerk]).all():
        i = int(np.argmin(np.isfinite(limits.jerk)))
        raise TrajectoryError(
            f'joint {model.joint_names[i]} has no limits to plan its motion with',
            name=model.joint_names[i],
            remedy='set velocity_limit, or give the waypoint a later time')
    asked = ruckig.InputParameter(model.nv)
    asked.current_position, asked.current_velocity, asked.current_acceleration = present
    asked.max_velocity, asked.max_acceleration, asked.max_jerk = (
        model.velocity_limit, limits.acceleration, limits.jerk)
    return ruckig, asked


def time_optimal(limits, present, target, shortest=0.0):
    """Return times and states at the ends of the phases of Ruckig's motion, of a least time."""
    model = limits.model
    ruckig, asked = _asked_of_ruckig(limits, present)
    asked.target_position, asked.target_velocity = target
    if shortest > 0.0:
        asked.minimum_duration = shortest
    planned = ruckig.Trajectory(model.nv)
    # Joints that wait for others may swing out; each on its own takes the shortest motion
    for synchronization in (ruckig.Synchronization.Time, ruckig.Synchronization.No):
        asked.synchronization = synchronization
        _calculate(ruckig, asked, planned)
        if all(b.min >= low - LIMIT_ROUNDING and b.max <= high + LIMIT_ROUNDING
               for b, low, high in zip(planned.position_extrema, model.position_lower,
                                       model.position_upper, strict=True)):
            break
    else:
        check_positions(limits, np.array([[b.min for b in planned.position_extrema],
                                           [b.max for b in planned.position_extrema]]))
    return _states(planned, present)


def cruise(limits, present, velocity, until):
    """Return times and states of the shortest motion to a velocity, kept until a time [s]."""
    ruckig, asked = _asked_of_ruckig(limits, present)
    asked.control_interface = ruckig.ControlInterface.Velocity
    asked.synchronization = ruckig.Synchronization.No
    asked.target_velocity = velocity
    planned = ruckig.Trajectory(limits.model.nv)
    _calculate(ruckig, asked, planned)
    times, x, xd, xdd = _states(planned, present)
    xd[-1], xdd[-1] = velocity, 0.0
    if times[-1] < until:
        x = np.vstack([x, x[-1] + (until - times[-1]) * velocity])
        times, xd, xdd = (np.append(times, until), np.vstack([xd, xd[-1]]),
                          np.vstack([xdd, xdd[-1]]))
    return times, x, xd, xdd


def _states(planned, present):
    """Return times and states at the ends of the phases of Ruckig's motion."""
    times = _phase_ends(planned)
    x, xd, xdd = np.array([planned.at_time(t) for t in times]).transpose(1, 0, 2)
    # Exactly the present state, without Ruckig's rounding: no step of the reference
    x[0], xd[0], xdd[0] = present
    return times, x, xd, xdd


def _calculate(ruckig, asked, planned):
    """
    Plan a motion; raise :class:`TrajectoryError` if there is none.

    Ruckig misses motions that reach a limit in one point only, as one of 2 cm does under 1 m/s²
    and 10 m/s³: acceleration and jerk a little below their limits have no such coincidence.
    """
    limits, problem = (np.array(asked.max_acceleration), np.array(asked.max_jerk)), ''
    for share in (1.0, RETRY_LIMIT_SHARE):
        asked.max_acceleration, asked.max_jerk = share * limits[0], share**2 * limits[1]
        try:
            result = ruckig.Ruckig(len(limits[0])).calculate(asked, planned)
            problem = str(result) if result < 0 else ''
        except ruckig.RuckigError as error:
            problem = str(error).strip()
        except ValueError:      # Ruckig's number of that error is none of its `Result`
            problem = 'it would take hours'
        if not problem:
            break
    asked.max_acceleration, asked.max_jerk = limits
    if problem:
        raise TrajectoryError(f'no motion leads to the target: {problem}', name='points',
                              remedy='give a target that is nearer')


def _phase_ends(planned):
    """Return 0 and the times [s] at which the jerk of a joint changes."""
    phases = [np.cumsum([*p.brake.t, *p.t, *p.accel.t]) for p in planned.profiles[0]]
    ends = np.unique(np.clip(np.concatenate([[0.0, planned.duration], *phases]),
                             0.0, planned.duration))
    times = ends[np.concatenate([[True], np.diff(ends) > MIN_PHASE_DURATION])]
    if len(times) > 1:
        times[-1] = planned.duration
        return times
    return np.array([0.0, max(planned.duration, MIN_PHASE_DURATION)])
