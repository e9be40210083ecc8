# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Demonstration of controller and simulator over ROS 2: free fall, gravity, push, trajectory."""

REQUIRED_MODULES = ('rclpy', 'mujoco', 'matplotlib')
