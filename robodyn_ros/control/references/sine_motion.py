# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Sample trajectory of all joints: smooth, within the limits, the same for all control laws."""

import numpy as np
from numpy import ndarray
from scipy.interpolate import PPoly

from .reference_planning import interpolate
from .trajectory import Waypoints
from ..settings.motion_limits import known_limits
from ...dynamics import Dynamics
from ...errors import DemoError
from ...model.robot import RobotModel

MAX_TURN, MAX_SLIDE = 0.3, 0.1      # largest amplitude [rad], [m]
MAX_RANGE_SHARE = 0.25    # of the joint range
MAX_DISTANCE_SHARE = 0.8    # of the distance to the next limit
MAX_VELOCITY_SHARE, MAX_EFFORT_SHARE = 0.6, 0.7           # of the limits, at most
STRETCH, MAX_DURATION = 1.25, 12.0               # factor; s
WAYPOINTS = 41


def check_limits(model: RobotModel) -> None:
    """
    Check that the limits of a robot let a controller drive it.

    :raises DemoError: limits are zero or missing, as in some URDFs; the error names all joints.
    """
    span = model.position_upper - model.position_lower
    lacking = {'its position range is 0': ~(span > 0.0),
               'its velocity limit is 0': model.velocity_limit == 0.0,
               'its effort limit is 0': model.effort_limit == 0.0,
               **{f'it has no {name} limit of a drive': ~known_limits(limit, f'{name}_limit')
                  & (limit > 0.0) for name, limit in (
                      ('velocity', model.velocity_limit), ('effort', model.effort_limit))}}
    found = [f'joint {name} ({", ".join(what)})' for i, name in enumerate(model.joint_names)
             if (what := [text for text, bad in lacking.items() if bad[i]])]
    if found:
        raise DemoError(f'{model.name} cannot be driven: {"; ".join(found)}', name=model.name,
                        value=found, remedy='write what the joints can do into <limit lower upper '
                        'velocity effort> of the URDF')


def amplitudes(model: RobotModel, pose: ndarray) -> ndarray:
    """Return the amplitude of each joint to either side of ``pose``, (nv,) [rad | m]."""
    lower, upper = model.position_lower, model.position_upper
    room = np.minimum(pose - lower, upper - pose)
    return np.minimum.reduce([np.where(model.slides, MAX_SLIDE, MAX_TURN),
                              MAX_RANGE_SHARE * (upper - lower), MAX_DISTANCE_SHARE * room])


def waypoints(model: RobotModel, pose: ndarray, amplitude: ndarray, duration: float) -> Waypoints:
    """
    Return q_i(t) = pose_i + A_i sin²(πt/T) sin(2π f_i t/T), with f_i = 2, 3, 2, 3, ...

    It begins and ends at ``pose`` at rest, without acceleration.

    :param amplitude: (nv,) A [rad | m].
    :param duration: T [s].
    """
    t = np.linspace(0.0, duration, WAYPOINTS)[:, None]
    w = 2 * np.pi / duration
    f = 2 + np.arange(model.nv) % 2
    # sin²(πt/T) = (1 - cos wt) / 2: the envelope e, times the wave s, derived by the product rule
    e, ed, edd = (1 - np.cos(w * t)) / 2, w * np.sin(w * t) / 2, w * w * np.cos(w * t) / 2
    s, sd = np.sin(f * w * t), f * w * np.cos(f * w * t)
    sdd = -(f * w)**2 * s
    x, xd = pose + amplitude * e * s, amplitude * (ed * s + e * sd)
    xdd = amplitude * (edd * s + 2 * ed * sd + e * sdd)
    xd[[0, -1]] = 0.0           # rounding must not look like a motion that goes on
    return Waypoints(model.joint_names, t[:, 0], x, xd, xdd)


def reference(model: RobotModel, asked: Waypoints) -> PPoly:
    """Return the polynomials (nv,) that the controller makes of waypoints, by time [s]."""
    assert asked.positions is not None
    points = interpolate(model, asked, asked.positions[0], np.zeros(model.nv), 0.0, 1)
    return PPoly(points.coefficients.transpose(1, 0, 2)[::-1], points.times)


def states(asked: Waypoints) -> ndarray:
    """Return position, velocity and acceleration at each waypoint, (W, 3, nv)."""
    rows = [a for a in (asked.positions, asked.velocities, asked.accelerations) if a is not None]
    return np.stack(rows, axis=1)


def plan(dynamics: Dynamics, pose: ndarray, shortest: float) -> Waypoints:
    """
    Return a motion around ``pose`` (nv,) within velocity and effort limits.

    Velocity limits bound its amplitude, effort limits its duration.

    :param shortest: duration to start with [s].
    :raises DemoError: even the slowest motion exceeds an effort limit.
    """
    model, duration = dynamics.model, shortest
    while True:
        unit = waypoints(model, pose, np.ones(model.nv), duration)
        assert unit.velocities is not None
        amplitude = np.minimum(amplitudes(model, pose), MAX_VELOCITY_SHARE * model.velocity_limit
                               / np.abs(unit.velocities).max(0))
        asked = waypoints(model, pose, amplitude, duration)
        effort = np.abs([dynamics.inverse_dynamics(*state) for state in states(asked)]).max(0)
        # Gravity alone may need more than the share that leaves room for feedback
        share = MAX_EFFORT_SHARE if duration < MAX_DURATION else 1.0
        if (effort <= share * model.effort_limit).all():
            return asked
        if duration >= MAX_DURATION:
            i = int(np.argmax(effort / model.effort_limit))
            raise DemoError(
                f'moving {model.joint_names[i]} takes {effort[i]:.4g} N·m or N, its limit is '
                f'{model.effort_limit[i]:g}', name=model.joint_names[i], value=effort[i],
                remedy='begin at another pose: --at V1,V2,...')
        duration *= STRETCH
