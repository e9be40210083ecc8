# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Start the controller for one robot.

ros2 launch robodyn_ros controller.launch.py urdf:=panda config:=panda.yaml \
    mode:=gravity_compensation commands:=/effort_controller/commands
"""

from typing import Any

from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from robodyn_ros.model.library import robot_path

ARGUMENTS = {
    'urdf': ('', 'path of a URDF file, or the name of a robot this package knows; empty: the '
                 'controller listens to the topic robot_description'),
    'config': ('', "YAML file with the controller's parameters"),
    'mode': ('', 'control law; empty: as the configuration says'),
    'namespace': ('', 'namespace of the node and of its topics'),
    'autostart': ('true', 'configure and activate without being asked'),
    'use_sim_time': ('false', 'take the time from /clock'),
    'joint_states': ('joint_states', 'topic that the joint states come on'),
    'commands': ('commands', 'topic that the efforts go to'),
    'enclave': ('/robodyn/controller', 'security enclave, for ROS_SECURITY_ENABLE=true'),
}


def controller(context: LaunchContext) -> list[Node]:
    """Return the node, with the parameters that the arguments make."""
    given = {name: LaunchConfiguration(name).perform(context) for name in ARGUMENTS}
    switches: dict[str, Any] = {
        name: ParameterValue(LaunchConfiguration(name), value_type=bool)
        for name in ('autostart', 'use_sim_time')}
    # As text: launch reads other strings as YAML
    texts = {'robot_description': robot_path(given['urdf']).read_text() if given['urdf'] else '',
             'mode': given['mode']}
    switches |= {name: ParameterValue(text, value_type=str)
                 for name, text in texts.items() if text}
    return [Node(
        package='robodyn_ros', executable='controller', name='controller',
        namespace=given['namespace'], output='screen',
        # Later ones win: an argument wins over the file
        parameters=[*([given['config']] if given['config'] else []), switches],
        remappings=[(name, given[name]) for name in ('joint_states', 'commands')],
        ros_arguments=['--enclave', given['enclave']],
        # Stopping lets the arm come to rest first: not to be cut short after the usual 5 s
        sigterm_timeout='30',
    )]


def generate_launch_description() -> LaunchDescription:
    """Return what `ros2 launch` starts."""
    return LaunchDescription([
        *(DeclareLaunchArgument(name, default_value=default, description=text)
          for name, (default, text) in ARGUMENTS.items()),
        OpaqueFunction(function=controller),
    ])
