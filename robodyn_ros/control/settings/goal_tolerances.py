# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Tolerances of a trajectory goal, as control_msgs/FollowJointTrajectory gives them."""

from collections.abc import Sequence
from math import inf
from typing import NamedTuple, NoReturn

import numpy as np
from numpy import ndarray

from .settings import Settings
from ...errors import TrajectoryError, TrajectoryJointsError
from ...model.robot import RobotModel

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
    def unchecked(cls, nv: int) -> 'GoalTolerances':
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
                f'{what} names {name!r}, which is no joint', name=name,
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
