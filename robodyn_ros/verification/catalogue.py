# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""All injections by name."""

from . import plant_faults, request_faults, sensor_faults
from .injection import CATALOGUE, Injection

__all__ = ['CATALOGUE', 'drawable', 'plant_faults', 'request_faults', 'sensor_faults']
EVERYWHERE = ('two_link', 'panda', 'ur5')       # with these robots: any arm will do


def drawable() -> dict[str, Injection]:
    """Return the injections that make sense for any arm without ROS, sorted by name."""
    return {name: what for name, what in sorted(CATALOGUE.items())
            if what.random and 'library' in what.paths and what.robots in ((), EVERYWHERE)}
