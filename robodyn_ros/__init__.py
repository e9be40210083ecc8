# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Model-based torque control of robot arms: the library, without ROS."""

from .dynamics import Dynamics
from .model import RobotModel, load_urdf

__all__ = ['Dynamics', 'RobotModel', 'load_urdf']
