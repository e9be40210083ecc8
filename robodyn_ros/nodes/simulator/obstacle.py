# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Elastic obstacle of the simulator node, from its parameters."""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from ...errors import ParameterError, UnknownNameError
from ...simulation.plant import Obstacle, Plant

VECTORS = 'obstacle_point', 'obstacle_surface', 'obstacle_normal'
MIN_NORMAL_LENGTH = 1e-6


def obstacle_of(values: Mapping[str, Any], links: Collection[str]) -> Obstacle | None:
    """
    Return the obstacle that the parameters describe, None where ``obstacle_link`` is empty.

    :param values: all parameters of the node, by name.
    :param links: links of the robot.
    :raises ParameterError: a vector has not three numbers, or the normal has no direction.
    :raises UnknownNameError: the robot has no such link.
    """
    link = values['obstacle_link']
    if not link:
        return None
    if link not in links:
        raise UnknownNameError('link', link, list(links))
    for name in VECTORS:
        if len(values[name]) != 3:
            raise ParameterError(f'{name} has {len(values[name])} elements', name=name,
                                 value=values[name], remedy='give three numbers: x, y, z')
    point, surface, normal = (np.array(values[name], float) for name in VECTORS)
    if np.linalg.norm(normal) < MIN_NORMAL_LENGTH:
        raise ParameterError('obstacle_normal has no direction', name='obstacle_normal',
                             value=normal.tolist(), remedy='give a vector that is not zero')
    return Obstacle(link, point, surface, normal, values['obstacle_stiffness'])


def check_obstacle(values: Mapping[str, Any], links: Collection[str]) -> None:
    """Raise the error of :func:`obstacle_of`, if there is one."""
    obstacle_of(values, links)


def obstacle_parameters(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of the obstacle among those of the node."""
    return {name: value for name, value in values.items() if name.startswith('obstacle_')}


def put(plant: Plant, obstacle: Obstacle | None) -> None:
    """Replace the obstacles of a plant, on the thread that steps it."""
    plant.remove_obstacles()
    if obstacle is not None:
        plant.obstacles.append(obstacle)
