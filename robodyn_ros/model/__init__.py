# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Robot models: :class:`RobotModel`, read from URDF or DH rows and validated."""

from .dh import DhLink, from_dh
from .dh_file import load_dh
from .resources import robot_names, robot_path
from .robot import Frame, RobotModel
from .urdf import load_urdf

__all__ = ['DhLink', 'Frame', 'RobotModel', 'from_dh', 'load_dh', 'load_urdf', 'robot_names',
           'robot_path']
