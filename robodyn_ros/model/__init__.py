# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a robot is: `RobotModel`, read from URDF and validated."""

from .library import robot_path
from .robot import Frame, RobotModel
from .urdf import load_urdf

__all__ = ['Frame', 'RobotModel', 'load_urdf', 'robot_path']
