# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Load the controller of @robot@, inactive, into a running controller manager.

ros2 launch robot_controller robot_controller.launch.py
ros2 control switch_controllers --activate robot_controller \
    --deactivate joint_trajectory_controller --strict --activate-asap
"""

from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

PACKAGE = 'robot_controller'


def spawner(controller, **arguments):
    """Return a spawner, which loads and configures a controller."""
    return Node(
        package='controller_manager', executable='spawner', output='screen',
        arguments=[controller, '--inactive', '--param-file', LaunchConfiguration('config'),
                   '--controller-manager', LaunchConfiguration('controller_manager')],
        **arguments)


def generate_launch_description():
    """Return the spawners, which exit once the controllers are loaded."""
    config = Path(get_package_share_directory(PACKAGE), 'config', f'{PACKAGE}.yaml')
    return LaunchDescription([
        DeclareLaunchArgument('config', default_value=str(config),
                              description='parameter file of the controllers'),
        DeclareLaunchArgument('controller_manager', default_value='/controller_manager',
                              description='name of the controller manager'),
        DeclareLaunchArgument('trajectory', default_value='false',
                              description='true: also load robot_controller_trajectory'),
        spawner(PACKAGE),
        spawner(f'{PACKAGE}_trajectory', condition=IfCondition(LaunchConfiguration('trajectory'))),
    ])
