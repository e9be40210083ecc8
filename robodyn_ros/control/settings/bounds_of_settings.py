# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Bounds of the motion that the settings ask for, checked against the robot."""

import numpy as np
from numpy import ndarray

from .link_pairs import with_self_collision
from .settings import Settings
from .workspace_planes import workspace_planes
from ..declare.body_regions import REGIONS
from ..inputs.bounds import Bounds
from ...dynamics.model_data import frame_record, ModelData
from ...errors import ParameterError, UnknownNameError
from ...model.robot import RobotModel

MIN_POINT_DISTANCE = 1e-3    # m; points of a body that are closer are one


def bounds_of(settings: Settings, model: RobotModel, robot: ModelData) -> Bounds:
    """
    Return the bounds of the settings.

    :raises ParameterError: a bound of the tool without a ``task_frame`` that moves; a box or a
        plane that is none, or that leaves no room; a distance of links without shapes.
    """
    bounds, planes = Bounds.none(model.nv), workspace_planes(settings)
    if len(planes) or settings.tool_speed_limit:
        name = settings.task_frame
        try:
            moves = bool(name) and model.frame(name).body >= 0
        except UnknownNameError:
            moves = False
        if not moves:
            raise ParameterError(
                f'the motion of the tool is bounded, and task_frame = {name!r} is no link that '
                'moves', name='task_frame', value=name, remedy='name the link that is the tool')
        bounds = bounds._replace(
            tool=frame_record(model, robot, name), planes=planes,
            speed=np.array([settings.tool_speed_limit or np.inf]),
            walls=np.array([settings.workspace_stiffness]))
    if settings.contact_region != 'none':
        bounds = bounds._replace(region=np.array(REGIONS[settings.contact_region], float),
                                 points=contact_points(model, robot))
    if settings.self_collision_distance:
        bounds = with_self_collision(bounds, model, settings.self_collision_distance,
                                     settings.self_collision_allowed)
    return bounds


def contact_points(model: RobotModel, robot: ModelData) -> ndarray:
    """
    Return points of the links that may run into somebody, as (N,) FRAME.

    They are the origins of all frames that move, among them both ends of each link: no point
    between them is faster.
    """
    names: list[str] = []
    seen: list[ndarray] = []
    for name, frame in model.frames.items():
        place = np.array([float(frame.body), *frame.origin])
        if frame.body >= 0 and all(
                place[0] != s[0] or np.linalg.norm(place - s) > MIN_POINT_DISTANCE for s in seen):
            seen.append(place)
            names.append(name)
    points = np.concatenate([frame_record(model, robot, name) for name in names])
    points.setflags(write=False)
    return points
