# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Start a robot simulated by MuJoCo and its controller; if one ends, the launch is shut down.

ros2 launch robodyn_ros simulation.launch.py urdf:=my_arm.urdf config:=my_arm.yaml \
    mode:=joint_impedance namespace:=left
"""

from pathlib import Path

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import (
    GroupAction, IncludeLaunchDescription, OpaqueFunction, PopLaunchConfigurations,
    PushLaunchConfigurations, Shutdown)
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, TextSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from robodyn_ros.model.resources import is_robot_name
from robodyn_ros.nodes.launch_rules import declared, rotors
from robodyn_ros.nodes.middleware.parameter_files import config_path

ARGUMENTS = {
    'urdf': ('two_link', 'a robot that config/ has a file for, or the path of a URDF file'),
    'config': ('', 'YAML file with sections for controller and simulator; empty: '
                   'config/ROBOT.yaml'),
    'mode': ('', 'control law; empty: from the configuration'),
    'namespace': ('', 'namespace of both nodes and of their topics'),
    'autostart': ('true', 'configure and activate the controller when it starts: true or '
                          'false'),
    'use_sim_time': ('false', 'the simulator publishes /clock, and the controller takes its time '
                              'from it'),
    'controller': ('true', 'start the controller; false: the simulator alone'),
}
CHOICES = {'use_sim_time': ('true', 'false'), 'controller': ('true', 'false')}
# Arguments of the controller that are not inherited, since they may have another meaning here
NOT_INHERITED = {'overrides': '', 'robot_compensates_gravity': '', 'controller_manager': '',
                 'replaced_controllers': '', 'stop_with': '', 'joint_states': 'joint_states',
                 'commands': 'commands', 'robot_description': 'robot_description', 'prefix': '',
                 'respawn': 'false', 'required': 'true', 'log_level': 'info',
                 'enclave': '/robodyn/controller'}


def nodes(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """
    Return the simulator and, unless it is to be alone, the controller of the robot.

    :raises ParameterError: the configuration file does not exist.
    """
    given = {name: LaunchConfiguration(name).perform(context) for name in ARGUMENTS}
    robot = given['urdf']
    named = given['config'] or (f'{robot}.yaml' if is_robot_name(robot) else '')
    config = str(config_path(named)) if named else ''
    controller = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(Path(__file__).with_name('controller.launch.py'))),
        launch_arguments={'urdf': robot, 'config': config, **NOT_INHERITED, **{
            name: given[name] for name in ('mode', 'namespace', 'autostart', 'use_sim_time')
        }}.items())
    return [
        Node(package='robodyn_ros', executable='robodyn_simulator', name='simulator',
             namespace=given['namespace'], output='screen', parameters=[
                 *([config] if config else []), {
                     'urdf': ParameterValue(robot, value_type=str),
                     **(rotors(config, given['namespace'])
                        if config and given['controller'] == 'true' else {}),
                     'publish_clock': ParameterValue(TextSubstitution(
                         text=given['use_sim_time']), value_type=bool)}],
             ros_arguments=['--enclave', '/robodyn/simulator'],
             on_exit=[Shutdown(reason='the simulator has ended')],
             # On a busy machine the end may take longer than the default of 5 s
             sigterm_timeout='30'),
        # The group limits the scope of its arguments
        *([GroupAction([controller])] if given['controller'] == 'true' else []),
    ]


def generate_launch_description() -> LaunchDescription:
    """Return the description for `ros2 launch`."""
    return LaunchDescription([
        PushLaunchConfigurations(),         # limits the scope of the arguments
        *declared(__file__, ARGUMENTS, CHOICES),
        OpaqueFunction(function=nodes),
        PopLaunchConfigurations(),
    ])
