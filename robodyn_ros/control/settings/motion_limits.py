# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Limits of motions, and targets that are not reached within them.

The bounds of :mod:`.acceleration_limits` are accelerations, which the model converts to efforts.
URDF has no rotor inertia, so that the model of a light wrist permits a small part of its effort
only. With more, a wrist without a rotor would indeed exceed its velocity limit, which it reaches
in a few periods of 1 ms. The remedy is therefore the parameter ``armature``, not a weaker bound.

Effort limits may be too low to hold the arm: many URDFs have placeholders. Friction f may hold a
joint away from its target: a law without integral action balances it by its stiffness, K e = f, or
M k_p e = f where gains act on accelerations (Siciliano et al., Robotics, 2009, section 8.5).
Friction that is compensated at the velocity of the reference (:mod:`.friction_compensation`) does
not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from functools import lru_cache
from math import inf
from typing import NamedTuple, NoReturn, TYPE_CHECKING

import numpy as np
from numpy import ndarray

from .friction import static_friction, viscous
from ..declare import RobotParameters
from ..steps.acceleration_limits import ACCELERATION_SHARE, VELOCITY_SHARE
from ...dynamics.compile import generic
from ...dynamics.model_data import ModelData, parameters, workspace
from ...errors import TrajectoryError, TrajectoryJointsError
from ...model.robot import RobotModel, roomy_position, spread

if TYPE_CHECKING:
    from .settings import Settings

# s in which the acceleration limit is reached where no jerk limit is set
ACCELERATION_TIME = 0.1


class MotionLimits(NamedTuple):
    """
    Limits of a reference.

    ``model`` has the limits of position and velocity in force; ``acceleration`` and ``jerk`` (nv,)
    [rad/s² | m/s², rad/s³ | m/s³] are infinite for joints that have no velocity limit either;
    ``effort`` (nv,) [N·m | N] bounds the efforts of waypoints; ``start_tolerance`` (nv,) [rad | m]
    the distance of the start of a trajectory from the reference; ``moving_end``: whether a
    trajectory may end with a velocity other than 0, behind which the reference decelerates.
    """

    model: RobotModel
    acceleration: ndarray
    jerk: ndarray
    effort: ndarray
    start_tolerance: ndarray = np.array([0.05])
    moving_end: bool = False


def motion_limits(model: RobotModel, settings: Settings, velocity_limit: ndarray,
                  effort_limit: ndarray | None = None) -> MotionLimits:
    """
    Return the limits in force: those of the settings, else those that the velocity limit implies.

    :param velocity_limit: (nv,) [rad/s | m/s].
    :param effort_limit: (nv,) [N·m | N]; None: that of the model.
    :raises ParameterError: acceleration_limit, jerk_limit or trajectory_start_tolerance has the
        wrong length.
    """
    acceleration = settings.acceleration(model, velocity_limit)
    jerk = (settings.per_joint(model, 'jerk_limit') if np.size(settings.jerk_limit)
            else acceleration / ACCELERATION_TIME)
    return MotionLimits(replace(model, velocity_limit=velocity_limit), acceleration, jerk,
                        settings.feedforward_limit * (model.effort_limit if effort_limit is None
                                                      else effort_limit),
                        settings.per_joint(model, 'trajectory_start_tolerance'),
                        settings.allow_nonzero_velocity_at_trajectory_end)


def limit_rows(limits: MotionLimits) -> ndarray:
    """Return rows (7, nv), as the planner reads them: LOWER, UPPER, ... of :mod:`.request`."""
    model = limits.model
    return np.array([model.position_lower, model.position_upper, model.velocity_limit,
                     limits.acceleration, limits.jerk,
                     np.broadcast_to(limits.start_tolerance, model.nv), model.periodic], float)


ERASED_TOLERANCE = -1.0    # JointTolerance.msg: the tolerance is not checked
TOLERANCE_KINDS = ('position', 'velocity', 'acceleration')


class JointTolerance(NamedTuple):
    """Tolerances of a joint [rad | m, per s, per s²]; 0: the default, -1: none."""

    name: str
    position: float
    velocity: float
    acceleration: float = 0.0


class GoalTolerances(NamedTuple):
    """
    Tolerances of a goal in force; infinite where nothing is checked.

    ``path`` (2, nv): of position and velocity while the trajectory is under way [rad | m, per s];
    ``goal`` (2, nv): at its end; ``goal_time`` [s] after its end until when ``goal`` must hold.
    """

    path: ndarray
    goal: ndarray
    goal_time: float = inf

    @classmethod
    def unchecked(cls, nv: int) -> GoalTolerances:
        """Return infinite tolerances."""
        return cls(np.full((2, nv), inf), np.full((2, nv), inf))


def default_tolerances(model: RobotModel, settings: Settings) -> GoalTolerances:
    """
    Return the tolerances of goals that give none: the parameters, and rest at the end.

    :raises ParameterError: ``goal_tolerance`` has the wrong length.
    """
    goal = np.array([settings.per_joint(model, 'goal_tolerance'),
                     np.full(model.nv, settings.rest_velocity)])
    return GoalTolerances(np.full((2, model.nv), inf), np.where(goal > 0.0, goal, inf),
                          settings.goal_time_tolerance or inf)


def goal_tolerances(model: RobotModel, default: GoalTolerances,
                    path: Sequence[JointTolerance] = (), goal: Sequence[JointTolerance] = (),
                    goal_time: float = 0.0, named: Sequence[str] = ()) -> GoalTolerances:
    """
    Return the tolerances of a goal, with defaults for those that are 0 or not given.

    :param path, goal: of joints in any order.
    :param goal_time: [s]; 0: the default, negative: unlimited.
    :param named: joints of the trajectory, to which the defaults of ``goal`` apply: others may
        follow a former one for longer.
    :raises TrajectoryError: a joint that the robot has not, or that is named twice; a number that
        is negative and not -1, or not finite; a tolerance of the acceleration, which is not
        measured.
    """
    if not np.isfinite(goal_time):
        _refuse(f'goal_time_tolerance is {goal_time}', 'goal_time_tolerance')
    time = inf if goal_time < 0.0 else goal_time or default.goal_time
    others = ~np.isin(model.joint_names, named)
    return GoalTolerances(_merged(model, default.path, path, 'path_tolerance'),
                          _merged(model, np.where(others, inf, default.goal), goal,
                                  'goal_tolerance'), time)


def _merged(model: RobotModel, default: ndarray, given: Sequence[JointTolerance],
            what: str) -> ndarray:
    """Return defaults (2, nv), replaced where a tolerance is given."""
    merged, seen = default.copy(), set()
    for tolerance in given:
        name = tolerance.name
        if name not in model.joint_names:
            raise TrajectoryJointsError(
                f'{what} names {name!r}, which is not a joint', name=name,
                remedy=f'the joints are {", ".join(model.joint_names)}')
        if name in seen:
            _refuse(f'{what} names joint {name!r} twice', what)
        seen.add(name)
        for k, kind in enumerate(TOLERANCE_KINDS):
            value = float(tolerance[1 + k])
            if value == 0.0:
                continue
            if value != ERASED_TOLERANCE and not 0.0 < value < inf:
                _refuse(f'{what} of the {kind} of {name} is {value:g}', what)
            if kind != 'acceleration':
                merged[k, model.joint_names.index(name)] = (
                    inf if value == ERASED_TOLERANCE else value)
            elif value != ERASED_TOLERANCE:
                raise TrajectoryError(
                    f'{what} of {name} limits the acceleration, which no joint state measures',
                    name=what, value=value, remedy='leave it 0')
    return merged


def _refuse(problem: str, name: str) -> NoReturn:
    raise TrajectoryError(problem, name=name, remedy='give each joint once, and a positive '
                          'number, 0 for the default or -1 for none')


# Greatest limits that drives may have: those of the parameters
MOST = {f.name: f.metadata.get('upper') for f in fields(RobotParameters)}
# Time [s] in which a drive without a load reaches its velocity limit with its full effort, at
# least: rotor, encoder and brake of geared drives take 10 to 60 ms, quick ones with low gear
# ratios 5 ms (Damiao DM4310: 0.0018 kg·m², 7 N·m, 30 rad/s, 7.7 ms; DM4340: 0.032 kg·m², 27 N·m,
# 8 rad/s, 9.5 ms). Rotors of this inertia leave a joint 27 % of its effort.
MIN_ROTOR_TIME = 0.005
# Share of the effort limit below which a joint may not overcome its friction
SCARCE_EFFORT = 0.25


class Scarcity(NamedTuple):
    """Efforts (nv,) [N·m | N] besides gravity that the bounds leave, at least, and the limits."""

    joint_names: tuple[str, ...]
    available: ndarray
    effort_limit: ndarray
    armature: ndarray           # (nv,) [kg·m² | kg] the smallest plausible one of each joint
    scarce: ndarray             # (nv,) whether `available` is little, and `armature` would help

    def sentence(self, joints: ndarray) -> str:
        """Return a warning for the joints of a mask (nv,), with the remedy; '' for none."""
        if not (which := np.flatnonzero(joints)).size:
            return ''
        names = self.joint_names
        left = ', '.join(f'{self.available[i]:.2g} of {self.effort_limit[i]:.4g} ({names[i]})'
                         for i in which)
        least = ', '.join(f'{self.armature[i]:.2g} ({names[i]})' for i in which)
        return (f'the velocity limits leave little effort besides gravity: {left} N·m or N, '
                'because the model has no rotor inertia there, or an effort limit of no drive; '
                f'set armature for a real drive, at least about {least} kg·m² or kg, with which '
                f'the full effort takes {1e3 * MIN_ROTOR_TIME:g} ms to the velocity limit')


def known_limits(limit: ndarray, name: str) -> ndarray:
    """
    Return (n,) whether each effort or velocity limit is one: neither 0 nor above the parameter's.

    :param name: of the parameter, ``effort_limit`` or ``velocity_limit``.
    """
    return (limit > 0.0) & (limit <= MOST[name])


def scarcity(model: RobotModel, mass_matrices: ndarray, effort_limit: ndarray,
             velocity_limit: ndarray, limit_rate: float) -> Scarcity:
    """
    Return the efforts with which joints at rest accelerate as much as the bounds permit.

    :param mass_matrices: (P, nv, nv) at several poses, of which the least effort counts.
    :param effort_limit, velocity_limit: (nv,) in force. The drives have those of the URDF, if it
        has any. Unknown ones leave nothing scarce, as without inertias.
    :param limit_rate: [1/s] of the settings.
    """
    known = (known_limits(effort_limit, 'effort_limit')
             & known_limits(velocity_limit, 'velocity_limit'))
    effort, velocity = np.where(known, effort_limit, 1.0), np.where(known, velocity_limit, 1.0)
    available = effort
    if not model.massless_joints:       # else no controller takes the model
        response = np.linalg.inv(mass_matrices).diagonal(axis1=1, axis2=2).max(0)
        available = np.minimum(
            ACCELERATION_SHARE * limit_rate * VELOCITY_SHARE * velocity / response, effort)
    drive = [np.where(known_limits(urdf, name), urdf, given) for name, urdf, given in (
        ('effort_limit', model.effort_limit, effort),
        ('velocity_limit', model.velocity_limit, velocity))]
    armature = MIN_ROTOR_TIME * drive[0] / drive[1]
    return Scarcity(tuple(model.joint_names), available, effort_limit, armature,
                    known & (available < SCARCE_EFFORT * effort) & (model.armature < armature))


RESTING_ERROR = 0.01, 0.002     # [rad], [m]: more is reported
CREEPING_TIME = 1.0    # [s]
MAX_VELOCITY = 80.0, 10.0    # [rad/s], [m/s]; at most 60 rad/s, of a finger, for real robots
MIN_EQUAL_LIMITS = 4    # joints: arms have smaller drives at the wrist, fingers often do not
MIN_HELD_SHARE = 0.9    # of the poses, which effort limits have to hold
HELD_POSES = 200


def resting_errors(model: RobotModel, settings: Settings) -> ndarray:
    """
    Return the errors (nv,) [rad | m] that friction alone may cause, in the middle of the ranges.

    They are 0 for a law with integral action, an observer or no reference, and infinite for a
    joint without stiffness.
    """
    share = (settings.per_joint(model, 'friction_compensation')
             if settings.friction_compensation else np.zeros(model.nv))
    return _deflections(model, settings, (1.0 - share) * static_friction(settings.loaded(model)))


def _deflections(model: RobotModel, settings: Settings, effort: ndarray) -> ndarray:
    """Return the errors (nv,) with which the law balances lasting efforts (nv,) [N·m | N]."""
    law, found = settings.law_in_force, np.zeros(model.nv)
    if not law.follows or any(name and settings.gain_of(model, name).all() for rule in law.judged
                              for name in (rule.integral, rule.observer)):
        return found
    mass, = evaluated('mass_matrix', settings.loaded(model), [roomy_position(model)],
                       (model.nv, model.nv))
    for rule in law.judged:
        moved = np.abs(np.linalg.inv(mass)) @ effort if rule.accelerations else effort
        gains = settings.gain_of(model, rule.position)
        with np.errstate(divide='ignore', invalid='ignore'):
            found = np.maximum(found, np.where(moved > 0.0, moved / gains, 0.0))
    return found


def most_resting_error(model: RobotModel) -> ndarray:
    """Return RESTING_ERROR of each joint (nv,) [rad | m]."""
    return np.where(model.slides, RESTING_ERROR[1], RESTING_ERROR[0])


def resting_error_warning(model: RobotModel, settings: Settings) -> str:
    """Return which joints friction keeps from their targets, for good or for long; or ''."""
    loaded, errors = settings.loaded(model), resting_errors(model, settings)
    times = _deflections(model, settings, viscous(loaded))      # at 1 rad/s, so in seconds
    friction, named = static_friction(loaded), []
    accepted = np.minimum(most_resting_error(model), default_tolerances(model, settings).goal[0])
    for i, name in enumerate(model.joint_names):
        if errors[i] > accepted[i]:
            named.append(f'{name} may rest {errors[i]:.2g} {"m" if model.slides[i] else "rad"} '
                         f'away (friction {friction[i]:.3g})')
        elif times[i] > CREEPING_TIME:
            named.append(f'{name} creeps there with a time constant of {times[i]:.2g} s (viscous '
                         f'friction {viscous(loaded)[i]:.3g})')
    return named and ('friction keeps joints from their targets: ' + ', '.join(named)
                      + '; set friction_compensation, raise the gains, or choose a law with '
                      'integral action or a disturbance observer') or ''


def holding_warning(model: RobotModel, effort_limit: ndarray) -> str:
    """Return which joints cannot hold the arm in many of its poses; or ''."""
    gravity = abs(evaluated('gravity', model, spread(model, HELD_POSES), (model.nv,)))
    shares = (gravity <= np.where(effort_limit > 0.0, effort_limit, np.inf)).mean(axis=0)
    named = [f'{name} in {100 * (1 - shares[i]):.0f} % ({effort_limit[i]:.3g} of up to '
             f'{gravity[:, i].max():.3g} {"N" if model.slides[i] else "N·m"})'
             for i, name in enumerate(model.joint_names) if shares[i] < MIN_HELD_SHARE]
    return named and ('effort limits cannot hold the arm at rest in many poses: '
                      + ', '.join(named) + '; correct the limits or the masses of the URDF') or ''


def velocity_warning(model: RobotModel, settings: Settings) -> str:
    """Return which joints have a velocity limit of no real robot; or ''."""
    turning, sliding = MAX_VELOCITY
    named = [f'{name} ({limit:.4g} {"m/s" if slides else "rad/s"})' for name, limit, slides in zip(
        model.joint_names, settings.per_joint(model, 'velocity_limit'), model.slides)
        if (sliding if slides else turning) < limit < inf]
    return named and ('velocity limits are probably placeholders: ' + ', '.join(named) + '; '
                      'correct the URDF, or lower velocity_limit, by which the controller plans '
                      'and checks motions') or ''


def equal_effort_warning(model: RobotModel) -> str:
    """Return that all joints that turn have the same effort limit; or ''."""
    limits = model.effort_limit[~model.slides]
    if limits.size < MIN_EQUAL_LIMITS or np.ptp(limits) > 0.0 or limits[0] == 0.0:
        return ''
    return (f'effort limits may be placeholders: {limits[0]:.4g} N·m for each joint; compare them '
            'with the data sheet and correct the URDF: arming, the motor test and the checks of '
            'the guard count in effort limits')


def limit_warnings(model: RobotModel, settings: Settings) -> list[str]:
    """Return what is wrong with the limits of the URDF."""
    return [*filter(None, (equal_effort_warning(model), holding_warning(model, model.effort_limit),
                           velocity_warning(model, settings)))]


@lru_cache(8)
def data_of(model: RobotModel) -> ModelData:
    """Return the model as the algorithms take it, computed once."""
    return parameters(model)


def evaluated(quantity: str, model: RobotModel, poses: Iterable[ndarray], shape: tuple[int, ...]
              ) -> ndarray:
    """Return a quantity (K, *shape) at K poses by a kernel that the controller needs anyhow."""
    kernel, data, work = generic(quantity), data_of(model), workspace(model)
    found = []
    for q in poses:
        found.append(out := np.empty(shape))
        kernel(data, q, work, out)
    return np.array(found)
