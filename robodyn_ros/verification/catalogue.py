# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""All injections by name."""

from . import plant_faults, request_faults, sensor_faults
from .injection import CATALOGUE, Injection

__all__ = ['CATALOGUE', 'drawable', 'plant_faults', 'request_faults', 'sensor_faults']
EVERYWHERE = ('two_link', 'panda', 'ur5')       # with these robots: any arm will do


def drawable(path: str = 'library', robot: str = '') -> dict[str, Injection]:
    """Return the injections that make sense for a robot, '' for any arm, sorted by name."""
    return {name: what for name, what in sorted(CATALOGUE.items())
            if what.random and path in what.paths and (
                robot in what.robots if robot and what.robots
                else what.robots in ((), EVERYWHERE))}
