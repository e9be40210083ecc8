# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Model-based torque control of robot arms: the library, without ROS.

    from robodyn_ros import Dynamics, load_urdf

    dynamics = Dynamics(load_urdf('panda'))             # or a path, or XML text
    dynamics.gravity([0, -0.8, 0, -2.4, 0, 1.6, 0.8, 0.02])

:func:`load_urdf`, :func:`load_dh` and :func:`from_dh` return a :class:`RobotModel`,
:class:`Dynamics` computes its motion, :class:`Controller` with :class:`Settings` controls it,
:func:`suggest_gains` proposes gains, and :func:`simulate` runs a controller and an arm in MuJoCo.
A control law of one's own is a :class:`Law`, whose gains are declared with :func:`gain`. Errors
are those of :mod:`robodyn_ros.errors`.
"""

from typing import TYPE_CHECKING

from .extras import from_modules

if TYPE_CHECKING:
    from .closed_loop import simulate, Simulated
    from .control import (
        Controller, ControllerBatch, gain, Law, Phase, Settings, suggest_gains, Waypoints)
    from .driver_loop import drive
    from .dynamics import Dynamics
    from .model import DhLink, from_dh, load_dh, load_urdf, robot_names, RobotModel

    __version__: str

__all__ = ['Controller', 'ControllerBatch', 'DhLink', 'Dynamics', 'Law', 'Phase', 'RobotModel',
           'Settings', 'Simulated', 'Waypoints', '__version__', 'drive', 'from_dh', 'gain',
           'load_dh', 'load_urdf', 'robot_names', 'simulate', 'suggest_gains']

_MODULES = {'Controller': '.control', 'ControllerBatch': '.control', 'DhLink': '.model',
            'Dynamics': '.dynamics', 'Law': '.control', 'Phase': '.control',
            'RobotModel': '.model', 'Settings': '.control', 'Simulated': '.closed_loop',
            'Waypoints': '.control', 'drive': '.driver_loop', 'from_dh': '.model',
            'gain': '.control', 'load_dh': '.model', 'load_urdf': '.model',
            'robot_names': '.model', 'simulate': '.closed_loop', 'suggest_gains': '.control'}


# Numba alone takes most of a second
_load = from_modules(__name__, _MODULES)


def __getattr__(name: str) -> object:
    """Import a public name at its first use."""
    if name == '__version__':
        from .model.resources import package_version
        return package_version()
    return _load(name)


def __dir__() -> list[str]:
    return sorted(__all__)
