# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Model-based torque control of robot arms: the library, without ROS."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .dynamics import Dynamics
    from .model import DhLink, RobotModel, from_dh, load_dh, load_urdf

__all__ = ['DhLink', 'Dynamics', 'RobotModel', 'from_dh', 'load_dh', 'load_urdf']

_ROOMS = {'DhLink': '.model', 'Dynamics': '.dynamics', 'RobotModel': '.model',
          'from_dh': '.model', 'load_dh': '.model', 'load_urdf': '.model'}


def __getattr__(name: str) -> object:
    """Load what is asked for when it is (PEP 562): Numba alone takes most of a second."""
    if name not in _ROOMS:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    return getattr(import_module(_ROOMS[name], __name__), name)
